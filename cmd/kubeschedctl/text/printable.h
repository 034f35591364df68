// SPDX-License-Identifier: Apache-2.0
#pragma once
// What text is put on, and what may be put there.

#include <cstddef>
#include <string>
#include <string_view>

namespace ks::ctl {

// What there is to draw on.
struct Screen {
  size_t columns = 80;
  size_t rows = 24;
  bool unicode = false;  // block characters; else plain ASCII
  bool color = false;    // SGR sequences, which take no columns
};

// Text of foreign origin, safe to print: one column a byte, no control characters.
std::string Printable(std::string_view text);

// "812 us", "3.4 ms", "2.0 s".
std::string MillisecondsText(double milliseconds);

}  // namespace ks::ctl
