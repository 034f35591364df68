// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/unit_dry_run.h"

#include <utility>

namespace ks::plugins {
namespace {

using framework::NodeInfo;
using framework::PodInfoPtr;
using framework::Status;

// One node while units leave it and come back.
class UnitRehearsal {
 public:
  UnitRehearsal(const framework::Handle& handle, const framework::CycleState& state,
                const api::Pod& preemptor, const NodeInfo& node)
      : handle_(handle), preemptor_(preemptor), state_(state.Clone()), node_(node) {}

  Status Remove(const VictimUnit& unit) {
    for (const PodInfoPtr& info : unit.pods) {
      if (IsHere(*info)) (void)node_.RemovePod(info->pod());
      Status status =
          handle_.runner().RunPreFilterExtensionRemovePod(state_, preemptor_, *info, NodeOf(*info));
      if (!status.ok()) return status;
    }
    return {};
  }
  Status Filter() const {
    return handle_.runner().RunFilterPluginsWithNominatedPods(state_, preemptor_, node_);
  }
  // Lets the unit stay if the preemptor fits all the same; else it is a victim.
  Status Reprieve(const PotentialUnit& potential, PotentialUnits* victims) {
    Status status = Add(*potential.unit);
    if (!status.ok() || Filter().ok()) return status;
    status = Remove(*potential.unit);
    victims->push_back(potential);
    return status;
  }

 private:
  Status Add(const VictimUnit& unit) {
    for (const PodInfoPtr& info : unit.pods) {
      if (IsHere(*info)) node_.AddPod(info);
      Status status =
          handle_.runner().RunPreFilterExtensionAddPod(state_, preemptor_, *info, NodeOf(*info));
      if (!status.ok()) return status;
    }
    return {};
  }
  bool IsHere(const framework::PodInfo& info) const { return info.pod().node_name == node_.name(); }
  const NodeInfo& NodeOf(const framework::PodInfo& info) const {
    return IsHere(info) ? node_ : *handle_.snapshot().Find(info.pod().node_name.str());
  }

  const framework::Handle& handle_;
  const api::Pod& preemptor_;
  framework::CycleState state_;
  NodeInfo node_;
};

}  // namespace

DryRun RunWithoutLowerUnits(const framework::Handle& handle, const framework::CycleState& state,
                            const api::Pod& preemptor, const NodeInfo& node, VictimUnits& units) {
  const NodeInfo* const here = &node;
  Result<PotentialUnits> potential = units.Below(preemptor.Priority(), std::span(&here, 1));
  if (!potential.ok()) return {Status::Error(potential.error().message), {}};
  if (potential->empty()) return {NoVictims(), {}};
  UnitRehearsal rehearsal(handle, state, preemptor, node);
  for (const PotentialUnit& each : *potential) {
    if (Status status = rehearsal.Remove(*each.unit); !status.ok()) return {std::move(status), {}};
  }
  if (Status status = rehearsal.Filter(); !status.ok()) return {std::move(status), {}};

  SortByImportance(&*potential);
  PartitionByBudgets(handle.owner_listers(), &*potential);
  PotentialUnits victims;
  for (const PotentialUnit& each : *potential) {
    if (Status status = rehearsal.Reprieve(each, &victims); !status.ok()) {
      return {std::move(status), {}};
    }
  }
  if (victims.empty()) return {ExpectedVictims(node.name()), {}};
  SortByImportance(&victims);

  DryRun result;
  for (const PotentialUnit& victim : victims) {
    result.victims.pdb_violations += victim.violations;
    for (const PodInfoPtr& info : victim.unit->pods) result.victims.pods.push_back(info->ptr());
  }
  return result;
}

}  // namespace ks::plugins
