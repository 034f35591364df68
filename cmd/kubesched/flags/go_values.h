// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values of flags as text, read and printed as Go's standard library does: error texts, the
// accepted forms and the canonical form are what upstream's users know.
//
// Upstream: docs/spec/config.md sections 2.7 and 8.2.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace ks::flags {

// `text` as Go's %q prints it.
std::string Quote(std::string_view text);

// `strconv.ParseBool: parsing "maybe": invalid syntax`.
Result<bool> ParseBool(const std::string& text);

// Decimal, or with the prefixes 0x, 0o, 0b, 0 and `_` between digits (base 0), or `base` 10 only.
Result<int64_t> ParseInt(const std::string& text, int base, int bits);
Result<uint64_t> ParseUint(const std::string& text, int base, int bits);

Result<float> ParseFloat32(const std::string& text);

// "1h2m3.5s"; a unit is needed except for "0".
Result<Duration> ParseDuration(const std::string& text);

// One record of comma-separated values with optional double quotes; empty text is no value.
Result<std::vector<std::string>> ParseCsv(const std::string& text);
// The reverse: fields are quoted where they need it.
std::string JoinCsv(const std::vector<std::string>& values);

// Shortest form that reads back as the same float32: "50", "12.5", "1e+30".
std::string FormatFloat32(float value);

}  // namespace ks::flags
