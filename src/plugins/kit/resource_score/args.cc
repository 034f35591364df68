// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/resource_score/args.h"

#include <utility>

#include "config/read/defaults.h"
#include "config/validate/validate.h"

namespace ks::plugins {
namespace {

// The arguments of type Args, or the plugin's defaults.
template <class Args>
Args ArgsOf(const config::PluginArgs& given, std::string_view plugin) {
  if (const auto* args = std::get_if<Args>(&given)) return *args;
  return std::get<Args>(config::DefaultArgs(plugin, config::FeatureGates()));
}

FitStrategy StrategyOf(std::string_view type) {
  if (type == "MostAllocated") return FitStrategy::kMostAllocated;
  if (type == "RequestedToCapacityRatio") return FitStrategy::kRequestedToCapacityRatio;
  return FitStrategy::kLeastAllocated;
}

}  // namespace

std::vector<config::Finding> FitArgsFaults(const config::PluginArgs& args) {
  return config::ValidateNodeResourcesFitArgs(
      ArgsOf<config::NodeResourcesFitArgs>(args, kNodeResourcesFitName));
}

Result<FitArgs> FitArgsOf(const config::PluginArgs& args) {
  const std::vector<config::Finding> findings = FitArgsFaults(args);
  if (!findings.empty()) return Error{config::Aggregate(findings), findings.front().path};
  auto given = ArgsOf<config::NodeResourcesFitArgs>(args, kNodeResourcesFitName);
  FitArgs fit;
  fit.ignored_resources = std::move(given.ignored_resources);
  fit.ignored_groups = std::move(given.ignored_resource_groups);
  const config::ScoringStrategy& strategy = *given.scoring_strategy;
  fit.strategy = StrategyOf(strategy.type);
  fit.resources = strategy.resources;
  fit.shape = strategy.ratio_shape.value_or(std::vector<config::UtilizationShapePoint>());
  return fit;
}

std::vector<config::ResourceSpec> BalancedResourcesOf(const config::PluginArgs& args) {
  return ArgsOf<config::NodeResourcesBalancedAllocationArgs>(args,
                                                             kNodeResourcesBalancedAllocationName)
      .resources;
}

}  // namespace ks::plugins
