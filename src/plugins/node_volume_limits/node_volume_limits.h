// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeVolumeLimits: no node gets more volumes of a CSI driver than its CSINode says it can attach.
//
// Upstream: docs/spec/plugins-volume.md section 5.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kNodeVolumeLimitsName = "NodeVolumeLimits";

Result<std::unique_ptr<framework::Plugin>> NewNodeVolumeLimits(const config::PluginArgs& args,
                                                               framework::Handle& handle);

}  // namespace ks::plugins
