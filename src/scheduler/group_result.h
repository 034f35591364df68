// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an attempt of a group of pods comes to, group by group and member by member.
//
// Upstream: docs/spec/cycle.md section 25.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "framework/group_plugins.h"
#include "framework/pod_group_state.h"
#include "framework/queued_pod.h"
#include "framework/status.h"
#include "scheduler/algorithm/attempt.h"
#include "scheduler/failure_handler.h"

namespace ks::scheduler {

// Why a group has no place, where nothing better is known.
inline constexpr std::string_view kGroupUnschedulable = "pod group is unschedulable";

// A member that an attempt is about. Lifetime: until the end of the group's cycle.
struct GroupMember {
  framework::QueuedPodPtr queued;
  uint64_t decision = 0;  // number in the decision ring
  TimePoint began{};

  const api::PodPtr& pod() const { return queued->pod(); }
};

// Whether a member has a place, if its group is not asked.
struct MemberOutcome {
  framework::Status status{};  // Success: a node was found
  std::optional<FitFailure> fit{};
};

struct MemberResult {
  const GroupMember* member = nullptr;
  framework::Status status{};     // Success: there is a node
  bool tried = false;             // else the status is that of its group
  std::optional<FitFailure> fit;  // of a rejection, why
  // With the state of the search, whose space is given back; of a success with the node and
  // `assumed`, the pod on it. Null: it was not tried.
  std::unique_ptr<Attempt> attempt;
  // Absent: the nomination stays as it is.
  std::optional<framework::NominatingInfo> nomination;
  // For those who watch: what its search came to where that does not count, because a group above
  // failed or, with GroupAlgorithm::Parts::to_the_end, the quorum was out of reach before. Never of
  // a member that is `tried`.
  std::optional<MemberOutcome> aside{};

  bool placed() const { return tried && status.ok(); }
  bool searched() const { return tried || aside; }
  // Requires: searched. Whatever became of its group.
  bool fits() const { return aside ? aside->status.ok() : status.ok(); }
  const std::optional<FitFailure>& own_fit() const { return aside ? aside->fit : fit; }
  const framework::Status& own_status() const { return aside ? aside->status : status; }
  // Requires: placed. Lifetime: that of this result.
  framework::GroupAssignment Assignment() const {
    return {.pod = member->pod(), .node = attempt->result.node, .state = &attempt->state};
  }
};

// A PodGroup has members, a CompositePodGroup children.
struct GroupResult {
  framework::PodGroupKey group;
  framework::Status status{};
  bool tried = true;  // else the status is that of the group above
  bool waiting_on_preemption = false;
  std::vector<GroupResult> children;
  std::vector<MemberResult> members;

  // This group and all below, from the top.
  template <class Visit>
  void ForEachGroup(Visit visit) {
    visit(*this);
    for (GroupResult& child : children) child.ForEachGroup(visit);
  }
  // The members of all PodGroups, in tree order, each with its group.
  template <class Visit>
  void ForEachMember(Visit visit) {
    ForEachGroup([&visit](GroupResult& each) {
      for (MemberResult& member : each.members) visit(each, member);
    });
  }
  // The members that found a node and keep it, in tree order: those of a group that failed, or is
  // below one, have given theirs back.
  template <class Visit>
  void ForEachKept(Visit visit) {
    if (!status.ok()) return;
    for (MemberResult& member : members) {
      if (member.placed()) visit(member);
    }
    for (GroupResult& child : children) child.ForEachKept(visit);
  }
  // All members, without nodes, with the states of their searches. Lifetime: that of this result.
  std::vector<framework::GroupAssignment> Unassigned() {
    std::vector<framework::GroupAssignment> all;
    ForEachMember([&all](GroupResult&, MemberResult& member) {
      framework::CycleState* state = member.attempt == nullptr ? nullptr : &member.attempt->state;
      all.push_back({.pod = member.member->pod(), .node = nullptr, .state = state});
    });
    return all;
  }
  // The members that found a node, whether they keep it or not, in tree order. Lifetime: that of
  // this result.
  std::vector<framework::GroupAssignment> Assignments() {
    std::vector<framework::GroupAssignment> assignments;
    ForEachMember([&assignments](GroupResult&, MemberResult& member) {
      if (member.placed()) assignments.push_back(member.Assignment());
    });
    return assignments;
  }
};

// The groups of an attempt, before it: those of the tree, and the members that are queued.
struct GroupPlan {
  framework::PodGroupKey group;
  std::vector<GroupPlan> children;   // of a composite, in their order
  std::vector<GroupMember> members;  // of a PodGroup, in their order; may be empty

  template <class Visit>
  void ForEachMember(Visit visit) {
    for (GroupMember& member : members) visit(member);
    for (GroupPlan& child : children) child.ForEachMember(visit);
  }
  template <class Visit>
  void ForEachMember(Visit visit) const {
    for (const GroupMember& member : members) visit(member);
    for (const GroupPlan& child : children) child.ForEachMember(visit);
  }
};

}  // namespace ks::scheduler
