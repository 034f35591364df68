// SPDX-License-Identifier: Apache-2.0
#pragma once
// DefaultPreemption: makes room for a pod that fits nowhere by evicting pods of lower priority from
// one node, and for a group of pods by evicting them from the whole cluster (group_preemption.h).
//
// Upstream: docs/spec/preemption.md, docs/spec/queue.md 6.3 and 10.15.

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
