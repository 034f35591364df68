// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds nodes for all members of a group, or tree of groups: one member after the other, each seen
// on its node by those that follow, in one placement after the other. All of it happens in the
// snapshot and is taken back; what remains is the result.
//
// Upstream: docs/spec/cycle.md 25.4, 25.6 and 25.7.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "framework/mutable_snapshot.h"
#include "framework/runtime/runtime.h"
#include "scheduler/algorithm/scheduling_algorithm.h"
#include "scheduler/awaited_extenders.h"
#include "scheduler/group_result.h"
#include "scheduler/metrics/group_metrics.h"

namespace ks::scheduler {

// Told of each placement that is tried for a group, before and after; those of a composite's
// children come between. Threads: those of the algorithm. Lifetime: outlives the run.
class PlacementObserver {
 public:
  virtual ~PlacementObserver() = default;
  virtual void OnBegin(const framework::PodGroupKey& group,
                       const framework::Placement& placement) = 0;
  // Nothing of the result is on nodes any more.
  virtual void OnEnd(GroupResult& result) = 0;
};

// The cost grows with the members, not with the cluster: a member costs what a pod costs.
// Threads: the scheduling thread. Lifetime: for one run; what it is made of outlives it.
class GroupAlgorithm {
 public:
  struct Parts {
    framework::MutableSnapshot& trial;
    const framework::Snapshot& snapshot;
    const framework::PodGroupStates& states;
    SchedulingAlgorithm& algorithm;
    SearchSpaces& search_spaces;
    framework::Nominator& nominator;
    Random& random;
    AwaitedExtenders* extenders = nullptr;  // null: none are asked
    GroupMetrics* metrics = nullptr;        // null: nothing is measured
    PlacementObserver* observer = nullptr;  // null: nobody is told
    // Members that the search does not come to, because the quorum is out of reach, are searched
    // for all the same, and it is noted aside: it changes nothing.
    bool to_the_end = false;
  };
  GroupAlgorithm(const Parts& parts, const framework::Framework& framework)
      : parts_(parts), framework_(framework), points_(framework.group_points()) {}

  // Requires: the snapshot was refreshed. Afterwards it is as before. The states of placed members
  // can be used on, each for its node.
  GroupResult Run(const GroupPlan& plan);
  // The same, but that what was found for groups below one that failed stands as it was found.
  GroupResult Propose(const GroupPlan& plan);

 private:
  struct PlacedMember {
    Attempt* attempt;
    std::string nominated_node;  // had it not been placed; empty: none
  };

  using Placement = framework::Placement;

  // `within`: null for all nodes. The members of a successful result stay on their nodes.
  GroupResult Place(const GroupPlan& plan, const Placement* within);
  GroupResult PlaceIn(const GroupPlan& plan, const Placement* within);
  GroupResult PlaceMembers(const GroupPlan& plan, const Placement* within);
  GroupResult PlaceChildren(const GroupPlan& plan, const Placement* within);
  MemberResult PlaceMember(const GroupMember& member, const Placement* within);
  std::vector<MemberResult> PlaceAside(std::span<MemberResult> untried, const Placement* within);
  bool GoesOn(const framework::Status& status) const {
    return parts_.to_the_end && status.IsRejected();
  }
  void Reserve(MemberResult& result);

  GroupResult ChoosePlacement(const GroupPlan& plan, const Placement* within);
  GroupResult TryPlacement(const GroupPlan& plan, const Placement& placement);
  framework::Status PickBest(const GroupPlan& plan, const std::vector<Placement>& placements,
                             std::vector<GroupResult>& results, std::vector<size_t> feasible,
                             size_t* best);

  framework::Status TryAll(const framework::PodGroupKey& group, size_t scheduled, size_t count,
                           std::string_view failure,
                           const std::function<framework::Status()>& try_next) const;
  framework::Status Feasible(const framework::PodGroupKey& group, size_t scheduled,
                             size_t remaining) const;
  // Everything that was put on a node since takes leave of it, the last first.
  void UndoTo(size_t mark);
  void TakeLastOff();
  framework::Status PutBack(GroupResult& result);

  const Parts parts_;
  const framework::Framework& framework_;
  const framework::GroupPoints& points_;
  std::vector<PlacedMember> placed_;  // on their nodes now
};

}  // namespace ks::scheduler
