// SPDX-License-Identifier: Apache-2.0
#pragma once
// PodTopologySpread: keeps matching pods spread over the domains of topology keys; by force
// (DoNotSchedule) or by preference (ScheduleAnyway).
//
// Upstream: docs/spec/plugins-crosspod.md section 4.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kPodTopologySpreadName = "PodTopologySpread";

// Without arguments: System defaulting. Errors: upstream's field errors, which the configuration's
// own checks have found before.
Result<std::unique_ptr<framework::Plugin>> NewPodTopologySpread(const config::PluginArgs& args,
                                                                framework::Handle& handle);

}  // namespace ks::plugins
