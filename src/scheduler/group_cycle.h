// SPDX-License-Identifier: Apache-2.0
#pragma once
// The attempt of a popped pod group: all of its members are given nodes, or none is. Those that
// found one go on as single pods do, held together by the plugin GangScheduling at Permit.
//
// Two groups never hold half of what each needs: one cycle decides all members of one group, on a
// snapshot that nobody else changes, and takes everything back unless the quorum is reached.
//
// Upstream: docs/spec/cycle.md section 25, docs/spec/pod-groups.md.

#include <string>
#include <vector>

#include "scheduler/algorithm/scheduling_algorithm.h"
#include "scheduler/context.h"
#include "scheduler/failure_handler.h"
#include "scheduler/group_algorithm.h"
#include "scheduler/group_conditions.h"
#include "scheduler/group_result.h"
#include "scheduler/metrics/group_metrics.h"
#include "scheduler/scheduling_cycle.h"

namespace ks::scheduler {

// Threads: the scheduling thread. Lifetime: what the parts refer to outlives its use.
class GroupCycle {
 public:
  struct Parts {
    Context& context;
    SchedulingAlgorithm& algorithm;
    FailureHandler& failures;
    SchedulingCycle& cycle;
    GroupMetrics* metrics = nullptr;  // null: nothing is measured
  };
  explicit GroupCycle(const Parts& parts)
      : context_(parts.context),
        algorithm_(parts.algorithm),
        failures_(parts.failures),
        cycle_(parts.cycle),
        conditions_(parts.context),
        metrics_(parts.metrics) {}

  // A group that the queue has handed out, from its pop to its return. Waits for nothing but the
  // extenders that manage members; when the scheduler stops meanwhile, the group stays in flight.
  void ScheduleGroup(const framework::QueuedPodGroupPtr& group);

 private:
  struct Run;

  GroupPlan MakePlan(const Run& run, const framework::PodGroupKey& group) const;
  Result<void> Reconcile(const framework::QueuedPodGroup& group) const;
  Result<void> Validate(Run& run) const;
  void DropMembers(Run& run);
  void FailEarly(Run& run, const std::string& text, bool patch);

  GroupResult Search(Run& run, bool proposal);
  void PostFilter(Run& run, GroupResult& result);
  void Submit(const Run& run, GroupResult& result);
  void SubmitMember(const Run& run, const GroupResult& group, MemberResult& member);
  void Fail(const Run& run, MemberResult& member, const AttemptFailure& failure);
  void PatchConditions(GroupResult& result);
  void PatchCondition(const framework::PodGroupKey& group, const framework::Status& status);
  static void Tell(const Run& run, const framework::Status& status);
  void Count(const Run& run, const GroupResult& result);
  void Return(const Run& run, const framework::Status& status);

  const framework::PodGroupStates& states() const { return *context_.cluster.members; }

  Context& context_;
  SchedulingAlgorithm& algorithm_;
  FailureHandler& failures_;
  SchedulingCycle& cycle_;
  GroupConditions conditions_;
  GroupMetrics* const metrics_;
};

}  // namespace ks::scheduler
