// SPDX-License-Identifier: Apache-2.0
#pragma once
// Metrics that are settled at start: which build this is, its feature gates, its versions; and what
// the flags select of all metrics.
//
// Upstream: docs/spec/metrics.md 1.4 and section 4.

#include "base/result.h"
#include "config/gates/feature_gates.h"
#include "kubesched/flags/flags.h"
#include "metrics/registry.h"

namespace ks::daemon {

// Requires: FeatureGates::Make accepts the flags.
void ShowIdentity(metrics::Registry& registry, const config::GateFlags& gates);

// Requires: ValidateOptions found nothing wrong. Error: the manifest cannot be read any more.
Result<metrics::Selection> SelectionOf(const MetricsOptions& options);

}  // namespace ks::daemon
