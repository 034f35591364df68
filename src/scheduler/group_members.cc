// SPDX-License-Identifier: Apache-2.0
#include "scheduler/group_members.h"

#include <string>
#include <string_view>
#include <utility>

#include "golang/quote.h"

namespace ks::scheduler {
namespace {

using framework::Status;

constexpr std::string_view kPreemptLowerPriority = "PreemptLowerPriority";
constexpr const char* kAllTheSame = "all pods in a single pod group should have the same ";

std::string_view PolicyOf(const Symbol& policy) {
  return policy.empty() ? kPreemptLowerPriority : policy.view();
}

}  // namespace

Result<void> MemberAgreement::Check(const api::PodPtr& pod) {
  if (first_ == nullptr) first_ = pod;
  const std::string all = kAllTheSame;
  if (pod->spec->scheduler_name != first_->spec->scheduler_name) {
    return Error{
        all + ".spec.schedulerName set, got: " + golang::Quote(pod->spec->scheduler_name.view()) +
        " and " + golang::Quote(first_->spec->scheduler_name.view())};
  }
  if (pod->Priority() != terms_.priority) {
    return Error{all + "priority as the pod group's priority, got " +
                 std::to_string(pod->Priority()) + " and " + std::to_string(terms_.priority)};
  }
  const std::string_view policy = PolicyOf(pod->spec->preemption_policy);
  const std::string_view expected =
      PolicyOf(terms_.policy ? *terms_.policy : first_->spec->preemption_policy);
  if (policy == expected) return {};
  return Error{all +
               (terms_.policy ? "preemption policy as the pod group's preemption policy, got "
                              : "preemption policy, got ") +
               std::string(policy) + " and " + std::string(expected)};
}

AttemptFailure FailureOf(const GroupResult& group, MemberResult& member) {
  if (!group.status.ok() && !group.status.IsRejected()) {
    const bool member_failed = !member.status.ok() && !member.status.IsRejected();
    return {.status = member_failed ? member.status : group.status};
  }
  if (!member.status.ok()) {
    return {.status = member.status, .fit = std::move(member.fit), .nomination = member.nomination};
  }
  if (group.waiting_on_preemption) {
    return {.status = group.status, .nomination = member.nomination};
  }
  return {.status = Status::WithError(group.status.code(), std::string(kGroupUnschedulable),
                                      {group.status.Message()})};
}

}  // namespace ks::scheduler
