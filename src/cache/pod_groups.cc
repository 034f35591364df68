// SPDX-License-Identifier: Apache-2.0
#include "cache/pod_groups.h"

#include <algorithm>

#include "base/check.h"
#include "base/logging.h"

namespace ks::cache {

using framework::MemberState;
using framework::PodGroupKey;
using framework::PodGroupState;
using framework::PodGroupView;

namespace {

MemberState StateOf(const api::Pod& pod) {
  return pod.node_name.empty() ? MemberState::kUnscheduled : MemberState::kAssigned;
}

}  // namespace

// ---- objects ----

void PodGroups::SetGroup(api::PodGroupPtr group) {
  groups_[{group->meta.ns, group->meta.name}].object = std::move(group);
}

void PodGroups::RemoveGroup(const api::PodGroup& group) {
  const auto record = groups_.find(PodGroupView{group.meta.ns, group.meta.name});
  if (record == groups_.end()) return;
  record->second.object = nullptr;
  DropIfEmpty(record);
}

// ---- members ----

PodGroups::Groups::iterator PodGroups::RecordOf(const api::Pod& pod) {
  const std::optional<PodGroupView> group = framework::GroupViewOf(pod);
  return group ? groups_.find(*group) : groups_.end();
}

void PodGroups::DropIfEmpty(Groups::iterator record) {
  if (record->second.empty()) groups_.erase(record);
}

void PodGroups::AddMember(const api::PodPtr& pod) {
  const std::optional<PodGroupKey> group = framework::GroupOf(*pod);
  if (!group) return;
  PodGroupState& record = groups_[*group];
  const PodGroupState::Member* known = record.Find(pod->meta.uid);
  if (known != nullptr && known->state == MemberState::kAssumed && pod->node_name.empty()) {
    record.Set(pod, MemberState::kAssumed, known->assumed);
  } else {
    record.Set(pod, StateOf(*pod));
  }
}

void PodGroups::UpdateMember(const api::PodPtr& pod) {
  const auto record = RecordOf(*pod);
  if (record == groups_.end() || record->second.Find(pod->meta.uid) == nullptr) return;
  AddMember(pod);
}

void PodGroups::RemoveMember(const api::Pod& pod) {
  const auto record = RecordOf(pod);
  if (record == groups_.end()) return;
  record->second.Remove(pod.meta.uid);
  DropIfEmpty(record);
}

void PodGroups::Assume(const api::PodPtr& pod) {
  const std::optional<PodGroupKey> group = framework::GroupOf(*pod);
  if (!group) return;
  KS_CHECK(!pod->node_name.empty(), "a member is assumed on a node");
  const auto [record, made] = groups_.try_emplace(*group);
  const PodGroupState::Member* known = record->second.Find(pod->meta.uid);
  if (known == nullptr && !made) return;
  const api::PodPtr seen = known == nullptr ? pod : known->pod;
  if (known != nullptr && !seen->node_name.empty()) {
    record->second.Set(seen, MemberState::kAssigned);
  } else {
    record->second.Set(seen, MemberState::kAssumed, pod);
  }
}

void PodGroups::Forget(const api::Pod& pod) {
  const auto record = RecordOf(pod);
  if (record == groups_.end()) return;
  const PodGroupState::Member* known = record->second.Find(pod.meta.uid);
  if (known == nullptr || known->state != MemberState::kAssumed) return;
  const api::PodPtr seen = known->pod;
  record->second.Set(seen, StateOf(*seen));
}

const PodGroupState::Member* PodGroups::FindMember(const api::Pod& pod) const {
  const std::optional<PodGroupView> group = framework::GroupViewOf(pod);
  const auto record = group ? groups_.find(*group) : groups_.end();
  return record == groups_.end() ? nullptr : record->second.Find(pod.meta.uid);
}

void PodGroups::SetMember(const PodGroupState::Member& member) {
  const api::Pod& pod = *member.pod;
  const std::optional<PodGroupKey> group = framework::GroupOf(pod);
  KS_CHECK(group.has_value(), "a member without a group");
  KS_CHECK((member.state == MemberState::kAssumed) == (member.assumed != nullptr),
           "a member is assumed exactly if it is known where");
  groups_[*group].Set(member.pod, member.state, member.assumed);
}

// ---- questions ----

const PodGroupState* PodGroups::Find(const Symbol& ns, std::string_view name) const {
  const auto record = groups_.find(PodGroupView{ns, name});
  return record == groups_.end() ? nullptr : &record->second;
}

api::CompositePodGroupPtr PodGroups::FindComposite(const Symbol& ns, std::string_view name) const {
  return trees_ ? objects_.FindCompositePodGroup(ns, name) : nullptr;
}

std::optional<PodGroupKey> PodGroups::RootOf(const PodGroupKey& group) const {
  std::vector<PodGroupKey> way{group};
  for (;;) {
    const api::GroupSpec* spec = framework::SpecOf(*this, way.back());
    if (spec == nullptr) return std::nullopt;
    if (!trees_ || spec->parent_composite_pod_group_name.empty()) return way.back();
    PodGroupKey parent{group.ns, spec->parent_composite_pod_group_name, true};
    if (std::find(way.begin(), way.end(), parent) != way.end()) {
      log::Error("", "cycle detected in composite pod group hierarchy", {{"group", parent.Text()}});
      return std::nullopt;
    }
    way.push_back(std::move(parent));
  }
}

std::vector<PodGroupKey> PodGroups::ChildrenOf(const PodGroupKey& group) const {
  std::vector<PodGroupKey> children;
  if (!trees_ || !group.composite) return children;
  for (const framework::GroupPtr& child : objects_.ChildrenOf(group.ns, group.name)) {
    children.push_back({group.ns, framework::MetaOf(child).name,
                        std::holds_alternative<api::CompositePodGroupPtr>(child)});
  }
  return children;
}

int32_t PodGroups::PriorityOf(const PodGroupKey& group) const {
  const api::GroupSpec* spec = framework::SpecOf(*this, group);
  return spec == nullptr ? 0 : spec->priority.value_or(0);
}

Symbol PodGroups::PolicyOf(const PodGroupKey& group) const {
  const api::GroupSpec* spec = framework::SpecOf(*this, group);
  return spec == nullptr ? Symbol() : spec->preemption_policy;
}

}  // namespace ks::cache
