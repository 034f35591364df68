// SPDX-License-Identifier: Apache-2.0
#include "scheduler/scheduling_cycle.h"

#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "plugins/scheduler_rules.h"
#include "scheduler/decision_ring.h"
#include "scheduler/freed_room.h"
#include "scheduler/metrics/scheduler_metrics.h"

namespace ks::scheduler {

using framework::Status;

api::PodPtr OnNode(const api::Pod& pod, const std::string& node_name) {
  auto assumed = std::make_shared<api::Pod>(pod);
  assumed->node_name = Symbol(node_name);
  return assumed;
}

void SchedulingCycle::ScheduleOne(const framework::QueuedPodPtr& queued) {
  const api::PodPtr pod = queued->pod();
  const framework::Framework* framework = context_.ProfileFor(*pod);
  if (framework == nullptr) {
    log::Error("profile not found for scheduler name \"" + pod->spec->scheduler_name.str() + "\"",
               "Error occurred", {{"pod", pod->meta.Key()}});
    context_.queue.Done(pod->meta.uid);
    return;
  }
  KS_DCHECK(context_.IsQueued(*pod), "a pod that needs no decision is in the queue");
  if (RunsUnanswered(*pod)) {
    queued->unschedulable_plugins.Clear();
    queued->pending_plugins.Clear();
    const Result<void> returned = context_.queue.AddUnschedulableIfNotPresent(queued);
    KS_CHECK(returned.ok(), "a popped pod is stored");
    return;
  }
  if (SkipPod(*framework, pod)) {
    context_.queue.Done(pod->meta.uid);
    return;
  }
  if (extender_attempts_.Takes(*pod)) {
    extender_attempts_.PutInLine(*framework, queued);
    return;
  }
  std::unique_ptr<Attempt> attempt = BeginAttempt(*framework, queued);
  const tracing::AttemptScope traced(context_.traces, attempt->spans.get());
  ChooseNode(*attempt);
  Conclude(std::move(attempt));
}

void SchedulingCycle::ScheduleManaged(const framework::QueuedPodPtr& queued) {
  const std::string uid = queued->pod()->meta.uid;
  const api::PodPtr current = context_.cluster.pods.Get(queued->pod()->meta.Key());
  if (current == nullptr || current->meta.uid != uid || !context_.IsQueued(*current)) {
    context_.queue.Done(uid);
    return;
  }
  if (current != queued->pod()) queued->set_pod(current);
  if (!extender_attempts_.Takes(*current)) {
    ScheduleOne(queued);  // a reload took its extenders away
    return;
  }
  const framework::Framework* framework = context_.ProfileFor(*current);
  if (framework == nullptr || SkipPod(*framework, current)) {
    context_.queue.Done(uid);
    return;
  }
  extender_attempts_.Begin(BeginAttempt(*framework, queued));
}

// docs/spec/cycle.md section 4.
bool SchedulingCycle::SkipPod(const framework::Framework& framework, const api::PodPtr& pod) {
  if (pod->meta.deletion_timestamp) {
    context_.api.RecordEvent({.regarding = pod,
                              .related = {},
                              .reporting_controller = framework.ProfileName(),
                              .reason = "FailedScheduling",
                              .action = "Scheduling",
                              .note = "skip schedule deleting pod: " + pod->meta.Key(),
                              .warning = true});
    return true;
  }
  return context_.cluster.cache.IsAssumedPod(*pod) || bindings_.IsActive(pod->meta.uid);
}

std::unique_ptr<Attempt> SchedulingCycle::BeginAttempt(const framework::Framework& framework,
                                                       const framework::QueuedPodPtr& queued) {
  KS_LOG(3, "Attempting to schedule pod", {{"pod", queued->pod()->meta.Key()}});
  ++context_.stats.attempts;
  auto attempt = std::make_unique<Attempt>(framework, queued->pod(), context_.search_spaces);
  attempt->queued = queued;
  attempt->decision = context_.decisions.Begin(*queued);
  attempt->began = context_.clock.Now();
  if (context_.traces != nullptr) attempt->spans = context_.traces->Begin(*queued, attempt->began);
  attempt->extenders = context_.extenders;
  attempt->state.record_plugin_metrics = framework.DrawMetricsSample();
  attempt->state.pods_to_activate = std::make_shared<framework::PodsToActivate>();
  return attempt;
}

void SchedulingCycle::ChooseNode(Attempt& attempt) {
  if (Result<void> refreshed = context_.cluster.cache.RefreshSnapshot(); !refreshed.ok()) {
    attempt.result.status = Status::Error(refreshed.error().message);
    return;
  }
  Batching* batching = BatchingOf(attempt.framework);
  attempt.batch.cycle = context_.queue.scheduling_cycle();
  if (batching != nullptr) attempt.batch.signature = batching->SignatureOf(*attempt.pod);
  attempt.search->scores.keep_details = context_.decisions.WantsScoresByPlugin(attempt.decision);
  algorithm_.SchedulePod(attempt, batching);
  context_.decisions.Scored(attempt.decision, *attempt.search);
}

// Null: the gate is off, or the profile is of the extenders' making: their answers cannot be
// foreseen.
Batching* SchedulingCycle::BatchingOf(const framework::Framework& framework) {
  if (!framework.handle().gates().Enabled(config::Gate::kOpportunisticBatching)) return nullptr;
  if (!context_.configuration.extenders.empty()) return nullptr;
  std::unique_ptr<Batching>& made = batching_[&framework];
  if (made == nullptr) {
    framework::ProfileBatchMetrics* metrics =
        batch_metrics_ == nullptr ? nullptr : &batch_metrics_->ForProfile(framework.ProfileName());
    made = std::make_unique<Batching>(framework, context_.cluster.cache, context_.clock, metrics);
  }
  return made.get();
}

void SchedulingCycle::Conclude(std::unique_ptr<Attempt> attempt) {
  const ScheduleResult& result = attempt->result;
  KS_CHECK(result.status.ok() == (result.node != nullptr), "an attempt has a node or a failure");
  KS_CHECK(!result.fit_error || result.status.IsRejected(), "no node fits, and nobody says why");
  if (result.fit_error) {
    FitError(std::move(attempt));
    return;
  }
  if (context_.scheduler_metrics != nullptr) {
    context_.scheduler_metrics->AlgorithmEnded(attempt->began);
  }
  if (!result.status.ok()) {
    failures_.Handle(*attempt, {.status = result.status});
    return;
  }
  if (!attempt->pod->node_name.empty()) {
    ParkResize(*attempt);
    return;
  }
  context_.decisions.Chosen(attempt->decision, result, context_.cluster.cache.nodes().size());
  AssumeAndBind(std::move(attempt));
}

// No node was feasible: PostFilter may make room; the attempt fails all the same
// (docs/spec/cycle.md 10.4).
void SchedulingCycle::FitError(std::unique_ptr<Attempt> attempt) {
  const framework::Framework& framework = attempt->framework;
  framework::Diagnosis& diagnosis = attempt->search->diagnosis;
  AttemptFailure failure{.status = attempt->result.status};
  if (framework.plugins().HasPostFilterPlugins()) {
    framework::PostFilterResult result =
        framework.RunPostFilterPlugins(attempt->state, attempt->pod, diagnosis.nodes);
    if (result.status.IsWait()) {
      extender_attempts_.AwaitPreemption(std::move(attempt));
      return;
    }
    if (result.status.code() == framework::Code::kError) {
      log::Error(result.status.Message(), "Status after running PostFilter plugins for pod",
                 {{"pod", attempt->pod->meta.Key()}});
    }
    diagnosis.post_filter_message = result.status.ok() ? result.message : result.status.Message();
    failure.nomination = std::move(result.nomination);
  }
  failure.fit = FitFailure::Of(diagnosis);
  if (context_.scheduler_metrics != nullptr) {
    context_.scheduler_metrics->AlgorithmEnded(attempt->began);
  }
  failures_.Handle(*attempt, failure);
}

void SchedulingCycle::AssumeAndBind(std::unique_ptr<Attempt> attempt) {
  const std::string& node_name = attempt->result.node->name();
  const tracing::AttemptScope traced(context_.traces, attempt->spans.get());
  KS_CHECK(attempt->assumed == nullptr, "a pod is assumed twice in one attempt");
  attempt->assumed = OnNode(*attempt->pod, node_name);
  if (Result<void> assumed = context_.cluster.cache.AssumePod(attempt->assumed); !assumed.ok()) {
    failures_.Handle(*attempt, {.status = Status::Error(assumed.error().message)});
    return;
  }
  attempt->expected_on = context_.nominator.NodeOf(attempt->assumed->meta.uid);
  context_.nominator.DeleteNominatedPodIfExists(*attempt->assumed);
  if (attempt->expected_on != node_name) TellThatNotExpected(context_, attempt->expected_on);

  const Status reserved = attempt->framework.RunReservePluginsReserve(
      attempt->state, attempt->assumed, attempt->node());
  if (!reserved.ok()) {
    RejectAssumed(*attempt, reserved);
    return;
  }
  attempt->permit = attempt->framework.binding_points().RunPermitPlugins(
      attempt->state, attempt->assumed, attempt->node());
  if (!attempt->permit.status.ok() && !attempt->permit.status.IsWait()) {
    RejectAssumed(*attempt, attempt->permit.status);
    return;
  }
  ++context_.stats.scheduled;
  context_.ActivateRequestedPods(attempt->state);
  bindings_.Start(std::move(attempt));
}

void SchedulingCycle::RejectAssumed(Attempt& attempt, const Status& status) {
  bindings_.Undo(attempt);
  Reject(attempt, status);
}

void SchedulingCycle::Reject(const Attempt& attempt, const Status& status) {
  if (!status.IsRejected()) {
    failures_.Handle(attempt, {.status = status});
    return;
  }
  failures_.Handle(attempt, {.status = status, .fit = FitFailure::Of(OneNodeDiagnosis(status))});
}

// The cache has the pod on its node, with what the resize asks for, and Reserve ran when it came
// there: there is nothing to assume, and so nothing to undo, and nothing to bind. Permit's
// rejection parks the pod until the kubelet has resized it (docs/spec/cycle.md section 21).
void SchedulingCycle::ParkResize(Attempt& attempt) {
  Status verdict = attempt.framework.binding_points()
                       .RunPermitPlugins(attempt.state, attempt.pod, attempt.result.node->name())
                       .status;
  // A profile without the plugin must not bind it again either.
  if (verdict.ok() || verdict.IsWait()) verdict = plugins::ResizeFitsVerdict();
  Reject(attempt, verdict);
}

}  // namespace ks::scheduler
