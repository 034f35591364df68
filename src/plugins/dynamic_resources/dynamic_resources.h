// SPDX-License-Identifier: Apache-2.0
#pragma once
// DynamicResources: gives pods the devices that their ResourceClaims, or their extended resources,
// ask for.
//
// Upstream: docs/spec/plugins-dra.md. Differences: docs/decisions/0046.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kDynamicResourcesName = "DynamicResources";

Result<std::unique_ptr<framework::Plugin>> NewDynamicResources(const config::PluginArgs& args,
                                                               framework::Handle& handle);

}  // namespace ks::plugins
