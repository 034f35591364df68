// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeResourcesBalancedAllocation: prefers nodes whose resources the pod uses up evenly.
//
// Upstream: docs/spec/plugins-node.md 4.9.

#include <memory>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "plugins/kit/resource_score/args.h"

namespace ks::plugins {

Result<std::unique_ptr<framework::Plugin>> NewNodeResourcesBalancedAllocation(
    const config::PluginArgs& args, framework::Handle& handle);

}  // namespace ks::plugins
