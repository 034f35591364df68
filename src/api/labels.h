// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small sorted maps keyed by interned strings: labels, node selectors, resource lists.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "api/quantity.h"
#include "base/symbol.h"

namespace ks::api {

// Sorted by key id (not by text). Set replaces. Lookup is a binary search; iteration order is by
// id. Threads: like a value.
template <class V>
class SymbolMap {
 public:
  using Entry = std::pair<Symbol, V>;

  SymbolMap() = default;
  SymbolMap(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) Set(entry.first, entry.second);
  }

  const V* Find(const Symbol& key) const {
    const auto it = LowerBound(key);
    return it != entries_.end() && it->first == key ? &it->second : nullptr;
  }
  bool Contains(const Symbol& key) const { return Find(key) != nullptr; }

  void Set(const Symbol& key, V value) { (*this)[key] = std::move(value); }
  // Inserts a default value when the key is absent. The reference is valid until the next
  // insertion.
  V& operator[](const Symbol& key) {
    const auto it = entries_.begin() + (LowerBound(key) - entries_.cbegin());
    if (it != entries_.end() && it->first == key) return it->second;
    return entries_.insert(it, Entry(key, V()))->second;
  }
  bool Erase(const Symbol& key) {
    const auto it = LowerBound(key);
    if (it == entries_.end() || it->first != key) return false;
    entries_.erase(it);
    return true;
  }

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  // Becomes these entries, in exactly the memory they need; of entries with one key the last stays.
  // Empties `entries`, whose memory can be used again.
  void Assign(std::vector<Entry>& entries) {
    const auto by_key = [](const Entry& a, const Entry& b) { return a.first < b.first; };
    std::stable_sort(entries.begin(), entries.end(), by_key);
    size_t kept = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      const bool last_of_key = i + 1 == entries.size() || entries[i + 1].first != entries[i].first;
      if (last_of_key && i != kept) entries[kept] = std::move(entries[i]);
      if (last_of_key) ++kept;
    }
    entries_ =
        std::vector<Entry>(std::make_move_iterator(entries.begin()),
                           std::make_move_iterator(entries.begin() + static_cast<ptrdiff_t>(kept)));
    entries.clear();
  }

  friend bool operator==(const SymbolMap&, const SymbolMap&) = default;

 private:
  typename std::vector<Entry>::const_iterator LowerBound(const Symbol& key) const {
    return std::lower_bound(entries_.cbegin(), entries_.cend(), key,
                            [](const Entry& e, const Symbol& k) { return e.first < k; });
  }

  std::vector<Entry> entries_;
};

using LabelMap = SymbolMap<Symbol>;
using ResourceList = SymbolMap<Quantity>;

}  // namespace ks::api
