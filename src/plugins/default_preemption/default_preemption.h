// SPDX-License-Identifier: Apache-2.0
#pragma once
// DefaultPreemption: tells why preemption cannot help. It never evicts a pod in this version.
//
// Upstream: docs/spec/preemption.md sections 1 to 5 (messages and nominations).

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kDefaultPreemptionName = "DefaultPreemption";

Result<std::unique_ptr<framework::Plugin>> NewDefaultPreemption(const config::PluginArgs& args,
                                                                framework::Handle& handle);

}  // namespace ks::plugins
