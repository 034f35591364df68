// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names as the API server makes them of `metadata.generateName`.

#include <string>
#include <string_view>

#include "base/random.h"

namespace ks {

// The prefix, cut to 58 bytes, and five letters or digits without vowels.
inline std::string GeneratedName(std::string_view prefix, Random& random) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string name(prefix.substr(0, 58));
  for (int i = 0; i < 5; ++i) name += kAlphabet[random.Below(kAlphabet.size())];
  return name;
}

}  // namespace ks
