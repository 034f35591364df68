// SPDX-License-Identifier: Apache-2.0
// What PodTopologySpread costs one attempt on 5,000 nodes with 50,000 pods: all its points over the
// 500 nodes of a search, and the first attempt of a template, which counts all pods.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace ks::plugins {
namespace {

using testing::MakeNode;
using testing::MakePod;
using testing::MakeService;

constexpr int kNodes = 5000;
constexpr int kPodsPerNode = 10;
constexpr size_t kSearched = 500;

struct Bed {
  Bed() {
    for (int i = 0; i < kNodes; ++i) {
      const std::string name = "node-" + std::to_string(i);
      std::vector<api::PodPtr> pods;
      for (int k = 0; k < kPodsPerNode; ++k) {
        pods.push_back(MakePod()
                           .Name(name + "-" + std::to_string(k))
                           .Labels({{"app", "app-" + std::to_string(k)}, {"tier", "x"}})
                           .Obj());
      }
      handle.fake_snapshot().Add(MakeNode()
                                     .Name(name)
                                     .Label("kubernetes.io/hostname", name)
                                     .Zone("zone-" + std::to_string(i % 3))
                                     .Obj(),
                                 pods);
    }
    handle.fake_owner_listers().Add(MakeService("ns", "app", {{{"app", "app-1"}}}));
    plugin = NewPodTopologySpread({}, handle).value();
  }

  void Attempt(const api::Pod& pod) {
    framework::CycleState state;
    const auto nodes = handle.snapshot().nodes().first(kSearched);
    if (dynamic_cast<framework::PreFilterPlugin&>(*plugin)
            .PreFilter(state, pod, handle.snapshot())
            .status.ok()) {
      const auto& filter = dynamic_cast<framework::FilterPlugin&>(*plugin);
      for (const framework::NodeInfo* node : nodes) {
        benchmark::DoNotOptimize(filter.Filter(state, pod, *node));
      }
    }
    if (!dynamic_cast<framework::PreScorePlugin&>(*plugin).PreScore(state, pod, nodes).ok()) return;
    const auto& score = dynamic_cast<framework::ScorePlugin&>(*plugin);
    scores.resize(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      benchmark::DoNotOptimize(score.Score(state, pod, *nodes[i], &scores[i]));
    }
    benchmark::DoNotOptimize(dynamic_cast<framework::ScoreNormalizer&>(*plugin).NormalizeScore(
        state, pod, nodes, scores));
  }

  testing::FakeHandle handle;
  std::unique_ptr<framework::Plugin> plugin;
  std::vector<int64_t> scores;
};

// A hard constraint on the zone and a soft one on the hostname.
api::PodPtr Constrained(const std::string& app) {
  testing::PodBuilder pod = MakePod().Name("new").Labels({{"app", app}, {"tier", "x"}});
  api::TopologySpreadConstraint constraint;
  constraint.label_selector.emplace().match_labels = {{"app", app}};
  constraint.max_skew = 5;
  constraint.topology_key = Symbol("topology.kubernetes.io/zone");
  constraint.when_unsatisfiable = "DoNotSchedule";
  pod.spec().topology_spread_constraints.push_back(constraint);
  constraint.topology_key = Symbol("kubernetes.io/hostname");
  constraint.when_unsatisfiable = "ScheduleAnyway";
  pod.spec().topology_spread_constraints.push_back(constraint);
  return pod.Obj();
}

void BM_SpreadConstrained(benchmark::State& state) {
  Bed bed;
  const api::PodPtr pod = Constrained("app-1");
  for (auto _ : state) bed.Attempt(*pod);
}
void BM_SpreadDefaults(benchmark::State& state) {
  Bed bed;
  const api::PodPtr pod = MakePod().Labels({{"app", "app-1"}, {"tier", "x"}}).Obj();
  for (auto _ : state) bed.Attempt(*pod);
}
void BM_SpreadUnselected(benchmark::State& state) {
  Bed bed;
  const api::PodPtr pod = MakePod().Labels({{"app", "app-2"}}).Obj();
  for (auto _ : state) bed.Attempt(*pod);
}
void BM_SpreadNewTemplate(benchmark::State& state) {
  Bed bed;
  int next = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const api::PodPtr pod = Constrained("new-" + std::to_string(next++));
    state.ResumeTiming();
    bed.Attempt(*pod);
  }
}

BENCHMARK(BM_SpreadConstrained);
BENCHMARK(BM_SpreadDefaults);
BENCHMARK(BM_SpreadUnselected);
BENCHMARK(BM_SpreadNewTemplate);

}  // namespace
}  // namespace ks::plugins
