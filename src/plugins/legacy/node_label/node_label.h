// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeLabel, legacy: nodes must have or lack labels, whatever their values, or are preferred for
// it.
//
// Upstream: none in v1.37; docs/spec/plugins-crosspod.md 7.1.

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/plugin_args.h"
#include "config/text/findings.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kNodeLabelName = "NodeLabel";

Result<std::unique_ptr<framework::Plugin>> NewNodeLabel(const config::PluginArgs& args,
                                                        framework::Handle& handle);

// What is wrong with the arguments, everything at once.
std::vector<config::Finding> NodeLabelArgsFaults(const config::PluginArgs& args);

}  // namespace ks::plugins
