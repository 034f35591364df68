// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading the times in API objects. Writing them: base/clock.h.
//
// Upstream: docs/spec/api.md section 4.

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace ks::api {

enum class TimePrecision : uint8_t {
  kAny,     // Time: optional fraction
  kMicros,  // MicroTime: exactly six fraction digits
};

// RFC 3339 with any offset; nothing for anything else. Years outside 1678..2261 become the nearest
// time that can be represented.
std::optional<TimePoint> ParseTime(std::string_view text, TimePrecision precision);

}  // namespace ks::api
