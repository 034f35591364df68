// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodePreferAvoidPods, legacy: scores nodes down whose annotation asks a controller's pods to stay
// away.
//
// Upstream: none in v1.37; docs/spec/plugins-crosspod.md 7.4.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kNodePreferAvoidPodsName = "NodePreferAvoidPods";

Result<std::unique_ptr<framework::Plugin>> NewNodePreferAvoidPods(const config::PluginArgs& args,
                                                                  framework::Handle& handle);

}  // namespace ks::plugins
