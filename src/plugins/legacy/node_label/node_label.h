// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeLabel, legacy: nodes must have or lack labels, whatever their values, or are preferred for
// it.
//
// Upstream: none in v1.37; docs/spec/plugins-crosspod.md 7.1.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kNodeLabelName = "NodeLabel";

Result<std::unique_ptr<framework::Plugin>> NewNodeLabel(const config::PluginArgs& args,
                                                        framework::Handle& handle);

}  // namespace ks::plugins
