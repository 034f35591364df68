// SPDX-License-Identifier: Apache-2.0
#include "golang/quote.h"

#include <fmt/format.h>

#include <cstdint>

#include "golang/utf8.h"

namespace ks::golang {
namespace {

// The code points above ASCII that Go escapes and that occur in practice: C1 controls, blanks,
// format characters.
bool IsHidden(uint32_t c) {
  return (c >= 0x80 && c <= 0xA0) || c == 0xAD || (c >= 0x2000 && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202F) || (c >= 0x205F && c <= 0x206F) || c == 0x3000 ||
         c == 0xFEFF || (c >= 0xE000 && c <= 0xF8FF) || (c >= 0xFFF0 && c <= 0xFFFB) ||
         (c & 0xFFFE) == 0xFFFE;
}

void AppendQuotedAscii(std::string& out, uint8_t c) {
  constexpr std::string_view kControls = "\a\b\t\n\v\f\r";
  constexpr std::string_view kLetters = "abtnvfr";
  if (c == '"' || c == '\\') {
    out += '\\';
    out += static_cast<char>(c);
  } else if (const size_t i = kControls.find(static_cast<char>(c)); i != std::string_view::npos) {
    out += '\\';
    out += kLetters[i];
  } else if (c < 0x20 || c == 0x7F) {
    out += fmt::format("\\x{:02x}", c);
  } else {
    out += static_cast<char>(c);
  }
}

}  // namespace

std::string Quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const Utf8 next = DecodeUtf8(text);
    if (!next.valid) {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text.front()));
    } else if (next.length == 1) {
      AppendQuotedAscii(out, static_cast<uint8_t>(next.code_point));
    } else if (IsHidden(next.code_point)) {
      out += next.code_point > 0xFFFF ? fmt::format("\\U{:08x}", next.code_point)
                                      : fmt::format("\\u{:04x}", next.code_point);
    } else {
      out += text.substr(0, next.length);
    }
    text.remove_prefix(next.length);
  }
  out += '"';
  return out;
}

}  // namespace ks::golang
