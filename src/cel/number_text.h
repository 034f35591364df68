// SPDX-License-Identifier: Apache-2.0
#pragma once
// Doubles as texts and back, as Go reads and prints them.
//
// Upstream: docs/spec/cel.md section 6.2 (`string`, `double`).

#include <optional>
#include <string>
#include <string_view>

namespace ks::cel {

// The shortest digits that read back the same, with an exponent below 1e-4 and from 1e21 on.
std::string DoubleText(double value);

// Decimal and hexadecimal numbers, "inf", "NaN". None: it is no number, or too large.
std::optional<double> ReadDouble(std::string_view text);

}  // namespace ks::cel
