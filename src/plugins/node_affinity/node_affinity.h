// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeAffinity: node selector, required and preferred node affinity, and the profile's added
// affinity.
//
// Upstream: docs/spec/plugins-node.md 4.7.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kNodeAffinityName = "NodeAffinity";

Result<std::unique_ptr<framework::Plugin>> NewNodeAffinity(const config::PluginArgs& args,
                                                           framework::Handle& handle);

}  // namespace ks::plugins
