// SPDX-License-Identifier: Apache-2.0
// Decisions per second, in process, on one thread: from a pending pod to the assumed one, on a
// cluster with as many running pods as nodes. Queue, binding and network are left out.
//
// BM_Decide/<workload>/<nodes>/<remember verdicts>: items_per_second is the figure. "record"
// remembers verdicts and records the decisions as the daemon does (scheduler/decision_ring.h).
#include <benchmark/benchmark.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench/pod_kinds.h"
#include "cache/cache.h"
#include "cache/owner_stores.h"
#include "cache/storage_stores.h"
#include "config/read/defaults.h"
#include "framework/runtime/offline_parts.h"
#include "framework/runtime/profiles.h"
#include "plugins/registry.h"
#include "scheduler/algorithm/scheduling_algorithm.h"
#include "scheduler/decision_ring.h"
#include "testing/builders.h"

namespace ks::scheduler {
namespace {

using bench::kHostname;
using bench::kZone;
using ks::testing::MakeNode;

constexpr int kBatch = 500;  // decisions between two clean-ups

constexpr const char* kManyApplications = "hard_spread_of_1000_applications";

// Templates taken in turn: one for a plain workload, two of each kind for the mixed one.
std::vector<api::PodPtr> Templates(const std::string& workload) {
  std::vector<api::PodPtr> templates;
  for (int i = 0; workload == kManyApplications && i < 1000; ++i) {
    templates.push_back(bench::Spread("app-" + std::to_string(i), "DoNotSchedule", kZone).Obj());
  }
  for (const bench::PodKind& kind : bench::kPodKinds) {
    if (workload != "mixed" && workload != kind.name) continue;
    const int count = workload == "mixed" ? 2 : 1;
    for (int i = 0; i < count; ++i) {
      templates.push_back(kind.make(std::string(kind.name) + "-" + std::to_string(i)).Obj());
    }
  }
  return templates;
}

class Bed {
 public:
  Bed(const std::string& workload, int nodes, bool remember, size_t decisions_kept)
      : decisions_({.capacity = decisions_kept}, RealClock()), templates_(Templates(workload)) {
    for (int i = 0; i < nodes; ++i) {
      const std::string name = "node-" + std::to_string(i);
      cache_.AddNode(MakeNode()
                         .Name(name)
                         .Zone("zone-" + std::to_string(i % 3))
                         .Label(kHostname, name)
                         .Allocatable({{"cpu", "16"}, {"memory", "64Gi"}, {"pods", "110"}})
                         .Obj());
    }
    // A fifth of the running pods are of the workload, the others plain ones of other apps.
    for (int i = 0; i < nodes; ++i) {
      const bool same = i % 5 == 0;
      const api::PodPtr pod =
          same ? templates_[static_cast<size_t>(i / 5) % templates_.size()] : other_;
      KS_CHECK(cache_.AddPod(OnNode(*pod, "node-" + std::to_string(i))).ok(), "running pod");
    }
    auto profiles =
        framework::BuildProfiles(registry_, config::DefaultConfiguration(),
                                 {.parts = parts_.parts(), .remember_verdicts = remember});
    KS_CHECK(profiles.ok(), "profiles");
    profiles_ = std::move(profiles).value();
  }

  // Seconds for one batch of decisions.
  double Run() {
    std::vector<api::PodPtr> pending;
    for (int i = 0; i < kBatch; ++i) {
      pending.push_back(OnNode(*templates_[next_template_++ % templates_.size()], ""));
    }
    std::vector<api::PodPtr> assumed;
    assumed.reserve(pending.size());
    const framework::Framework& framework = *profiles_.begin()->second;
    const auto begin = std::chrono::steady_clock::now();
    for (const api::PodPtr& pod : pending) {
      Attempt attempt(framework, pod, spaces_);
      Begin(attempt);
      KS_CHECK(cache_.RefreshSnapshot().ok(), "refresh");
      algorithm_.SchedulePod(attempt);
      KS_CHECK(attempt.result.node != nullptr, "a node for each pod");
      decisions_.Scored(attempt.decision, *attempt.search);
      decisions_.Chosen(attempt.decision, attempt.result, cache_.nodes().size());
      auto copy = std::make_shared<api::Pod>(*pod);
      copy->node_name = Symbol(attempt.result.node->name());
      KS_CHECK(cache_.AssumePod(copy).ok(), "assume");
      assumed.push_back(std::move(copy));
    }
    const auto end = std::chrono::steady_clock::now();
    for (const api::PodPtr& pod : assumed) KS_CHECK(cache_.ForgetPod(*pod).ok(), "forget");
    return std::chrono::duration<double>(end - begin).count();
  }

 private:
  void Begin(Attempt& attempt) {
    if (decisions_.capacity() == 0) return;
    queued_.set_pod(attempt.pod);
    attempt.decision = decisions_.Begin(queued_);
    attempt.search->scores.keep_details = decisions_.WantsScoresByPlugin(attempt.decision);
  }

  api::PodPtr OnNode(const api::Pod& pod, const std::string& node) {
    auto copy = std::make_shared<api::Pod>(pod);
    copy->meta.name = "pod-" + std::to_string(next_pod_++);
    copy->meta.uid = "uid-" + copy->meta.name;
    copy->node_name = Symbol(node);
    return copy;
  }

  Random random_{1};
  const framework::OfflineParts parts_{{.snapshot = &cache_,
                                        .owner_listers = &owners_,
                                        .storage = &storage_,
                                        .clock = &RealClock(),
                                        .random = &random_}};
  cache::Cache cache_;
  cache::OwnerStores owners_;
  cache::StorageStores storage_;
  framework::Registry registry_ = plugins::InTreeRegistry();
  framework::Profiles profiles_;
  Parallelizer parallelizer_{1};
  SchedulingAlgorithm algorithm_{cache_, parallelizer_, 0};
  SearchSpaces spaces_;
  DecisionRing decisions_;
  framework::QueuedPod queued_{nullptr};
  const std::vector<api::PodPtr> templates_;
  const api::PodPtr other_ = bench::Plain("other").Obj();
  size_t next_template_ = 0;
  int next_pod_ = 0;
};

void BM_Decide(benchmark::State& state, const std::string& workload, int nodes,
               const std::string& how) {
  Bed bed(workload, nodes, how != "forget", how == "record" ? 1000 : 0);
  for (auto _ : state) state.SetIterationTime(bed.Run());
  state.SetItemsProcessed(state.iterations() * kBatch);
}

[[maybe_unused]] const bool registered = [] {
  std::vector<std::string> workloads;
  for (const bench::PodKind& kind : bench::kPodKinds) workloads.emplace_back(kind.name);
  workloads.emplace_back("mixed");
  workloads.emplace_back(kManyApplications);
  for (const int nodes : {5000, 50000}) {
    for (const std::string& workload : workloads) {
      for (const std::string how : {"remember", "record", "forget"}) {
        const std::string name = "BM_Decide/" + workload + "/" + std::to_string(nodes) + "/" + how;
        benchmark::RegisterBenchmark(name.c_str(), BM_Decide, workload, nodes, how)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace ks::scheduler
