// SPDX-License-Identifier: Apache-2.0
#pragma once
// The live view of a demo as text: pure functions from a state to lines. Knows nothing of
// terminals but their size and what they can show.

#include <string>
#include <vector>

#include "kubeschedctl/demo/demo_state.h"
#include "kubeschedctl/text/printable.h"

namespace ks::ctl {

// One frame: at most `rows` lines, none wider than `columns`. What does not fit is left out from
// the bottom, events first.
std::vector<std::string> RenderFrame(const ViewState& state, const Screen& screen);

// The same in one line of any width, for logs and pipes.
std::string PlainLine(const ViewState& state);

}  // namespace ks::ctl
