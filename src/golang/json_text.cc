// SPDX-License-Identifier: Apache-2.0
// JSON as upstream's writer spells it.

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

std::string CompactJson(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const std::string_view line_end = json.substr(i, 3);
    if (c == '<' || c == '>' || c == '&') {
      AppendAscii(out, c);
    } else if (line_end == "\xe2\x80\xa8" || line_end == "\xe2\x80\xa9") {
      out += line_end.back() == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else if (in_string && c == '\\' && i + 1 < json.size()) {
      out += c;
      out += json[++i];
    } else if (in_string || (c != ' ' && c != '\t' && c != '\n' && c != '\r')) {
      in_string = in_string != (c == '"');
      out += c;
    }
  }
  return out;
}

}  // namespace ks::golang
