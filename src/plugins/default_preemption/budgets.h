// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which evictions would violate a PodDisruptionBudget.
//
// Upstream: docs/spec/preemption.md section 7.

#include <cstdint>
#include <map>
#include <vector>

#include "framework/owner_listers.h"
#include "plugins/default_preemption/importance.h"

namespace ks::plugins {

// What is left of the budgets that some victim asked for. Threads: like a value. Lifetime: the
// attempt.
class Budgets {
 public:
  explicit Budgets(const framework::OwnerListers& listers) : listers_(listers) {}

  // Whether evicting this pod, too, violates a budget; spends those that it does not.
  bool Violates(const api::Pod& pod);

 private:
  const framework::OwnerListers& listers_;
  std::map<const api::PodDisruptionBudget*, int64_t> left_;
};

struct BudgetSplit {
  std::vector<PotentialVictim> violating;
  std::vector<PotentialVictim> others;
};

// Spends the budgets in the order of `victims`, which both parts keep. What is spent for a pod
// stays spent, also when another budget forbids it.
BudgetSplit SplitByBudgets(std::vector<PotentialVictim> victims,
                           const framework::OwnerListers& listers);

}  // namespace ks::plugins
