// SPDX-License-Identifier: Apache-2.0
#pragma once
// UnsupportedFeatures: keeps pods pending whose features this version cannot honour yet, instead of
// placing them wrongly. Not an upstream plugin.
//
// Upstream: none (docs/decisions); the features are those of docs/spec/plugins-volume.md,
// plugins-crosspod.md, plugins-dra.md and plugins-node.md 4.11.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kUnsupportedFeaturesName = "UnsupportedFeatures";

Result<std::unique_ptr<framework::Plugin>> NewUnsupportedFeatures(const config::PluginArgs& args,
                                                                  framework::Handle& handle);

}  // namespace ks::plugins
