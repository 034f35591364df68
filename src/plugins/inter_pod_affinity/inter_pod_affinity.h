// SPDX-License-Identifier: Apache-2.0
#pragma once
// InterPodAffinity: pods that must, must not, or would rather share a topology domain with certain
// other pods, and the same wishes of the pods that are there already.
//
// Upstream: docs/spec/plugins-crosspod.md sections 2 and 3.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kInterPodAffinityName = "InterPodAffinity";

Result<std::unique_ptr<framework::Plugin>> NewInterPodAffinity(const config::PluginArgs& args,
                                                               framework::Handle& handle);

}  // namespace ks::plugins
