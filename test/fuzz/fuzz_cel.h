// SPDX-License-Identifier: Apache-2.0
#pragma once
// The target of CEL expressions.

#include <string>
#include <string_view>

namespace ks::fuzz {

// A property that is violated, in words; empty: none.
std::string RunCel(std::string_view input);

}  // namespace ks::fuzz
