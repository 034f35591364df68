// SPDX-License-Identifier: Apache-2.0
// Nanoseconds per node of each plugin's Filter and Score on 5,000 plain nodes: time divided by
// items is the figure (items_per_second is its inverse).
#include <benchmark/benchmark.h>
#include <sys/stat.h>

#include <ctime>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "base/file_text.h"
#include "framework/composed_plugin.h"
#include "modules/plugin_libraries.h"
#include "plugins/registry.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"
#include "testing/temp_dir.h"

namespace ks::plugins {
namespace {

using testing::MakeNode;
using testing::MakePod;

constexpr int kNodes = 5000;

void AddNodes(testing::FakeSnapshot& snapshot, bool full) {
  for (int i = 0; i < kNodes; ++i) {
    auto& node = snapshot.Add(
        MakeNode()
            .Name("node-" + std::to_string(i))
            .Zone("zone-" + std::to_string(i % 3))
            .Allocatable({{"cpu", full ? "1" : "16"}, {"memory", "64Gi"}, {"pods", "110"}})
            .Obj(),
        {MakePod().Name("held-" + std::to_string(i)).Req({{"cpu", "1"}}).Obj()});
    node.SetImages({{Symbol("registry.example/base:1"), 100 << 20, kNodes}});
  }
}

api::PodPtr PlainPod() {
  return MakePod()
      .Req({{"cpu", "100m"}, {"memory", "128Mi"}}, "registry.example/app:1")
      .NodeSelector({{"topology.kubernetes.io/zone", "zone-1"}})
      .PreferredTerm(1, {{"topology.kubernetes.io/zone", "In", {"zone-1"}}})
      .HostPort(8080)
      .Obj();
}

// One plugin with its cycle prepared for the pod.
struct Bed {
  Bed(std::string_view name, bool full) {
    AddNodes(handle.fake_snapshot(), full);
    plugin = InTreeRegistry().Find(name)->factory({}, handle).value();
    if (auto* point = dynamic_cast<framework::PreFilterPlugin*>(plugin.get())) {
      (void)point->PreFilter(state, *pod, handle.snapshot());
    }
    if (auto* point = dynamic_cast<framework::PreScorePlugin*>(plugin.get())) {
      (void)point->PreScore(state, *pod, handle.snapshot().nodes());
    }
  }

  testing::FakeHandle handle;
  framework::CycleState state;
  api::PodPtr pod = PlainPod();
  std::unique_ptr<framework::Plugin> plugin;
};

void BM_Filter(benchmark::State& state, const std::string& name, bool full) {
  Bed bed(name, full);
  const auto* filter = dynamic_cast<framework::FilterPlugin*>(bed.plugin.get());
  for (auto _ : state) {
    for (const framework::NodeInfo* node : bed.handle.snapshot().nodes()) {
      benchmark::DoNotOptimize(filter->Filter(bed.state, *bed.pod, *node));
    }
  }
  state.SetItemsProcessed(state.iterations() * kNodes);
}

void BM_Score(benchmark::State& state, const std::string& name) {
  Bed bed(name, false);
  const auto* score = dynamic_cast<framework::ScorePlugin*>(bed.plugin.get());
  for (auto _ : state) {
    for (const framework::NodeInfo* node : bed.handle.snapshot().nodes()) {
      int64_t value = 0;
      benchmark::DoNotOptimize(score->Score(bed.state, *bed.pod, *node, &value));
      benchmark::DoNotOptimize(value);
    }
  }
  state.SetItemsProcessed(state.iterations() * kNodes);
}

// What the border of a loaded plugin costs: a Filter that lets every node pass, compiled in and
// loaded, by turns in one run.
class CompiledEveryNode final : public framework::PluginPart, public framework::FilterPlugin {
 public:
  framework::Status Filter(const framework::CycleState&, const api::Pod&,
                           const framework::NodeInfo&) const override {
    return {};
  }
};

// Of work alone: others may share the machine.
double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void BM_LoadedFilter(benchmark::State& state) {
  Bed bed("NodeName", false);
  framework::Registry registry;
  const testing::TempDir folder;
  const std::string file = folder.Write("every_node.so", *ReadFile(KS_MODULES "/every_node.so"));
  chmod(file.c_str(), 0644);
  const auto libraries = modules::PluginLibraries::Load({file}, nullptr, &registry);
  const auto plugin = registry.Find("EveryNode")->source->Make({}, bed.handle).value();
  const auto* loaded = framework::InterfaceOf<const framework::FilterPlugin>(*plugin);
  const CompiledEveryNode compiled;
  const auto seconds_of = [&bed](const framework::FilterPlugin* filter) {
    const double start = ThreadSeconds();
    for (const framework::NodeInfo* node : bed.handle.snapshot().nodes()) {
      benchmark::DoNotOptimize(filter->Filter(bed.state, *bed.pod, *node));
    }
    return ThreadSeconds() - start;
  };
  double in = 0;
  double out = 0;
  const framework::FilterPlugin* first = &compiled;
  benchmark::DoNotOptimize(first);
  for (auto _ : state) {
    in += seconds_of(first);
    out += seconds_of(loaded);
  }
  const double calls = static_cast<double>(state.iterations()) * kNodes;
  state.counters["compiled_ns"] = in / calls * 1e9;
  state.counters["loaded_ns"] = out / calls * 1e9;
  state.counters["more_ns"] = (out - in) / calls * 1e9;
}

BENCHMARK(BM_LoadedFilter);
BENCHMARK_CAPTURE(BM_Filter, NodeName, "NodeName", false);
BENCHMARK_CAPTURE(BM_Filter, NodeUnschedulable, "NodeUnschedulable", false);
BENCHMARK_CAPTURE(BM_Filter, TaintToleration, "TaintToleration", false);
BENCHMARK_CAPTURE(BM_Filter, NodeAffinity, "NodeAffinity", false);
BENCHMARK_CAPTURE(BM_Filter, NodePorts, "NodePorts", false);
BENCHMARK_CAPTURE(BM_Filter, NodeResourcesFit, "NodeResourcesFit", false);
BENCHMARK_CAPTURE(BM_Filter, NodeResourcesFitRejects, "NodeResourcesFit", true);
BENCHMARK_CAPTURE(BM_Score, TaintToleration, "TaintToleration");
BENCHMARK_CAPTURE(BM_Score, NodeAffinity, "NodeAffinity");
BENCHMARK_CAPTURE(BM_Score, NodeResourcesFit, "NodeResourcesFit");
BENCHMARK_CAPTURE(BM_Score, NodeResourcesBalancedAllocation, "NodeResourcesBalancedAllocation");
BENCHMARK_CAPTURE(BM_Score, ImageLocality, "ImageLocality");

}  // namespace
}  // namespace ks::plugins
