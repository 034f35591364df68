// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which taints a pod tolerates. Not for reading or scoring nodes: that is each plugin's business.
//
// Upstream: docs/spec/plugins-node.md 2.8 (gate TaintTolerationComparisonOperators off: Lt and Gt
// never match).

#include <span>

#include "api/node.h"
#include "api/pod.h"

namespace ks::plugins {

bool Tolerates(const api::Toleration& toleration, const api::Taint& taint);
// By at least one of them.
bool Tolerated(std::span<const api::Toleration> tolerations, const api::Taint& taint);

}  // namespace ks::plugins
