// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/dry_run.h"

#include <string>
#include <utility>
#include <vector>

#include "golang/quote.h"
#include "plugins/default_preemption/budgets.h"
#include "plugins/default_preemption/importance.h"

namespace ks::plugins {
namespace {

using framework::Status;

// One node while pods leave it and come back.
class Rehearsal {
 public:
  Rehearsal(const framework::Handle& handle, const framework::CycleState& state,
            const api::Pod& preemptor, const framework::NodeInfo& node)
      : handle_(handle), preemptor_(preemptor), state_(state.Clone()), node_(node) {}

  Status Remove(const PotentialVictim& victim) {
    (void)node_.RemovePod(victim.info->pod());
    return handle_.runner().RunPreFilterExtensionRemovePod(state_, preemptor_, *victim.info, node_);
  }
  Status Filter() const {
    return handle_.runner().RunFilterPluginsWithNominatedPods(state_, preemptor_, node_);
  }
  // Lets the pod stay if the preemptor fits all the same; else it is a victim.
  Status Reprieve(const PotentialVictim& victim, std::vector<PotentialVictim>* victims) {
    node_.AddPod(victim.info);
    Status status =
        handle_.runner().RunPreFilterExtensionAddPod(state_, preemptor_, *victim.info, node_);
    if (!status.ok() || Filter().ok()) return status;
    status = Remove(victim);
    victims->push_back(victim);
    return status;
  }

 private:
  const framework::Handle& handle_;
  const api::Pod& preemptor_;
  framework::CycleState state_;
  framework::NodeInfo node_;
};

}  // namespace

const Status& NoVictims() {
  static const Status status(framework::Code::kUnschedulableAndUnresolvable,
                             {"No preemption victims found for incoming pod"});
  return status;
}

Status ExpectedVictims(std::string_view node) {
  return Status::Error("expected at least one victim pod on node " + golang::Quote(node));
}

DryRun RunWithoutLowerPods(const framework::Handle& handle, const framework::CycleState& state,
                           const api::Pod& preemptor, const framework::NodeInfo& node) {
  std::vector<PotentialVictim> potential = PotentialVictims(node.pods(), preemptor.Priority());
  Rehearsal rehearsal(handle, state, preemptor, node);
  for (const PotentialVictim& victim : potential) {
    Status status = rehearsal.Remove(victim);
    if (!status.ok()) return {std::move(status), {}};
  }
  if (Status status = rehearsal.Filter(); !status.ok()) return {std::move(status), {}};

  SortByImportance(&potential);
  const BudgetSplit split = SplitByBudgets(std::move(potential), handle.owner_listers());
  std::vector<PotentialVictim> victims;
  for (const PotentialVictim& pod : split.violating) {
    Status status = rehearsal.Reprieve(pod, &victims);
    if (!status.ok()) return {std::move(status), {}};
  }
  const size_t violations = victims.size();
  for (const PotentialVictim& pod : split.others) {
    Status status = rehearsal.Reprieve(pod, &victims);
    if (!status.ok()) return {std::move(status), {}};
  }
  if (victims.empty()) return {ExpectedVictims(node.name()), {}};
  if (!split.violating.empty() && !split.others.empty()) SortByImportance(&victims);

  DryRun result;
  result.victims.pdb_violations = static_cast<int64_t>(violations);
  for (const PotentialVictim& victim : victims) {
    result.victims.pods.push_back(victim.info->ptr());
  }
  return result;
}

}  // namespace ks::plugins
