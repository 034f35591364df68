// SPDX-License-Identifier: Apache-2.0
#pragma once
// DefaultBinder: binds by the pod's binding subresource.
//
// Upstream: docs/spec/plugins-node.md 4.13.

#include <memory>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kDefaultBinderName = "DefaultBinder";

Result<std::unique_ptr<framework::Plugin>> NewDefaultBinder(const nlohmann::json& args,
                                                            framework::Handle& handle);

}  // namespace ks::plugins
