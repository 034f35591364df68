// SPDX-License-Identifier: Apache-2.0
#pragma once
// DefaultBinder: binds by the pod's binding subresource.
//
// Upstream: docs/spec/plugins-node.md 4.13.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kDefaultBinderName = "DefaultBinder";

Result<std::unique_ptr<framework::Plugin>> NewDefaultBinder(const config::PluginArgs& args,
                                                            framework::Handle& handle);

}  // namespace ks::plugins
