// SPDX-License-Identifier: Apache-2.0
#include "scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"

namespace ks::scheduler {

using framework::Status;

namespace {

std::shared_ptr<api::Pod> WithNode(const api::Pod& pod, const std::string& node_name) {
  auto assumed = std::make_shared<api::Pod>(pod);
  assumed->node_name = node_name;
  return assumed;
}

}  // namespace

Scheduler::Scheduler(SchedulerOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      waiting_pods_(*options_.clock),
      parallelizer_(options_.configuration.parallelism),
      algorithm_(cache_, parallelizer_, options_.configuration.percentage_of_nodes_to_score) {}

Result<std::unique_ptr<Scheduler>> Scheduler::Create(SchedulerOptions options) {
  std::unique_ptr<Scheduler> scheduler(new Scheduler(std::move(options)));
  if (Result<void> built = scheduler->Build(); !built.ok()) return built.error();
  return scheduler;
}

Result<Profiles> Scheduler::MakeProfiles(const config::Configuration& configuration) {
  return framework::BuildProfiles(*options_.registry, configuration,
                                  {.snapshot = &cache_,
                                   .owner_listers = &owners_,
                                   .clock = options_.clock,
                                   .random = &random_,
                                   .waiting_pods = &waiting_pods_,
                                   .pods_in_pre_bind = &pods_in_pre_bind_,
                                   .gates = options_.gates,
                                   .metrics = options_.metrics,
                                   .remember_verdicts = options_.remember_verdicts});
}

Result<void> Scheduler::Build() {
  auto profiles = MakeProfiles(options_.configuration);
  if (!profiles.ok()) return profiles.error();
  auto extenders = MakeExtenders(options_.configuration);
  if (!extenders.ok()) return extenders.error();
  extenders_ = std::move(extenders).value();
  profiles_ = std::move(profiles).value();
  FindNeededOwners();

  queue::SchedulingQueueOptions queue;
  queue.clock = options_.clock;
  queue.profiles = QueueHooks();
  queue.backoff_initial = std::chrono::seconds(options_.configuration.pod_initial_backoff_seconds);
  queue.backoff_max = std::chrono::seconds(options_.configuration.pod_max_backoff_seconds);
  queue.unschedulable_max = options_.unschedulable_max;
  queue.pop_from_backoff =
      options_.gates == nullptr || options_.gates->Enabled(config::Gate::kSchedulerPopFromBackoffQ);
  queue.informer = [this](const api::Pod& pod) { return pods_.Get(pod.meta.Key()); };
  queue_ = std::make_unique<queue::SchedulingQueue>(std::move(queue));
  AttachProfiles();

  context_.reset(new Context{.cache = cache_,
                             .queue = *queue_,
                             .nominator = queue_->nominator(),
                             .waiting_pods = waiting_pods_,
                             .pods_in_pre_bind = pods_in_pre_bind_,
                             .api = *options_.api,
                             .pods = pods_,
                             .profiles = profiles_,
                             .clock = *options_.clock,
                             .random = random_,
                             .inbox = inbox_,
                             .stats = stats_,
                             .metrics = options_.metrics});
  router_ = std::make_unique<EventRouter>(*context_);
  failures_ = std::make_unique<FailureHandler>(*context_);
  bindings_ = std::make_unique<BindingCycles>(*context_, *failures_);
  extender_attempts_ = std::make_unique<ExtenderAttempts>(
      *context_, algorithm_,
      [this](std::unique_ptr<Binding> binding, ScheduleResult result,
             framework::Diagnosis diagnosis) {
        diagnosis_ = std::move(diagnosis);
        Conclude(std::move(binding), std::move(result));
      });
  UseExtenders(extenders_);
  return {};
}

void Scheduler::AttachProfiles() {
  for (const auto& [name, framework] : profiles_) {
    framework->Attach({.api = options_.api,
                       .nominator = &queue_->nominator(),
                       .activator = queue_.get(),
                       .pods = &informer_pods_,
                       .tasks = &inbox_,
                       .preemption_extenders = PreemptionExtenders()});
  }
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
      if (!deadline) deadline = now + grace;
      if (bindings_->binding() == 0 || now >= *deadline) return;
      inbox_.Wait(*deadline - now);
      continue;
    }
    if (worked) continue;
    const auto next = NextTimer();
    inbox_.Wait(next ? std::optional<Duration>(*next - options_.clock->Now()) : std::nullopt);
  }
}

bool Scheduler::Step() {
  bool worked = ApplyInbox();
  worked |= FireTimers();
  if (!MayAttempt()) return worked;
  if (const framework::QueuedPodPtr next = extender_attempts_->Next()) {
    ScheduleManaged(next);
    return true;
  }
  if (extender_attempts_->HoldsQueue()) return worked;
  const framework::QueuedPodPtr queued = queue_->Pop();
  if (queued == nullptr) return worked;
  ScheduleOne(queued);
  return true;
}

bool Scheduler::MayAttempt() const {
  return Synced() && owners_.Synced(needed_owners_) && !stopping_.load(std::memory_order_acquire) &&
         bindings_->binding() < options_.max_outstanding_bindings;
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
    } else {
      std::get<Task>(message)();
    }
  }
  batch_.clear();
  extender_attempts_->set_objects_missing(whole_pods_missing_ || whole_nodes_missing_);
  bindings_->Poll();
  DropRetiredProfiles();
  if (!Synced() && pods_synced_ && nodes_synced_ && owners_.Synced(needed_owners_)) {
    log::Info(1, "Caches are synced", {{"nodes", nodes_.size()}, {"pods", pods_.size()}});
    synced_.store(true, std::memory_order_release);
    queue_->StartTimers();
    if (options_.on_synced) options_.on_synced();
  }
  return true;
}

void Scheduler::ApplyPods(const PodDeltas& deltas) {
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
  extender_attempts_->NoteOtherChange();
  owners_.Apply(deltas, [this](uint32_t action) { router_->OnServiceChange(action); });
}

std::optional<TimePoint> Scheduler::NextTimer() const {
  if (!Synced()) return std::nullopt;
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

// A pod that must not be attempted: it is being deleted, or its decision is made already
// (docs/spec/cycle.md section 4).
bool Scheduler::SkipPod(const framework::Framework& framework, const api::PodPtr& pod) {
  if (pod->meta.deletion_timestamp) {
    options_.api->RecordEvent({.regarding = pod,
                               .related = nullptr,
                               .reporting_controller = framework.ProfileName(),
                               .reason = "FailedScheduling",
                               .action = "Scheduling",
                               .note = "skip schedule deleting pod: " + pod->meta.Key(),
                               .warning = true});
    return true;
  }
  return cache_.IsAssumedPod(*pod) || bindings_->IsActive(pod->meta.uid);
}

void Scheduler::ScheduleOne(const framework::QueuedPodPtr& queued) {
  const api::PodPtr pod = queued->pod();
  const framework::Framework* framework = context_->ProfileFor(*pod);
  if (framework == nullptr) {
    log::Error("profile not found for scheduler name \"" + pod->spec->scheduler_name.str() + "\"",
               "Error occurred", {{"pod", pod->meta.Key()}});
    queue_->Done(pod->meta.uid);
    return;
  }
  if (SkipPod(*framework, pod)) {
    queue_->Done(pod->meta.uid);
    return;
  }
  if (extender_attempts_->Takes(*pod)) {
    extender_attempts_->PutInLine(*framework, queued);
    return;
  }
  std::unique_ptr<Binding> binding = BeginAttempt(*framework, queued);
  if (Result<void> refreshed = cache_.RefreshSnapshot(); !refreshed.ok()) {
    failures_->Handle(*framework, queued, pod,
                      {.status = Status::Error(refreshed.error().message),
                       .diagnosis = nullptr,
                       .nomination = framework::NominatingInfo{}});
    return;
  }
  Batching* batching = BatchingOf(*framework);
  BatchAttempt attempt{.cycle = queue_->scheduling_cycle(), .signature = {}, .hint = {}};
  if (batching != nullptr) attempt.signature = batching->SignatureOf(*pod);
  ScheduleResult result =
      algorithm_.SchedulePod(*framework, binding->state, *pod, &diagnosis_, batching, &attempt);
  Conclude(std::move(binding), std::move(result));
}

// Null: the gate is off, or the profile is of the extenders' making: their answers cannot be
// foreseen.
Batching* Scheduler::BatchingOf(const framework::Framework& framework) {
  if (!framework.gates().Enabled(config::Gate::kOpportunisticBatching)) return nullptr;
  if (!options_.configuration.extenders.empty()) return nullptr;
  std::unique_ptr<Batching>& made = batching_[&framework];
  if (made == nullptr) {
    framework::ProfileBatchMetrics* metrics =
        options_.batch_metrics == nullptr
            ? nullptr
            : &options_.batch_metrics->ForProfile(framework.ProfileName());
    made = std::make_unique<Batching>(framework, cache_, *options_.clock, metrics);
  }
  return made.get();
}

std::unique_ptr<Binding> Scheduler::BeginAttempt(const framework::Framework& framework,
                                                 const framework::QueuedPodPtr& queued) {
  KS_LOG(3, "Attempting to schedule pod", {{"pod", queued->pod()->meta.Key()}});
  ++stats_.attempts;
  auto binding = std::make_unique<Binding>();
  binding->framework = &framework;
  binding->queued = queued;
  binding->extenders = extenders_;
  binding->state.record_plugin_metrics = framework.DrawMetricsSample();
  binding->state.pods_to_activate = std::make_shared<framework::PodsToActivate>();
  return binding;
}

// A fit error's reasons are in diagnosis_.
void Scheduler::Conclude(std::unique_ptr<Binding> binding, ScheduleResult result) {
  const framework::Framework& framework = *binding->framework;
  if (result.fit_error) {
    FitError(framework, binding->state, binding->queued, std::move(result.status));
    return;
  }
  if (!result.status.ok()) {
    failures_->Handle(framework, binding->queued, binding->queued->pod(),
                      {.status = std::move(result.status),
                       .diagnosis = nullptr,
                       .nomination = framework::NominatingInfo{}});
    return;
  }
  binding->evaluated_nodes = result.evaluated_nodes;
  binding->feasible_nodes = result.feasible_nodes;
  AssumeAndBind(framework, std::move(binding), result.node->name());
}

// No node was feasible: PostFilter may make room; the attempt fails all the same
// (docs/spec/cycle.md 10.4).
void Scheduler::FitError(const framework::Framework& framework, framework::CycleState& state,
                         const framework::QueuedPodPtr& queued, Status status) {
  AttemptFailure failure;
  failure.status = std::move(status);
  failure.diagnosis = &diagnosis_;
  if (!framework.HasPostFilterPlugins()) {
    failure.nomination.emplace();
  } else {
    framework::PostFilterResult result =
        framework.RunPostFilterPlugins(state, queued->pod(), diagnosis_.nodes);
    if (result.status.code() == framework::Code::kError) {
      log::Error(result.status.Message(), "Status after running PostFilter plugins for pod",
                 {{"pod", queued->pod()->meta.Key()}});
    }
    diagnosis_.post_filter_message = result.status.ok() ? result.message : result.status.Message();
    failure.nomination = std::move(result.nomination);
  }
  failures_->Handle(framework, queued, queued->pod(), failure);
}

void Scheduler::AssumeAndBind(const framework::Framework& framework,
                              std::unique_ptr<Binding> binding, const std::string& node_name) {
  const api::PodPtr pod = binding->queued->pod();
  binding->assumed = WithNode(*pod, node_name);
  if (Result<void> assumed = cache_.AssumePod(binding->assumed); !assumed.ok()) {
    failures_->Handle(framework, binding->queued, binding->assumed,
                      {.status = Status::Error(assumed.error().message),
                       .diagnosis = nullptr,
                       .nomination = framework::NominatingInfo{}});
    return;
  }
  context_->nominator.DeleteNominatedPodIfExists(*binding->assumed);

  const Status reserved =
      framework.RunReservePluginsReserve(binding->state, binding->assumed, node_name);
  if (!reserved.ok()) {
    RejectAssumed(*binding, reserved);
    return;
  }
  binding->permit = framework.RunPermitPlugins(binding->state, binding->assumed, node_name);
  if (!binding->permit.status.ok() && !binding->permit.status.IsWait()) {
    RejectAssumed(*binding, binding->permit.status);
    return;
  }
  ++stats_.scheduled;
  Activate(binding->state);
  bindings_->Start(std::move(binding));
}

void Scheduler::RejectAssumed(Binding& binding, const Status& status) {
  bindings_->Undo(*binding.framework, binding.state, binding.assumed);
  AttemptFailure failure;
  failure.status = status;
  failure.nomination.emplace();
  framework::Diagnosis diagnosis;
  if (status.IsRejected()) {
    diagnosis = OneNodeDiagnosis(status);
    failure.diagnosis = &diagnosis;
  }
  failures_->Handle(*binding.framework, binding.queued, binding.assumed, failure);
}

void Scheduler::Activate(framework::CycleState& state) {
  const std::vector<api::PodPtr> activated = state.pods_to_activate->Take();
  if (!activated.empty()) queue_->Activate(activated);
}

}  // namespace ks::scheduler
