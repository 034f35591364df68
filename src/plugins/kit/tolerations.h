// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which taints a pod tolerates. Not for reading or scoring nodes: that is each plugin's business.
//
// Upstream: docs/spec/plugins-node.md 2.8.

#include <span>

#include "api/node.h"
#include "api/pod.h"
#include "config/gates/feature_gates.h"

namespace ks::plugins {

// What the operators Lt and Gt mean: integers are compared, or (the gate
// TaintTolerationComparisonOperators is off) they never match.
enum class LtAndGt : uint8_t { kNeverMatch, kCompare };
LtAndGt LtAndGtOf(const config::FeatureGates& gates);

bool Tolerates(const api::Toleration& toleration, const api::Taint& taint,
               LtAndGt lt_and_gt = LtAndGt::kNeverMatch);
// By at least one of them.
bool Tolerated(std::span<const api::Toleration> tolerations, const api::Taint& taint,
               LtAndGt lt_and_gt = LtAndGt::kNeverMatch);

}  // namespace ks::plugins
