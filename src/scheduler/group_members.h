// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the members of one group must agree in before an attempt, and what each of them is told when
// the attempt has failed. For the group cycle, and for those who ask what it would come to.
//
// Upstream: docs/spec/cycle.md 25.3 and 25.9.

#include <cstdint>
#include <optional>

#include "api/pod.h"
#include "base/result.h"
#include "scheduler/failure_handler.h"
#include "scheduler/group_result.h"

namespace ks::scheduler {

// Threads: one at a time. Lifetime: for one attempt.
class MemberAgreement {
 public:
  struct Terms {
    int32_t priority = 0;          // of the group
    std::optional<Symbol> policy;  // of preemption, the group's; absent: that of the first member
  };
  explicit MemberAgreement(Terms terms) : terms_(std::move(terms)) {}

  // Every member in turn, those on nodes, too. Error: the first that does not agree.
  Result<void> Check(const api::PodPtr& pod);
  // The member that was checked first; null: none.
  const api::PodPtr& first() const { return first_; }

 private:
  const Terms terms_;
  api::PodPtr first_;
};

// Why the member has no node, or loses the one that was found. Requires: its group or itself has
// failed. Takes the member's `fit`.
AttemptFailure FailureOf(const GroupResult& group, MemberResult& member);

}  // namespace ks::scheduler
