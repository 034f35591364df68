// SPDX-License-Identifier: Apache-2.0
#pragma once
// TaintToleration: hard taints filter, PreferNoSchedule taints score.
//
// Upstream: docs/spec/plugins-node.md 4.5.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kTaintTolerationName = "TaintToleration";

Result<std::unique_ptr<framework::Plugin>> NewTaintToleration(const config::PluginArgs& args,
                                                              framework::Handle& handle);

}  // namespace ks::plugins
