// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments of NodeResourcesFit and NodeResourcesBalancedAllocation, read, completed and checked.
//
// Upstream: docs/spec/plugins-node.md 4.8 and 4.9, docs/spec/config.md 4.3, 4.4 and 4.8.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/plugin_args.h"

namespace ks::plugins {

struct ResourceSpec {
  std::string name;
  int64_t weight = 1;
};

enum class FitStrategy { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };

struct ShapePoint {
  int64_t utilization = 0;  // percent
  int64_t score = 0;        // 0..10
};

struct FitArgs {
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_groups;
  FitStrategy strategy = FitStrategy::kLeastAllocated;
  std::vector<ResourceSpec> resources;  // never empty
  std::vector<ShapePoint> shape;        // ratio only: not empty, rising utilization
};

struct BalancedAllocationArgs {
  std::vector<ResourceSpec> resources;  // never empty, unique names, weights 1
};

// Errors: one field error, or several as "[e1, e2]".
Result<FitArgs> ReadFitArgs(const config::PluginArgs& args);
Result<BalancedAllocationArgs> ReadBalancedAllocationArgs(const config::PluginArgs& args);

}  // namespace ks::plugins
