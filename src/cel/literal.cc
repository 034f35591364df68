// SPDX-License-Identifier: Apache-2.0
#include "cel/literal.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace ks::cel {
namespace {

constexpr std::string_view kHexPrefix = "0x";

// `text` with an optional minus.
template <class Integer>
bool ReadInteger(std::string_view text, Integer& value) {
  std::string digits;
  if (text.starts_with('-')) {
    digits += '-';
    text.remove_prefix(1);
  }
  const bool hex = text.starts_with(kHexPrefix);
  if (hex) text.remove_prefix(kHexPrefix.size());
  digits += text;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value, hex ? 16 : 10);
  return read.ec == std::errc() && read.ptr == end;
}

Result<Constant> ReadDouble(const std::string& text) {
  // Too small is zero, too large an error; strtod tells them apart where from_chars does not.
  double value = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, value).ec == std::errc::result_out_of_range) {
    value = std::strtod(text.c_str(), nullptr);
  }
  if (std::isinf(value)) return Error{"invalid double literal"};
  return Constant(value);
}

uint32_t DigitValue(char32_t c) {
  if (c <= U'9') return c - U'0';
  return (c | 0x20u) - U'a' + 10;
}

// The content of a string or bytes literal, between its quotes.
class Unescaper {
 public:
  Unescaper(std::u32string_view text, bool bytes) : rest_(text), bytes_(bytes) {}

  Result<std::string> Read(bool raw) {
    std::string out;
    while (!rest_.empty()) {
      const char32_t c = rest_[0];
      if (c == U'\\' && !raw) {
        if (auto error = ReadEscape(out); !error.ok()) return error.error();
        continue;
      }
      // Line ends of any kind are line feeds.
      rest_.remove_prefix(rest_.starts_with(U"\r\n") ? 2 : 1);
      AppendUtf8(c == U'\r' ? U'\n' : c, out);
    }
    return out;
  }

 private:
  Result<void> ReadEscape(std::string& out) {
    constexpr std::u32string_view kLetters = U"abfnrtv";
    constexpr std::string_view kControls = "\a\b\f\n\r\t\v";
    const char32_t kind = rest_[1];
    if (const size_t i = kLetters.find(kind); i != std::u32string_view::npos) {
      out += kControls[i];
      rest_.remove_prefix(2);
      return {};
    }
    if (kind == U'x' || kind == U'X') return AppendCode(2, 2, 16, out);
    if (kind == U'u') return AppendWideCode(4, out);
    if (kind == U'U') return AppendWideCode(8, out);
    if (kind >= U'0' && kind <= U'3') return AppendCode(1, 3, 8, out);
    AppendUtf8(kind, out);
    rest_.remove_prefix(2);
    return {};
  }

  Result<void> AppendWideCode(size_t digits, std::string& out) {
    if (bytes_) return Error{"unable to unescape string"};
    return AppendCode(2, digits, 16, out);
  }

  Result<void> AppendCode(size_t begin, size_t digits, uint32_t base, std::string& out) {
    uint32_t code = 0;
    for (const char32_t digit : rest_.substr(begin, digits)) code = code * base + DigitValue(digit);
    rest_.remove_prefix(begin + digits);
    if (bytes_) {
      out += static_cast<char>(static_cast<uint8_t>(code));
      return {};
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
      return Error{"invalid unicode code point"};
    }
    AppendUtf8(code, out);
    return {};
  }

  std::u32string_view rest_;
  bool bytes_;
};

Result<Constant> ReadQuoted(std::u32string_view text) {
  const bool bytes = text[0] == U'b' || text[0] == U'B';
  if (bytes) text.remove_prefix(1);
  const bool raw = text[0] == U'r' || text[0] == U'R';
  if (raw) text.remove_prefix(1);
  // `""` is an empty short text, `""""""` an empty long one.
  const size_t quotes = text.size() >= 6 && text[1] == text[0] && text[2] == text[0] ? 3 : 1;
  text = text.substr(quotes, text.size() - 2 * quotes);
  Result<std::string> value = Unescaper(text, bytes).Read(raw);
  if (!value.ok()) return value.error();
  if (bytes) return Constant(BytesConstant{std::move(value).value()});
  return Constant(std::move(value).value());
}

}  // namespace

Result<Constant> ReadLiteral(const Source& source, const Token& token, bool negative) {
  const std::string text = negative ? "-" : "";
  switch (token.kind) {
    case TokenKind::kTrue:
      return Constant(true);
    case TokenKind::kFalse:
      return Constant(false);
    case TokenKind::kNull:
      return Constant(NullConstant{});
    case TokenKind::kInt: {
      int64_t value = 0;
      if (ReadInteger(text + source.Text(token.begin, token.end), value)) return Constant(value);
      return Error{"invalid int literal"};
    }
    case TokenKind::kUint: {
      uint64_t value = 0;
      if (ReadInteger(source.Text(token.begin, token.end - 1), value)) return Constant(value);
      return Error{"invalid uint literal"};
    }
    case TokenKind::kDouble:
      return ReadDouble(text + source.Text(token.begin, token.end));
    default:
      return ReadQuoted(
          std::u32string_view(source.code_points()).substr(token.begin, token.end - token.begin));
  }
}

}  // namespace ks::cel
