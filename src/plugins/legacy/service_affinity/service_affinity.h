// SPDX-License-Identifier: Apache-2.0
#pragma once
// ServiceAffinity, legacy: pods of one Service go to nodes that are alike in some labels; or, when
// scoring, are spread over the values of some labels.
//
// Upstream: none in v1.37; docs/spec/plugins-crosspod.md 7.2.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kServiceAffinityName = "ServiceAffinity";

Result<std::unique_ptr<framework::Plugin>> NewServiceAffinity(const config::PluginArgs& args,
                                                              framework::Handle& handle);

}  // namespace ks::plugins
