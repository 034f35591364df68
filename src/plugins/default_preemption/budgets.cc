// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/budgets.h"

#include <algorithm>
#include <utility>

#include "base/canary.h"

namespace ks::plugins {
namespace {

bool Covers(const api::PodDisruptionBudget& budget, const api::Pod& pod) {
  // An empty selector matches nothing here, other than for the API.
  if (budget.selector.Empty() || !budget.selector.Matches(pod.meta.labels)) return false;
  return std::find(budget.disrupted_pods.begin(), budget.disrupted_pods.end(), pod.meta.name) ==
         budget.disrupted_pods.end();
}

}  // namespace

bool Budgets::Violates(const api::Pod& pod) {
  if (pod.meta.labels.empty()) return false;
  for (const api::PodDisruptionBudgetPtr& budget : listers_.PodDisruptionBudgets(pod.meta.ns)) {
    if (!Covers(*budget, pod)) continue;
    const auto [left, first] = left_.try_emplace(budget.get(), budget->disruptions_allowed);
    if (--left->second < 0) return true;
  }
  return false;
}

BudgetSplit SplitByBudgets(std::vector<PotentialVictim> victims,
                           const framework::OwnerListers& listers) {
  Budgets budgets(listers);
  BudgetSplit split;
  for (PotentialVictim& victim : victims) {
    const bool violates = budgets.Violates(victim.info->pod()) != KS_CANARY(BudgetSplitReversed);
    (violates ? split.violating : split.others).push_back(std::move(victim));
  }
  return split;
}

}  // namespace ks::plugins
