// SPDX-License-Identifier: Apache-2.0
#include "queue/group_queue.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "absl/container/flat_hash_set.h"
#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "queue/member_order.h"

namespace ks::queue {
namespace {

using framework::PodGroupKey;
using framework::QueuedPod;
using framework::QueuedPodGroup;
using framework::QueuedPodGroupPtr;
using framework::QueuedPodPtr;

// By which a group goes back to the store that it was in.
Strategy StrategyOf(Store store) {
  if (store == Store::kActive) return Strategy::kImmediately;
  return store == Store::kUnschedulable ? Strategy::kSkip : Strategy::kAfterBackoff;
}

// The order in which members that waited for their group enter it: that of their arrivals.
bool CameBefore(const MemberRecord* a, const MemberRecord* b) {
  const auto rank = [](const MemberRecord& member) {
    return std::make_tuple(member.pod->timestamp, std::string_view(member.pod->pod()->meta.name));
  };
  return rank(*a) < rank(*b);
}

// What the next attempt of a group inherits from the last one.
QueuedPodGroupPtr NextAttempt(const QueuedPodGroup& last, int32_t priority) {
  auto next = std::make_shared<QueuedPodGroup>(last.root(), priority);
  next->timestamp = last.timestamp;
  next->attempts = last.attempts;
  next->unschedulable_count = last.unschedulable_count;
  next->consecutive_errors_count = last.consecutive_errors_count;
  next->initial_attempt_timestamp = last.initial_attempt_timestamp;
  return next;
}

void LogDiscarded(std::string_view type, const std::string& name, const std::string& cause) {
  log::Error(cause, "Discarding the popped entity", {{"type", type}, {"entity", name}});
}

}  // namespace

GroupQueue::GroupQueue(const Parts& parts)
    : clock_(parts.clock),
      placement_(parts.placement),
      in_flight_(parts.in_flight),
      nominator_(parts.nominator),
      states_(parts.states) {}

GroupQueue::~GroupQueue() = default;

bool GroupQueue::SameGroup(const api::Pod& a, const api::Pod& b) {
  if (!IsMember(a) || !IsMember(b)) return IsMember(a) == IsMember(b);
  return framework::GroupOf(a) == framework::GroupOf(b);
}

GroupRecord* GroupQueue::Find(const PodGroupKey& root) const {
  const auto found = entities_.find(NameOf(root));
  return found == entities_.end() ? nullptr : found->second.get();
}

MemberRecord& GroupQueue::CreateMember(QueuedPodPtr pod) {
  KS_CHECK(IsMember(*pod->pod()), "a pod without a group is queued by its group");
  MemberRecord& member = placement_.stores().CreateMember(std::move(pod));
  Members& siblings = members_of_[NameOf(*framework::GroupOf(*member.pod->pod()))];
  member.leaf_place = static_cast<uint32_t>(siblings.size());
  siblings.push_back(&member);
  return member;
}

void GroupQueue::EraseMember(MemberRecord& member) {
  const auto leaf = members_of_.find(NameOf(*framework::GroupOf(*member.pod->pod())));
  Members& siblings = leaf->second;
  siblings[member.leaf_place] = siblings.back();
  siblings[member.leaf_place]->leaf_place = member.leaf_place;
  siblings.pop_back();
  if (siblings.empty()) members_of_.erase(leaf);
  placement_.stores().Erase(member);
}

GroupRecord& GroupQueue::CreateGroup(QueuedPodGroupPtr group) {
  std::unique_ptr<GroupRecord>& record = entities_[NameOf(group->root())];
  KS_CHECK(record == nullptr, "a group is stored twice");
  record = std::make_unique<GroupRecord>();
  record->kind = RecordKind::kGroup;
  record->group = std::move(group);
  return *record;
}

// Requires: in no store, without members.
void GroupQueue::EraseGroup(GroupRecord& group) {
  KS_CHECK(group.members.empty() && group.store == Store::kNone, "a group is erased too early");
  entities_.erase(NameOf(group.group->root()));
}

// The group is placed anew by the caller.
void GroupQueue::Join(GroupRecord& group, MemberRecord& member) {
  placement_.stores().Detach(member);
  member.group = &group;
  member.place = static_cast<uint32_t>(group.members.size());
  group.members.push_back(&member);
  group.group->pod_count = group.members.size();
  const api::Pod& pod = *member.pod->pod();
  group.answers.Join(member, placement_.GateChangesAlone(pod) ||
                                 states_.RootOf(*framework::GroupOf(pod)) != group.group->root());
}

// The group is placed anew by the caller, or erased.
void GroupQueue::Leave(MemberRecord& member) {
  placement_.stores().Detach(member);
  GroupRecord& group = *member.group;
  group.members[member.place] = group.members.back();
  group.members[member.place]->place = member.place;
  group.members.pop_back();
  group.group->pod_count = group.members.size();
  group.answers.Leave(member);
  member.group = nullptr;
}

void GroupQueue::Add(QueuedPodPtr pod) { Settle(CreateMember(std::move(pod))); }

// Where a member goes that is in no group: 18.3.
void GroupQueue::Settle(MemberRecord& member) {
  const std::optional<PodGroupKey> root = states_.RootOf(*framework::GroupOf(*member.pod->pod()));
  if (!root) {
    placement_.stores().Put(member, Store::kIncomplete);
    return;
  }
  const auto stored = entities_.find(NameOf(*root));
  if (stored != entities_.end()) {
    GroupRecord& group = *stored->second;
    const Store former = group.store;
    placement_.NoteArriving(group);
    Join(group, member);
    PlaceAgain(group, former, framework::kLabelUnscheduledPodAdd);
    return;
  }
  if (last_popped_ && NameOf(*last_popped_) == NameOf(*root)) {
    placement_.stores().Put(member, Store::kPending);
    return;
  }
  auto queued = std::make_shared<QueuedPodGroup>(*root, states_.PriorityOf(*root));
  queued->timestamp = member.pod->timestamp;
  queued->initial_attempt_timestamp = member.pod->initial_attempt_timestamp;
  GroupRecord& group = CreateGroup(std::move(queued));
  Join(group, member);
  placement_.Place(group, std::nullopt, framework::kLabelUnscheduledPodAdd);
}

// After members came or went; `former` is the store that it was taken from.
void GroupQueue::PlaceAgain(GroupRecord& group, Store former, std::string_view label) {
  if (!group.members.empty()) {
    placement_.Place(group, StrategyOf(former), label);
    return;
  }
  const PodGroupKey root = group.group->root();
  placement_.stores().Detach(group);
  EraseGroup(group);
  if (last_popped_ && NameOf(*last_popped_) == NameOf(root)) return;
  // Left over from an attempt whose return found this entity in the way: nothing else comes for
  // them.
  for (MemberRecord* member : PendingOf(root)) Settle(*member);
}

void GroupQueue::Remove(MemberRecord& member) {
  GroupRecord* const group = member.group;
  if (group == nullptr) {
    EraseMember(member);
    return;
  }
  const Store former = group->store;
  placement_.NoteArriving(*group);
  Leave(member);
  EraseMember(member);
  PlaceAgain(*group, former, framework::kLabelUnscheduledPodAdd);
}

std::vector<QueuedPodGroup::Leaf> GroupQueue::SortMembers(const GroupRecord& group) const {
  std::map<std::string, QueuedPodGroup::Leaf, std::less<>> by_name;
  for (const MemberRecord* member : group.members) {
    const std::string& name = *member->pod->pod()->spec->scheduling_group;
    const auto [leaf, added] = by_name.try_emplace(name);
    if (added) leaf->second.group = *framework::GroupOf(*member->pod->pod());
    leaf->second.members.push_back(member->pod);
  }
  std::vector<QueuedPodGroup::Leaf> sorted;
  const auto take = [&sorted](QueuedPodGroup::Leaf& leaf) {
    std::sort(leaf.members.begin(), leaf.members.end(), TriedBefore);
    sorted.push_back(std::move(leaf));
  };
  for (const PodGroupKey& key : LeavesBelow(states_, group.group->root())) {
    const auto leaf = by_name.find(key.name);
    if (leaf == by_name.end()) continue;
    take(leaf->second);
    by_name.erase(leaf);
  }
  // Of another tree whose root has the same name.
  for (auto& [name, leaf] : by_name) take(leaf);
  return sorted;
}

QueuedPodGroupPtr GroupQueue::Take(GroupRecord& record) {
  QueuedPodGroupPtr group = record.group;
  const WokenBy woken{.event = record.woken_by, .plugin = record.woken_plugin};
  group->leaves = SortMembers(record);
  placement_.stores().Detach(record);
  for (MemberRecord* member : Members(record.members)) {
    Leave(*member);
    EraseMember(*member);
  }
  EraseGroup(record);

  ++group->attempts;
  group->pod_count = 0;
  for (QueuedPodGroup::Leaf& leaf : group->leaves) {
    std::erase_if(leaf.members, [&](const QueuedPodPtr& pod) { return !TakeMember(*pod, woken); });
    group->pod_count += leaf.members.size();
  }
  std::erase_if(group->leaves, [](const auto& leaf) { return leaf.members.empty(); });
  if (group->leaves.empty()) {
    const std::string name = group->root().Name();
    LogDiscarded(
        "podgroup", name,
        "all pods from the pod group are tracked in multiple places in the scheduler: " + name);
    return nullptr;
  }
  last_popped_ = group->root();
  return group;
}

// False when it is in flight already.
bool GroupQueue::TakeMember(QueuedPod& pod, const WokenBy& woken) {
  nominator_.PodLeft(*pod.pod());
  ++pod.attempts;
  if (!in_flight_.AddPod(pod.pod(), woken)) {
    const std::string key = pod.pod()->meta.Key();
    LogDiscarded("pod", key, "the same pod is tracked in multiple places in the scheduler: " + key);
    return false;
  }
  placement_.CountUnschedulable(pod, -1);
  return true;
}

// Pending members of the tree, in the order of their arrivals.
GroupQueue::Members GroupQueue::PendingOf(const PodGroupKey& root) {
  Members members;
  for (Record* record : placement_.stores().Pending()) {
    MemberRecord* member = AsMember(*record);
    const auto present = states_.RootOf(*framework::GroupOf(*member->pod->pod()));
    if (present && NameOf(*present) == NameOf(root)) members.push_back(member);
  }
  std::sort(members.begin(), members.end(), CameBefore);
  return members;
}

Result<void> GroupQueue::Return(const QueuedPodGroupPtr& group, ReturnStatus status) {
  last_popped_.reset();
  const PodGroupKey& root = group->root();
  if (const GroupRecord* present = Find(root)) {
    return Error{"pod group " + root.Name() + " is already present in " +
                 std::string(StorePlace(present->store))};
  }
  const Members members = PendingOf(root);
  if (members.empty() || KS_CANARY(PendingMembersLost)) return {};

  QueuedPodGroupPtr next = NextAttempt(*group, states_.PriorityOf(root));
  NoteAttempt(*group, members, status, next.get());
  GroupRecord& record = CreateGroup(std::move(next));
  for (MemberRecord* member : members) Join(record, *member);
  auto strategy = status == ReturnStatus::kSuccess ? std::optional<Strategy>()
                                                   : std::optional(Strategy::kAfterBackoff);
  if (KS_CANARY(RejectedGroupParked) && strategy) strategy = Strategy::kSkip;
  placement_.Place(record, strategy, framework::kLabelScheduleAttemptFailure, Counting::kAll);
  KS_CHECK(record.store != Store::kNone, "a group that came back is in no store");
  return {};
}

// What the attempt changes in the group's own record; `members` have come back, or are new.
void GroupQueue::NoteAttempt(const QueuedPodGroup& last, const Members& members,
                             ReturnStatus status, QueuedPodGroup* next) const {
  bool some_tried = false;
  if (status == ReturnStatus::kSuccess) {
    next->unschedulable_count = next->consecutive_errors_count = 0;
    absl::flat_hash_set<std::string_view> tried;
    for (const QueuedPodGroup::Leaf& leaf : last.leaves) {
      for (const QueuedPodPtr& pod : leaf.members) tried.insert(pod->pod()->meta.uid);
    }
    some_tried = std::any_of(members.begin(), members.end(), [&tried](const MemberRecord* member) {
      return tried.contains(member->pod->pod()->meta.uid);
    });
  } else if (status == ReturnStatus::kRejected) {
    ++next->unschedulable_count;
    next->consecutive_errors_count = 0;
  } else {
    ++next->consecutive_errors_count;
  }
  if (!some_tried) next->timestamp = clock_.Now();
}

void GroupQueue::OnGroupAdd(const PodGroupKey& group) {
  const std::optional<PodGroupKey> root = states_.RootOf(group);
  if (!root) return;
  for (const PodGroupKey& leaf : LeavesBelow(states_, *root)) {
    const auto found = members_of_.find(NameOf(leaf));
    if (found == members_of_.end()) continue;
    Members incomplete;
    for (MemberRecord* member : found->second) {
      if (member->store == Store::kIncomplete) incomplete.push_back(member);
    }
    if (KS_CANARY(IncompleteMembersForgotten)) continue;
    std::sort(incomplete.begin(), incomplete.end(), CameBefore);
    for (MemberRecord* member : incomplete) Settle(*member);
  }
}

void GroupQueue::OnGroupUpdate(const PodGroupKey& group) {
  const auto found = entities_.find(NameOf(group));
  if (found != entities_.end() && found->second->group->root() == group) {
    GroupRecord& record = *found->second;
    record.group->set_priority(states_.PriorityOf(group));
    if (record.store != Store::kUnschedulable) placement_.stores().Put(record, record.store);
  }
  // Nothing in a group that decides on the tree can change, but its object may be a new one.
  LeaveFormerTrees(group);
  OnGroupAdd(group);
}

void GroupQueue::OnGroupDelete(const PodGroupKey& group) { LeaveFormerTrees(group); }

// Members of the group's leaves that have lost their root become incomplete; those that have
// another one now go there.
void GroupQueue::LeaveFormerTrees(const PodGroupKey& group) {
  Members moved;
  for (const PodGroupKey& leaf : LeavesBelow(states_, group)) {
    const auto found = members_of_.find(NameOf(leaf));
    if (found == members_of_.end()) continue;
    const std::optional<PodGroupKey> root = states_.RootOf(leaf);
    for (MemberRecord* member : found->second) {
      if (member->store == Store::kIncomplete) continue;
      const bool stays = root && (member->group == nullptr ||
                                  NameOf(member->group->group->root()) == NameOf(*root));
      if (!stays) moved.push_back(member);
    }
  }
  std::vector<std::pair<GroupRecord*, Store>> left;  // and the stores that they were in
  for (MemberRecord* member : moved) {
    GroupRecord* const of = member->group;
    if (of == nullptr) continue;
    if (std::none_of(left.begin(), left.end(), [of](const auto& p) { return p.first == of; })) {
      left.emplace_back(of, of->store);
      placement_.NoteArriving(*of);
    }
    Leave(*member);
  }
  for (const auto& [record, former] : left) {
    PlaceAgain(*record, former, framework::kLabelUnscheduledPodUpdate);
  }
  std::sort(moved.begin(), moved.end(), CameBefore);
  for (MemberRecord* member : moved) Settle(*member);
}

void GroupQueue::Suspend() {
  PodStores& stores = placement_.stores();
  Suspended pending{.group = nullptr, .store = Store::kPending, .members = {}};
  Suspended incomplete{.group = nullptr, .store = Store::kIncomplete, .members = {}};
  pending.members = stores.PodsIn(Store::kPending);
  incomplete.members = stores.PodsIn(Store::kIncomplete);
  suspended_.push_back(std::move(pending));
  suspended_.push_back(std::move(incomplete));
  for (const auto& [name, record] : entities_) {
    Suspended& group = suspended_.emplace_back();
    group.group = record->group;
    group.store = record->store;
    for (const MemberRecord* member : record->members) group.members.push_back(member->pod);
    stores.Detach(*record);
    for (MemberRecord* member : Members(record->members)) Leave(*member);
  }
  for (const Suspended& part : suspended_) {
    for (const QueuedPodPtr& pod : part.members) {
      EraseMember(*AsMember(*stores.Find(pod->pod()->meta)));
    }
  }
  entities_.clear();
  KS_CHECK(members_of_.empty(), "a member stays behind");
}

void GroupQueue::Resume() {
  std::vector<Suspended> parts = std::move(suspended_);
  suspended_.clear();
  // In an order that does not depend on hashes.
  std::stable_sort(parts.begin(), parts.end(), [](const Suspended& a, const Suspended& b) {
    return (a.group ? a.group->Key() : "") < (b.group ? b.group->Key() : "");
  });
  for (Suspended& part : parts) {
    GroupRecord* const group = part.group ? &CreateGroup(part.group) : nullptr;
    for (QueuedPodPtr& pod : part.members) {
      MemberRecord& member = CreateMember(std::move(pod));
      if (group == nullptr) {
        placement_.stores().Put(member, part.store);
      } else {
        Join(*group, member);
      }
    }
    if (group == nullptr) continue;
    group->group->backoff_expiration.reset();  // by the former backoff times
    const auto strategy = part.store == Store::kActive ? std::optional<Strategy>()
                                                       : std::optional(Strategy::kAfterBackoff);
    placement_.Place(*group, strategy, framework::kLabelConfigurationReload);
  }
}

}  // namespace ks::queue
