// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a verb of this program fails.

#include <string>

namespace ks::ctl::dev {

// Prints the text as an error and returns 1.
int Fail(const std::string& text);

}  // namespace ks::ctl::dev
