// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests over random cases: how many of them a build with sanitizers has time for.

#include <cstdint>

namespace ks::testing {

#ifdef KS_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// `all`, or a fourth of it under a sanitizer, which costs up to twenty times the time.
constexpr uint64_t Cases(uint64_t all) { return kSanitized ? (all + 3) / 4 : all; }

}  // namespace ks::testing
