// SPDX-License-Identifier: Apache-2.0
// Nanoseconds per node of each plugin's Filter and Score on 5,000 plain nodes: time divided by
// items is the figure (items_per_second is its inverse).
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "plugins/registry.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"

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
