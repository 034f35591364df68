// SPDX-License-Identifier: Apache-2.0
// Gangs, from their pods' deltas to the last binding call or the condition that says why not, by
// members and nodes. The API answers at once; all goes again between two gangs, outside the
// measured time.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "config/gates/feature_gates.h"
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
using SteadyClock = std::chrono::steady_clock;
using PodDelta = api::Delta<api::Pod>;
using GroupDelta = api::Delta<api::PodGroup>;

constexpr int kPodsPerNode = 4;

// Nodes with room for four members each.
class Bed {
 public:
  explicit Bed(int nodes)
      : nodes_(nodes),
        gates_(config::FeatureGates::Make({.feature_gates = {"GenericWorkload=true"}}, nullptr)
                   .value()),
        registry_(plugins::InTreeRegistry()) {
    auto made = Scheduler::Create({.configuration = config::DefaultConfiguration(gates_),
                                   .registry = &registry_,
                                   .api = &api,
                                   .clock = &RealClock(),
                                   .seed = 1,
                                   .gates = &gates_,
                                   .max_outstanding_bindings = 1'000'000});
    scheduler_ = std::move(made.value());
    api::Delta<api::Node> all;
    for (int i = 0; i < nodes; ++i) {
      all.items.push_back(MakeNode()
                              .Name("node-" + std::to_string(i))
                              .Zone("zone-" + std::to_string(i % 3))
                              .Allocatable({{"cpu", "16"}, {"memory", "64Gi"}, {"pods", "110"}})
                              .Obj());
    }
    scheduler_->Post(NodeDeltas{std::move(all)});
    scheduler_->Post(PodDeltas{PodDelta{}});
    testing::PostNoOwners(*scheduler_);
    testing::PostNoGroups(*scheduler_);
    testing::PostNoStorageOrDevices(*scheduler_);
    Drain();
  }

  // Fills each node with pods that anybody may preempt.
  void Fill() {
    PodDeltas deltas;
    const api::PodPtr like = MakePod().Req({{"cpu", "4"}, {"memory", "8Gi"}}).Obj();
    for (int i = 0; i < nodes_ * kPodsPerNode; ++i) {
      auto pod = std::make_shared<api::Pod>(*like);
      pod->meta.name = "low-" + std::to_string(i);
      pod->meta.uid = pod->meta.name;
      pod->node_name = Symbol("node-" + std::to_string(i / kPodsPerNode));
      deltas.push_back(testing::Upsert<api::Pod>(std::move(pod)));
    }
    scheduler_->Post(std::move(deltas));
    Drain();
  }

  // `members` pods of a new group that wants `quorum` of them, by default four to a node.
  void Make(int members, int quorum, const std::string& cpu = "4") {
    auto group = std::make_shared<api::PodGroup>();
    group->meta.ns = Symbol("default");
    group->meta.name = "gang-" + std::to_string(++gangs_);
    group->meta.uid = group->meta.name;
    group->meta.resource_version = std::to_string(gangs_);
    group->min_count = quorum;
    group->spec.priority = 10;
    group_ = group;
    // As decoded pods of one template, they share their spec.
    auto first = MakePod().Namespace("default").Priority(10).Req({{"cpu", cpu}, {"memory", "8Gi"}},
                                                                 "registry.example/app:1");
    first.spec().scheduling_group = group->meta.name;
    const api::PodPtr like = first.Obj();
    pods_.clear();
    for (int i = 0; i < members; ++i) {
      auto pod = std::make_shared<api::Pod>(*like);
      pod->meta.name = group->meta.name + "-" + std::to_string(i);
      pod->meta.uid = pod->meta.name;
      pods_.push_back(std::move(pod));
    }
  }

  // Until the scheduler has nothing left to do, as seconds. `together`: the pods come in one
  // message, else one by one.
  double Schedule(bool together) {
    const auto begin = SteadyClock::now();
    scheduler_->Post(GroupDeltas(std::vector<GroupDelta>{testing::Upsert(group_)}));
    PodDeltas deltas;
    for (const api::PodPtr& pod : pods_) {
      deltas.push_back(testing::Upsert(pod));
      if (together) continue;
      scheduler_->Post(std::move(deltas));
      Drain();
      deltas.clear();
    }
    if (together) scheduler_->Post(std::move(deltas));
    Drain();
    return std::chrono::duration<double>(SteadyClock::now() - begin).count();
  }

  void Remove() {
    api.AnswerBinds();
    PodDeltas deltas;
    for (const api::PodPtr& pod : pods_) deltas.push_back(testing::Delete(pod));
    scheduler_->Post(std::move(deltas));
    scheduler_->Post(GroupDeltas(std::vector<GroupDelta>{testing::Delete(group_)}));
    Drain();
    api.binds.clear();
    api.events.clear();
    api.patches.clear();
    api.group_patches.clear();
  }

  ks::testing::FakeApiWriter api;

 private:
  void Drain() {
    while (scheduler_->Step()) {
    }
  }

  const int nodes_;
  const config::FeatureGates gates_;
  const framework::Registry registry_;
  std::unique_ptr<Scheduler> scheduler_;
  int gangs_ = 0;
  api::PodGroupPtr group_;
  std::vector<api::PodPtr> pods_;
};

// A gang of state.range(1) on state.range(0) nodes; all of its members get nodes, or none.
void RunGangs(benchmark::State& state, bool fits, bool together) {
  const auto nodes = static_cast<int>(state.range(0));
  const auto members = static_cast<int>(state.range(1));
  Bed bed(nodes);
  for (auto _ : state) {
    bed.Make(members, members);
    state.SetIterationTime(bed.Schedule(together));
    const size_t expected = fits ? static_cast<size_t>(members) : 0;
    if (bed.api.binds.size() != expected || bed.api.group_patches.size() != 1) {
      state.SkipWithError("the gang came out differently");
    }
    bed.Remove();
  }
  state.counters["per_member"] = benchmark::Counter(
      static_cast<double>(members),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void BM_GangThatFits(benchmark::State& state) { RunGangs(state, true, true); }
BENCHMARK(BM_GangThatFits)
    ->Args({1000, 3})
    ->Args({1000, 100})
    ->Args({1000, 1000})
    ->Args({5000, 1000})
    ->Args({5000, 10000})
    ->Args({50000, 1000})
    ->Args({50000, 10000})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// As pods of a controller come.
void BM_GangOneByOne(benchmark::State& state) { RunGangs(state, true, false); }
BENCHMARK(BM_GangOneByOne)
    ->Args({1000, 100})
    ->Args({1000, 1000})
    ->Args({5000, 10000})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// There is room for all but the last member.
void BM_GangTooLarge(benchmark::State& state) { RunGangs(state, false, true); }
BENCHMARK(BM_GangTooLarge)
    ->Args({1000, 1000 * kPodsPerNode + 1})
    ->Args({2000, 2000 * kPodsPerNode + 1})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

// A member for each node, all of whose pods have to go.
void BM_GangThatPreempts(benchmark::State& state) {
  const auto nodes = static_cast<int>(state.range(0));
  for (auto _ : state) {
    Bed bed(nodes);
    bed.Fill();
    bed.Make(nodes, nodes, "16");
    state.SetIterationTime(bed.Schedule(/*together=*/true));
    const auto victims = static_cast<size_t>(nodes * kPodsPerNode);
    const auto& patches = bed.api.group_patches;
    const std::string expected = "preempting " + std::to_string(victims) + " victims";
    if (patches.empty() || patches.back().second.message.find(expected) == std::string::npos) {
      state.SkipWithError("the gang came out differently");
    }
  }
}
BENCHMARK(BM_GangThatPreempts)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(2000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ks::scheduler
