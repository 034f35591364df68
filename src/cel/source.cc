// SPDX-License-Identifier: Apache-2.0
#include "cel/source.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "golang/utf8.h"

namespace ks::cel {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kOneByteEnd = 0x80;
// Below a character that may be drawn wide stand a dot and a caret as wide.
constexpr std::string_view kWideDot = "\uFF0E";
constexpr std::string_view kWideCaret = "\uFF3E";

std::string_view DotUnder(char32_t c) { return c < kOneByteEnd ? "." : kWideDot; }
std::string_view CaretUnder(char32_t c) { return c < kOneByteEnd ? "^" : kWideCaret; }

constexpr size_t kLongestShownLine = 16'384;

void AppendIssue(const std::u32string& text, int64_t position, std::string_view message,
                 std::string& out) {
  if (position < 0 || text.empty()) {
    out += position < 0 ? "ERROR: <input>:-1:0: " : "ERROR: <input>:1:0: ";
    out += message;
    return;
  }
  const size_t at = std::min(static_cast<size_t>(position), text.size());
  // Both 0 and npos + 1 begin the first line.
  const size_t begin = at == 0 ? 0 : text.rfind(U'\n', at - 1) + 1;
  const size_t end = std::min(text.find(U'\n', at), text.size());
  const auto line = std::count(text.data(), text.data() + at, U'\n') + 1;
  out += "ERROR: <input>:" + std::to_string(line) + ':' + std::to_string(at - begin + 1) + ": ";
  out += message;
  if (end - begin > kLongestShownLine) return;
  out += "\n | ";
  for (size_t i = begin; i < end; ++i) AppendUtf8(text[i] == U'\t' ? U' ' : text[i], out);
  out += "\n | ";
  for (size_t i = begin; i < at; ++i) out += DotUnder(text[i]);
  out += CaretUnder(at == end ? U' ' : text[at]);
}

}  // namespace

void AppendUtf8(char32_t code_point, std::string& out) {
  const auto byte = [&](uint32_t bits) { out += static_cast<char>(static_cast<uint8_t>(bits)); };
  const auto tail = [&](int shift) { byte(0x80u | ((code_point >> shift) & 0x3Fu)); };
  if (code_point < 0x80) {
    byte(code_point);
  } else if (code_point < 0x800) {
    byte(0xC0u | (code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    byte(0xE0u | (code_point >> 12));
    tail(6);
    tail(0);
  } else {
    byte(0xF0u | (code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

Source::Source(std::string_view text) {
  code_points_.reserve(text.size());
  while (!text.empty()) {
    const golang::Utf8 next = golang::DecodeUtf8(text);
    code_points_ += next.valid ? static_cast<char32_t>(next.code_point) : kReplacement;
    text.remove_prefix(next.length);
  }
}

std::string Source::Text(size_t begin, size_t end) const {
  std::string text;
  for (size_t i = begin; i < end; ++i) AppendUtf8(code_points_[i], text);
  return text;
}

void Issues::Add(int64_t position, std::string message) {
  if (issues_.size() < kMost) {
    issues_.push_back(Issue{position, std::move(message)});
  } else {
    ++left_out_;
  }
}

std::string Issues::Describe(const Source& source) const {
  std::vector<Issue> sorted = issues_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Issue& a, const Issue& b) { return a.position < b.position; });
  std::string out;
  for (const Issue& issue : sorted) {
    if (!out.empty()) out += '\n';
    AppendIssue(source.code_points(), issue.position, issue.message, out);
  }
  if (left_out_ > 0) out += '\n' + std::to_string(left_out_) + " more errors were truncated";
  return out;
}

}  // namespace ks::cel
