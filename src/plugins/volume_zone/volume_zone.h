// SPDX-License-Identifier: Apache-2.0
#pragma once
// VolumeZone: a pod goes where the zone and region labels of its bound volumes say.
//
// Upstream: docs/spec/plugins-volume.md section 4.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kVolumeZoneName = "VolumeZone";

Result<std::unique_ptr<framework::Plugin>> NewVolumeZone(const config::PluginArgs& args,
                                                         framework::Handle& handle);

}  // namespace ks::plugins
