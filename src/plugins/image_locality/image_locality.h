// SPDX-License-Identifier: Apache-2.0
#pragma once
// ImageLocality: prefers nodes that already have the pod's images.
//
// Upstream: docs/spec/plugins-node.md 4.10.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kImageLocalityName = "ImageLocality";

Result<std::unique_ptr<framework::Plugin>> NewImageLocality(const config::PluginArgs& args,
                                                            framework::Handle& handle);

}  // namespace ks::plugins
