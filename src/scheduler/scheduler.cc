// SPDX-License-Identifier: Apache-2.0
#include "scheduler/scheduler.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "scheduler/metrics/scheduler_metrics.h"

namespace ks::scheduler {

using framework::Status;

namespace {

// So many attempts may wait for extenders without one being forgotten.
constexpr size_t kLeastKeptByTap = 1000;
// What RunBeside takes upon itself, in messages and in rounds.
constexpr size_t kMostBeside = 8;
// Rounds that take longer are not for the thread that has the connections: for twenty times as long
// as they took, it leaves everything to Run.
constexpr Duration kLongBeside = std::chrono::milliseconds(2);
constexpr int kTimesLong = 20;

SchedulerOptions WithGates(SchedulerOptions options) {
  static const config::FeatureGates defaults;
  if (options.gates == nullptr) options.gates = &defaults;
  return options;
}

// Null: nobody listens. Replaces clock, writer and transport in `options`.
std::unique_ptr<StepTap> MakeTap(SchedulerOptions& options, Inbox& inbox) {
  if (!options.on_step) return nullptr;
  auto tap = std::make_unique<StepTap>(*options.clock, *options.api, inbox, options.on_step);
  options.clock = &tap->clock();
  options.api = &tap->api();
  options.extender_transport = tap->Wrap(std::move(options.extender_transport));
  return tap;
}

// As the metrics call them; empty: it is in none of them.
std::string_view QueueName(const queue::PodMove& move) {
  switch (move.store) {
    case queue::Store::kActive:
      return "active";
    case queue::Store::kBackoff:
    case queue::Store::kErrorBackoff:
      return "backoff";
    case queue::Store::kUnschedulable:
      return move.gated ? "gated" : "unschedulable";
    default:
      return "";
  }
}

// `traces` may be null.
std::unique_ptr<queue::SchedulingQueue> MakeQueue(const SchedulerOptions& options,
                                                  const ClusterState& cluster,
                                                  tracing::PodTraces* traces) {
  queue::SchedulingQueueOptions queue;
  queue.clock = options.clock;
  queue.unschedulable_max = options.unschedulable_max;
  queue.pop_from_backoff = options.gates->Enabled(config::Gate::kSchedulerPopFromBackoffQ);
  if (options.scheduler_metrics != nullptr) {
    queue.observers = options.scheduler_metrics->queue().Observers();
  }
  if (traces != nullptr) {
    queue.observers.moved = [traces](const queue::PodMove& move) {
      traces->Waits(move.pod,
                    {.queue = QueueName(move), .event = move.event, .plugin = move.plugin});
    };
  }
  queue.groups = cluster.members.get();
  queue.informer = [&pods = cluster.pods](const api::Pod& pod) { return pods.Get(pod.meta.Key()); };
  return std::make_unique<queue::SchedulingQueue>(std::move(queue));
}

}  // namespace

Scheduler::Scheduler(SchedulerOptions options)
    : options_(WithGates(std::move(options))),
      random_(options_.seed),
      leading_(!options_.standby),
      decisions_({.capacity = options_.on_step ? std::max(options_.decisions_kept, kLeastKeptByTap)
                                               : options_.decisions_kept,
                  .by_plugin_period = options_.memory.scores_by_plugin_period,
                  .on_complete = std::move(options_.on_decision),
                  .on_decided = options_.on_step
                                    ? [this](const Decision& made) { tap_->NoteDecision(made); }
                                    : DecisionRing::Observer()},
                 *options_.clock),
      tap_(MakeTap(options_, inbox_)),
      traces_(options_, tap_ == nullptr ? *options_.clock : tap_->outer_clock()),
      cluster_(*options_.gates),
      held_(*options_.clock),
      search_(cluster_.cache, options_.configuration) {}

Scheduler::Traces::Traces(SchedulerOptions& options, const Clock& clock) {
  if (options.traces.sink == nullptr) return;
  pods = std::make_unique<tracing::PodTraces>(options.traces, clock);
  if (!options.standby) pods->Lead();
  writer = std::make_unique<tracing::TracedWriter>(*options.api, *pods);
  options.api = writer.get();
}

Result<std::unique_ptr<Scheduler>> Scheduler::Create(SchedulerOptions options) {
  std::unique_ptr<Scheduler> scheduler(new Scheduler(std::move(options)));
  if (Result<void> built = scheduler->Build(); !built.ok()) return built.error();
  return scheduler;
}

framework::HandleParts Scheduler::PluginParts() {
  return {.snapshot = cluster_.cache,
          .owner_listers = cluster_.owners,
          .storage = cluster_.storage,
          .devices = cluster_.devices,
          .device_classes = cluster_.devices.device_classes(),
          .pod_groups = cluster_.group_states(),
          .mutable_snapshot = &cluster_.cache.mutable_snapshot(),
          .clock = *options_.clock,
          .gates = *options_.gates,
          .random = random_,
          .api = *options_.api,
          .nominator = queue_->nominator(),
          .activator = *queue_,
          .pods = cluster_.pod_lister,
          .nodes = cluster_.node_lister,
          .tasks = inbox_,
          .waiting_pods = held_.waiting_pods,
          .pods_in_pre_bind = held_.pods_in_pre_bind};
}

Result<void> Scheduler::Build() {
  queue_ = MakeQueue(options_, cluster_, traces_.pods.get());
  in_force_ = std::make_unique<ProfilesInForce>(
      ProfilesInForce::Parts{.registry = *options_.registry,
                             .handle = PluginParts(),
                             .metrics = options_.metrics,
                             .watch = traces_.pods == nullptr ? nullptr : &traces_.pods->watch(),
                             .remember_verdicts = options_.memory.remember_verdicts,
                             .extender_transport = options_.extender_transport});
  auto made = in_force_->Make(options_.configuration);
  if (!made.ok()) return made.error();
  in_force_->Put(std::move(made).value());
  queue_->Reconfigure(in_force_->QueueSettings(options_.configuration));
  search_.algorithm.set_metrics(options_.scheduler_metrics);
  search_.algorithm.set_least_ranked_nodes(options_.memory.least_ranked_nodes);
  search_.algorithm.set_trace_clock(tap_ == nullptr ? options_.clock : &tap_->outer_clock());

  context_.reset(
      new Context{.cluster = cluster_,
                  .queue = *queue_,
                  .nominator = queue_->nominator(),
                  .waiting_pods = held_.waiting_pods,
                  .pods_in_pre_bind = held_.pods_in_pre_bind,
                  .api = *options_.api,
                  .profiles = in_force_->profiles(),
                  .clock = *options_.clock,
                  .random = random_,
                  .inbox = inbox_,
                  .stats = stats_,
                  .decisions = decisions_,
                  .search_spaces = search_.spaces,
                  .configuration = options_.configuration,
                  .extenders = in_force_->extenders(),
                  .metrics = options_.metrics,
                  .scheduler_metrics = options_.scheduler_metrics,
                  .traces = traces_.pods.get(),
                  .stopping = stop_.source.get_token(),
                  .gated = {.groups_have_policies =
                                options_.gates->Enabled(config::Gate::kPodGroupPreemptionPolicy),
                            .queues_resizes = options_.gates->Enabled(
                                config::Gate::kInPlacePodVerticalScalingSchedulerPreemption)}});
  steps_ = std::make_unique<Steps>(*context_, search_.algorithm, options_);
  UseExtenders();
  return {};
}

Scheduler::Steps::Steps(Context& context, SchedulingAlgorithm& algorithm,
                        const SchedulerOptions& options)
    : router(context),
      failures(context),
      bindings(context, failures),
      extender_attempts(
          context, algorithm,
          [this](std::unique_ptr<Attempt> attempt) { cycle.Conclude(std::move(attempt)); }),
      cycle({.context = context,
             .algorithm = algorithm,
             .failures = failures,
             .bindings = bindings,
             .extender_attempts = extender_attempts,
             .batch_metrics = options.batch_metrics}),
      group_cycle({.context = context,
                   .algorithm = algorithm,
                   .failures = failures,
                   .cycle = cycle,
                   .metrics = options.scheduler_metrics == nullptr
                                  ? nullptr
                                  : options.scheduler_metrics->groups()}) {}

void Scheduler::Stop(std::optional<Duration> grace) {
  if (grace) stop_.grace.store(grace->count(), std::memory_order_release);
  stop_.source.request_stop();
  inbox_.Attend({});
  inbox_.Post(Task([] {}));  // wakes the loop
}

void Scheduler::Run(Duration grace) {
  std::optional<TimePoint> deadline;
  while (true) {
    turn_.Lock();
    const bool worked = Step();
    const bool stopping = stop_.source.stop_requested();
    const TimePoint now = options_.clock->Now();
    if (stopping && !deadline) deadline = now + std::min(grace, Duration(stop_.grace.load()));
    const bool over = stopping && (steps_->bindings.binding() == 0 || now >= *deadline);
    if (over) {
      Step();            // what was posted before Stop, but after this round began, runs too
      PublishMetrics();  // a successor's queue counts from 0
    }
    std::optional<TimePoint> until = deadline;
    if (!stopping && !worked) until = NextTimer();
    times_.run_sleeps_until = until;
    turn_.Unlock();
    if (over) return;
    if (worked && !stopping) continue;
    inbox_.Wait(until ? std::optional<Duration>(*until - options_.clock->Now()) : std::nullopt);
  }
}

void Scheduler::RunBeside() {
  const std::thread::id caller = std::this_thread::get_id();
  if (!inbox_.IsAttendedBy(caller)) inbox_.Attend(caller);
  const size_t waiting = inbox_.Waiting();
  if (waiting == 0) return;
  if (waiting > kMostBeside || !Synced()) return inbox_.Wake();
  if (!turn_.TryLock()) return;  // Run is about it, and looks into its inbox before it sleeps
  // A group may wait for extenders.
  bool more = true;
  const TimePoint begin = options_.clock->Now();
  if (begin >= times_.beside_again && !stop_.source.stop_requested() &&
      options_.configuration.extenders.empty()) {
    Duration took{};
    for (size_t rounds = 0; more && rounds < kMostBeside && took <= kLongBeside; ++rounds) {
      more = Step();
      took = options_.clock->Now() - begin;
    }
    if (took > kLongBeside) times_.beside_again = begin + kTimesLong * took;
  }
  const std::optional<TimePoint> next = NextTimer();
  const bool earlier =
      next.has_value() && (!times_.run_sleeps_until || *next < *times_.run_sleeps_until);
  turn_.Unlock();
  if (more || earlier) inbox_.Wake();
}

bool Scheduler::Step() {
  if (tap_ == nullptr) return Round();
  tap_->Begin();
  const bool worked = Round();
  tap_->End(worked);
  return worked;
}

bool Scheduler::Round() {
  bool worked = ApplyInbox();
  cluster_.TellDeviceChanges(steps_->router);
  worked |= FireTimers();
  if (!MayAttempt()) return worked;
  if (const framework::QueuedPodPtr next = steps_->extender_attempts.Next()) {
    steps_->cycle.ScheduleManaged(next);
    return true;
  }
  if (steps_->extender_attempts.HoldsQueue()) return worked;
  const queue::Popped popped = queue_->Pop();
  if (!popped) return worked;
  if (popped.group != nullptr) {
    steps_->group_cycle.ScheduleGroup(popped.group);
  } else {
    steps_->cycle.ScheduleOne(popped.pod);
  }
  return true;
}

bool Scheduler::MayAttempt() {
  if (!leading_ || !Synced() || !cluster_.Synced(NeededKinds())) return false;
  if (steps_->bindings.binding() >= options_.max_outstanding_bindings) return false;
  const bool may =
      !stop_.source.stop_requested() && (!options_.may_attempt || options_.may_attempt());
  if (tap_ != nullptr) tap_->NoteMayAttempt(may);
  return may;
}

bool Scheduler::ApplyInbox() {
  inbox_.Drain(&batch_);
  if (batch_.empty()) return false;
  for (Message& message : batch_) {
    std::visit([this](auto& change) { Apply(change); }, message);
  }
  batch_.clear();
  steps_->extender_attempts.set_objects_missing(cluster_.whole_objects_missing());
  steps_->bindings.Poll();
  DropRetiredProfiles();
  if (!Synced() && cluster_.AllSynced(NeededKinds())) {
    log::Info(1, "Caches are synced",
              {{"nodes", cluster_.nodes.size()}, {"pods", cluster_.pods.size()}});
    synced_.store(true, std::memory_order_release);
    if (leading_) queue_->StartTimers();
    if (options_.on_synced) options_.on_synced();
  }
  return true;
}

void Scheduler::Apply(Task& task) { task(); }

template <class Deltas>
void Scheduler::Apply(Deltas& deltas) {
  constexpr bool kOfPodsOrNodes =
      std::is_same_v<Deltas, PodDeltas> || std::is_same_v<Deltas, NodeDeltas>;
  if constexpr (!kOfPodsOrNodes) steps_->extender_attempts.NoteOtherChange();
  cluster_.Apply(std::as_const(deltas), steps_->router);
  if (tap_ != nullptr) tap_->NoteDeltas(std::move(deltas));
}

void Scheduler::RunBlockingBy(std::function<void(Task task)> run) {
  steps_->bindings.RunBlockingBy(std::move(run));
}

void Scheduler::Lead() {
  if (std::exchange(leading_, true)) return;
  if (tap_ != nullptr) tap_->Note(LeadOrder());
  if (traces_.pods != nullptr) traces_.pods->Lead();
  if (Synced()) queue_->StartTimers();
}

std::optional<TimePoint> Scheduler::NextTimer() const {
  if (!leading_ || !Synced()) return std::nullopt;
  std::optional<TimePoint> next = queue_->NextTimer();
  for (const auto& candidate :
       {held_.waiting_pods.NextDeadline(), steps_->bindings.NextDeadline()}) {
    if (candidate && (!next || *candidate < *next)) next = candidate;
  }
  return next;
}

bool Scheduler::FireTimers() {
  const auto next = NextTimer();
  if (!next || *next > options_.clock->Now()) return false;
  queue_->RunTimers();
  held_.waiting_pods.Expire();
  steps_->bindings.Poll();
  return true;
}

void Scheduler::PublishMetrics() {
  if (options_.scheduler_metrics == nullptr) return;
  options_.scheduler_metrics->Publish(*queue_, cluster_.cache, steps_->bindings.active());
}

}  // namespace ks::scheduler
