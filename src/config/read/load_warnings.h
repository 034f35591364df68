// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a valid file says without effect. Upstream drops it silently.
//
// Upstream: docs/spec/config.md sections 2.8, 3.4 and 5.2, trap T10.

#include <vector>

#include "config/gates/feature_gates.h"
#include "config/text/findings.h"
#include "config/types.h"

namespace ks::config {

// `written` is the file's content as decoded, `effective` the same after defaults. In the order of
// the file.
std::vector<Finding> FindIgnored(const Configuration& written, const Configuration& effective,
                                 const SourceMap& source, const FeatureGates& gates);

}  // namespace ks::config
