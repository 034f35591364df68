// SPDX-License-Identifier: Apache-2.0
#pragma once
// ImageLocality: prefers nodes that already have the pod's images.
//
// Upstream: docs/spec/plugins-node.md 4.10.

#include <memory>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kImageLocalityName = "ImageLocality";

Result<std::unique_ptr<framework::Plugin>> NewImageLocality(const nlohmann::json& args,
                                                            framework::Handle& handle);

}  // namespace ks::plugins
