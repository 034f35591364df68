// SPDX-License-Identifier: Apache-2.0
#pragma once
// The targets of what is written for others: their readers must get what was meant. A property that
// is violated, in words; empty: none.

#include <string>
#include <string_view>

namespace ks::fuzz {

// Spans made of the input as an OTLP request, and the input as a collector's answer.
std::string RunOtlp(std::string_view input);
// Metrics whose labels and help are pieces of the input, in both formats.
std::string RunMetrics(std::string_view input);

}  // namespace ks::fuzz
