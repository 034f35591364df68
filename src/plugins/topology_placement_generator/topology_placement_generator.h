// SPDX-License-Identifier: Apache-2.0
#pragma once
// TopologyPlacementGenerator: a group that names a topology key is placed within one domain, the
// nodes with one value of that label. Part of the default profile with the gate
// TopologyAwareWorkloadScheduling.
//
// Upstream: docs/spec/plugins-crosspod.md 8.4.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kTopologyPlacementGeneratorName = "TopologyPlacementGenerator";

Result<std::unique_ptr<framework::Plugin>> NewTopologyPlacementGenerator(
    const config::PluginArgs& args, framework::Handle& handle);

}  // namespace ks::plugins
