// SPDX-License-Identifier: Apache-2.0
#pragma once
// What extenders make of the candidates.
//
// Upstream: docs/spec/preemption.md section 8.

#include <span>
#include <vector>

#include "base/result.h"
#include "framework/preemption_extender.h"
#include "framework/snapshot.h"
#include "plugins/default_preemption/selection.h"

namespace ks::plugins {

// Asks one after another those that preempt and are interested in the pod. The candidates come back
// ascending by node, or as they were when nobody was asked. Error: an extender that is not
// ignorable failed.
Result<std::vector<Candidate>> AskExtenders(
    std::span<framework::PreemptionExtender* const> extenders, const framework::Snapshot& snapshot,
    const api::Pod& preemptor, std::vector<Candidate> candidates);

}  // namespace ks::plugins
