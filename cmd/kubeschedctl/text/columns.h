// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables as text, and amounts to read.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/symbol.h"

namespace ks::ctl {

// Columns as wide as their widest cell; numbers to the right, two blanks between.
class Columns {
 public:
  explicit Columns(std::vector<bool> to_the_right) : to_the_right_(std::move(to_the_right)) {}
  // One letter a column: "lrl" is left, right, left.
  explicit Columns(std::string_view sides);

  // Requires: as many cells as columns.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // With line feeds.
  std::string Text(std::string_view indent) const;

 private:
  std::vector<bool> to_the_right_;
  std::vector<std::vector<std::string>> rows_;
};

enum class Round : bool { kDown, kUp };

// An amount of a resource: cpu (thousandths) in cores, bytes with a binary unit, else as it is; at
// most two decimals. What is free is rounded down and what is needed up, so that no need looks
// satisfied.
std::string AmountText(const Symbol& resource, int64_t amount, Round round);

// "1 node", "2 nodes".
std::string Count(size_t number, std::string_view noun);

}  // namespace ks::ctl
