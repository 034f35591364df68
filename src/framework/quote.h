// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quoting as in upstream's messages (%q of Go).
//
// Upstream: docs/spec/framework.md, introduction.

#include <string>
#include <string_view>

namespace ks::framework {

// `text` in double quotes; quotes and backslashes inside are escaped.
inline std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted += '"';
}

}  // namespace ks::framework
