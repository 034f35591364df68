// SPDX-License-Identifier: Apache-2.0
#pragma once
// SchedulingGates: holds pods back while spec.schedulingGates is not empty.
//
// Upstream: docs/spec/plugins-node.md 4.2.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kSchedulingGatesName = "SchedulingGates";

Result<std::unique_ptr<framework::Plugin>> NewSchedulingGates(const config::PluginArgs& args,
                                                              framework::Handle& handle);

}  // namespace ks::plugins
