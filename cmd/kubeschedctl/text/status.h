// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a verb ends.

#include <string>

namespace ks::ctl {

// The status of verbs that use 1 for "no": wrong use, or an input that cannot be judged.
inline constexpr int kUsageStatus = 2;

// Prints the text as an error and returns 1.
int Fail(const std::string& text);

}  // namespace ks::ctl
