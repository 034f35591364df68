// SPDX-License-Identifier: Apache-2.0
// JSON strings as upstream's writer spells them.

#include <fmt/format.h>

#include "golang/json_text.h"
#include "golang/utf8.h"

namespace ks::golang {

namespace {

void AppendAscii(std::string& out, char c) {
  switch (c) {
    case '"':
    case '\\':
      out += '\\';
      out += c;
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '<':
    case '>':
    case '&':
      break;
    default:
      if (c < 0x20) break;
      out += c;
      return;
  }
  out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out += '"';
  while (!text.empty()) {
    const Utf8 next = DecodeUtf8(text);
    if (!next.valid) {
      out += "\\ufffd";
    } else if (next.length == 1) {
      AppendAscii(out, text.front());
    } else if (next.code_point == 0x2028 || next.code_point == 0x2029) {
      out += fmt::format("\\u{:04x}", next.code_point);
    } else {
      out += text.substr(0, next.length);
    }
    text.remove_prefix(next.length);
  }
  out += '"';
  return out;
}

}  // namespace ks::golang
