// SPDX-License-Identifier: Apache-2.0
#pragma once
// PrioritySort: higher priority first, then the earlier queue timestamp.
//
// Upstream: docs/spec/plugins-node.md 4.1.

#include <memory>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kPrioritySortName = "PrioritySort";

Result<std::unique_ptr<framework::Plugin>> NewPrioritySort(const nlohmann::json& args,
                                                           framework::Handle& handle);

}  // namespace ks::plugins
