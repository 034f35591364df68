// SPDX-License-Identifier: Apache-2.0
#pragma once
// TaintToleration: hard taints filter, PreferNoSchedule taints score.
//
// Upstream: docs/spec/plugins-node.md 4.5.

#include <memory>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kTaintTolerationName = "TaintToleration";

Result<std::unique_ptr<framework::Plugin>> NewTaintToleration(const nlohmann::json& args,
                                                              framework::Handle& handle);

}  // namespace ks::plugins
