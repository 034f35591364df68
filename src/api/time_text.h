// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading the times in API objects. Writing them: base/clock.h.
//
// Upstream: docs/spec/api.md section 4.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace ks::api {

enum class TimePrecision : uint8_t {
  kAny,     // Time: optional fraction
  kMicros,  // MicroTime: exactly six fraction digits
};

// A time since the epoch. Before 1678 and from 2262 on it is the first or the last that there is.
TimePoint TimeSinceEpoch(std::chrono::seconds seconds, std::chrono::nanoseconds fraction);

// RFC 3339 with any offset; nothing for anything else. Range: TimeSinceEpoch.
std::optional<TimePoint> ParseTime(std::string_view text, TimePrecision precision);

}  // namespace ks::api
