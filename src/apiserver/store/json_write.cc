// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/json_write.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace ks::apiserver {
namespace {

// Bytes that cannot be copied as they are: control characters, quotes, what Go escapes for HTML,
// and everything outside of ASCII (looked at once more, since most of it can).
constexpr std::array<bool, 256> MakeSpecial() {
  std::array<bool, 256> special{};
  for (size_t i = 0; i < 0x20; ++i) special[i] = true;
  for (size_t i = 0x80; i < 0x100; ++i) special[i] = true;
  for (const unsigned char c : {'"', '\\', '<', '>', '&'}) special[c] = true;
  return special;
}
constexpr std::array<bool, 256> kSpecial = MakeSpecial();

void AppendEscape(unsigned char c, std::string* out) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
    case '\\':
      *out += '\\';
      *out += static_cast<char>(c);
      return;
    case '\n':
      *out += "\\n";
      return;
    case '\r':
      *out += "\\r";
      return;
    case '\t':
      *out += "\\t";
      return;
    case '\b':
      *out += "\\b";
      return;
    case '\f':
      *out += "\\f";
      return;
    default:
      *out += "\\u00";
      *out += kHex[c >> 4];
      *out += kHex[c & 0xF];
  }
}

// Length of the well-formed UTF-8 sequence at the start of `text` (its first byte is not ASCII); 0
// for anything else.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  }
  if (length == 0 || text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

// Appends the character at the start of `text`, which is special; returns its length.
size_t AppendSpecial(std::string_view text, std::string* out) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) {
    AppendEscape(first, out);
    return 1;
  }
  const size_t length = SequenceLength(text);
  if (length == 0) {
    *out += "\\ufffd";
    return 1;
  }
  const std::string_view sequence = text.substr(0, length);
  if (sequence == "\xE2\x80\xA8") {
    *out += "\\u2028";
  } else if (sequence == "\xE2\x80\xA9") {
    *out += "\\u2029";
  } else {
    *out += sequence;
  }
  return length;
}

template <class T>
void AppendInteger(T value, std::string* out) {
  std::array<char, 24> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out->append(buffer.data(), end);
}

void AppendFloat(double value, std::string* out) {
  if (!std::isfinite(value)) {
    *out += "null";
    return;
  }
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out->append(buffer.data(), end);
}

void AppendObject(const Json& value, std::string* out) {
  *out += '{';
  bool first = true;
  for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
    if (!first) *out += ',';
    first = false;
    AppendJsonString(key, out);
    *out += ':';
    AppendJson(member, out);
  }
  *out += '}';
}

void AppendArray(const Json& value, std::string* out) {
  *out += '[';
  bool first = true;
  for (const Json& element : value.get_ref<const Json::array_t&>()) {
    if (!first) *out += ',';
    first = false;
    AppendJson(element, out);
  }
  *out += ']';
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  *out += '"';
  size_t begin = 0;
  for (size_t i = 0; i < text.size();) {
    if (!kSpecial[static_cast<unsigned char>(text[i])]) {
      ++i;
      continue;
    }
    out->append(text, begin, i - begin);
    i += AppendSpecial(text.substr(i), out);
    begin = i;
  }
  out->append(text, begin, text.size() - begin);
  *out += '"';
}

void AppendJson(const Json& value, std::string* out) {
  switch (value.type()) {
    case Json::value_t::object:
      return AppendObject(value, out);
    case Json::value_t::array:
      return AppendArray(value, out);
    case Json::value_t::string:
      return AppendJsonString(value.get_ref<const std::string&>(), out);
    case Json::value_t::boolean:
      *out += value.get<bool>() ? "true" : "false";
      return;
    case Json::value_t::number_integer:
      return AppendInteger(value.get<int64_t>(), out);
    case Json::value_t::number_unsigned:
      return AppendInteger(value.get<uint64_t>(), out);
    case Json::value_t::number_float:
      return AppendFloat(value.get<double>(), out);
    default:
      *out += "null";
  }
}

}  // namespace ks::apiserver
