// SPDX-License-Identifier: Apache-2.0
#pragma once
// Timestamps and durations: reading, writing, arithmetic with upstream's limits.
//
// Upstream: docs/spec/cel.md section 6.2.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cel/library.h"
#include "cel/value.h"

namespace ks::cel {

// RFC 3339. None: it is not; an error value: outside of the years 1 to 9999.
std::optional<Value> ReadTimestamp(std::string_view text);
// "1h30m", "-1.5s". None: it is not, or too long.
std::optional<Value> ReadDuration(std::string_view text);
// With the offset that was written; fractions trimmed.
std::string TimestampText(const Value& timestamp);
// "2023-02-03 23:31:20.5 +0100 +0100": how upstream's messages show it.
std::string LongTimestampText(const Value& timestamp);
// Seconds with an `s`.
std::string DurationText(const Value& duration);

// A timestamp, or an error outside the years 1 to 9999. `nanos`: of the second.
Value MakeTimestamp(int64_t seconds, uint32_t nanos, int16_t offset = 0);

Value AddDurations(Context& context, Arguments args);
Value SubtractDurations(Context& context, Arguments args);
Value AddToTimestamp(Context& context, Arguments args);
Value SubtractFromTimestamp(Context& context, Arguments args);
Value SubtractTimestamps(Context& context, Arguments args);

}  // namespace ks::cel
