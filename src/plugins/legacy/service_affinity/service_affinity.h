// SPDX-License-Identifier: Apache-2.0
#pragma once
// ServiceAffinity, legacy: pods of one Service go to nodes that are alike in some labels; or, when
// scoring, are spread over the values of some labels.
//
// Upstream: none in v1.37; docs/spec/plugins-crosspod.md 7.2.

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/plugin_args.h"
#include "config/text/findings.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kServiceAffinityName = "ServiceAffinity";

Result<std::unique_ptr<framework::Plugin>> NewServiceAffinity(const config::PluginArgs& args,
                                                              framework::Handle& handle);

// What is wrong with the arguments, everything at once.
std::vector<config::Finding> ServiceAffinityArgsFaults(const config::PluginArgs& args);

}  // namespace ks::plugins
