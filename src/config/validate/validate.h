// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks of a defaulted configuration, all faults at once.
//
// Upstream: docs/spec/config.md sections 3.1 to 3.8, 4 and 6.

#include <optional>
#include <string>
#include <vector>

#include "config/gates/feature_gates.h"
#include "config/text/findings.h"
#include "config/types.h"

namespace ks::config {

// Absent: valid. The findings' places are left 0; load.h fills them.
std::optional<Faults> Validate(const Configuration& configuration, const FeatureGates& gates);

// NodeResourcesFit's arguments are checked when the plugin is built (4.3, trap T7); paths start at
// the arguments. Same for both: one fault per element, messages in upstream's words.
std::vector<Finding> ValidateNodeResourcesFitArgs(const NodeResourcesFitArgs& args);

// "e1", or "[e1, e2]", identical texts once (3.8).
std::string Aggregate(const std::vector<Finding>& findings);

}  // namespace ks::config
