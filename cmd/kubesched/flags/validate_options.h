// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks of the flags against each other and against the feature gates, before any file is read
// except the metrics manifest.
//
// Upstream: docs/spec/config.md sections 8.5 and 8.6 (steps 5 and 6 of section 1).

#include <string>
#include <vector>

#include "base/result.h"
#include "config/gates/feature_gates.h"
#include "kubesched/flags/flags.h"

namespace ks {

// Several errors as upstream joins them: "e" or "[e1, e2]".
std::string JoinErrors(const std::vector<std::string>& errors);

// Step 5: checks the logging flags and puts them into force. The error is printed bare.
Result<void> ApplyLogging(const LoggingOptions& options, const config::FeatureGates& gates);

// Step 6, `late` findings on the gates included. `warnings` gets what upstream only logs, without
// the severity letter.
Result<void> ValidateOptions(const Options& options, const config::FeatureGates& gates,
                             const config::LateGateFindings& late,
                             std::vector<std::string>* warnings);

}  // namespace ks
