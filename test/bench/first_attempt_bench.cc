// SPDX-License-Identifier: Apache-2.0
// What the first attempt of a template costs PodTopologySpread and InterPodAffinity, whose counters
// then look at all pods: PreFilter and PreScore on 5,000 nodes with 150,000 pods of 3,000
// applications. Nothing that the template selects is there yet.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/pod_kinds.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace ks::plugins {
namespace {

constexpr int kNodes = 5000;
constexpr int kPodsPerNode = 30;
constexpr int kApplications = 3000;
constexpr size_t kSearched = 500;

struct Bed {
  Bed() {
    for (int i = 0; i < kNodes; ++i) {
      const std::string name = "node-" + std::to_string(i);
      std::vector<api::PodPtr> pods;
      for (int k = 0; k < kPodsPerNode; ++k) {
        const int app = (i * kPodsPerNode + k) % kApplications;
        pods.push_back(testing::MakePod()
                           .Name(name + "-" + std::to_string(k))
                           .Labels({{"app", "app-" + std::to_string(app)},
                                    {"tier", app % 2 == 0 ? "front" : "back"},
                                    {"pod-template-hash", "hash-" + std::to_string(app)}})
                           .Obj());
      }
      handle.fake_snapshot().Add(testing::MakeNode()
                                     .Name(name)
                                     .Label(bench::kHostname, name)
                                     .Zone("zone-" + std::to_string(i % 3))
                                     .Obj(),
                                 pods);
    }
  }

  void Attempt(framework::Plugin& plugin, const api::Pod& pod) {
    framework::CycleState state;
    benchmark::DoNotOptimize(
        dynamic_cast<framework::PreFilterPlugin&>(plugin).PreFilter(state, pod, handle.snapshot()));
    benchmark::DoNotOptimize(dynamic_cast<framework::PreScorePlugin&>(plugin).PreScore(
        state, pod, handle.snapshot().nodes().first(kSearched)));
  }

  // Each attempt is that of another template. The first one, which is the first of all, is not
  // timed.
  void Run(benchmark::State& state, framework::Plugin& plugin,
           const std::function<api::PodPtr(const std::string& app)>& make) {
    int next = 0;
    const size_t before = mallinfo2().uordblks;
    Attempt(plugin, *make("first"));
    state.counters["kept_MB"] = static_cast<double>(mallinfo2().uordblks - before) / (1 << 20);
    for (auto _ : state) {
      state.PauseTiming();
      const api::PodPtr pod = make("new-" + std::to_string(next++));
      state.ResumeTiming();
      Attempt(plugin, *pod);
    }
  }

  testing::FakeHandle handle;
};

void BM_HardAndSoftSpread(benchmark::State& state) {
  Bed bed;
  bed.Run(state, *NewPodTopologySpread({}, bed.handle).value(), [](const std::string& app) {
    testing::PodBuilder pod = bench::Spread(app, "DoNotSchedule", bench::kZone);
    const testing::PodBuilder soft = bench::Spread(app, "ScheduleAnyway", bench::kHostname);
    auto& constraints = pod.spec().topology_spread_constraints;
    constraints.push_back(testing::PodBuilder(soft).spec().topology_spread_constraints.front());
    return pod.Obj();
  });
}

void BM_RequiredAffinity(benchmark::State& state) {
  Bed bed;
  bed.Run(state, *NewInterPodAffinity({}, bed.handle).value(), [](const std::string& app) {
    testing::PodBuilder pod = bench::Plain(app);
    pod.spec().pod_affinity = api::PodAffinity{{bench::Term(app, bench::kZone)}, {}};
    return pod.Obj();
  });
}

// As many terms as a pod's author likes, that match no pod, or all.
void RunPreferredTerms(benchmark::State& state, bool match_all) {
  Bed bed;
  const auto terms = static_cast<int>(state.range(0));
  bed.Run(state, *NewInterPodAffinity({}, bed.handle).value(), [&](const std::string& app) {
    testing::PodBuilder pod = bench::Plain(app);
    pod.spec().pod_affinity.emplace();
    for (int i = 0; i < terms; ++i) {
      const std::string value = app + "-" + std::to_string(i);
      api::PodAffinityTerm term = bench::Term(value, bench::kHostname);
      if (match_all) term.label_selector = {{}, {{"app", "NotIn", {value}}}};
      pod.spec().pod_affinity->preferred.push_back({1, term});
    }
    return pod.Obj();
  });
}
void BM_PreferredTermsOfNobody(benchmark::State& state) { RunPreferredTerms(state, false); }
void BM_PreferredTermsOfAll(benchmark::State& state) { RunPreferredTerms(state, true); }

BENCHMARK(BM_HardAndSoftSpread)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_RequiredAffinity)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_PreferredTermsOfNobody)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_PreferredTermsOfAll)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ks::plugins
