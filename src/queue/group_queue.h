// SPDX-License-Identifier: Apache-2.0
#pragma once
// GroupQueue: members of pod groups in the queue. All queued members of a tree of groups are one
// entity, that of the root; members without a known root, and those that come while their group is
// being scheduled, wait aside. What entities and pods have in common is SchedulingQueue's.
//
// Upstream: docs/spec/queue.md section 18.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/clock.h"
#include "base/result.h"
#include "framework/pod_group_state.h"
#include "framework/queued_pod.h"
#include "queue/in_flight_log.h"
#include "queue/nominator.h"
#include "queue/placement.h"
#include "queue/pod_stores.h"

namespace ks::queue {

// What a group's attempt came to.
enum class ReturnStatus : uint8_t {
  kSuccess,
  kRejected,  // by plugins
  kError,
};

// What is known of the groups is asked of PodGroupStates, to which each event is applied first.
//
// Invariants: a member is incomplete, or in the entity of its root, or pending, or in flight; an
// entity has members.
// Threads: the scheduling thread. Lifetime: what it is made of outlives it.
class GroupQueue {
 public:
  struct Parts {
    const Clock& clock;
    Placement& placement;
    InFlightLog& in_flight;
    PodNominator& nominator;
    const framework::PodGroupStates& states;
  };
  explicit GroupQueue(const Parts& parts);
  ~GroupQueue();
  GroupQueue(const GroupQueue&) = delete;
  GroupQueue& operator=(const GroupQueue&) = delete;

  // Whether the pod is queued by its group. One with a node never is.
  static bool IsMember(const api::Pod& pod) {
    return pod.spec->scheduling_group.has_value() && pod.node_name.empty();
  }
  // Whether both are members of the same PodGroup, or none.
  static bool SameGroup(const api::Pod& a, const api::Pod& b);

  // For the group cycle and event routing.

  // Ends the attempt of a popped group; its members have been returned, bound or dropped by then.
  // Those that have come meanwhile or come back are the group's next entity. Without such members
  // the group leaves the queue. Error: the group is stored already, as after the return of another
  // pod during its cycle; nothing has changed then.
  Result<void> Return(const framework::QueuedPodGroupPtr& group, ReturnStatus status);
  // The object of a PodGroup or CompositePodGroup has come, has changed or is gone. Called when the
  // cache has it so; the move event comes after it.
  void OnGroupAdd(const framework::PodGroupKey& group);
  void OnGroupUpdate(const framework::PodGroupKey& group);
  void OnGroupDelete(const framework::PodGroupKey& group);

  // For SchedulingQueue.

  // A member is new or comes back. Requires: its key is not stored.
  void Add(framework::QueuedPodPtr pod);
  // The member is gone.
  void Remove(MemberRecord& member);
  // Takes the group out of its store and into flight; null: all of its members are there already.
  framework::QueuedPodGroupPtr Take(GroupRecord& group);
  // From now on members that come start a new entity: another entity was popped, or a pod that is
  // no member was returned.
  void ForgetLastPopped() { last_popped_.reset(); }
  // The root of the group that was popped last, until then.
  const std::optional<framework::PodGroupKey>& last_popped() const { return last_popped_; }

  // Across Placement::StartAnew: everything is taken out of the stores, and put back by the new
  // rules.
  void Suspend();
  void Resume();

  // The entity of the root; null: not stored.
  GroupRecord* Find(const framework::PodGroupKey& root) const;

 private:
  using Members = std::vector<MemberRecord*>;
  // Namespace and name: PodGroups and CompositePodGroups share the names of entities.
  using Name = std::pair<Symbol, std::string>;
  struct Suspended {
    framework::QueuedPodGroupPtr group;  // null: members without one
    Store store = Store::kNone;
    std::vector<framework::QueuedPodPtr> members;
  };

  static Name NameOf(const framework::PodGroupKey& key) { return {key.ns, key.name}; }
  MemberRecord& CreateMember(framework::QueuedPodPtr pod);
  void EraseMember(MemberRecord& member);
  void Settle(MemberRecord& member);
  GroupRecord& CreateGroup(framework::QueuedPodGroupPtr group);
  void EraseGroup(GroupRecord& group);
  void Join(GroupRecord& group, MemberRecord& member);
  void Leave(MemberRecord& member);
  void PlaceAgain(GroupRecord& group, Store former, std::string_view label);
  bool TakeMember(framework::QueuedPod& pod, const WokenBy& woken);
  void NoteAttempt(const framework::QueuedPodGroup& last, const Members& members,
                   ReturnStatus status, framework::QueuedPodGroup* next) const;
  void LeaveFormerTrees(const framework::PodGroupKey& group);
  Members PendingOf(const framework::PodGroupKey& root);
  std::vector<framework::QueuedPodGroup::Leaf> SortMembers(const GroupRecord& group) const;

  const Clock& clock_;
  Placement& placement_;
  InFlightLog& in_flight_;
  PodNominator& nominator_;
  const framework::PodGroupStates& states_;

  absl::flat_hash_map<Name, std::unique_ptr<GroupRecord>> entities_;  // by root
  absl::flat_hash_map<Name, Members> members_of_;  // by PodGroup, wherever they are stored
  std::optional<framework::PodGroupKey> last_popped_;
  std::vector<Suspended> suspended_;
};

}  // namespace ks::queue
