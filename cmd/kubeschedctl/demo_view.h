// SPDX-License-Identifier: Apache-2.0
#pragma once
// The live view of a demo as text: pure functions from a state to lines. Knows nothing of
// terminals but their size and what they can show.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "demo_state.h"

namespace ks::ctl {

// What there is to draw on.
struct Screen {
  size_t columns = 80;
  size_t rows = 24;
  bool unicode = false;  // block characters; else plain ASCII
  bool colour = false;   // SGR sequences, which take no columns
};

// One frame: at most `rows` lines, none wider than `columns`. What does not fit is left out from
// the bottom, events first.
std::vector<std::string> RenderFrame(const ViewState& state, const Screen& screen);

// The same in one line of any width, for logs and pipes.
std::string PlainLine(const ViewState& state);

// Text of foreign origin, safe to print: one column a byte, no control characters.
std::string Printable(std::string_view text);

// "812 us", "3.4 ms", "2.0 s".
std::string MillisecondsText(double milliseconds);

}  // namespace ks::ctl
