// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeName: a pod that names a node goes to that node only.
//
// Upstream: docs/spec/plugins-node.md 4.3.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kNodeNameName = "NodeName";

Result<std::unique_ptr<framework::Plugin>> NewNodeName(const config::PluginArgs& args,
                                                       framework::Handle& handle);

}  // namespace ks::plugins
