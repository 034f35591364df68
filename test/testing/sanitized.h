// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests over random cases: how many of them a build with a sanitizer has time for. The one with
// ASan and UBSan runs all of them, since no other build does.

#include <cstdint>

namespace ks::testing {

#ifdef KS_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

#ifdef KS_SANITIZED_THREAD
inline constexpr bool kRaceDetector = true;
#else
inline constexpr bool kRaceDetector = false;
#endif

// `all`, or a fourth of it under the race detector, which costs up to twenty times the time.
constexpr uint64_t Cases(uint64_t all) { return kRaceDetector ? (all + 3) / 4 : all; }

}  // namespace ks::testing
