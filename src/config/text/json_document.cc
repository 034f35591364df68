// SPDX-License-Identifier: Apache-2.0
#include "config/text/json_document.h"

#include <optional>
#include <utility>

#include "api/selector.h"
#include "golang/quote.h"
#include "golang/utf8.h"

namespace ks::config {
namespace {

constexpr size_t kMostValues = 200'000;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kAfterTopLevel = "after top-level value";
constexpr std::string_view kInString = "in string literal";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// A byte as Go's reader names it: 'x', '\n', '"'.
std::string QuoteByte(char c) {
  if (c == '\'') return "'\\''";
  if (c == '"') return "'\"'";
  const auto byte = static_cast<unsigned char>(c);
  std::string character(1, c);
  if (byte >= 0x80) {
    character = {static_cast<char>(0xC0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3F))};
  }
  std::string quoted = golang::Quote(character);
  quoted.front() = quoted.back() = '\'';
  return quoted;
}

void AppendUtf8(uint32_t code_point, std::string& out) {
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xC0 | code_point >> 6);
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0 | code_point >> 12);
    out += static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code_point >> 18);
    out += static_cast<char>(0x80 | (code_point >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::variant<Document, Finding> Run() {
    Document document{.syntax = Syntax::kJson, .root = {}, .duplicates = {}};
    if (ReadValue(0, document.root)) {
      SkipSpace();
      if (AtEnd()) return document;
      Unexpected(kAfterTopLevel);
    }
    return *std::move(error_);
  }

 private:
  bool AtEnd() const { return at_ == text_.size(); }
  char Next() const { return text_[at_]; }

  // The place of the next character. Calls go forward only, so all of them together are linear.
  Place Here() {
    for (; counted_ < at_; ++counted_) {
      const char c = text_[counted_];
      if (c == '\n') {
        place_ = {.line = place_.line + 1, .column = 1};
      } else if ((c & 0xC0) != 0x80) {
        ++place_.column;
      }
    }
    return place_;
  }

  bool Fail(const std::string& message, std::string hint = "") {
    error_ = Finding{.message = "couldn't get version/kind; json parse error: " + message,
                     .place = Here(),
                     .hint = std::move(hint)};
    return false;
  }

  bool Unexpected(std::string_view where) {
    if (AtEnd()) {
      // Go's reader ends the text with a blank, which most of the places inside a token refuse.
      const bool refused = (where.starts_with("in ") && where != kInString) ||
                           where.starts_with("after decimal point");
      if (!refused) return Fail("unexpected end of JSON input");
      return Fail("invalid character ' ' " + std::string(where));
    }
    return Fail("invalid character " + QuoteByte(Next()) + " " + std::string(where),
                "a file that starts with { is read as JSON; put a comment line before it to have "
                "it read as YAML");
  }

  void SkipSpace() {
    while (!AtEnd() && IsSpace(Next())) ++at_;
  }

  bool TakeIf(char c) {
    if (AtEnd() || Next() != c) return false;
    ++at_;
    return true;
  }

  bool ReadValue(int depth, Value& out) {
    SkipSpace();
    out.place = Here();
    if (++values_ > kMostValues) {
      return Fail("the document has more than " + std::to_string(kMostValues) + " values");
    }
    if (AtEnd()) return Unexpected("");
    switch (Next()) {
      case '{':
        return Enter(depth) && ReadObject(depth + 1, out);
      case '[':
        return Enter(depth) && ReadArray(depth + 1, out);
      case '"':
        out.kind = Value::Kind::kString;
        return ReadString(out.text);
      case 'n':
        return ReadLiteral("null");
      case 't':
      case 'f':
        out.kind = Value::Kind::kBool;
        out.boolean = Next() == 't';
        return ReadLiteral(out.boolean ? "true" : "false");
      default:
        break;
    }
    if (Next() != '-' && !IsDigit(Next())) return Unexpected("looking for beginning of value");
    out.kind = Value::Kind::kNumber;
    return ReadNumber(out.text);
  }

  bool Enter(int depth) {
    if (depth >= kMaxDepth) return Fail("exceeded max depth of " + std::to_string(kMaxDepth));
    ++at_;
    return true;
  }

  bool ReadObject(int depth, Value& out) {
    constexpr std::string_view kKey = "looking for beginning of object key string";
    out.kind = Value::Kind::kMapping;
    SkipSpace();
    if (TakeIf('}')) return true;
    while (true) {
      SkipSpace();
      if (AtEnd() || Next() != '"') return Unexpected(kKey);
      Member& member = out.members.emplace_back();
      member.place = Here();
      if (!ReadString(member.key)) return false;
      SkipSpace();
      if (!TakeIf(':')) return Unexpected("after object key");
      if (!ReadValue(depth, member.value)) return false;
      SkipSpace();
      if (TakeIf('}')) return true;
      if (!TakeIf(',')) return Unexpected("after object key:value pair");
    }
  }

  bool ReadArray(int depth, Value& out) {
    out.kind = Value::Kind::kList;
    SkipSpace();
    if (TakeIf(']')) return true;
    while (true) {
      if (!ReadValue(depth, out.items.emplace_back())) return false;
      SkipSpace();
      if (TakeIf(']')) return true;
      if (!TakeIf(',')) return Unexpected("after array element");
    }
  }

  bool ReadLiteral(std::string_view word) {
    for (size_t i = 0; i < word.size(); ++i) {
      if (TakeIf(word[i])) continue;
      return Unexpected("in literal " + std::string(word) + " (expecting " + QuoteByte(word[i]) +
                        ")");
    }
    return true;
  }

  void SkipDigits() {
    while (!AtEnd() && IsDigit(Next())) ++at_;
  }

  bool ReadNumber(std::string& out) {
    const size_t start = at_;
    TakeIf('-');
    if (AtEnd() || !IsDigit(Next())) return Unexpected("in numeric literal");
    if (!TakeIf('0')) SkipDigits();
    if (TakeIf('.')) {
      if (AtEnd() || !IsDigit(Next())) return Unexpected("after decimal point in numeric literal");
      SkipDigits();
    }
    if (TakeIf('e') || TakeIf('E')) {
      if (!TakeIf('+')) TakeIf('-');
      if (AtEnd() || !IsDigit(Next())) return Unexpected("in exponent of numeric literal");
      SkipDigits();
    }
    out = text_.substr(start, at_ - start);
    return true;
  }

  bool ReadString(std::string& out) {
    ++at_;
    while (!AtEnd() && Next() != '"') {
      if (Next() == '\\') {
        ++at_;
        if (!ReadEscape(out)) return false;
        continue;
      }
      if (static_cast<unsigned char>(Next()) < 0x20) return Unexpected(kInString);
      const golang::Utf8 next = golang::DecodeUtf8(text_.substr(at_));
      out += next.valid ? text_.substr(at_, next.length) : kReplacement;
      at_ += next.length;
    }
    return TakeIf('"') || Unexpected(kInString);
  }

  bool ReadEscape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (TakeIf('u')) return ReadUnicode(out);
    const size_t letter = AtEnd() ? std::string_view::npos : kLetters.find(Next());
    if (letter == std::string_view::npos) return Unexpected("in string escape code");
    out += kMeanings[letter];
    ++at_;
    return true;
  }

  // The four digits behind \u.
  std::optional<uint32_t> ReadHex() {
    uint32_t unit = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = AtEnd() ? -1 : HexDigit(Next());
      if (digit < 0) {
        Unexpected("in \\u hexadecimal character escape");
        return std::nullopt;
      }
      unit = unit << 4 | static_cast<uint32_t>(digit);
      ++at_;
    }
    return unit;
  }

  bool ReadUnicode(std::string& out) {
    const std::optional<uint32_t> unit = ReadHex();
    if (!unit) return false;
    if (*unit < 0xD800 || *unit > 0xDFFF) {
      AppendUtf8(*unit, out);
      return true;
    }
    if (*unit < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
      const size_t behind = at_;
      at_ += 2;
      const std::optional<uint32_t> low = ReadHex();
      if (!low) return false;
      if (*low >= 0xDC00 && *low <= 0xDFFF) {
        AppendUtf8(0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00), out);
        return true;
      }
      at_ = behind;  // not its other half: read again on its own
    }
    out += kReplacement;
    return true;
  }

  const std::string_view text_;
  size_t at_ = 0;
  size_t counted_ = 0;  // characters before it are in place_
  Place place_{.line = 1, .column = 1};
  size_t values_ = 0;
  std::optional<Finding> error_;
};

}  // namespace

std::variant<Document, Finding> ParseJsonDocument(std::string_view text) {
  return Reader(text).Run();
}

}  // namespace ks::config
