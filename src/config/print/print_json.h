// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compact JSON as Go's encoder writes it, built from left to right.
//
// Upstream: docs/spec/config.md sections 3.7 and 7.

#include <concepts>
#include <string>
#include <string_view>

namespace ks::config {

// `text` with quotes. `<`, `>`, `&`, U+2028 and U+2029 are escaped, damaged UTF-8 becomes U+FFFD.
std::string JsonString(std::string_view text);

// JSON text that is valid already, with the escapes of JsonString.
std::string JsonForHtml(std::string_view json);

// Puts commas between what is added. Requires: begins and ends in pairs, a key before each value
// of an object.
class JsonBuilder {
 public:
  JsonBuilder& BeginObject() { return Open('{'); }
  JsonBuilder& EndObject() { return Close('}'); }
  JsonBuilder& BeginArray() { return Open('['); }
  JsonBuilder& EndArray() { return Close(']'); }

  JsonBuilder& Key(std::string_view name);
  JsonBuilder& Text(std::string_view value);
  template <std::integral T>
  JsonBuilder& Number(T value) {
    return Json(std::to_string(value));
  }
  JsonBuilder& Bool(bool value) { return Json(value ? "true" : "false"); }
  JsonBuilder& Null() { return Json("null"); }
  // A value that is JSON text already.
  JsonBuilder& Json(std::string_view json);

  std::string Take() { return std::move(text_); }

 private:
  void Separate();
  JsonBuilder& Open(char bracket);
  JsonBuilder& Close(char bracket);

  std::string text_;
};

}  // namespace ks::config
