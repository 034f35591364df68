// SPDX-License-Identifier: Apache-2.0
// What a failed attempt costs. Hopeless: a pod that fits nowhere and has nobody to evict, by nodes.
// Preempting: pods on nodes full of smaller ones, until every node has made room for one.
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

class Cluster {
 public:
  // Four pods of that priority on each node, which fill it.
  Cluster(int nodes, int32_t priority) : registry_(plugins::InTreeRegistry()) {
    scheduler = std::move(
        Scheduler::Create({.registry = &registry_, .api = &api, .clock = &RealClock(), .seed = 1})
            .value());
    api::Delta<api::Node> state;
    api::Delta<api::Pod> pods;
    for (int i = 0; i < nodes; ++i) {
      const std::string node = "node-" + std::to_string(i);
      state.items.push_back(MakeNode()
                                .Name(node)
                                .Allocatable({{"cpu", "4"}, {"memory", "16Gi"}, {"pods", "110"}})
                                .Obj());
      for (int k = 0; k < 4; ++k) {
        pods.items.push_back(MakePod()
                                 .Name("small-" + std::to_string(i * 4 + k))
                                 .Priority(priority)
                                 .Node(node)
                                 .Req({{"cpu", "1"}})
                                 .Obj());
      }
    }
    scheduler->Post(NodeDeltas{std::move(state)});
    scheduler->Post(PodDeltas{std::move(pods)});
    testing::PostNoOwners(*scheduler);
    testing::PostNoStorageOrDevices(*scheduler);
    while (scheduler->Step()) {
    }
  }
  void Add(const api::PodPtr& pod) { scheduler->Post(PodDeltas{testing::Upsert(pod)}); }
  void Remove(const api::PodPtr& pod) { scheduler->Post(PodDeltas{testing::Delete(pod)}); }

  ks::testing::FakeApiWriter api;
  std::unique_ptr<Scheduler> scheduler;

 private:
  framework::Registry registry_;
};

api::PodPtr Preemptor(int i) {
  static const std::shared_ptr<const api::PodSpec> spec =
      MakePod().Priority(10).Req({{"cpu", "3"}}).Obj()->spec;
  auto pod = std::make_shared<api::Pod>(*MakePod().Name("p-" + std::to_string(i)).Obj());
  pod->spec = spec;
  return pod;
}

double Seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

void BM_Hopeless(benchmark::State& state) {
  Cluster cluster(static_cast<int>(state.range(0)), /*priority=*/10);
  int i = 0;
  for (auto _ : state) {
    const api::PodPtr pod = Preemptor(i++);
    cluster.Add(pod);
    const auto begin = std::chrono::steady_clock::now();
    while (cluster.api.patches.empty()) cluster.scheduler->Step();
    state.SetIterationTime(Seconds(std::chrono::steady_clock::now() - begin));
    cluster.Remove(pod);
    while (cluster.scheduler->Step()) {
    }
    cluster.api.patches.clear();
    cluster.api.events.clear();
  }
}
BENCHMARK(BM_Hopeless)->Arg(500)->Arg(5000)->UseManualTime();

// One iteration: as many preemptors as nodes, each answered at once; time of one of them.
void BM_Preempting(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  for (auto _ : state) {
    Cluster cluster(nodes, /*priority=*/0);
    for (int i = 0; i < nodes; ++i) cluster.Add(Preemptor(i));
    const auto begin = std::chrono::steady_clock::now();
    while (cluster.scheduler->Step()) {
    }
    state.SetIterationTime(Seconds(std::chrono::steady_clock::now() - begin) / nodes);
    if (cluster.api.evictions.size() < static_cast<size_t>(nodes)) {
      state.SkipWithError("not every preemptor found victims");
    }
  }
}
BENCHMARK(BM_Preempting)->Arg(500)->UseManualTime()->Iterations(20);

}  // namespace
}  // namespace ks::scheduler
