// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "api/node.h"

namespace ks::inspect {

// The value of a label that somebody asks for; absent: the node has none of that key. By text: what
// is asked for is not to be interned for ever. Lives as long as the process.
inline std::optional<std::string_view> LabelOf(const api::Node& node, std::string_view asked) {
  for (const auto& [key, value] : node.meta.labels) {
    if (key.view() == asked) return value.view();
  }
  return std::nullopt;
}

}  // namespace ks::inspect
