// SPDX-License-Identifier: Apache-2.0
#include "cel/lexer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace ks::cel {
namespace {

constexpr bool IsDigit(char32_t c) { return c >= U'0' && c <= U'9'; }
constexpr bool IsHexDigit(char32_t c) {
  return IsDigit(c) || (c >= U'a' && c <= U'f') || (c >= U'A' && c <= U'F');
}
constexpr bool IsOctalDigit(char32_t c) { return c >= U'0' && c <= U'7'; }
constexpr bool IsNameStart(char32_t c) {
  return c == U'_' || (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
}
constexpr bool IsNamePart(char32_t c) { return IsNameStart(c) || IsDigit(c); }
constexpr bool IsEscapedNamePart(char32_t c) {
  return IsNamePart(c) || c == U'.' || c == U'-' || c == U'/' || c == U' ';
}
constexpr bool IsSpace(char32_t c) {
  return c == U' ' || c == U'\t' || c == U'\r' || c == U'\n' || c == U'\f';
}
constexpr bool IsLineEnd(char32_t c) { return c == U'\n' || c == U'\r'; }

struct Word {
  std::u32string_view text;
  TokenKind kind;
};

constexpr auto kKeywords = std::to_array<Word>({
    {U"true", TokenKind::kTrue},
    {U"false", TokenKind::kFalse},
    {U"null", TokenKind::kNull},
    {U"in", TokenKind::kIn},
});

// The longer ones first.
constexpr auto kSigns = std::to_array<Word>({
    {U"==", TokenKind::kEqual},      {U"!=", TokenKind::kNotEqual},
    {U"<=", TokenKind::kLessEqual},  {U">=", TokenKind::kGreaterEqual},
    {U"&&", TokenKind::kAnd},        {U"||", TokenKind::kOr},
    {U"<", TokenKind::kLess},        {U">", TokenKind::kGreater},
    {U"[", TokenKind::kLeftBracket}, {U"]", TokenKind::kRightBracket},
    {U"{", TokenKind::kLeftBrace},   {U"}", TokenKind::kRightBrace},
    {U"(", TokenKind::kLeftParen},   {U")", TokenKind::kRightParen},
    {U".", TokenKind::kDot},         {U",", TokenKind::kComma},
    {U"-", TokenKind::kMinus},       {U"!", TokenKind::kNot},
    {U"?", TokenKind::kQuestion},    {U":", TokenKind::kColon},
    {U"+", TokenKind::kPlus},        {U"*", TokenKind::kStar},
    {U"/", TokenKind::kSlash},       {U"%", TokenKind::kPercent},
});

class Lexer {
 public:
  explicit Lexer(const Source& source) : text_(source.code_points()) {}

  Token Next() {
    SkipSpace();
    const size_t begin = at_;
    const TokenKind kind = ReadToken();
    return Token{kind, static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
  }

 private:
  // 0 behind the end; a zero in the text ends nothing.
  char32_t Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : U'\0';
  }

  void SkipSpace() {
    while (at_ < text_.size()) {
      if (IsSpace(text_[at_])) {
        ++at_;
      } else if (Peek() == U'/' && Peek(1) == U'/') {
        at_ = std::min(text_.find(U'\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  TokenKind ReadToken() {
    if (at_ == text_.size()) return TokenKind::kEnd;
    if (const auto quoted = ReadQuoted()) return *quoted;
    if (IsNameStart(Peek())) return ReadName();
    if (IsDigit(Peek()) || (Peek() == U'.' && IsDigit(Peek(1)))) return ReadNumber();
    if (Peek() == U'`') return ReadEscapedName();
    for (const Word& sign : kSigns) {
      if (text_.substr(at_).starts_with(sign.text)) {
        at_ += sign.text.size();
        return sign.kind;
      }
    }
    return TokenKind::kError;
  }

  TokenKind ReadName() {
    const size_t begin = at_;
    while (IsNamePart(Peek())) ++at_;
    const auto name = text_.substr(begin, at_ - begin);
    for (const Word& keyword : kKeywords) {
      if (keyword.text == name) return keyword.kind;
    }
    return TokenKind::kIdent;
  }

  TokenKind ReadEscapedName() {
    size_t end = at_ + 1;
    while (end < text_.size() && IsEscapedNamePart(text_[end])) ++end;
    if (end == at_ + 1 || end == text_.size() || text_[end] != U'`') return TokenKind::kError;
    at_ = end + 1;
    return TokenKind::kEscapedIdent;
  }

  void SkipDigits() {
    while (IsDigit(Peek())) ++at_;
  }

  TokenKind ReadNumber() {
    if (Peek() == U'0' && Peek(1) == U'x' && IsHexDigit(Peek(2))) {
      at_ += 2;
      while (IsHexDigit(Peek())) ++at_;
      return ReadUnsignedMark();
    }
    SkipDigits();
    const bool has_fraction = Peek() == U'.' && IsDigit(Peek(1));
    if (has_fraction) {
      ++at_;
      SkipDigits();
    }
    const size_t sign = Peek(1) == U'+' || Peek(1) == U'-' ? 1 : 0;
    const bool has_exponent = (Peek() == U'e' || Peek() == U'E') && IsDigit(Peek(1 + sign));
    if (has_exponent) {
      at_ += 1 + sign;
      SkipDigits();
    }
    return has_fraction || has_exponent ? TokenKind::kDouble : ReadUnsignedMark();
  }

  TokenKind ReadUnsignedMark() {
    if (Peek() != U'u' && Peek() != U'U') return TokenKind::kInt;
    ++at_;
    return TokenKind::kUint;
  }

  // Nothing, and nothing read: here begins no string, or none that ends.
  std::optional<TokenKind> ReadQuoted() {
    size_t prefix = 0;
    const bool bytes = Peek() == U'b' || Peek() == U'B';
    if (bytes) ++prefix;
    const bool raw = Peek(prefix) == U'r' || Peek(prefix) == U'R';
    if (raw) ++prefix;
    const char32_t quote = Peek(prefix);
    if (quote != U'"' && quote != U'\'') return std::nullopt;
    const size_t begin = at_ + prefix;
    size_t end = std::u32string_view::npos;
    if (Peek(prefix + 1) == quote && Peek(prefix + 2) == quote) {
      end = FindEnd(begin + 3, std::u32string(3, quote), raw);
    }
    if (end == std::u32string_view::npos) end = FindEnd(begin + 1, std::u32string(1, quote), raw);
    if (end == std::u32string_view::npos) return std::nullopt;
    at_ = end;
    return bytes ? TokenKind::kBytes : TokenKind::kString;
  }

  // Behind the closing quotes; npos: there are none.
  size_t FindEnd(size_t at, std::u32string_view quotes, bool raw) const {
    while (at < text_.size()) {
      if (text_.substr(at).starts_with(quotes)) return at + quotes.size();
      if (quotes.size() == 1 && IsLineEnd(text_[at])) break;
      const size_t length = raw || text_[at] != U'\\' ? 1 : EscapeLength(at);
      if (length == 0) break;
      at += length;
    }
    return std::u32string_view::npos;
  }

  bool AreDigits(size_t begin, size_t count, bool (*is_digit)(char32_t)) const {
    if (begin + count > text_.size()) return false;
    for (size_t i = begin; i < begin + count; ++i) {
      if (!is_digit(text_[i])) return false;
    }
    return true;
  }

  // Of the escape sequence at the backslash `at`; 0: it is none.
  size_t EscapeLength(size_t at) const {
    constexpr std::u32string_view kSimple = U"abfnrtv\"'\\?`";
    if (at + 1 == text_.size()) return 0;
    const char32_t kind = text_[at + 1];
    if (kSimple.find(kind) != std::u32string_view::npos) return 2;
    size_t digits = 0;
    if (kind == U'x' || kind == U'X') digits = 2;
    if (kind == U'u') digits = 4;
    if (kind == U'U') digits = 8;
    if (digits > 0) return AreDigits(at + 2, digits, IsHexDigit) ? 2 + digits : 0;
    return kind <= U'3' && AreDigits(at + 1, 3, IsOctalDigit) ? 4 : 0;
  }

  std::u32string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<Token> Tokenize(const Source& source) {
  Lexer lexer(source);
  std::vector<Token> tokens;
  while (true) {
    const Token token = lexer.Next();
    tokens.push_back(token);
    if (token.kind == TokenKind::kEnd) return tokens;
    if (token.kind == TokenKind::kError) break;
  }
  tokens.push_back(Token{TokenKind::kEnd, tokens.back().end, tokens.back().end});
  return tokens;
}

}  // namespace ks::cel
