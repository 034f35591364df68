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
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "config/read/defaults.h"
#include "framework/metrics/batch_metrics.h"
#include "framework/registry.h"
#include "scheduler/algorithm/attempt.h"
#include "scheduler/algorithm/scheduling_algorithm.h"
#include "scheduler/binding_cycle.h"
#include "scheduler/cluster_state.h"
#include "scheduler/context.h"
#include "scheduler/decision_ring.h"
#include "scheduler/event_router.h"
#include "scheduler/extender_attempts.h"
#include "scheduler/failure_handler.h"
#include "scheduler/group_cycle.h"
#include "scheduler/profiles_in_force.h"
#include "scheduler/scheduling_cycle.h"
#include "scheduler/step_tap.h"
#include "tracing/pod_traces.h"
#include "tracing/traced_writer.h"

namespace ks::scheduler {

// What is remembered from attempt to attempt. Decisions are the same whatever it is.
struct MemoryOptions {
  bool remember_verdicts = true;                              // see framework::FrameworkOptions
  size_t least_ranked_nodes = NodeSearch::kLeastRankedNodes;  // see NodeSearch
  // Least time between two decisions that keep their scores by plugin (DecisionRing).
  Duration scores_by_plugin_period = DecisionRing::kByPluginPeriod;
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
  tracing::TraceOptions traces{};
  MemoryOptions memory{};
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

// Threads: Post, Stop, Synced and RunBeside any; the rest the scheduling thread, which
// is the one that calls Run or Step, and while it sleeps the one that calls RunBeside. Lifetime:
// what the options point to outlives it; Stop and Run's return precede destruction.
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
  // are answered, or `grace` has passed. What was posted before Stop has run then. An attempt of a
  // group that waits for extenders is given up.
  void Run(Duration grace = std::chrono::seconds(20));
  // While Run sleeps: runs rounds on the calling thread, so that no other one has to be woken, as
  // long as there is little to do and it takes no time; hands over to Run what is more. From the
  // first call on what this thread posts does not wake Run: it calls again after it has posted.
  // Never waits for Run, nor for an extender. Not after Stop.
  void RunBeside();
  // `grace`: shorter than the one that Run was called with.
  void Stop(std::optional<Duration> grace = std::nullopt);

  // For a simulation: who runs what blocks in PreBind, in the place of threads
  // (framework::PreBindStep::blocking). Before the first round.
  void RunBlockingBy(std::function<void(Task task)> run);

  // Ends the standby. Threads: the scheduling thread.
  void Lead();
  bool leading() const { return leading_; }

  // One round without waiting: apply what was posted, fire due timers, attempt one pod. True when
  // anything was done.
  bool Step();
  // When Step has work next, if nothing is posted before; absent: only when something is posted.
  std::optional<TimePoint> NextTimer() const;

  // The optional kinds that some plugin of some profile reads: whoever feeds the scheduler must
  // post them (OwnerDeltas, StorageDeltas, DeviceDeltas, GroupDeltas). Nothing is attempted before
  // they are there. Changes with Reload.
  framework::OptionalKinds NeededKinds() const { return in_force_->needed_kinds(); }
  // Carries over to the registry what is only computed when it is read (SchedulerMetrics::Publish).
  // Threads: the scheduling thread.
  void PublishMetrics();
  // Whether it may bind: no standby, and its lease is held. Threads: the scheduling thread.
  bool Leads() const { return leading_ && (!options_.may_attempt || options_.may_attempt()); }

  // For reports and tests. Threads: the scheduling thread.
  const SchedulerOptions& options() const { return options_; }
  const Context& context() const { return *context_; }
  const ProfilesInForce& in_force() const { return *in_force_; }

  // Where an event or a pod goes from step to step.
  struct Steps {
    Steps(Context& context, SchedulingAlgorithm& algorithm, const SchedulerOptions& options);
    EventRouter router;
    FailureHandler failures;
    BindingCycles bindings;
    ExtenderAttempts extender_attempts;
    SchedulingCycle cycle;
    GroupCycle group_cycle;
  };
  const Steps& steps() const { return *steps_; }

 private:
  // Pods whose bindings are held up.
  struct HeldPods {
    explicit HeldPods(const Clock& clock) : waiting_pods(clock) {}
    framework::WaitingPods waiting_pods;
    framework::PodsInPreBind pods_in_pre_bind;
  };
  struct Search {
    Search(cache::Cache& cache, const config::Configuration& configuration)
        : parallelizer(configuration.parallelism),
          algorithm(cache, parallelizer, configuration.percentage_of_nodes_to_score) {}
    SearchSpaces spaces;  // outlives the attempts
    Parallelizer parallelizer;
    SchedulingAlgorithm algorithm;
  };
  struct Stopping {
    std::stop_source source;
    std::atomic<int64_t> grace{INT64_MAX};  // nanoseconds
  };
  // Replaces the writer in the options. Null pods: nothing is traced.
  struct Traces {
    explicit Traces(SchedulerOptions& options, const Clock& clock);
    std::unique_ptr<tracing::PodTraces> pods;
    std::unique_ptr<tracing::TracedWriter> writer;
  };
  explicit Scheduler(SchedulerOptions options);
  framework::HandleParts PluginParts();
  Result<void> Build();
  void UseExtenders();
  std::vector<api::PodPtr> TakeUpAndLetGo(const Profiles& former);
  void DropRetiredProfiles();

  bool Round();
  bool ApplyInbox();
  void Apply(Task& task);
  template <class Deltas>
  void Apply(Deltas& deltas);
  bool FireTimers();
  bool MayAttempt();

  SchedulerOptions options_;  // its configuration is the one in force
  Random random_;
  Inbox inbox_;
  std::atomic<bool> synced_{false};
  Mutex turn_;  // whose holder is the scheduling thread
  struct Times {
    std::optional<TimePoint> run_sleeps_until{};  // absent: until it is woken
    TimePoint beside_again{};                     // until then RunBeside leaves everything to Run
  };
  Times times_ KS_GUARDED_BY(turn_);
  Stopping stop_;
  bool leading_ = true;

  SchedulerStats stats_;
  DecisionRing decisions_;
  const std::unique_ptr<StepTap> tap_;  // null: no on_step. Replaces clock and writer in options_
  const Traces traces_;
  ClusterState cluster_;
  HeldPods held_;
  Search search_;
  std::vector<Message> batch_;

  // What plugins use is above, what uses plugins below them.
  std::unique_ptr<queue::SchedulingQueue> queue_;
  std::unique_ptr<ProfilesInForce> in_force_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<Steps> steps_;
};

}  // namespace ks::scheduler
