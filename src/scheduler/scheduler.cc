// SPDX-License-Identifier: Apache-2.0
#include "scheduler/scheduler.h"

#include <algorithm>
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

SchedulerOptions WithGates(SchedulerOptions options) {
  static const config::FeatureGates defaults;
  if (options.gates == nullptr) options.gates = &defaults;
  return options;
}

}  // namespace

Scheduler::Scheduler(SchedulerOptions options)
    : options_(WithGates(std::move(options))),
      random_(options_.seed),
      leading_(!options_.standby),
      decisions_({.capacity = options_.on_step ? std::max(options_.decisions_kept, kLeastKeptByTap)
                                               : options_.decisions_kept,
                  .by_plugin_period = options_.scores_by_plugin_period,
                  .on_complete = std::move(options_.on_decision),
                  .on_decided = options_.on_step
                                    ? [this](const Decision& made) { tap_->NoteDecision(made); }
                                    : DecisionRing::Observer()},
                 *options_.clock),
      tap_(MakeTap()),
      waiting_pods_(*options_.clock),
      parallelizer_(options_.configuration.parallelism),
      algorithm_(cache_, parallelizer_, options_.configuration.percentage_of_nodes_to_score) {}

std::unique_ptr<StepTap> Scheduler::MakeTap() {
  if (!options_.on_step) return nullptr;
  auto tap = std::make_unique<StepTap>(*options_.clock, *options_.api, inbox_, options_.on_step);
  options_.clock = &tap->clock();
  options_.api = &tap->api();
  options_.extender_transport = tap->Wrap(std::move(options_.extender_transport));
  return tap;
}

Result<std::unique_ptr<Scheduler>> Scheduler::Create(SchedulerOptions options) {
  std::unique_ptr<Scheduler> scheduler(new Scheduler(std::move(options)));
  if (Result<void> built = scheduler->Build(); !built.ok()) return built.error();
  return scheduler;
}

Result<Profiles> Scheduler::MakeProfiles(const config::Configuration& configuration,
                                         ExtenderSet* extenders) {
  framework::HandleParts parts{.snapshot = cache_,
                               .owner_listers = owners_,
                               .storage = storage_,
                               .clock = *options_.clock,
                               .gates = *options_.gates,
                               .random = random_,
                               .api = *options_.api,
                               .nominator = queue_->nominator(),
                               .activator = *queue_,
                               .pods = informer_pods_,
                               .nodes = informer_nodes_,
                               .tasks = inbox_,
                               .waiting_pods = waiting_pods_,
                               .pods_in_pre_bind = pods_in_pre_bind_};
  if (extenders != nullptr) parts.preemption_extenders = extenders->preemption_extenders();
  return framework::BuildProfiles(*options_.registry, configuration,
                                  {.parts = std::move(parts),
                                   .metrics = options_.metrics,
                                   .remember_verdicts = options_.remember_verdicts});
}

Result<void> Scheduler::Build() {
  queue::SchedulingQueueOptions queue;
  queue.clock = options_.clock;
  queue.unschedulable_max = options_.unschedulable_max;
  queue.pop_from_backoff = options_.gates->Enabled(config::Gate::kSchedulerPopFromBackoffQ);
  if (options_.scheduler_metrics != nullptr) {
    queue.observers = options_.scheduler_metrics->queue().Observers();
    algorithm_.set_metrics(options_.scheduler_metrics);
  }
  algorithm_.set_trace_clock(tap_ == nullptr ? options_.clock : &tap_->outer_clock());
  queue.informer = [this](const api::Pod& pod) { return pods_.Get(pod.meta.Key()); };
  queue_ = std::make_unique<queue::SchedulingQueue>(std::move(queue));

  auto made = MakeInForce(options_.configuration);
  if (!made.ok()) return made.error();
  profiles_ = std::move(made->profiles);
  extenders_ = std::move(made->extenders);
  FindNeededKinds();
  queue_->Reconfigure(QueueSettings());

  context_.reset(new Context{.cache = cache_,
                             .queue = *queue_,
                             .nominator = queue_->nominator(),
                             .waiting_pods = waiting_pods_,
                             .pods_in_pre_bind = pods_in_pre_bind_,
                             .api = *options_.api,
                             .pods = pods_,
                             .storage = storage_,
                             .profiles = profiles_,
                             .clock = *options_.clock,
                             .random = random_,
                             .inbox = inbox_,
                             .stats = stats_,
                             .decisions = decisions_,
                             .search_spaces = search_spaces_,
                             .configuration = options_.configuration,
                             .extenders = extenders_,
                             .metrics = options_.metrics,
                             .scheduler_metrics = options_.scheduler_metrics,
                             .queues_resizes = options_.gates->Enabled(
                                 config::Gate::kInPlacePodVerticalScalingSchedulerPreemption)});
  router_ = std::make_unique<EventRouter>(*context_);
  failures_ = std::make_unique<FailureHandler>(*context_);
  bindings_ = std::make_unique<BindingCycles>(*context_, *failures_);
  extender_attempts_ = std::make_unique<ExtenderAttempts>(
      *context_, algorithm_,
      [this](std::unique_ptr<Attempt> attempt) { cycle_->Conclude(std::move(attempt)); });
  cycle_ = std::make_unique<SchedulingCycle>(
      SchedulingCycle::Parts{.context = *context_,
                             .algorithm = algorithm_,
                             .failures = *failures_,
                             .bindings = *bindings_,
                             .extender_attempts = *extender_attempts_,
                             .batch_metrics = options_.batch_metrics});
  UseExtenders(extenders_);
  return {};
}

void Scheduler::Stop(Duration grace) {
  stop_grace_.store(grace.count(), std::memory_order_release);
  Stop();
}

void Scheduler::Stop() {
  stopping_.store(true, std::memory_order_release);
  inbox_.Post(Task([] {}));  // wakes the loop
}

void Scheduler::Run(Duration grace) {
  std::optional<TimePoint> deadline;
  while (true) {
    const bool worked = Step();
    if (stopping_.load(std::memory_order_acquire)) {
      const TimePoint now = options_.clock->Now();
      if (!deadline) deadline = now + std::min(grace, Duration(stop_grace_.load()));
      if (bindings_->binding() != 0 && now < *deadline) {
        inbox_.Wait(*deadline - now);
        continue;
      }
      Step();            // what was posted before Stop, but after this round began, runs too
      PublishMetrics();  // a successor's queue counts from 0
      return;
    }
    if (worked) continue;
    const auto next = NextTimer();
    inbox_.Wait(next ? std::optional<Duration>(*next - options_.clock->Now()) : std::nullopt);
  }
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
  worked |= FireTimers();
  if (!MayAttempt()) return worked;
  if (const framework::QueuedPodPtr next = extender_attempts_->Next()) {
    cycle_->ScheduleManaged(next);
    return true;
  }
  if (extender_attempts_->HoldsQueue()) return worked;
  const framework::QueuedPodPtr queued = queue_->Pop();
  if (queued == nullptr) return worked;
  cycle_->ScheduleOne(queued);
  return true;
}

bool Scheduler::MayAttempt() {
  if (!leading_ || !Synced() || !NeededKindsSynced()) return false;
  if (bindings_->binding() >= options_.max_outstanding_bindings) return false;
  const bool may = !stopping_.load(std::memory_order_acquire) &&
                   (!options_.may_attempt || options_.may_attempt());
  if (tap_ != nullptr) tap_->NoteMayAttempt(may);
  return may;
}

bool Scheduler::ApplyInbox() {
  inbox_.Drain(&batch_);
  if (batch_.empty()) return false;
  for (Message& message : batch_) {
    if (auto* pods = std::get_if<PodDeltas>(&message)) {
      ApplyPods(*pods);
    } else if (auto* nodes = std::get_if<NodeDeltas>(&message)) {
      ApplyNodes(*nodes);
    } else if (auto* owners = std::get_if<OwnerDeltas>(&message)) {
      ApplyOwners(*owners);
    } else if (auto* storage = std::get_if<StorageDeltas>(&message)) {
      ApplyStorage(*storage);
    } else {
      std::get<Task>(message)();
    }
  }
  batch_.clear();
  extender_attempts_->set_objects_missing(whole_pods_missing_ || whole_nodes_missing_);
  bindings_->Poll();
  DropRetiredProfiles();
  if (!Synced() && pods_synced_ && nodes_synced_ && NeededKindsSynced()) {
    log::Info(1, "Caches are synced", {{"nodes", nodes_.size()}, {"pods", pods_.size()}});
    synced_.store(true, std::memory_order_release);
    if (leading_) queue_->StartTimers();
    if (options_.on_synced) options_.on_synced();
  }
  return true;
}

void Scheduler::ApplyPods(const PodDeltas& deltas) {
  if (tap_ != nullptr) tap_->Note(deltas);
  class Handler final : public cache::ObjectHandler<api::Pod> {
   public:
    explicit Handler(EventRouter& router) : router_(router) {}
    void Add(const api::PodPtr& pod) override { router_.OnPodAdd(pod); }
    void Update(const api::PodPtr& old_pod, const api::PodPtr& new_pod) override {
      router_.OnPodUpdate(old_pod, new_pod);
    }
    void Delete(const api::PodPtr& pod, bool unknown) override {
      if (KS_CANARY(RelistHidesDeletions) && unknown) return;
      router_.OnPodDelete(pod, unknown);
    }

   private:
    EventRouter& router_;
  } handler(*router_);
  for (const api::Delta<api::Pod>& delta : deltas) {
    pods_.Apply(delta, handler);
    if (delta.type != api::Delta<api::Pod>::Type::kReplace) continue;
    pods_synced_ = true;
    whole_pods_missing_ = false;
  }
}

void Scheduler::ApplyNodes(const NodeDeltas& deltas) {
  if (tap_ != nullptr) tap_->Note(deltas);
  class Handler final : public cache::ObjectHandler<api::Node> {
   public:
    explicit Handler(EventRouter& router) : router_(router) {}
    void Add(const api::NodePtr& node) override { router_.OnNodeAdd(node); }
    void Update(const api::NodePtr& old_node, const api::NodePtr& new_node) override {
      router_.OnNodeUpdate(old_node, new_node);
    }
    void Delete(const api::NodePtr& node, bool /*unknown*/) override { router_.OnNodeDelete(node); }

   private:
    EventRouter& router_;
  } handler(*router_);
  for (const api::Delta<api::Node>& delta : deltas) {
    nodes_.Apply(delta, handler);
    if (delta.type != api::Delta<api::Node>::Type::kReplace) continue;
    nodes_synced_ = true;
    whole_nodes_missing_ = false;
  }
}

void Scheduler::ApplyOwners(const OwnerDeltas& deltas) {
  if (tap_ != nullptr) tap_->Note(deltas);
  extender_attempts_->NoteOtherChange();
  owners_.Apply(deltas, {.service = [this](uint32_t action) { router_->OnServiceChange(action); },
                         .of_namespace =
                             [this](uint32_t action, const api::NamespacePtr& former,
                                    const api::NamespacePtr& latter) {
                               router_->OnNamespaceChange(action, former, latter);
                             }});
}

void Scheduler::ApplyStorage(const StorageDeltas& deltas) {
  if (tap_ != nullptr) tap_->Note(deltas);
  extender_attempts_->NoteOtherChange();
  storage_.Apply(deltas, [this](framework::EventResource resource, uint32_t action,
                                const framework::EventObject& old_object,
                                const framework::EventObject& new_object) {
    router_->OnStorageChange(resource, action, old_object, new_object);
  });
}

void Scheduler::Lead() {
  if (std::exchange(leading_, true)) return;
  if (tap_ != nullptr) tap_->Note(LeadOrder());
  if (Synced()) queue_->StartTimers();
}

std::optional<TimePoint> Scheduler::NextTimer() const {
  if (!leading_ || !Synced()) return std::nullopt;
  std::optional<TimePoint> next = queue_->NextTimer();
  for (const auto& candidate : {waiting_pods_.NextDeadline(), bindings_->NextDeadline()}) {
    if (candidate && (!next || *candidate < *next)) next = candidate;
  }
  return next;
}

bool Scheduler::FireTimers() {
  const auto next = NextTimer();
  if (!next || *next > options_.clock->Now()) return false;
  queue_->RunTimers();
  waiting_pods_.Expire();
  bindings_->Poll();
  return true;
}

void Scheduler::PublishMetrics() {
  if (options_.scheduler_metrics == nullptr) return;
  options_.scheduler_metrics->Publish(*queue_, cache_, bindings_->active());
}

}  // namespace ks::scheduler
