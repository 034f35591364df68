// SPDX-License-Identifier: Apache-2.0
#pragma once
// Walking over UTF-8 text that may be damaged (a message cut in the middle of a character).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ks::golang {

struct Utf8 {
  uint32_t code_point = 0;
  size_t length = 1;  // bytes; 1 when invalid
  bool valid = false;
};

// The character at the start of `text`. Overlong forms, surrogates and values above U+10FFFF are
// invalid. Requires: text is not empty.
Utf8 DecodeUtf8(std::string_view text);

bool IsUtf8(std::string_view text);
// A copy in which each damaged byte is U+FFFD: for readers that refuse anything but UTF-8.
std::string ToUtf8(std::string_view text);

}  // namespace ks::golang
