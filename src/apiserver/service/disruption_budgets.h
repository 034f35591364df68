// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which PodDisruptionBudgets a pod belongs to.
//
// Upstream: the disruption controller and the eviction API of v1.37.1, as observed.

#include <string_view>
#include <vector>

#include "apiserver/store/store.h"

namespace ks::apiserver {

// The budgets of the pod's namespace whose selector matches its labels; an empty selector matches
// every pod, an absent one none.
std::vector<ObjectPtr> BudgetsOf(const Store& store, std::string_view ns, const StoredObject& pod);

}  // namespace ks::apiserver
