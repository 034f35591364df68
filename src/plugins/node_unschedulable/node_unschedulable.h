// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeUnschedulable: cordoned nodes take only pods that tolerate it.
//
// Upstream: docs/spec/plugins-node.md 4.4.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kNodeUnschedulableName = "NodeUnschedulable";

Result<std::unique_ptr<framework::Plugin>> NewNodeUnschedulable(const config::PluginArgs& args,
                                                                framework::Handle& handle);

}  // namespace ks::plugins
