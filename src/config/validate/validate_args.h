// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks of plugin arguments.
//
// Upstream: docs/spec/config.md section 4.

#include <string>

#include "config/gates/feature_gates.h"
#include "config/plugin_args.h"
#include "config/validate/validate_report.h"

namespace ks::config {

// The arguments of one pluginConfig entry, which stand at `path`. Those of NodeResourcesFit pass:
// they are checked when the plugin is built (4.3).
void ValidateArgs(const PluginArgs& args, const std::string& path, const FeatureGates& gates,
                  Report& report);

// The terms that upstream looks at (4.5); `path` is that of addedAffinity.
void ValidateNodeAffinity(const NodeAffinity& affinity, const std::string& path, Report& report);

// 4.6.
void ValidateSpreadArgs(const PodTopologySpreadArgs& args, const std::string& path, Report& report);

}  // namespace ks::config
