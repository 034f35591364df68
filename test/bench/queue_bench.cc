// SPDX-License-Identifier: Apache-2.0
// What 100,000 parked pods cost: time of one event that can help none of them, by the plugin that
// rejected them, the kind of event and the number of templates they come from; time of one that
// wakes them all; bytes for each pod that the queue holds.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <chrono>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "plugins/registry.h"
#include "scheduler/scheduler.h"
#include "testing/builders.h"
#include "testing/fake_api_writer.h"
#include "testing/fake_clock.h"

namespace ks::scheduler {
namespace {

using framework::ClusterEvent;
using framework::EventObject;
using framework::EventResource;
using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::NodeBuilder;

constexpr int kPods = 100'000;

// A spec of that template that the plugin rejects everywhere here.
std::shared_ptr<const api::PodSpec> SpecFor(const std::string& plugin, int i) {
  const std::string text = std::to_string(i);
  if (plugin == "NodeAffinity") return MakePod().NodeSelector({{"pool", "v" + text}}).Obj()->spec;
  if (plugin == "NodeResourcesFit") {
    return MakePod().Req({{"cpu", std::to_string(1000 + i)}}).Obj()->spec;
  }
  if (plugin == "TaintToleration") {
    return MakePod().Toleration("t" + text, "Exists", "", "").Obj()->spec;
  }
  auto spec = std::make_shared<api::PodSpec>(*MakePod().Obj()->spec);
  if (plugin == "VolumeBinding") {
    api::Volume& volume = spec->volumes.emplace_back();
    volume.source = api::Volume::Source::kPersistentVolumeClaim;
    volume.id = "claim-" + text;
    return spec;
  }
  api::LabelSelectorSpec selector;
  selector.match_labels.emplace_back("app", "a" + text);
  if (plugin == "PodTopologySpread") {
    api::TopologySpreadConstraint constraint;
    constraint.max_skew = 1;
    constraint.topology_key = Symbol("rack");
    constraint.when_unsatisfiable = "DoNotSchedule";
    constraint.label_selector = selector;
    spec->topology_spread_constraints.push_back(std::move(constraint));
  } else {
    api::PodAffinityTerm term;
    term.topology_key = Symbol("rack");
    term.label_selector = selector;
    spec->pod_affinity.emplace().required.push_back(std::move(term));
  }
  return spec;
}

class Bed {
 public:
  Bed(const std::string& plugin, int templates) : registry_(plugins::InTreeRegistry()) {
    auto made =
        Scheduler::Create({.registry = &registry_, .api = &api_, .clock = &clock_, .seed = 1});
    scheduler_ = std::move(made.value());
    std::vector<std::shared_ptr<const api::PodSpec>> specs;
    for (int i = 0; i < templates; ++i) specs.push_back(SpecFor(plugin, i));
    for (int i = 0; i < kPods; ++i) {
      const auto pod =
          std::make_shared<api::Pod>(*MakePod().Name("pod-" + std::to_string(i)).Obj());
      pod->spec = specs[static_cast<size_t>(i % templates)];
      pods_.push_back(pod);
    }
    const size_t before = mallinfo2().uordblks;
    for (const api::PodPtr& pod : pods_) queue().Add(pod);
    for (int i = 0; i < kPods; ++i) FailOne({plugin});
    bytes_per_pod = static_cast<double>(mallinfo2().uordblks - before) / kPods;
    // No backoff is in the way any more.
    clock_.Advance(std::chrono::minutes(1));
    KS_CHECK(queue().pending().unschedulable == kPods, "not all pods are parked");
  }

  queue::SchedulingQueue& queue() { return scheduler_->context().queue; }
  void FailOne(const std::set<std::string>& plugins) {
    const framework::QueuedPodPtr pod = queue().Pop().pod;
    KS_CHECK(pod != nullptr, "nothing to pop");
    pod->unschedulable_plugins = plugins;
    const Result<void> returned = queue().AddUnschedulableIfNotPresent(pod);
    KS_CHECK(returned.ok(), "a pod cannot return");
  }

  double bytes_per_pod = 0;

 private:
  ks::testing::FakeClock clock_;
  ks::testing::FakeApiWriter api_;
  framework::Registry registry_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<api::PodPtr> pods_;
};

// Made once for each plugin and number of templates; only the last one is kept.
Bed& BedOf(const std::string& plugin, int templates) {
  static std::pair<std::pair<std::string, int>, std::unique_ptr<Bed>> kept;
  const std::pair<std::string, int> key(plugin, templates);
  if (kept.second == nullptr || kept.first != key) {
    kept.second.reset();
    kept = {key, std::make_unique<Bed>(plugin, templates)};
  }
  return *kept.second;
}

struct Kind {
  const char* name;
  ClusterEvent event;
  EventObject old_object;
  EventObject new_object;
};

NodeBuilder Node() {
  return MakeNode()
      .Name("node")
      .Zone("z")
      .Label("rack", "r1")
      .Allocatable({{"cpu", "16"}, {"memory", "64Gi"}, {"pods", "110"}})
      .Taint("dedicated", "", "NoSchedule");
}

// None of them helps any pod of SpecFor.
std::vector<Kind> Kinds() {
  const auto node = [](uint32_t action) { return ClusterEvent{EventResource::kNode, action, {}}; };
  const EventObject plain = Node().Obj();
  const EventObject labeled = Node().Label("unrelated", "1").Obj();
  const EventObject pooled = Node().Label("pool", "other").Obj();
  const EventObject tainted = Node().Taint("more", "", "NoSchedule").Obj();
  const EventObject shrunk =
      Node().Allocatable({{"cpu", "8"}, {"memory", "64Gi"}, {"pods", "110"}}).Obj();
  const EventObject pod = MakePod().Name("gone").Labels({{"app", "none"}}).Node("node").Obj();
  auto claim = std::make_shared<api::PersistentVolumeClaim>();
  claim->meta.ns = Symbol("default");
  claim->meta.name = "another";
  const EventObject bound = api::PersistentVolumeClaimPtr(claim);
  return {{"ClaimUpdate",
           {EventResource::kPersistentVolumeClaim, framework::kActionUpdate, {}},
           bound,
           bound},
          {"NodeLabel", node(framework::kActionUpdateNodeLabel), plain, labeled},
          {"NodeLabelRead", node(framework::kActionUpdateNodeLabel), plain, pooled},
          {"NodeTaint", node(framework::kActionUpdateNodeTaint), plain, tainted},
          {"NodeAllocatable", node(framework::kActionUpdateNodeAllocatable), plain, shrunk},
          {"NodeCondition", node(framework::kActionUpdateNodeCondition), plain, plain},
          {"PodAdd", {EventResource::kAssignedPod, framework::kActionAdd, {}}, {}, pod}};
}

void BM_Useless(benchmark::State& state, const std::string& plugin, int templates,
                const Kind& kind) {
  Bed& bed = BedOf(plugin, templates);
  const int64_t runs = bed.queue().stats().effects.contains(kind.event.Label())
                           ? bed.queue().stats().effects.at(kind.event.Label()).hint_runs
                           : 0;
  for (auto _ : state) {
    bed.queue().MoveAllToActiveOrBackoff(kind.event, kind.old_object, kind.new_object);
  }
  const auto effect = bed.queue().stats().effects.find(kind.event.Label());
  const bool interesting = effect != bed.queue().stats().effects.end();
  state.counters["hints_per_event"] = interesting
                                          ? static_cast<double>(effect->second.hint_runs - runs) /
                                                static_cast<double>(state.iterations())
                                          : 0;
  state.counters["woken"] = static_cast<double>(kPods - bed.queue().pending().unschedulable);
  state.counters["bytes_per_pod"] = bed.bytes_per_pod;
}

// Everything moves to the active heap and is parked again, outside the measured time.
void BM_WakesAll(benchmark::State& state) {
  Bed& bed = BedOf("NodeResourcesFit", 100);
  const ClusterEvent event{EventResource::kAssignedPod, framework::kActionDelete, {}};
  const EventObject gone = MakePod().Name("gone").Node("node").Obj();
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    bed.queue().MoveAllToActiveOrBackoff(event, gone, {});
    const auto end = std::chrono::steady_clock::now();
    state.SetIterationTime(std::chrono::duration<double>(end - begin).count());
    KS_CHECK(bed.queue().pending().unschedulable == 0, "not all pods were woken");
    for (int i = 0; i < kPods; ++i) bed.FailOne({"NodeResourcesFit"});
  }
}

const bool kRegistered = [] {
  for (const char* plugin : {"NodeAffinity", "NodeResourcesFit", "TaintToleration",
                             "PodTopologySpread", "InterPodAffinity", "VolumeBinding"}) {
    const bool of_volumes = std::string_view(plugin) == "VolumeBinding";
    for (const int templates : {1, 100, kPods}) {
      for (const Kind& kind : Kinds()) {
        // Events of nodes help whatever VolumeBinding rejected.
        if (of_volumes && std::string_view(kind.name) != "ClaimUpdate") continue;
        const std::string name = std::string("Useless/") + plugin + "/" + kind.name +
                                 "/templates:" + std::to_string(templates);
        benchmark::RegisterBenchmark(name.c_str(), [plugin, templates,
                                                    kind](benchmark::State& state) {
          BM_Useless(state, plugin, templates, kind);
        })->Unit(benchmark::kMicrosecond);
      }
    }
  }
  benchmark::RegisterBenchmark("WakesAll", BM_WakesAll)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
}  // namespace ks::scheduler
