// SPDX-License-Identifier: Apache-2.0
#include "golang/utf8.h"

namespace ks::golang {

Utf8 DecodeUtf8(std::string_view text) {
  const auto first = static_cast<uint8_t>(text.front());
  if (first < 0x80) return Utf8{.code_point = first, .length = 1, .valid = true};
  if (first < 0xC2 || first > 0xF4) return Utf8{};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (text.size() < length) return Utf8{};
  uint32_t code_point = first & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xC0) != 0x80) return Utf8{};
    code_point = code_point << 6 | (next & 0x3Fu);
  }
  constexpr uint32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < kLowest[length] || surrogate || code_point > 0x10FFFF) return Utf8{};
  return Utf8{.code_point = code_point, .length = length, .valid = true};
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8 next = DecodeUtf8(text);
    if (!next.valid) return false;
    text.remove_prefix(next.length);
  }
  return true;
}

std::string ToUtf8(std::string_view text) {
  std::string copy;
  copy.reserve(text.size());
  while (!text.empty()) {
    const Utf8 next = DecodeUtf8(text);
    copy += next.valid ? text.substr(0, next.length) : std::string_view("\xEF\xBF\xBD");
    text.remove_prefix(next.length);
  }
  return copy;
}

}  // namespace ks::golang
