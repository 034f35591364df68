// SPDX-License-Identifier: Apache-2.0
#include "config/validate/validate_args.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.h"
#include "config/print/print_json.h"
#include "config/validate/validate.h"

namespace ks::config {
namespace {

using Shape = std::vector<UtilizationShapePoint>;

std::string ShapeJson(const Shape& shape) {
  JsonBuilder out;
  out.BeginArray();
  for (const UtilizationShapePoint& point : shape) {
    out.BeginObject().Key("Utilization").Number(point.utilization);
    out.Key("Score").Number(point.score).EndObject();
  }
  out.EndArray();
  return out.Take();
}

// 4.8.
void ValidateShape(const Shape& shape, const std::string& path, Report& report) {
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

void ValidateStrategy(const ScoringStrategy& strategy, Report& report) {
  const std::string path = "scoringStrategy";
  const bool ratio = strategy.type == "RequestedToCapacityRatio";
  if (!ratio && strategy.type != "LeastAllocated" && strategy.type != "MostAllocated") {
    report.Unsupported(path + ".type", strategy.type,
                       {"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"});
  }
  for (size_t i = 0; i < strategy.resources.size(); ++i) {
    const ResourceSpec& resource = strategy.resources[i];
    if (resource.weight >= 1 && resource.weight <= 100) continue;
    report.InvalidNumber(
        Indexed(path + ".resources", i) + ".weight", resource.weight,
        fmt::format("resource weight of {} not in valid range (0, 100]", resource.name));
  }
  const std::string at = path + ".requestedToCapacityRatio";
  if (!ratio) {
    if (strategy.ratio_shape) {
      report.Forbidden(at, "must be nil when type is not RequestedToCapacityRatio");
    }
  } else if (strategy.ratio_shape) {
    ValidateShape(*strategy.ratio_shape, at + ".shape", report);
  } else {
    report.Required(at, "must be specified when type is RequestedToCapacityRatio");
  }
}

struct Validator {
  const std::string& path;
  const FeatureGates& gates;
  Report& report;

  std::string At(std::string_view field) const { return fmt::format("{}.{}", path, field); }

  void operator()(const std::monostate&) const {}
  void operator()(const RawArgs&) const {}
  // Upstream looks for these under the wrong key (trap T7).
  void operator()(const NodeResourcesFitArgs&) const {}

  void operator()(const DefaultPreemptionArgs& args) const {
    const int32_t percentage = args.min_candidate_nodes_percentage;
    const int32_t absolute = args.min_candidate_nodes_absolute;
    report.Range(At("minCandidateNodesPercentage"), percentage, 0, 100);
    if (absolute < 0) {
      report.InvalidNumber(At("minCandidateNodesAbsolute"), absolute,
                           "not in valid range [0, inf)");
    }
    if (percentage != 0 || absolute != 0) return;
    report.InvalidNumber(At("minCandidateNodesPercentage"), percentage,
                         "cannot be zero at the same time as minCandidateNodesAbsolute");
    report.InvalidNumber(At("minCandidateNodesAbsolute"), absolute,
                         "cannot be zero at the same time as minCandidateNodesPercentage");
  }

  void operator()(const DynamicResourcesArgs& args) const {
    if (args.filter_timeout) {
      if (!gates.Enabled(Gate::kDRASchedulerFilterTimeout)) {
        report.Forbidden(At("filterTimeout"),
                         "DRASchedulingFilterTimeout feature gate is disabled");
      } else if (*args.filter_timeout < Duration::zero()) {
        report.InvalidText(At("filterTimeout"), FormatDuration(*args.filter_timeout),
                           "must be zero or positive");
      }
    }
    if (!args.binding_timeout) return;
    if (!gates.Enabled(Gate::kDRADeviceBindingConditions) ||
        !gates.Enabled(Gate::kDRAResourceClaimDeviceStatus)) {
      report.Forbidden(
          At("bindingTimeout"),
          "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled");
    } else if (*args.binding_timeout < std::chrono::seconds(1)) {
      report.InvalidText(At("bindingTimeout"), FormatDuration(*args.binding_timeout),
                         "must be at least 1 second");
    }
  }

  void operator()(const InterPodAffinityArgs& args) const {
    report.Range(At("hardPodAffinityWeight"), args.hard_pod_affinity_weight, 0, 100);
  }

  void operator()(const NodeAffinityArgs& args) const {
    if (args.added_affinity) {
      ValidateNodeAffinity(*args.added_affinity, At("addedAffinity"), report);
    }
  }

  void operator()(const NodeResourcesBalancedAllocationArgs& args) const {
    std::set<std::string_view> seen;
    for (size_t i = 0; i < args.resources.size(); ++i) {
      const ResourceSpec& resource = args.resources[i];
      const std::string at = Indexed(At("resources"), i);
      if (!seen.insert(resource.name).second) report.DuplicateText(at + ".name", resource.name);
      if (resource.weight != 1) report.InvalidNumber(at + ".weight", resource.weight, "must be 1");
    }
  }

  void operator()(const PodTopologySpreadArgs& args) const {
    ValidateSpreadArgs(args, path, report);
  }

  void operator()(const VolumeBindingArgs& args) const {
    if (args.bind_timeout_seconds < 0) {
      report.InvalidNumber(At("bindTimeoutSeconds"), args.bind_timeout_seconds,
                           "invalid BindTimeoutSeconds, should not be a negative value");
    }
    if (gates.Enabled(Gate::kStorageCapacityScoring)) {
      ValidateShape(args.shape.value_or(Shape()), At("shape"), report);
    } else if (args.shape) {
      report.Invalid(At("shape"), ShapeJson(*args.shape),
                     "unexpected field `shape`, remove it or turn on the feature gate "
                     "StorageCapacityScoring");
    }
  }
};

}  // namespace

void ValidateArgs(const PluginArgs& args, const std::string& path, const FeatureGates& gates,
                  Report& report) {
  std::visit(Validator{path, gates, report}, args);
}

std::vector<Finding> ValidateNodeResourcesFitArgs(const NodeResourcesFitArgs& args) {
  Report report;
  for (size_t i = 0; i < args.ignored_resources.size(); ++i) {
    report.LabelKey(Indexed("ignoredResources", i), args.ignored_resources[i]);
  }
  for (size_t i = 0; i < args.ignored_resource_groups.size(); ++i) {
    const std::string at = Indexed("ignoredResourceGroups", i);
    const std::string& group = args.ignored_resource_groups[i];
    if (group.find('/') != std::string::npos) {
      report.InvalidText(at, group, "resource group name can't contain '/'");
    }
    report.LabelKey(at, group);
  }
  if (args.scoring_strategy) {
    ValidateStrategy(*args.scoring_strategy, report);
  } else {
    report.Required("scoringStrategy", "ScoringStrategy field is required");
  }
  return report.Take();
}

}  // namespace ks::config
