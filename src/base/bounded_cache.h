// SPDX-License-Identifier: Apache-2.0
#pragma once
// A map that forgets what was used longest ago. For counters and compiled forms that can be made
// anew: they cost memory, and the pods that needed them may never come again.

#include <cstddef>
#include <limits>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/text_hash.h"

namespace ks {

// What a cache may hold.
struct CacheLimits {
  size_t values = std::numeric_limits<size_t>::max();
  size_t bytes = std::numeric_limits<size_t>::max();  // all values together
  // Bytes. A value of at most so many is counted only, for summing up visits every value; so
  // `bytes` may be exceeded by what `values` of this size take.
  size_t small = 0;
};

// Threads: the scheduling thread.
template <class Key, class Value, class Hash = HashFor<Key>>
class BoundedCache {
 public:
  using ValuePtr = std::shared_ptr<Value>;

  // The value of `key`, else make(), remembered. Then at most `capacity` (at least one) values are
  // kept.
  template <class Make>
  const ValuePtr& GetOrMake(const Key& key, size_t capacity, Make make) {
    if (Use(key)) return order_.front().second;
    ValuePtr made = make();
    order_.emplace_front(key, std::move(made));
    places_[key] = order_.begin();
    while (order_.size() > 1 && order_.size() > capacity) {
      places_.erase(order_.back().first);
      order_.pop_back();
    }
    return order_.front().second;
  }

  // The same with a limit of bytes: `bytes_of` says what a value takes now. The newest is kept
  // whatever it takes. O(size()) when the value is made and not small.
  template <class Make, class BytesOf>
  const ValuePtr& GetOrMake(const Key& key, const CacheLimits& limits, Make make,
                            BytesOf bytes_of) {
    bool is_small = true;
    const ValuePtr& value = GetOrMake(key, limits.values, [&] {
      ValuePtr made = make();
      is_small = bytes_of(*made) <= limits.small;
      return made;
    });
    if (!is_small) Trim(limits.bytes, bytes_of);
    return value;
  }

  // The value of `key`, as used now; null: it is not remembered.
  ValuePtr Find(const Key& key) { return Use(key) ? order_.front().second : nullptr; }

  bool Contains(const Key& key) const {
    return (!order_.empty() && order_.front().first == key) || places_.contains(key);
  }

  // Forgets what was used longest ago until the rest fits; never what was used last. For values that
  // grow. O(size()).
  template <class BytesOf>
  void Trim(size_t bytes, BytesOf bytes_of) {
    size_t held = 0;
    for (auto it = order_.begin(); it != order_.end();) {
      held += bytes_of(*it->second);
      if (held <= bytes || it == order_.begin()) {
        ++it;
        continue;
      }
      places_.erase(it->first);
      it = order_.erase(it);
    }
  }

  size_t size() const { return order_.size(); }
  void Clear() {
    places_.clear();
    order_.clear();
  }

 private:
  // Whether it is remembered; then it is the first.
  bool Use(const Key& key) {
    if (!order_.empty() && order_.front().first == key) return true;
    const auto found = places_.find(key);
    if (found == places_.end()) return false;
    order_.splice(order_.begin(), order_, found->second);
    return true;
  }

  using Order = std::list<std::pair<Key, ValuePtr>>;
  Order order_;  // most recently used first
  std::unordered_map<Key, typename Order::iterator, Hash> places_;
};

}  // namespace ks
