// SPDX-License-Identifier: Apache-2.0
#pragma once
// The target of the border to loaded plugins.

#include <string>
#include <string_view>

namespace ks::fuzz {

// A plugin that does at each point what the input says, within include/kubesched/plugin.h, and asks
// the host for what it may not have. A property that is violated, in words; empty: none.
std::string RunModule(std::string_view input);

}  // namespace ks::fuzz
