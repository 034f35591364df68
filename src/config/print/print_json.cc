// SPDX-License-Identifier: Apache-2.0
#include "config/print/print_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "golang/utf8.h"

namespace ks::config {
namespace {

// Characters that stand for themselves.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = true;
  for (const unsigned char c : {'"', '\\', '<', '>', '&'}) plain[c] = false;
  return plain;
}();

// Requires: one that is not plain.
void AppendEscaped(std::string& out, char c) {
  constexpr std::string_view kControls = "\b\f\n\r\t";
  constexpr std::string_view kLetters = "bfnrt";
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (const size_t i = kControls.find(c); i != std::string_view::npos) {
    out += '\\';
    out += kLetters[i];
  } else {
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
  }
}

// Requires: none that is plain.
void AppendCharacter(std::string& out, std::string_view bytes, const golang::Utf8& character) {
  if (!character.valid) {
    out += "\\ufffd";
  } else if (character.length == 1) {
    AppendEscaped(out, bytes.front());
  } else if (character.code_point == 0x2028 || character.code_point == 0x2029) {
    out += fmt::format("\\u{:04x}", character.code_point);
  } else {
    out += bytes.substr(0, character.length);
  }
}

void AppendText(std::string& out, std::string_view text) {
  out += '"';
  for (;;) {
    const auto plain_end = std::find_if_not(
        text.begin(), text.end(), [](char c) { return kPlain[static_cast<unsigned char>(c)]; });
    out.append(text.begin(), plain_end);
    text.remove_prefix(static_cast<size_t>(plain_end - text.begin()));
    if (text.empty()) break;
    const golang::Utf8 next = golang::DecodeUtf8(text);
    AppendCharacter(out, text, next);
    text.remove_prefix(next.length);
  }
  out += '"';
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string out;
  AppendText(out, text);
  return out;
}

std::string JsonForHtml(std::string_view json) {
  std::string out;
  while (!json.empty()) {
    const golang::Utf8 next = golang::DecodeUtf8(json);
    const bool escape = json.front() == '<' || json.front() == '>' || json.front() == '&' ||
                        next.length > 1 || !next.valid;
    if (escape) {
      AppendCharacter(out, json, next);
    } else {
      out += json.front();
    }
    json.remove_prefix(next.length);
  }
  return out;
}

JsonBuilder& JsonBuilder::Key(std::string_view name) {
  Separate();
  AppendText(text_, name);
  text_ += ':';
  return *this;
}

JsonBuilder& JsonBuilder::Text(std::string_view value) {
  Separate();
  AppendText(text_, value);
  return *this;
}

JsonBuilder& JsonBuilder::Json(std::string_view json) {
  Separate();
  text_ += json;
  return *this;
}

void JsonBuilder::Separate() {
  if (text_.empty()) return;
  const char last = text_.back();
  if (last != '{' && last != '[' && last != ':') text_ += ',';
}

JsonBuilder& JsonBuilder::Open(char bracket) {
  Separate();
  text_ += bracket;
  return *this;
}

JsonBuilder& JsonBuilder::Close(char bracket) {
  text_ += bracket;
  return *this;
}

}  // namespace ks::config
