// SPDX-License-Identifier: Apache-2.0
#pragma once
// Placeholders: plugins of upstream that this version does not have. Each stands at upstream's
// extension points under upstream's name, so that a profile means the same here and there, and
// rejects the pods that need what it would do, instead of letting them be placed wrongly. All other
// pods pass it at no cost: the runtime leaves placeholders out of the lists in which they would do
// nothing. A profile that disables the plugin loses the guard with it, as upstream loses the check.
//
// Upstream: docs/spec/config.md 5.4 (points); the features are those of
// docs/spec/pod-groups.md. Decision 0020.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kGangSchedulingName = "GangScheduling";
inline constexpr std::string_view kPodGroupPodsCountName = "PodGroupPodsCount";
inline constexpr std::string_view kTopologyPlacementGeneratorName = "TopologyPlacementGenerator";

using MadePlugin = Result<std::unique_ptr<framework::Plugin>>;

MadePlugin NewGangScheduling(const config::PluginArgs& args, framework::Handle& handle);
MadePlugin NewPodGroupPodsCount(const config::PluginArgs& args, framework::Handle& handle);
MadePlugin NewTopologyPlacementGenerator(const config::PluginArgs& args, framework::Handle& handle);

}  // namespace ks::plugins
