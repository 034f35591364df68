// SPDX-License-Identifier: Apache-2.0
// One scheduling attempt of a plain pod, from the pod's delta to the binding call, by cluster size.
// The API answers at once and the pod is deleted between two attempts, outside the measured time,
// so that every attempt sees the same load.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "plugins/registry.h"
#include "scheduler/scheduler.h"
#include "testing/builders.h"
#include "testing/deltas.h"
#include "testing/fake_api_writer.h"
#include "testing/no_objects.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;

api::PodPtr PlainPod(int i) {
  return MakePod()
      .Name("pod-" + std::to_string(i))
      .Req({{"cpu", "100m"}, {"memory", "128Mi"}}, "registry.example/app:1")
      .Obj();
}

class Bed {
 public:
  explicit Bed(int nodes) : registry_(plugins::InTreeRegistry()) {
    auto made =
        Scheduler::Create({.registry = &registry_, .api = &api, .clock = &RealClock(), .seed = 1});
    scheduler = std::move(made.value());
    api::Delta<api::Node> state;
    for (int i = 0; i < nodes; ++i) {
      state.items.push_back(MakeNode()
                                .Name("node-" + std::to_string(i))
                                .Zone("zone-" + std::to_string(i % 3))
                                .Allocatable({{"cpu", "16"}, {"memory", "64Gi"}, {"pods", "110"}})
                                .Obj());
    }
    scheduler->Post(NodeDeltas{std::move(state)});
    scheduler->Post(PodDeltas{api::Delta<api::Pod>{}});
    testing::PostNoOwners(*scheduler);
    testing::PostNoStorageOrDevices(*scheduler);
    // Two pods on each node, so that scores differ and rows are warm with real sums.
    for (int i = 0; i < nodes * 2; ++i) {
      const std::string node = "node-" + std::to_string(i % nodes);
      Post(testing::Upsert(MakePod()
                               .Name("running-" + std::to_string(i))
                               .Node(node)
                               .Req({{"cpu", i % 5 == 0 ? "2" : "500m"}, {"memory", "1Gi"}})
                               .Obj()));
    }
    while (scheduler->Step()) {
    }
  }

  void Post(api::Delta<api::Pod> delta) { scheduler->Post(PodDeltas{std::move(delta)}); }

  ks::testing::FakeApiWriter api;
  std::unique_ptr<Scheduler> scheduler;

 private:
  framework::Registry registry_;
};

void BM_Attempt(benchmark::State& state) {
  Bed bed(static_cast<int>(state.range(0)));
  int i = 0;
  for (auto _ : state) {
    const api::PodPtr pod = PlainPod(i++);
    const auto begin = std::chrono::steady_clock::now();
    bed.Post(testing::Upsert(pod));
    while (bed.api.binds.empty()) bed.scheduler->Step();
    const auto end = std::chrono::steady_clock::now();
    state.SetIterationTime(std::chrono::duration<double>(end - begin).count());
    bed.api.AnswerBinds();
    bed.Post(testing::Delete(pod));
    while (bed.scheduler->Step()) {
    }
    bed.api.binds.clear();
    bed.api.events.clear();
  }
  state.counters["ns_per_node"] = benchmark::Counter(
      static_cast<double>(state.range(0)),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_Attempt)->Arg(100)->Arg(1000)->Arg(5000)->Arg(50000)->UseManualTime();

}  // namespace
}  // namespace ks::scheduler
