// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rules of arguments that are too long to stand above their table in args_tables.cc: how values
// are completed, and what is wrong with completed ones. Each is called by the table that names it
// (field_table.h).
//
// Upstream: docs/spec/config.md section 4.

#include <optional>
#include <string>
#include <vector>

#include "config/gates/feature_gates.h"
#include "config/plugin_args.h"
#include "config/validate/validate_report.h"

namespace ks::config {

// addedAffinity: the terms that upstream looks at (4.5).
void CheckAddedAffinity(const std::optional<NodeAffinity>& affinity, const std::string& path,
                        const FeatureGates& gates, Report& report);

// defaultConstraints and defaultingType (4.6); `path` is that of the arguments.
void CheckSpread(const PodTopologySpreadArgs& args, const std::string& path,
                 const FeatureGates& gates, Report& report);

// resources: cpu and memory where there are none, and a weight of 1 where it is 0 (4.3, 4.4).
void CompleteResources(std::vector<ResourceSpec>& resources, const FeatureGates& gates);
// resources of NodeResourcesBalancedAllocation (4.4).
void CheckBalancedResources(const std::vector<ResourceSpec>& resources, const std::string& path,
                            const FeatureGates& gates, Report& report);

// Arguments of NodeResourcesFit (4.3).
void CheckIgnoredResources(const std::vector<std::string>& resources, const std::string& path,
                           const FeatureGates& gates, Report& report);
void CheckIgnoredGroups(const std::vector<std::string>& groups, const std::string& path,
                        const FeatureGates& gates, Report& report);
void CompleteStrategy(std::optional<ScoringStrategy>& strategy, const FeatureGates& gates);
void CheckStrategy(const std::optional<ScoringStrategy>& strategy, const std::string& path,
                   const FeatureGates& gates, Report& report);

// A shape that must be there (4.8).
void CheckShape(const std::vector<UtilizationShapePoint>& shape, const std::string& path,
                Report& report);

}  // namespace ks::config
