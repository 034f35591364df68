// SPDX-License-Identifier: Apache-2.0
#pragma once
// PodGroups: the records of pod groups, and the trees that their parents' names make. Fed by the
// same calls as the cache of pods (cache.h), by unassigned members and by PodGroups; the objects
// themselves are those of GroupStores.
//
// Upstream: docs/spec/cache.md sections 18.1 and 18.5.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/node_hash_map.h>

#include "api/pod.h"
#include "api/pod_group.h"
#include "framework/pod_group_listers.h"
#include "framework/pod_group_state.h"

namespace ks::cache {

// Invariant: a record exists while it has the object or at least one member.
// Threads: the scheduling thread.
class PodGroups final : public framework::PodGroupStates {
 public:
  // `trees`: gate CompositePodGroup; without it parents' names mean nothing. `objects` outlives it.
  PodGroups(const framework::PodGroupLister& objects, bool trees)
      : objects_(objects), trees_(trees) {}

  // The object of a group; a known one is replaced.
  void SetGroup(api::PodGroupPtr group);
  void RemoveGroup(const api::PodGroup& group);

  // Members. Pods that belong to no group are passed over, here and below.
  //
  // A member was seen, on a node or not. A known one is replaced; one that is assumed stays so
  // while it is seen without a node.
  void AddMember(const api::PodPtr& pod);
  void UpdateMember(const api::PodPtr& pod);
  void RemoveMember(const api::Pod& pod);
  // The member is on `pod->node_name` by the scheduler's decision. A member that is unknown to a
  // known group stays so.
  void Assume(const api::PodPtr& pod);
  // No longer. No-op for unknown members.
  void Forget(const api::Pod& pod);
  // The member as it is known, to be put back; null when unknown.
  const framework::PodGroupState::Member* FindMember(const api::Pod& pod) const;
  void SetMember(const framework::PodGroupState::Member& member);

  // PodGroupStates.
  const framework::PodGroupState* Find(const Symbol& ns, std::string_view name) const override;
  api::CompositePodGroupPtr FindComposite(const Symbol& ns, std::string_view name) const override;
  std::optional<framework::PodGroupKey> RootOf(const framework::PodGroupKey& group) const override;
  std::vector<framework::PodGroupKey> ChildrenOf(
      const framework::PodGroupKey& group) const override;
  int32_t PriorityOf(const framework::PodGroupKey& group) const override;
  Symbol PolicyOf(const framework::PodGroupKey& group) const override;

 private:
  using Groups = absl::node_hash_map<framework::PodGroupKey, framework::PodGroupState,
                                     framework::PodGroupHash, framework::PodGroupEqual>;

  Groups::iterator RecordOf(const api::Pod& pod);
  void DropIfEmpty(Groups::iterator record);

  const framework::PodGroupLister& objects_;
  const bool trees_;
  Groups groups_;
};

}  // namespace ks::cache
