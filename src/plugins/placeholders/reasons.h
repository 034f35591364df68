// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why this version leaves a pod pending: one text per feature.

#include <string_view>

namespace ks::plugins {

inline constexpr std::string_view kNoPodGroups = "kubesched does not schedule pod groups yet";

}  // namespace ks::plugins
