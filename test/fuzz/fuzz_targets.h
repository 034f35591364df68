// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one table of fuzz targets. A target takes any bytes and tells which property they violate.

#include <span>
#include <string>
#include <string_view>

namespace ks::fuzz {

struct Target {
  std::string_view name;
  // Returns "" or what is wrong. Must not crash.
  std::string (*run)(std::string_view input);
};

std::span<const Target> Targets();

}  // namespace ks::fuzz
