// SPDX-License-Identifier: Apache-2.0
#pragma once
// VolumeRestrictions: no two pods of a node write to the same inline disk, and a claim with access
// mode ReadWriteOncePod serves one pod of the cluster.
//
// Upstream: docs/spec/plugins-volume.md section 3.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kVolumeRestrictionsName = "VolumeRestrictions";

Result<std::unique_ptr<framework::Plugin>> NewVolumeRestrictions(const config::PluginArgs& args,
                                                                 framework::Handle& handle);

}  // namespace ks::plugins
