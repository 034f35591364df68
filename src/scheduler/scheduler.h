// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scheduler: one thread that owns cache, queue and frameworks, fed through an inbox. It has no
// network code: deltas come in by Post, writes leave through framework::ApiWriter, time is a Clock.
// The same object runs in the daemon and in tests under virtual time.
//
// Upstream: docs/spec/cycle.md sections 4 and 5, docs/spec/cache.md section 13.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "cache/owner_stores.h"
#include "cache/storage_stores.h"
#include "config/read/defaults.h"
#include "framework/metrics/batch_metrics.h"
#include "framework/registry.h"
#include "scheduler/algorithm/attempt.h"
#include "scheduler/algorithm/scheduling_algorithm.h"
#include "scheduler/binding_cycle.h"
#include "scheduler/context.h"
#include "scheduler/decision_ring.h"
#include "scheduler/event_router.h"
#include "scheduler/extender_attempts.h"
#include "scheduler/failure_handler.h"
#include "scheduler/scheduling_cycle.h"
#include "scheduler/step_tap.h"

namespace ks::scheduler {

// The informer's pods, for plugins. Lifetime: the store outlives it.
class InformerPods final : public framework::PodLister {
 public:
  explicit InformerPods(const cache::ObjectStore<api::Pod>& pods) : pods_(pods) {}
  api::PodPtr FindPod(std::string_view key) const override { return pods_.Get(key); }

 private:
  const cache::ObjectStore<api::Pod>& pods_;
};

// The informer's nodes, for plugins. Lifetime: the store outlives it.
class InformerNodes final : public framework::NodeLister {
 public:
  explicit InformerNodes(const cache::ObjectStore<api::Node>& nodes) : nodes_(nodes) {}
  api::NodePtr FindNode(std::string_view name) const override { return nodes_.Get(name); }

 private:
  const cache::ObjectStore<api::Node>& nodes_;
};

struct SchedulerOptions {
  config::Configuration configuration = config::DefaultConfiguration();
  const framework::Registry* registry = nullptr;
  framework::ApiWriter* api = nullptr;
  const Clock* clock = nullptr;
  uint64_t seed = 0;
  const config::FeatureGates* gates = nullptr;  // null: the defaults
  // Null: nothing is measured.
  framework::FrameworkMetrics* metrics = nullptr;
  framework::BatchMetrics* batch_metrics = nullptr;
  SchedulerMetrics* scheduler_metrics = nullptr;
  bool remember_verdicts = true;  // see framework::FrameworkOptions
  // Bindings that may be unanswered before the scheduler pauses deciding: bounds memory when the
  // API server is slow.
  size_t max_outstanding_bindings = 1000;
  // Longest stay of a pod among the unschedulable ones.
  Duration unschedulable_max = std::chrono::minutes(5);
  // Empty: extenders of the configuration are not asked (offline tools).
  framework::ExtenderTransportFactory extender_transport{};
  // Decisions that are remembered for operators, and who is told of each (may be empty).
  size_t decisions_kept = 0;
  DecisionRing::Observer on_decision{};
  // Least time between two decisions that keep their scores by plugin (DecisionRing).
  Duration scores_by_plugin_period = DecisionRing::kByPluginPeriod;
  // Told of everything that comes in and of every decision. Then time stands still within a round
  // (durations measured in it are 0), and answers of the API server and of extenders are worked on
  // by the scheduling thread; decisions are the same. Where objects are to be
  // written down, deltas must bring their texts. Empty: nobody is told, and nothing is paid.
  StepObserver on_step{};
  // Told once, on the scheduling thread, when Synced() becomes true. May be empty.
  std::function<void()> on_synced;
  // A standby keeps its caches and its queue and attempts nothing, until Lead.
  bool standby = false;
  // Asked before each attempt; while it says no, nothing is attempted. Whoever makes it say yes
  // again posts a task. Empty: always.
  std::function<bool()> may_attempt{};
};

// Threads: Post, Stop and Synced any; the rest the scheduling thread, which is the one that calls
// Run or Step. Lifetime: what the options point to outlives it; Stop and Run's return precede
// destruction.
class Scheduler {
 public:
  // Error: a profile cannot be built; `initializing profiles: …`.
  static Result<std::unique_ptr<Scheduler>> Create(SchedulerOptions options);

  void Post(Message message) { inbox_.Post(std::move(message)); }
  // Pods, nodes and NeededKinds() delivered their first full state and the handlers processed
  // it.
  bool Synced() const { return synced_.load(std::memory_order_acquire); }

  // Puts another configuration into force, between two attempts: profiles, plugins and their
  // arguments, percentageOfNodesToScore, parallelism and backoff. No pod is lost: queued pods are
  // placed anew, pods on their way to a node finish under the profile that decided them, pending
  // pods whose scheduler name got or lost a profile are taken up or let go. Error: a profile cannot
  // be built (`initializing profiles: …`); nothing has changed then.
  Result<void> Reload(const config::Configuration& configuration);

  // Schedules until Stop: then begins no attempt any more and returns when the bindings under way
  // are answered, or `grace` has passed. What was posted before Stop has run then.
  void Run(Duration grace = std::chrono::seconds(20));
  void Stop();
  // The same with a shorter grace than Run was called with.
  void Stop(Duration grace);

  // Ends the standby. Threads: the scheduling thread.
  void Lead();
  bool leading() const { return leading_; }

  // One round without waiting: apply what was posted, fire due timers, attempt one pod. True when
  // anything was done.
  bool Step();
  // When Step has work next, if nothing is posted before; absent: only when something is posted.
  std::optional<TimePoint> NextTimer() const;

  // The optional kinds that some plugin of some profile reads: whoever feeds the scheduler must
  // post them (OwnerDeltas, StorageDeltas). Nothing is attempted before they are there. Changes
  // with Reload.
  framework::OptionalKinds NeededKinds() const { return needed_kinds_; }
  // The kinds whose whole objects extenders must be sent: whoever feeds the scheduler must keep
  // them (api::KeepRaw). Changes with Reload; if it asks for more, pods that extenders manage wait
  // for the next full state of both kinds. Threads: the scheduling thread.
  struct WholeObjects {
    api::KeepRaw pods = api::KeepRaw::kNone;
    api::KeepRaw nodes = api::KeepRaw::kNone;
    bool operator==(const WholeObjects&) const = default;
  };
  WholeObjects NeededWholeObjects() const;
  // Carries over to the registry what is only computed when it is read (SchedulerMetrics::Publish).
  // Threads: the scheduling thread.
  void PublishMetrics();
  const config::Configuration& configuration() const { return options_.configuration; }
  const SchedulerStats& stats() const { return stats_; }
  cache::Cache& cache() { return cache_; }
  queue::SchedulingQueue& queue() { return *queue_; }
  const cache::Cache& cache() const { return cache_; }
  const queue::SchedulingQueue& queue() const { return *queue_; }
  const Profiles& profiles() const { return profiles_; }
  // What the queue is told of the profiles, by scheduler name; until Reload.
  std::map<std::string, queue::ProfileHooks> QueueHooks() const;
  // For reports. Threads: the scheduling thread.
  const SchedulerOptions& options() const { return options_; }
  const DecisionRing& decisions() const { return decisions_; }
  const cache::ObjectStore<api::Pod>& informer_pods() const { return pods_; }
  const cache::ObjectStore<api::Node>& informer_nodes() const { return nodes_; }
  const framework::PodLister& pod_lister() const { return informer_pods_; }
  const framework::NodeLister& node_lister() const { return informer_nodes_; }
  const cache::OwnerStores& owners() const { return owners_; }
  const cache::StorageStores& storage() const { return storage_; }
  cache::StorageStores& storage() { return storage_; }
  const BindingCycles& bindings() const { return *bindings_; }
  framework::WaitingPods& waiting_pods() { return waiting_pods_; }
  const ExtenderAttempts& extender_attempts() const { return *extender_attempts_; }
  const SchedulingAlgorithm& algorithm() const { return algorithm_; }
  // Whether it may bind: no standby, and its lease is held. Threads: the scheduling thread.
  bool Leads() const { return leading_ && (!options_.may_attempt || options_.may_attempt()); }
  // The pod is on a node and has a place in the queue all the same. Threads: the scheduling thread.
  bool WaitsForResize(const api::Pod& pod) const { return context_->WaitsForResize(pod); }
  // The pod is one for the queue, whoever schedules it. Threads: the scheduling thread.
  bool IsQueued(const api::Pod& pod) const { return context_->IsQueued(pod); }
  // Every pod that the informer holds, as the API server last showed it. Threads: the scheduling
  // thread.
  const cache::ObjectStore<api::Pod>& pods() const { return pods_; }

 private:
  explicit Scheduler(SchedulerOptions options);
  std::unique_ptr<StepTap> MakeTap();
  bool Round();
  Result<void> Build();
  // What a configuration puts into force.
  struct InForce {
    Profiles profiles;
    std::shared_ptr<ExtenderSet> extenders;
  };
  Result<InForce> MakeInForce(const config::Configuration& configuration);
  Result<Profiles> MakeProfiles(const config::Configuration& configuration, ExtenderSet* extenders);
  queue::SchedulingQueue::Settings QueueSettings() const;
  std::vector<api::PodPtr> TakeUpAndLetGo(const Profiles& former);
  void FindNeededKinds();
  void DropRetiredProfiles();

  bool ApplyInbox();
  void ApplyPods(const PodDeltas& deltas);
  void ApplyNodes(const NodeDeltas& deltas);
  void ApplyOwners(const OwnerDeltas& deltas);
  void ApplyStorage(const StorageDeltas& deltas);
  bool NeededKindsSynced() const {
    return owners_.Synced(needed_kinds_) && storage_.Synced(needed_kinds_);
  }
  bool FireTimers();
  bool MayAttempt();
  Result<std::shared_ptr<ExtenderSet>> MakeExtenders(const config::Configuration& configuration);
  void UseExtenders(std::shared_ptr<ExtenderSet> extenders);

  SchedulerOptions options_;  // its configuration is the one in force
  Random random_;
  Inbox inbox_;
  std::atomic<bool> synced_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> stop_grace_{INT64_MAX};  // nanoseconds
  bool leading_ = true;

  SchedulerStats stats_;
  DecisionRing decisions_;
  const std::unique_ptr<StepTap> tap_;  // null: no on_step. Replaces clock and writer in options_
  cache::Cache cache_;
  cache::OwnerStores owners_;
  cache::StorageStores storage_;
  framework::OptionalKinds needed_kinds_;
  framework::WaitingPods waiting_pods_;
  framework::PodsInPreBind pods_in_pre_bind_;
  cache::ObjectStore<api::Pod> pods_;
  const InformerPods informer_pods_{pods_};
  cache::ObjectStore<api::Node> nodes_;
  const InformerNodes informer_nodes_{nodes_};
  std::unique_ptr<queue::SchedulingQueue> queue_;
  // Below what their plugins use.
  Profiles profiles_;
  std::vector<Profiles> retired_;  // replaced by Reload, kept while pods are on their way
  bool pods_synced_ = false;
  bool nodes_synced_ = false;

  std::unique_ptr<Context> context_;
  std::unique_ptr<EventRouter> router_;
  std::unique_ptr<FailureHandler> failures_;
  SearchSpaces search_spaces_;  // outlives the attempts, which stand below
  std::unique_ptr<BindingCycles> bindings_;
  Parallelizer parallelizer_;
  SchedulingAlgorithm algorithm_;
  std::vector<Message> batch_;

  // Last, because their answers arrive through what stands above.
  std::shared_ptr<ExtenderSet> extenders_;                       // null: none
  std::vector<std::shared_ptr<ExtenderSet>> retired_extenders_;  // replaced, still being asked
  std::unique_ptr<ExtenderAttempts> extender_attempts_;
  std::unique_ptr<SchedulingCycle> cycle_;
  bool whole_pods_missing_ = false;
  bool whole_nodes_missing_ = false;
};

}  // namespace ks::scheduler
