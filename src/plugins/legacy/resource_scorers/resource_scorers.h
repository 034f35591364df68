// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeResourcesLeastAllocated, NodeResourcesMostAllocated and RequestedToCapacityRatio, legacy: the
// scoring strategies of NodeResourcesFit as plugins of their own. A profile that scores by one of
// them and by NodeResourcesFit with the same strategy is refused.
//
// Upstream: none in v1.37; docs/spec/plugins-crosspod.md 7.5.

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/plugin_args.h"
#include "config/text/findings.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kNodeResourcesLeastAllocatedName = "NodeResourcesLeastAllocated";
inline constexpr std::string_view kNodeResourcesMostAllocatedName = "NodeResourcesMostAllocated";
inline constexpr std::string_view kRequestedToCapacityRatioName = "RequestedToCapacityRatio";

Result<std::unique_ptr<framework::Plugin>> NewNodeResourcesLeastAllocated(
    const config::PluginArgs& args, framework::Handle& handle);
Result<std::unique_ptr<framework::Plugin>> NewNodeResourcesMostAllocated(
    const config::PluginArgs& args, framework::Handle& handle);
Result<std::unique_ptr<framework::Plugin>> NewRequestedToCapacityRatio(
    const config::PluginArgs& args, framework::Handle& handle);

// What is wrong with the arguments, everything at once. The first serves both scorers that have no
// shape.
std::vector<config::Finding> ScorerArgsFaults(const config::PluginArgs& args);
std::vector<config::Finding> RequestedToCapacityRatioArgsFaults(const config::PluginArgs& args);

}  // namespace ks::plugins
