// SPDX-License-Identifier: Apache-2.0
#include "scheduler/group_conditions.h"

#include <algorithm>
#include <utility>

#include "base/canary.h"
#include "base/logging.h"

namespace ks::scheduler {
namespace {

using framework::Status;

constexpr size_t kRemembered = 1024;

api::Condition ConditionOf(const api::PodGroup& group, const Status& status, TimePoint now) {
  api::Condition condition;
  condition.type = std::string(api::kPodGroupInitiallyScheduled);
  condition.observed_generation = group.meta.generation;
  condition.last_transition_time = now;
  if (status.ok()) {
    condition.status = "True";
    condition.reason = "Scheduled";
    return condition;
  }
  condition.status = "False";
  condition.reason = status.IsRejected() ? "Unschedulable" : "SchedulerError";
  condition.message = status.IsRejected() ? status.Message() : status.ErrorText();
  return condition;
}

}  // namespace

bool GroupConditions::WasScheduled(const api::PodGroup& group) const {
  if (std::find(scheduled_.begin(), scheduled_.end(), group.meta.uid) != scheduled_.end()) {
    return true;
  }
  return std::any_of(
      group.conditions.begin(), group.conditions.end(), [](const api::Condition& known) {
        return known.type == api::kPodGroupInitiallyScheduled && known.status == "True";
      });
}

void GroupConditions::Tell(const api::PodGroupPtr& group, const Status& status) {
  if (WasScheduled(*group) && !KS_CANARY(GroupConditionReverts)) return;
  if (status.ok()) {
    scheduled_.push_back(group->meta.uid);
    if (scheduled_.size() > kRemembered) scheduled_.pop_front();
  }
  const api::Condition condition = ConditionOf(*group, status, context_.clock.WallNow());
  const auto waiting = under_way_.find(group->meta.uid);
  if (waiting == under_way_.end()) {
    Send(group, condition);
  } else {
    waiting->second = Waiting{group, condition};
  }
}

void GroupConditions::Send(const api::PodGroupPtr& group, const api::Condition& condition) {
  under_way_[group->meta.uid].reset();
  context_.api.PatchPodGroupStatus(
      group, condition,
      [this, uid = group->meta.uid, key = group->meta.Key(),
       scheduled = condition.status == "True"](const std::optional<api::ApiError>& error) {
        if (error) {
          log::Error(error->message, "Failed to update PodGroup status", {{"podGroup", key}});
        }
        const bool failed = error.has_value();
        context_.inbox.PostTask([this, uid, told = scheduled && !failed] { Answered(uid, told); });
      });
}

// A patch that failed may be said anew by the next attempt.
void GroupConditions::Answered(const std::string& uid, bool scheduled) {
  const auto answered = under_way_.find(uid);
  if (answered == under_way_.end()) return;
  const std::optional<Waiting> next = std::move(answered->second);
  under_way_.erase(answered);
  if (next) return Send(next->group, next->condition);
  if (!scheduled) std::erase(scheduled_, uid);
}

}  // namespace ks::scheduler
