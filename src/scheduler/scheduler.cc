// SPDX-License-Identifier: Apache-2.0
#include "scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "plugins/deferred_pod_scheduling/deferred_pod_scheduling.h"
#include "scheduler/metrics/scheduler_metrics.h"

namespace ks::scheduler {

using framework::Status;

namespace {

// So many attempts may wait for extenders without one being forgotten.
constexpr size_t kLeastKeptByTap = 1000;

std::shared_ptr<api::Pod> WithNode(const api::Pod& pod, const std::string& node_name) {
  auto assumed = std::make_shared<api::Pod>(pod);
  assumed->node_name = node_name;
  return assumed;
}

bool QueuesResizes(const config::FeatureGates* gates) {
  return gates != nullptr &&
         gates->Enabled(config::Gate::kInPlacePodVerticalScalingSchedulerPreemption);
}

}  // namespace

Scheduler::Scheduler(SchedulerOptions options)
    : options_(std::move(options)),
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

Result<Profiles> Scheduler::MakeProfiles(const config::Configuration& configuration) {
  return framework::BuildProfiles(*options_.registry, configuration,
                                  {.snapshot = &cache_,
                                   .owner_listers = &owners_,
                                   .storage = &storage_,
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
  FindNeededKinds();

  queue::SchedulingQueueOptions queue;
  queue.clock = options_.clock;
  queue.profiles = QueueHooks();
  queue.backoff_initial = std::chrono::seconds(options_.configuration.pod_initial_backoff_seconds);
  queue.backoff_max = std::chrono::seconds(options_.configuration.pod_max_backoff_seconds);
  queue.unschedulable_max = options_.unschedulable_max;
  queue.pop_from_backoff =
      options_.gates == nullptr || options_.gates->Enabled(config::Gate::kSchedulerPopFromBackoffQ);
  if (options_.scheduler_metrics != nullptr) {
    queue.observers = options_.scheduler_metrics->queue().Observers();
    algorithm_.set_metrics(options_.scheduler_metrics);
  }
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
                             .storage = storage_,
                             .profiles = profiles_,
                             .clock = *options_.clock,
                             .random = random_,
                             .inbox = inbox_,
                             .stats = stats_,
                             .decisions = decisions_,
                             .metrics = options_.metrics,
                             .scheduler_metrics = options_.scheduler_metrics,
                             .queues_resizes = QueuesResizes(options_.gates)});
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
                       .nodes = &informer_nodes_,
                       .tasks = &inbox_,
                       .preemption_extenders = PreemptionExtenders()});
  }
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
    ScheduleManaged(next);
    return true;
  }
  if (extender_attempts_->HoldsQueue()) return worked;
  const framework::QueuedPodPtr queued = queue_->Pop();
  if (queued == nullptr) return worked;
  ScheduleOne(queued);
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
  KS_DCHECK(context_->IsQueued(*pod), "a pod that needs no decision is in the queue");
  if (RunsUnanswered(*pod)) {
    queued->unschedulable_plugins.Clear();
    queued->pending_plugins.Clear();
    const Result<void> returned = queue_->AddUnschedulableIfNotPresent(queued);
    KS_CHECK(returned.ok(), "a popped pod is stored");
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
    ScheduleResult result;
    result.status = Status::Error(refreshed.error().message);
    Conclude(std::move(binding), std::move(result));
    return;
  }
  Batching* batching = BatchingOf(*framework);
  BatchAttempt attempt{.cycle = queue_->scheduling_cycle(), .signature = {}, .hint = {}};
  if (batching != nullptr) attempt.signature = batching->SignatureOf(*pod);
  if (decisions_.WantsScoresByPlugin(binding->decision)) algorithm_.KeepScoresByPlugin();
  ScheduleResult result =
      algorithm_.SchedulePod(*framework, binding->state, *pod, &diagnosis_, batching, &attempt);
  decisions_.Scored(binding->decision, algorithm_.feasible(), algorithm_.last_scores());
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
  binding->decision = decisions_.Begin(*queued);
  binding->began = options_.clock->Now();
  binding->extenders = extenders_;
  binding->state.record_plugin_metrics = framework.DrawMetricsSample();
  binding->state.pods_to_activate = std::make_shared<framework::PodsToActivate>();
  return binding;
}

// A fit error's reasons are in diagnosis_.
void Scheduler::Conclude(std::unique_ptr<Binding> binding, ScheduleResult result) {
  const framework::Framework& framework = *binding->framework;
  if (result.fit_error) {
    FitError(std::move(binding), std::move(result.status));
    return;
  }
  if (options_.scheduler_metrics != nullptr) {
    options_.scheduler_metrics->AlgorithmEnded(binding->began);
  }
  if (!result.status.ok()) {
    failures_->Handle(framework, binding->queued, binding->queued->pod(),
                      {.status = std::move(result.status),
                       .diagnosis = nullptr,
                       .nomination = framework::NominatingInfo{},
                       .decision = binding->decision,
                       .began = binding->began});
    return;
  }
  binding->evaluated_nodes = result.evaluated_nodes;
  binding->feasible_nodes = result.feasible_nodes;
  if (!binding->queued->pod()->node_name.empty()) {
    ParkResize(*binding, result.node->name());
    return;
  }
  decisions_.Chosen(binding->decision, result, cache_.nodes().size());
  AssumeAndBind(framework, std::move(binding), result.node->name());
}

// No node was feasible: PostFilter may make room; the attempt fails all the same
// (docs/spec/cycle.md 10.4).
void Scheduler::FitError(std::unique_ptr<Binding> binding, Status status) {
  const framework::Framework& framework = *binding->framework;
  const framework::QueuedPodPtr queued = binding->queued;
  AttemptFailure failure;
  failure.decision = binding->decision;
  failure.began = binding->began;
  failure.status = std::move(status);
  failure.diagnosis = &diagnosis_;
  if (!framework.HasPostFilterPlugins()) {
    failure.nomination.emplace();
  } else {
    framework::PostFilterResult result =
        framework.RunPostFilterPlugins(binding->state, queued->pod(), diagnosis_.nodes);
    if (result.status.IsWait()) {
      extender_attempts_->AwaitPreemption(std::move(binding), std::move(failure.status),
                                          std::move(diagnosis_));
      return;
    }
    if (result.status.code() == framework::Code::kError) {
      log::Error(result.status.Message(), "Status after running PostFilter plugins for pod",
                 {{"pod", queued->pod()->meta.Key()}});
    }
    diagnosis_.post_filter_message = result.status.ok() ? result.message : result.status.Message();
    failure.nomination = std::move(result.nomination);
  }
  if (options_.scheduler_metrics != nullptr) {
    options_.scheduler_metrics->AlgorithmEnded(binding->began);
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
                       .nomination = framework::NominatingInfo{},
                       .decision = binding->decision,
                       .began = binding->began});
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
  Reject(binding, binding.assumed, status);
}

void Scheduler::Reject(Binding& binding, const api::PodPtr& pod, const Status& status) {
  AttemptFailure failure;
  failure.status = status;
  failure.nomination.emplace();
  failure.decision = binding.decision;
  failure.began = binding.began;
  framework::Diagnosis diagnosis;
  if (status.IsRejected()) {
    diagnosis = OneNodeDiagnosis(status);
    failure.diagnosis = &diagnosis;
  }
  failures_->Handle(*binding.framework, binding.queued, pod, failure);
}

// The cache has the pod on its node, with what the resize asks for, and Reserve ran when it came
// there: there is nothing to assume, and so nothing to undo, and nothing to bind. Permit's
// rejection parks the pod until the kubelet has resized it (docs/spec/cycle.md section 21).
void Scheduler::ParkResize(Binding& binding, const std::string& node_name) {
  const api::PodPtr pod = binding.queued->pod();
  Status verdict = binding.framework->RunPermitPlugins(binding.state, pod, node_name).status;
  // A profile without the plugin must not bind it again either.
  if (verdict.ok() || verdict.IsWait()) verdict = plugins::ResizeFits();
  Reject(binding, pod, verdict);
}

void Scheduler::PublishMetrics() {
  if (options_.scheduler_metrics == nullptr) return;
  options_.scheduler_metrics->Publish(*queue_, cache_, bindings_->active());
}

void Scheduler::Activate(framework::CycleState& state) {
  const std::vector<api::PodPtr> activated = state.pods_to_activate->Take();
  if (!activated.empty()) queue_->Activate(activated);
}

}  // namespace ks::scheduler
