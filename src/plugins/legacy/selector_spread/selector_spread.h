// SPDX-License-Identifier: Apache-2.0
#pragma once
// SelectorSpread, legacy: spreads the pods of one Service or controller over nodes and zones.
//
// Upstream: none in v1.37; docs/spec/plugins-crosspod.md 7.3.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kSelectorSpreadName = "SelectorSpread";

Result<std::unique_ptr<framework::Plugin>> NewSelectorSpread(const config::PluginArgs& args,
                                                             framework::Handle& handle);

}  // namespace ks::plugins
