// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which evictions would violate a PodDisruptionBudget.
//
// Upstream: docs/spec/preemption.md section 7.

#include <vector>

#include "framework/owner_listers.h"
#include "plugins/default_preemption/importance.h"

namespace ks::plugins {

struct BudgetSplit {
  std::vector<PotentialVictim> violating;
  std::vector<PotentialVictim> others;
};

// Spends the budgets in the order of `victims`, which both parts keep. What is spent for a pod
// stays spent, also when another budget forbids it.
BudgetSplit SplitByBudgets(std::vector<PotentialVictim> victims,
                           const framework::OwnerListers& listers);

}  // namespace ks::plugins
