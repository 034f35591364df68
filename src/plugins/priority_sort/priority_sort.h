// SPDX-License-Identifier: Apache-2.0
#pragma once
// PrioritySort: higher priority first, then the earlier queue timestamp.
//
// Upstream: docs/spec/plugins-node.md 4.1.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kPrioritySortName = "PrioritySort";

Result<std::unique_ptr<framework::Plugin>> NewPrioritySort(const config::PluginArgs& args,
                                                           framework::Handle& handle);

}  // namespace ks::plugins
