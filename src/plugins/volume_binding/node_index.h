// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeIndex: which of many ordered items may be for a node, without a look at all of them. An item
// that asks for one label value of its nodes (`kubernetes.io/hostname In [n1]`) is found under that
// value only.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "api/labels.h"
#include "api/selector.h"

namespace ks::plugins {

// `Before` orders items strictly: no two are equal. Threads: like a value.
template <class Item, class Before>
class NodeIndex {
 public:
  // `common`: a requirement (In) that every node of the item fulfils; null: none is known. O(items
  // of one value), cheapest in ascending order.
  void Insert(const Item& item, const api::Requirement* common) {
    if (ByKey* by_key = KeyOf(common)) {
      for (const Symbol& value : Values(*common)) InsertInto(by_key->lists[value], item);
    } else {
      InsertInto(anywhere_, item);
    }
  }
  // Requires: the item was inserted with an equal requirement.
  void Erase(const Item& item, const api::Requirement* common) {
    ByKey* by_key = KeyOf(common);
    if (by_key == nullptr) {
      EraseFrom(anywhere_, item);
      return;
    }
    for (const Symbol& value : Values(*common)) {
      const auto list = by_key->lists.find(value);
      EraseFrom(list->second, item);
      if (list->second.empty()) by_key->lists.erase(list);
    }
  }

  // The first item that `fits`, of those that may be for a node with these labels; null: none.
  // `too_early` holds for the first items of the order, if for any: they are not asked about.
  template <class TooEarly, class Fits>
  const Item* First(const api::LabelMap& labels, const TooEarly& too_early,
                    const Fits& fits) const {
    const Item* first = FirstOf(anywhere_, too_early, fits, nullptr);
    for (const ByKey& by_key : keys_) {
      const Symbol* value = labels.Find(by_key.key);
      if (value == nullptr) continue;
      const auto list = by_key.lists.find(*value);
      if (list != by_key.lists.end()) first = FirstOf(list->second, too_early, fits, first);
    }
    return first;
  }

  // Each item once or, where it asks for one of several values, more often.
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const Item& item : anywhere_) visit(item);
    for (const ByKey& by_key : keys_) {
      for (const auto& [value, list] : by_key.lists) {
        for (const Item& item : list) visit(item);
      }
    }
  }

 private:
  static constexpr size_t kMaxKeys = 8;     // each is looked up for each node
  static constexpr size_t kMaxValues = 16;  // each is an entry

  struct ByKey {
    Symbol key;
    absl::flat_hash_map<Symbol, std::vector<Item>> lists;  // by value; each ascending
  };

  // Null: the item is kept for all nodes. Keys stay for good, so that Erase finds what Insert did.
  ByKey* KeyOf(const api::Requirement* common) {
    if (common == nullptr || common->values.size() > kMaxValues) return nullptr;
    for (ByKey& known : keys_) {
      if (known.key == common->key) return &known;
    }
    return keys_.size() == kMaxKeys ? nullptr : &keys_.emplace_back(ByKey{common->key, {}});
  }

  static std::vector<Symbol> Values(const api::Requirement& common) {
    std::vector<Symbol> values = common.values;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

  static void InsertInto(std::vector<Item>& list, const Item& item) {
    list.insert(std::lower_bound(list.begin(), list.end(), item, Before()), item);
  }
  static void EraseFrom(std::vector<Item>& list, const Item& item) {
    list.erase(std::lower_bound(list.begin(), list.end(), item, Before()));
  }

  // `limit`: the result when nothing before it fits; may be null.
  template <class TooEarly, class Fits>
  static const Item* FirstOf(const std::vector<Item>& list, const TooEarly& too_early,
                             const Fits& fits, const Item* limit) {
    for (auto it = std::partition_point(list.begin(), list.end(), too_early); it != list.end();
         ++it) {
      if (limit != nullptr && !Before()(*it, *limit)) break;
      if (fits(*it)) return &*it;
    }
    return limit;
  }

  std::vector<Item> anywhere_;  // ascending
  std::vector<ByKey> keys_;     // few
};

}  // namespace ks::plugins
