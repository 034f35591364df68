// SPDX-License-Identifier: Apache-2.0
#pragma once
// "Did you mean …?" for unknown names of fields and flags.

#include <span>
#include <string>
#include <string_view>

namespace ks::config {

// The candidate closest to `name` (letter case counts little), empty when none is close enough to
// be a likely slip: at most a third of the letters differ.
std::string NearestName(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace ks::config
