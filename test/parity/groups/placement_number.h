// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plugin that scores the placement "rack-7" with 7: of placements that are equally good otherwise
// upstream and we take any, with it the same.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace ks::parity {

inline constexpr std::string_view kPlacementNumberName = "PlacementNumber";

Result<std::unique_ptr<framework::Plugin>> NewPlacementNumber(const config::PluginArgs& args,
                                                              framework::Handle& handle);

}  // namespace ks::parity
