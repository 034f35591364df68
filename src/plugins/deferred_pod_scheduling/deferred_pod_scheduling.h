// SPDX-License-Identifier: Apache-2.0
#pragma once
// DeferredPodScheduling: keeps a deferred pod on its node, and parks it there once its resize fits;
// the kubelet does the rest. Only with the gate InPlacePodVerticalScalingSchedulerPreemption.
//
// Upstream: docs/spec/plugins-node.md 4.12.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/status.h"

namespace ks::plugins {

inline constexpr std::string_view kDeferredPodSchedulingName = "DeferredPodScheduling";

// Permit's answer to a deferred pod that fits.
const framework::Status& ResizeFits();

Result<std::unique_ptr<framework::Plugin>> NewDeferredPodScheduling(const config::PluginArgs& args,
                                                                    framework::Handle& handle);

}  // namespace ks::plugins
