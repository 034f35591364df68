// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeIndex: which of a list of candidates may be for a node, without a look at all of them. A
// candidate that asks for one label value of its nodes (`kubernetes.io/hostname In [n1]`) is found
// under that value only.

#include <cstdint>
#include <optional>
#include <vector>

#include "api/labels.h"
#include "api/selector.h"

namespace ks::plugins {

// Threads: immutable once finished.
class NodeIndex {
 public:
  // `common`: a requirement that every node of the candidate fulfils; null: none is known.
  // Requires: positions rise from call to call.
  void Add(uint32_t position, const api::Requirement* common);
  // After the last Add.
  void Finish();

  // The lowest position whose candidate `fits`; it is asked only about candidates that may be for a
  // node with these labels.
  template <class Fits>
  std::optional<uint32_t> First(const api::LabelMap& labels, const Fits& fits) const {
    std::optional<uint32_t> first = FirstOf(anywhere_.begin(), anywhere_.end(), fits, std::nullopt);
    for (const ByKey& by_key : keys_) {
      const Symbol* value = labels.Find(by_key.key);
      if (value == nullptr) continue;
      const auto [begin, end] = by_key.With(*value);
      first = FirstOf(begin, end, fits, first);
    }
    return first;
  }

 private:
  struct Entry {
    Symbol value;
    uint32_t position = 0;

    friend auto operator<=>(const Entry&, const Entry&) = default;
    operator uint32_t() const { return position; }  // NOLINT(google-explicit-constructor)
  };
  struct ByKey {
    Symbol key;
    std::vector<Entry> entries;  // sorted when finished

    std::pair<std::vector<Entry>::const_iterator, std::vector<Entry>::const_iterator> With(
        Symbol value) const;
  };

  // `limit`: the result when nothing before it fits.
  template <class Iterator, class Fits>
  static std::optional<uint32_t> FirstOf(Iterator begin, Iterator end, const Fits& fits,
                                         std::optional<uint32_t> limit) {
    for (Iterator it = begin; it != end; ++it) {
      const uint32_t position = *it;
      if (limit.has_value() && position >= *limit) break;
      if (fits(position)) return position;
    }
    return limit;
  }

  std::vector<uint32_t> anywhere_;
  std::vector<ByKey> keys_;  // few
};

}  // namespace ks::plugins
