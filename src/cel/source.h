// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text of an expression as code points, and the messages that point into it with line, column
// and caret.
//
// Upstream: docs/spec/cel.md section 4, last paragraph.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ks::cel {

// A text taken apart. Damaged UTF-8 is one U+FFFD for each byte. Immutable. Threads: any.
class Source {
 public:
  explicit Source(std::string_view text);

  const std::u32string& code_points() const { return code_points_; }
  // In UTF-8.
  std::string Text(size_t begin, size_t end) const;

 private:
  std::u32string code_points_;
};

// Problems of an expression. Threads: like a value.
class Issues {
 public:
  // Of a problem with the whole text.
  static constexpr int64_t kNowhere = -1;

  // `position`: in code points.
  void Add(int64_t position, std::string message);
  bool empty() const { return issues_.empty(); }
  // True: more are only counted.
  bool full() const { return issues_.size() == kMost; }
  size_t count() const { return issues_.size() + left_out_; }

  // "ERROR: <input>:1:3: message\n | source line\n | ..^" of each issue, in order of position,
  // joined with line ends. Of very many only the first hundred that were added.
  std::string Describe(const Source& source) const;

 private:
  static constexpr size_t kMost = 100;

  struct Issue {
    int64_t position;
    std::string message;
  };

  std::vector<Issue> issues_;
  size_t left_out_ = 0;
};

// Requires: a code point, not a surrogate.
void AppendUtf8(char32_t code_point, std::string& out);

}  // namespace ks::cel
