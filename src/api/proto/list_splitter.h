// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cuts the protobuf body of a list, which comes in pieces, into lists of some of its items each, so
// that a large one need not be held whole: a Decoder reads them one after the other.
//
// Upstream: docs/spec/api.md section 7.2 (the envelope).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ks::api {

// Holds what no part was made of yet: a little more than a part, or one item if that is larger.
// Threads: like a value.
class ListSplitter {
 public:
  // `part_bytes`: a part has at least so many, but for the last one.
  explicit ListSplitter(size_t part_bytes = size_t{256} << 10) : part_bytes_(part_bytes) {}

  // Any cut is possible.
  void Add(std::string_view piece);
  // The next part, a body of its own with the same kind. Nothing: more pieces are needed, or there
  // is no sense in them.
  std::optional<std::string> TakePart();
  // The last part, after the last piece: what was not taken, maybe a list of nothing. Nothing: the
  // body ended too soon or is no list in an envelope.
  std::optional<std::string> Finish();

 private:
  enum class Stage : uint8_t { kType, kItems, kBehind, kBroken };

  void ReadType();
  void ReadFields();
  std::string Part();

  const size_t part_bytes_;
  Stage stage_ = Stage::kType;
  std::string type_;    // the envelope up to the list
  std::string buffer_;  // from the first byte that is in no part
  size_t whole_ = 0;    // bytes of buffer_ that are whole fields of the list
  uint64_t left_ = 0;   // bytes of the list behind them
  std::string behind_;  // the envelope behind the list
};

}  // namespace ks::api
