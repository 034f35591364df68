// SPDX-License-Identifier: Apache-2.0
#pragma once
// The host of a URL, with its port: "my_ext:1", "[fe80::1%25eth0]:443". Internal to url.h.
//
// Upstream: docs/spec/api.md section 8.6.

#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::golang {

constexpr bool IsUrlLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool IsUrlDigit(char c) { return c >= '0' && c <= '9'; }
// -1: no hexadecimal digit.
constexpr int UrlHexValue(char c) {
  if (IsUrlDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// "", ":" or ":123".
bool IsUrlPortOrNothing(std::string_view text);

// The decoded host with its brackets and port. `scheme`: in lower case; with http and https the
// first colon begins the port, else the last one.
Result<std::string> ParseUrlHost(std::string_view scheme, std::string_view text);

}  // namespace ks::golang
