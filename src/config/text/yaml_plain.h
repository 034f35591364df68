// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which texts a writer must quote because a reader of YAML 1.1 would take them for something else.
//
// Upstream: docs/spec/config.md section 7.1.

#include <string_view>

namespace ks::config {

// False for what reads as null, bool, number, time stamp, or as a base-60 number elsewhere
// ("1:30"). Says nothing about characters that need quotes for their own sake ("a: b").
bool PlainIsString(std::string_view text);

}  // namespace ks::config
