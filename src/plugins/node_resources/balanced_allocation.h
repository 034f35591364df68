// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeResourcesBalancedAllocation: prefers nodes whose resources the pod uses up evenly.
//
// Upstream: docs/spec/plugins-node.md 4.9.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kNodeResourcesBalancedAllocationName =
    "NodeResourcesBalancedAllocation";

Result<std::unique_ptr<framework::Plugin>> NewNodeResourcesBalancedAllocation(
    const config::PluginArgs& args, framework::Handle& handle);

}  // namespace ks::plugins
