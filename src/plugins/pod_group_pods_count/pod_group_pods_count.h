// SPDX-License-Identifier: Apache-2.0
#pragma once
// PodGroupPodsCount: of the placements that a group fits in, the one that takes the most of its
// pods is the best. Part of the default profile with the gate TopologyAwareWorkloadScheduling.
//
// Upstream: docs/spec/plugins-crosspod.md 8.5.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kPodGroupPodsCountName = "PodGroupPodsCount";

Result<std::unique_ptr<framework::Plugin>> NewPodGroupPodsCount(const config::PluginArgs& args,
                                                                framework::Handle& handle);

}  // namespace ks::plugins
