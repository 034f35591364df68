// SPDX-License-Identifier: Apache-2.0
// Resources, scoring strategies and shapes in plugin arguments. Upstream: docs/spec/config.md
// sections 4.3, 4.4 and 4.8.

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "config/args/args_rules.h"

namespace ks::config {

void CompleteResources(std::vector<ResourceSpec>& resources, const FeatureGates& /*gates*/) {
  if (resources.empty()) resources = {{"cpu", 1}, {"memory", 1}};
  for (ResourceSpec& resource : resources) {
    if (resource.weight == 0) resource.weight = 1;
  }
}

void CheckBalancedResources(const std::vector<ResourceSpec>& resources, const std::string& path,
                            const FeatureGates& /*gates*/, Report& report) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < resources.size(); ++i) {
    const ResourceSpec& resource = resources[i];
    const std::string at = Indexed(path, i);
    if (!seen.insert(resource.name).second) report.DuplicateText(at + ".name", resource.name);
    if (resource.weight != 1) report.InvalidNumber(at + ".weight", resource.weight, "must be 1");
  }
}

void CheckIgnoredResources(const std::vector<std::string>& resources, const std::string& path,
                           const FeatureGates& /*gates*/, Report& report) {
  for (size_t i = 0; i < resources.size(); ++i) report.LabelKey(Indexed(path, i), resources[i]);
}

void CheckIgnoredGroups(const std::vector<std::string>& groups, const std::string& path,
                        const FeatureGates& /*gates*/, Report& report) {
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string at = Indexed(path, i);
    if (groups[i].find('/') != std::string::npos) {
      report.InvalidText(at, groups[i], "resource group name can't contain '/'");
    }
    report.LabelKey(at, groups[i]);
  }
}

void CompleteStrategy(std::optional<ScoringStrategy>& strategy, const FeatureGates& gates) {
  if (!strategy) strategy = ScoringStrategy{.type = "LeastAllocated"};
  CompleteResources(strategy->resources, gates);
}

void CheckStrategy(const std::optional<ScoringStrategy>& strategy, const std::string& path,
                   const FeatureGates& /*gates*/, Report& report) {
  if (!strategy) {
    report.Required(path, "ScoringStrategy field is required");
    return;
  }
  const bool ratio = strategy->type == "RequestedToCapacityRatio";
  if (!ratio && strategy->type != "LeastAllocated" && strategy->type != "MostAllocated") {
    report.Unsupported(path + ".type", strategy->type,
                       {"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"});
  }
  for (size_t i = 0; i < strategy->resources.size(); ++i) {
    const ResourceSpec& resource = strategy->resources[i];
    if (resource.weight >= 1 && resource.weight <= 100) continue;
    report.InvalidNumber(
        Indexed(path + ".resources", i) + ".weight", resource.weight,
        fmt::format("resource weight of {} not in valid range (0, 100]", resource.name));
  }
  const std::string at = path + ".requestedToCapacityRatio";
  if (!ratio) {
    if (strategy->ratio_shape) {
      report.Forbidden(at, "must be nil when type is not RequestedToCapacityRatio");
    }
  } else if (strategy->ratio_shape) {
    CheckShape(*strategy->ratio_shape, at + ".shape", report);
  } else {
    report.Required(at, "must be specified when type is RequestedToCapacityRatio");
  }
}

void CheckShape(const std::vector<UtilizationShapePoint>& shape, const std::string& path,
                Report& report) {
  if (shape.empty()) {
    report.Required(path, "at least one point must be specified");
    return;
  }
  for (size_t i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization < shape[i].utilization) continue;
    report.InvalidNumber(Indexed(path, i) + ".utilization", shape[i].utilization,
                         "values must be sorted in increasing order");
    break;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    report.Range(Indexed(path, i) + ".utilization", shape[i].utilization, 0, 100);
    report.Range(Indexed(path, i) + ".score", shape[i].score, 0, 10);
  }
}

}  // namespace ks::config
