// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodePorts: host ports of a pod must be free on the node.
//
// Upstream: docs/spec/plugins-node.md 4.6.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kNodePortsName = "NodePorts";

Result<std::unique_ptr<framework::Plugin>> NewNodePorts(const config::PluginArgs& args,
                                                        framework::Handle& handle);

}  // namespace ks::plugins
