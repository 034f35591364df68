// SPDX-License-Identifier: Apache-2.0
#include "scheduler/failure_handler.h"

#include <utility>

#include "base/canary.h"
#include "base/logging.h"

namespace ks::scheduler {

using framework::Code;

std::string AttemptFailure::Message() const {
  if (diagnosis != nullptr) return diagnosis->Text();
  const Code code = status.code();
  if (code == Code::kSuccess || code == Code::kSkip || code == Code::kWait) return {};
  return status.ErrorText();
}

FailureHandler::Standing FailureHandler::LookUp(const api::Pod& pod, api::PodPtr* current) const {
  *current = context_.pods.Get(pod.meta.Key());
  if (*current == nullptr) return Standing::kGone;
  if (!(*current)->node_name.empty()) return Standing::kAssigned;
  if ((*current)->meta.uid != pod.meta.uid) return Standing::kReplaced;
  return Standing::kPending;
}

void FailureHandler::Handle(const framework::Framework& framework,
                            const framework::QueuedPodPtr& queued, const api::PodPtr& pod,
                            const AttemptFailure& failure) {
  if (failure.status.IsRejected()) {
    ++context_.stats.unschedulable;
    KS_LOG(2, "Unable to schedule pod; no fit; waiting", {{"pod", pod->meta.Key()}});
  } else {
    ++context_.stats.errors;
    log::Error(failure.Message(), "Error scheduling pod; retrying", {{"pod", pod->meta.Key()}});
  }

  queued->unschedulable_plugins.Clear();
  queued->pending_plugins.Clear();
  queued->gating_plugin = {};
  if (failure.diagnosis != nullptr) {
    queued->unschedulable_plugins = failure.diagnosis->unschedulable_plugins;
    queued->pending_plugins = failure.diagnosis->pending_plugins;
  }

  api::PodPtr current;
  const Standing standing = LookUp(*pod, &current);
  if (standing == Standing::kReplaced) {
    context_.queue.Done(pod->meta.uid);
    return;
  }
  api::PodPtr reported = pod;
  if (standing == Standing::kPending) {
    reported = current;
    queued->set_pod(current);
    const Result<void> returned = context_.queue.AddUnschedulableIfNotPresent(queued);
    if (!returned.ok()) {
      log::Error(returned.error().message, "Error occurred", {{"pod", pod->meta.Key()}});
    }
  }
  context_.nominator.AddNominatedPod(reported, failure.nomination);
  if (!failure.Message().empty()) Report(framework, reported, failure);
  if (KS_CANARY(DoneForgotten)) return;
  if (standing != Standing::kPending) context_.queue.Done(pod->meta.uid);
}

void FailureHandler::Report(const framework::Framework& framework, const api::PodPtr& pod,
                            const AttemptFailure& failure) {
  const std::string message = failure.Message();
  context_.api.RecordEvent({.regarding = pod,
                            .related = nullptr,
                            .reporting_controller = framework.ProfileName(),
                            .reason = "FailedScheduling",
                            .action = "Scheduling",
                            .note = message,
                            .warning = true});

  api::PodStatusChange change;
  change.condition.emplace();
  change.condition->type = "PodScheduled";
  change.condition->status = "False";
  change.condition->reason = failure.status.IsRejected() ? "Unschedulable" : "SchedulerError";
  change.condition->message = message;
  change.condition->observed_generation = pod->meta.generation;
  change.condition->last_transition_time = context_.clock.WallNow();
  if (failure.nomination && failure.nomination->node_name != pod->status.nominated_node_name) {
    change.nominated_node_name = failure.nomination->node_name;
  }
  context_.api.PatchPodStatus(pod, std::move(change),
                              [key = pod->meta.Key()](std::optional<api::ApiError> error) {
                                if (error) {
                                  log::Error(error->message, "Error updating pod", {{"pod", key}});
                                }
                              });
}

}  // namespace ks::scheduler
