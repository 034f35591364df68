// SPDX-License-Identifier: Apache-2.0
#include "api/json/json_split.h"

#include <algorithm>

namespace ks::api {
namespace {

constexpr size_t kDeepest = 1000;  // brackets in brackets

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool EndsLiteral(char c) {
  return IsSpace(c) || c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}' ||
         c == '"';
}

// Walks through one part of the text. Every reader returns false at a fault.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view part)
      : text_(text), at_(static_cast<size_t>(part.data() - text.data())), end_(at_ + part.size()) {}

  bool AtEnd() {
    while (at_ < end_ && IsSpace(text_[at_])) ++at_;
    return at_ == end_;
  }
  bool Take(char c) {
    if (AtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool Expect(char c) { return Take(c) || Fail(std::string("a '") + c + "' is missing"); }

  // Any value, brackets balanced.
  bool Value(std::string_view* value) {
    if (AtEnd()) return Fail("a value is missing");
    const size_t start = at_;
    const char first = text_[at_];
    const bool ok = first == '{' || first == '[' ? Brackets() : first == '"' ? Text() : Literal();
    *value = text_.substr(start, at_ - start);
    return ok;
  }

  bool Key(std::string_view* key) {
    if (AtEnd() || text_[at_] != '"') return Fail("a key in quotes is missing");
    const size_t start = at_ + 1;
    if (!Text()) return false;
    *key = text_.substr(start, at_ - 1 - start);
    return true;
  }

  bool Fail(std::string cause) {
    cause_ = std::move(cause);
    return false;
  }
  Error TakeError() const {
    const std::string_view before = text_.substr(0, at_);
    const size_t line_start = before.rfind('\n') + 1;
    return Error{"line " + std::to_string(std::ranges::count(before, '\n') + 1) + ", column " +
                 std::to_string(at_ - line_start + 1) + ": invalid JSON: " + cause_};
  }

 private:
  bool Text() {
    const size_t start = at_;
    for (++at_; at_ < end_; ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        ++at_;
        return true;
      }
    }
    at_ = start;
    return Fail("the string does not end");
  }

  bool Literal() {
    const size_t start = at_;
    while (at_ < end_ && !EndsLiteral(text_[at_])) ++at_;
    return at_ > start || Fail(std::string("'") + text_[at_] + "' is no value");
  }

  bool Brackets() {
    const size_t start = at_;
    std::string open;  // closing brackets that are due
    while (at_ < end_) {
      const char c = text_[at_];
      if (c == '"') {
        if (!Text()) return false;
        continue;
      }
      if (c == '{' || c == '[') {
        open += c == '{' ? '}' : ']';
        if (open.size() > kDeepest) return Fail("nested too deeply");
      } else if (c == '}' || c == ']') {
        if (open.back() != c) return Fail(std::string("a '") + open.back() + "' is missing");
        open.pop_back();
      }
      ++at_;
      if (open.empty()) return true;
    }
    at_ = start;
    return Fail(std::string("'") + text_[start] + "' is not closed");
  }

  const std::string_view text_;
  size_t at_;
  const size_t end_;
  std::string cause_;
};

}  // namespace

Result<std::vector<std::string_view>> JsonSplitter::Values() const {
  Scanner scanner(text_, text_);
  std::vector<std::string_view> values;
  while (!scanner.AtEnd()) {
    if (!scanner.Value(&values.emplace_back())) return scanner.TakeError();
  }
  return values;
}

Result<std::vector<std::string_view>> JsonSplitter::Elements(std::string_view array) const {
  Scanner scanner(text_, array);
  std::vector<std::string_view> elements;
  if (!scanner.Expect('[')) return scanner.TakeError();
  if (scanner.Take(']')) return elements;
  while (true) {
    if (!scanner.Value(&elements.emplace_back())) return scanner.TakeError();
    if (scanner.Take(']')) return elements;
    if (!scanner.Expect(',')) return scanner.TakeError();
  }
}

Result<std::vector<JsonMember>> JsonSplitter::Members(std::string_view object) const {
  Scanner scanner(text_, object);
  std::vector<JsonMember> members;
  if (!scanner.Expect('{')) return scanner.TakeError();
  if (scanner.Take('}')) return members;
  while (true) {
    JsonMember& member = members.emplace_back();
    if (!scanner.Key(&member.key) || !scanner.Expect(':') || !scanner.Value(&member.value)) {
      return scanner.TakeError();
    }
    if (scanner.Take('}')) return members;
    if (!scanner.Expect(',')) return scanner.TakeError();
  }
}

std::string_view PlainJsonText(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return {};
  return value.substr(1, value.size() - 2);
}

}  // namespace ks::api
