// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments of NodeResourcesFit and NodeResourcesBalancedAllocation as the plugins use them.
//
// Upstream: docs/spec/plugins-node.md 4.8 and 4.9, docs/spec/config.md 4.3, 4.4 and 4.8.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/plugin_args.h"
#include "config/text/findings.h"

namespace ks::plugins {

inline constexpr std::string_view kNodeResourcesFitName = "NodeResourcesFit";
inline constexpr std::string_view kNodeResourcesBalancedAllocationName =
    "NodeResourcesBalancedAllocation";

enum class FitStrategy { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };

struct FitArgs {
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_groups;
  FitStrategy strategy = FitStrategy::kLeastAllocated;
  std::vector<config::ResourceSpec> resources;       // never empty
  std::vector<config::UtilizationShapePoint> shape;  // ratio only: not empty, rising utilization
};

// Without arguments: the defaults. Errors: one field error, or several as "[e1, e2]"; these
// arguments are not checked with the file.
Result<FitArgs> FitArgsOf(const config::PluginArgs& args);
// The same errors one by one, with their paths and cures.
std::vector<config::Finding> FitArgsFaults(const config::PluginArgs& args);

// The resources of NodeResourcesBalancedAllocation; never empty. Without arguments: the defaults.
std::vector<config::ResourceSpec> BalancedResourcesOf(const config::PluginArgs& args);

}  // namespace ks::plugins
