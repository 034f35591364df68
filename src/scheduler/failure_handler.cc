// SPDX-License-Identifier: Apache-2.0
#include "scheduler/failure_handler.h"

#include <string>
#include <utility>

#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "scheduler/algorithm/scheduling_algorithm.h"
#include "scheduler/decision_ring.h"
#include "scheduler/freed_room.h"
#include "scheduler/metrics/scheduler_metrics.h"

namespace ks::scheduler {

using framework::Code;

namespace {

void LogRejection(const api::Pod& pod, const std::string& message) {
  if (message == kNoNodesText) {
    KS_LOG(2, "Unable to schedule pod; no nodes are registered to the cluster; waiting",
           {{"pod", pod.meta.Key()}});
  } else {
    KS_LOG(2, "Unable to schedule pod; no fit; waiting",
           {{"pod", pod.meta.Key()}, {"err", message}});
  }
}

}  // namespace

FitFailure FitFailure::Of(const framework::Diagnosis& diagnosis) {
  return {.text = diagnosis.Text(),
          .unschedulable_plugins = diagnosis.unschedulable_plugins,
          .pending_plugins = diagnosis.pending_plugins,
          .all_nodes = diagnosis.num_all_nodes,
          .evaluated_nodes = diagnosis.nodes.explicit_count()};
}

std::string AttemptFailure::Message() const {
  if (fit) return fit->text;
  const Code code = status.code();
  if (code == Code::kSuccess || code == Code::kSkip || code == Code::kWait) return {};
  return status.Message();
}

FailureHandler::Standing FailureHandler::LookUp(const api::Pod& pod, api::PodPtr* current) const {
  *current = context_.cluster.pods.Get(pod.meta.Key());
  if (*current == nullptr) return Standing::kGone;
  const bool resize = context_.WaitsForResize(**current);
  if (!(*current)->node_name.empty() && !resize) return Standing::kAssigned;
  if ((*current)->meta.uid != pod.meta.uid) return Standing::kReplaced;
  return resize ? Standing::kWaitsForResize : Standing::kPending;
}

void FailureHandler::Handle(const Attempt& attempt, const AttemptFailure& failure) {
  KS_CHECK(attempt.queued != nullptr, "an attempt of a pod that came from no queue fails");
  KS_CHECK(!failure.status.ok(), "an attempt fails with success");
  const api::PodPtr& pod = attempt.current();
  framework::QueuedPod& queued = *attempt.queued;
  const std::string message = failure.Message();
  Count(attempt, failure, message);

  queued.unschedulable_plugins.Clear();
  queued.pending_plugins.Clear();
  queued.gating_plugin = {};
  if (failure.fit) {
    queued.unschedulable_plugins = failure.fit->unschedulable_plugins;
    queued.pending_plugins = failure.fit->pending_plugins;
  }
  Record(attempt, failure, message);
  Trace(attempt, failure, message);

  api::PodPtr current;
  const Standing standing = LookUp(*pod, &current);
  if (standing == Standing::kReplaced) {
    context_.queue.Done(pod->meta.uid);
    return;
  }
  api::PodPtr reported = pod;
  const bool resize = standing == Standing::kWaitsForResize || !attempt.pod->node_name.empty();
  const bool returns = standing == Standing::kPending || standing == Standing::kWaitsForResize;
  if (returns) {
    reported = current;
    queued.set_pod(current);
    const Result<void> returned = context_.queue.AddUnschedulableIfNotPresent(attempt.queued);
    if (!returned.ok()) {
      log::Error(returned.error().message, "Error occurred", {{"pod", pod->meta.Key()}});
    }
  }
  if (!resize) {
    Nominate(attempt, reported, failure.nomination);
    const tracing::AttemptScope traced(context_.traces, attempt.spans.get());
    if (!message.empty()) Report(attempt.framework, reported, failure, message);
  }
  if (KS_CANARY(DoneForgotten)) return;
  if (!returns) context_.queue.Done(pod->meta.uid);
}

void FailureHandler::Nominate(const Attempt& attempt, const api::PodPtr& pod,
                              const std::optional<framework::NominatingInfo>& nomination) {
  const std::string& uid = pod->meta.uid;
  const std::string before = attempt.assumed == nullptr
                                 ? std::string(context_.nominator.NodeOf(uid))
                                 : attempt.expected_on;
  context_.nominator.AddNominatedPod(pod, nomination);
  if (context_.nominator.NodeOf(uid) != before) TellThatNotExpected(context_, before);
}

void FailureHandler::Count(const Attempt& attempt, const AttemptFailure& failure,
                           const std::string& message) {
  const bool rejected = failure.status.IsRejected();
  if (context_.scheduler_metrics != nullptr) {
    context_.scheduler_metrics->AttemptEnded(
        attempt.framework.ProfileName(),
        rejected ? AttemptOutcome::kUnschedulable : AttemptOutcome::kError, attempt.began);
  }
  if (rejected) {
    ++context_.stats.unschedulable;
    LogRejection(*attempt.pod, message);
  } else {
    ++context_.stats.errors;
    log::Error(message, "Error scheduling pod; retrying", {{"pod", attempt.pod->meta.Key()}});
  }
}

void FailureHandler::Record(const Attempt& attempt, const AttemptFailure& failure,
                            const std::string& message) {
  if (attempt.decision == 0) return;
  DecisionRing::Failure record{.rejected = failure.status.IsRejected(),
                               .message = message,
                               .unschedulable_plugins = attempt.queued->unschedulable_plugins,
                               .pending_plugins = attempt.queued->pending_plugins};
  if (failure.nomination) record.nominated = failure.nomination->node_name;
  if (failure.fit) {
    record.all_nodes = failure.fit->all_nodes;
    record.evaluated_nodes = failure.fit->evaluated_nodes;
  }
  context_.decisions.Failed(attempt.decision, record);
}

void FailureHandler::Trace(const Attempt& attempt, const AttemptFailure& failure,
                           const std::string& message) {
  if (attempt.spans == nullptr) return;
  tracing::AttemptEnd end{.result = failure.status.IsRejected() ? "unschedulable" : "error",
                          .message = message};
  if (failure.fit) end.evaluated_nodes = failure.fit->evaluated_nodes;
  if (failure.nomination) end.nominated = failure.nomination->node_name;
  context_.traces->Failed(*attempt.pod, *attempt.spans, end);
}

void FailureHandler::Report(const framework::Framework& framework, const api::PodPtr& pod,
                            const AttemptFailure& failure, const std::string& message) {
  context_.api.RecordEvent({.regarding = pod,
                            .related = {},
                            .reporting_controller = framework.ProfileName(),
                            .reason = "FailedScheduling",
                            .action = "Scheduling",
                            .note = message,
                            .warning = true});

  api::PodStatusChange change;
  change.condition.emplace();
  change.condition->type = api::kPodScheduled;
  change.condition->status = "False";
  change.condition->reason = failure.status.IsRejected() ? "Unschedulable" : "SchedulerError";
  change.condition->message = message;
  change.condition->observed_generation = pod->meta.generation;
  change.condition->last_transition_time = context_.clock.WallNow();
  if (failure.nomination && failure.nomination->node_name != pod->status.nominated_node_name) {
    change.nominated_node_name = failure.nomination->node_name;
  }
  KS_LOG(3, "Updating pod condition and nominated node name",
         {{"pod", pod->meta.Key()},
          {"conditionType", change.condition->type},
          {"conditionStatus", change.condition->status},
          {"conditionReason", change.condition->reason},
          {"nominatedNodeName", failure.nomination ? failure.nomination->node_name : std::string()},
          {"nominatingMode", failure.nomination ? 1 : 0}});
  context_.api.PatchPodStatus(pod, std::move(change),
                              [key = pod->meta.Key()](std::optional<api::ApiError> error) {
                                if (error) {
                                  log::Error(error->message, "Error updating pod", {{"pod", key}});
                                }
                              });
}

}  // namespace ks::scheduler
