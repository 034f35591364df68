// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/victim_units.h"

#include <algorithm>
#include <utility>

#include <absl/container/flat_hash_set.h>

#include "base/canary.h"
#include "framework/find_pod.h"
#include "golang/quote.h"
#include "plugins/default_preemption/budgets.h"
#include "plugins/kit/group_trees.h"

namespace ks::plugins {

using framework::NodeInfo;
using framework::PodGroupKey;
using framework::PodGroupView;
using framework::PodInfoPtr;

namespace {

constexpr size_t kMostGroupLevels = 4;

// The groups above a member that are known, the lowest first.
std::vector<PodGroupKey> KnownAbove(const framework::PodGroupStates& groups, PodGroupKey group) {
  std::vector<PodGroupKey> way;
  while (way.size() < kMostGroupLevels) {
    const api::GroupSpec* spec = SpecOf(groups, group);
    if (spec == nullptr || std::find(way.begin(), way.end(), group) != way.end()) break;
    way.push_back(group);
    if (spec->parent_composite_pod_group_name.empty()) break;
    group = {group.ns, spec->parent_composite_pod_group_name, true};
  }
  return way;
}

void AddToUnit(PodInfoPtr info, VictimUnit* unit) {
  const std::optional<TimePoint>& start = info->pod().status.start_time;
  if (start && (!unit->start_time || *start < *unit->start_time)) unit->start_time = start;
  unit->pods.push_back(std::move(info));
}

// As the node accounts it.
PodInfoPtr InfoOn(const NodeInfo& node, const api::PodPtr& pod) {
  const PodInfoPtr* const info = framework::FindPodByUid(node.pods(), pod->meta.uid);
  return info != nullptr ? *info : std::make_shared<const framework::PodInfo>(pod);
}

bool IsMoreImportantUnit(const PotentialUnit& a, const PotentialUnit& b) {
  const VictimUnit& one = *a.unit;
  const VictimUnit& other = *b.unit;
  if (one.priority != other.priority) return one.priority > other.priority;
  if (one.kind != other.kind) return one.kind > other.kind;
  if (one.pods.size() != other.pods.size()) return one.pods.size() > other.pods.size();
  if (one.start_time.has_value() != other.start_time.has_value()) {
    return one.start_time.has_value();
  }
  if (!one.start_time.has_value()) return a.place < b.place;
  return *one.start_time < *other.start_time;
}

}  // namespace

const VictimUnits::Group& VictimUnits::GroupOf(const PodGroupView& group) {
  if (const auto known = known_.find(group); known != known_.end()) return known->second;
  const PodGroupKey key = group.Key();
  Group& made = known_[key];
  for (const PodGroupKey& above : KnownAbove(groups_, key)) {
    made.priority = groups_.PriorityOf(above);
    if (SpecOf(groups_, above)->disruption_mode == api::DisruptionMode::kAll) {
      made.disrupted = above;
    }
  }
  return made;
}

int32_t VictimUnits::PriorityOf(const api::Pod& pod) {
  const std::optional<PodGroupView> group = framework::GroupViewOf(pod);
  return group ? GroupOf(*group).priority.value_or(pod.Priority()) : pod.Priority();
}

Result<void> VictimUnits::AddMembers(const PodGroupKey& group, VictimUnit* unit) const {
  const framework::PodGroupState* state = groups_.Find(group.ns, group.name);
  if (state == nullptr) return {};
  for (const auto& [uid, member] : state->members()) {
    if (member.state == framework::MemberState::kUnscheduled) continue;
    const api::PodPtr& pod = member.current();
    const NodeInfo* node = snapshot_.Find(pod->node_name.str());
    if (node == nullptr) {
      const std::string name = golang::Quote(pod->node_name.str());
      return Error{"failed to get node info for node " + name +
                   " from snapshot: nodeinfo not found for node name " + name};
    }
    AddToUnit(InfoOn(*node, pod), unit);
  }
  return {};
}

Result<VictimUnitPtr> VictimUnits::MakeWhole(const PodGroupKey& group, int32_t priority) const {
  auto unit = std::make_shared<VictimUnit>();
  unit->priority = priority;
  unit->kind = group.composite ? VictimUnit::Kind::kComposite : VictimUnit::Kind::kGroup;
  for (const PodGroupKey& leaf : LeavesBelow(groups_, group)) {
    if (Result<void> added = AddMembers(leaf, unit.get()); !added.ok()) return added.error();
  }
  return VictimUnitPtr(unit->pods.empty() ? nullptr : std::move(unit));
}

Result<VictimUnitPtr> VictimUnits::UnitOf(const PodInfoPtr& info) {
  const api::Pod& pod = info->pod();
  const std::optional<PodGroupView> group = framework::GroupViewOf(pod);
  if (group) {
    const std::optional<PodGroupKey>& disrupted = GroupOf(*group).disrupted;
    if (disrupted && !KS_CANARY(GroupsTornApart)) {
      auto whole = whole_.find(*disrupted);
      if (whole == whole_.end()) {
        Result<VictimUnitPtr> made = MakeWhole(*disrupted, PriorityOf(pod));
        if (!made.ok()) return made;
        whole = whole_.emplace(*disrupted, *std::move(made)).first;
      }
      if (whole->second != nullptr) return whole->second;
    }
  }
  auto unit = std::make_shared<VictimUnit>();
  unit->priority = PriorityOf(pod);
  unit->kind = group ? VictimUnit::Kind::kGroup : VictimUnit::Kind::kPod;
  AddToUnit(info, unit.get());
  return VictimUnitPtr(std::move(unit));
}

Result<PotentialUnits> VictimUnits::Below(int32_t priority,
                                          std::span<const NodeInfo* const> nodes) {
  PotentialUnits units;
  absl::flat_hash_set<const VictimUnit*> seen;
  for (const NodeInfo* node : nodes) {
    for (const PodInfoPtr& info : node->pods()) {
      if (PriorityOf(info->pod()) >= priority) continue;
      Result<VictimUnitPtr> unit = UnitOf(info);
      if (!unit.ok()) return unit.error();
      if ((*unit)->pods.size() > 1 && !seen.insert(unit->get()).second) continue;
      units.push_back({.unit = *std::move(unit), .place = static_cast<uint32_t>(units.size())});
    }
  }
  return units;
}

void SortByImportance(PotentialUnits* units) {
  std::stable_sort(units->begin(), units->end(), IsMoreImportantUnit);
}

void PartitionByBudgets(const framework::OwnerListers& listers, PotentialUnits* units) {
  Budgets budgets(listers);
  for (PotentialUnit& potential : *units) {
    for (const PodInfoPtr& info : potential.unit->pods) {
      if (budgets.Violates(info->pod())) ++potential.violations;
    }
  }
  std::stable_partition(units->begin(), units->end(),
                        [](const PotentialUnit& potential) { return potential.violations > 0; });
}

}  // namespace ks::plugins
