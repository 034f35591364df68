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

bool SaysScheduled(const api::PodGroup& group) {
  return std::any_of(
      group.conditions.begin(), group.conditions.end(), [](const api::Condition& known) {
        return known.type == api::kPodGroupInitiallyScheduled && known.status == "True";
      });
}

}  // namespace

void GroupConditions::Tell(const api::PodGroupPtr& group, const Status& status) {
  const bool reverts = KS_CANARY(GroupConditionReverts);
  if (SaysScheduled(*group) && !reverts) return;
  const auto known =
      std::find_if(scheduled_.begin(), scheduled_.end(),
                   [&group](const Scheduled& earlier) { return earlier.uid == group->meta.uid; });
  const bool was_scheduled = known != scheduled_.end() && !reverts;
  if (was_scheduled && std::exchange(known->said, true)) return;
  if (status.ok() && known == scheduled_.end()) {
    scheduled_.push_back({.uid = group->meta.uid});
    if (scheduled_.size() > kRemembered) scheduled_.pop_front();
  }
  const api::Condition condition =
      ConditionOf(*group, was_scheduled ? Status() : status, context_.clock.WallNow());
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
      [this, uid = group->meta.uid,
       key = group->meta.Key()](const std::optional<api::ApiError>& error) {
        if (error) {
          log::Error(error->message, "Failed to update PodGroup status", {{"podGroup", key}});
        }
        context_.inbox.PostTask([this, uid, failed = error.has_value()] { Answered(uid, failed); });
      });
}

// A patch that failed may have been written for all that. The next attempt says the same again: a
// group that was scheduled never reads otherwise afterwards.
void GroupConditions::Answered(const std::string& uid, bool failed) {
  const auto answered = under_way_.find(uid);
  if (answered == under_way_.end()) return;
  const std::optional<Waiting> next = std::move(answered->second);
  under_way_.erase(answered);
  if (next) return Send(next->group, next->condition);
  for (Scheduled& known : scheduled_) {
    if (known.uid == uid) known.said = !failed;
  }
}

}  // namespace ks::scheduler
