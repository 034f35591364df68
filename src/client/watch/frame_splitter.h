// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cuts a watch body into its events, whatever pieces it comes in: JSON objects one behind the other
// (each byte is looked at once; line ends do not matter), or protobuf messages, each behind its
// length. The first byte tells which.
//
// Upstream: docs/spec/api.md section 6.8.

#include <cstddef>
#include <string>
#include <string_view>

namespace ks::client {

// Use: Append a piece, then call Next until it is false.
// Threads: one at a time.
class FrameSplitter {
 public:
  // An incomplete event beyond this is an error.
  explicit FrameSplitter(size_t most_bytes = 64 << 20) : most_bytes_(most_bytes) {}

  void Append(std::string_view piece);

  // The next complete event, followed by api::kJsonPadding readable bytes; valid until the next
  // Append. False: none is complete.
  bool Next(std::string_view* frame);

  // The body is no sequence of objects or messages of a bearable size; nothing more will come.
  bool broken() const { return broken_; }

  void Clear();

 private:
  // Of protobuf.
  bool NextMeasured(std::string_view* frame);
  // Advances scanned_ to behind the next top-level object; false when the data ends before.
  bool FindEnd();
  // One character that matters, at `at`. True: it closes a top-level object, or breaks the body.
  bool Step(char c, size_t at);

  const size_t most_bytes_;
  std::string buffer_;
  size_t begin_ = 0;    // of the first object not handed out
  size_t scanned_ = 0;  // everything before was looked at
  size_t skip_ = 0;     // characters before are escaped
  size_t depth_ = 0;
  bool in_string_ = false;
  bool broken_ = false;
};

}  // namespace ks::client
