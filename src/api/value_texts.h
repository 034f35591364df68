// SPDX-License-Identifier: Apache-2.0
#pragma once
// ValueTexts: the values of a selector's requirement that has many. As symbols, thousands of values
// that no object has would be put into the table of all texts and taken out again.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "base/text_hash.h"

namespace ks::api {

// Threads: immutable.
class ValueTexts {
 public:
  explicit ValueTexts(const std::vector<std::string>& values);
  ValueTexts(const ValueTexts&) = delete;
  ValueTexts& operator=(const ValueTexts&) = delete;

  bool Contains(std::string_view value) const { return set_.contains(value); }
  // As they were given. Valid as long as this.
  const std::vector<std::string_view>& all() const { return all_; }
  // Equal for equal sets, within this process.
  size_t hash() const { return hash_; }
  // The same values, in whatever order.
  friend bool operator==(const ValueTexts& a, const ValueTexts& b) {
    return a.hash_ == b.hash_ && a.set_ == b.set_;
  }

 private:
  std::string text_;  // of all, one behind the other
  std::vector<std::string_view> all_;
  absl::flat_hash_set<std::string_view, TextHash> set_;
  size_t hash_ = 0;
};

}  // namespace ks::api
