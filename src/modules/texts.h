// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts across the border of a module.

#include <cstddef>
#include <string>
#include <string_view>

#include "kubesched/plugin.h"

namespace ks::modules {

// The longest text that is taken from a module.
inline constexpr size_t kMostTextBytes = 65536;

// A copy that can go anywhere: damaged UTF-8 becomes U+FFFD, what is too long is cut. A null text
// is empty, whatever its size says.
std::string TextFrom(ks_str text);

// Whether it can be looked at: not null, not too long.
inline bool IsText(ks_str text) {
  return (text.data != nullptr || text.size == 0) && text.size <= kMostTextBytes;
}

// Requires: IsText(text).
inline std::string_view ViewOf(ks_str text) {
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}

inline ks_str StrOf(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace ks::modules
