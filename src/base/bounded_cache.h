// SPDX-License-Identifier: Apache-2.0
#pragma once
// A map that forgets what was used longest ago. For counters and compiled forms that can be made
// anew: they cost memory, and the pods that needed them may never come again.

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/text_hash.h"

namespace ks {

// Threads: the scheduling thread.
template <class Key, class Value, class Hash = HashFor<Key>>
class BoundedCache {
 public:
  using ValuePtr = std::shared_ptr<Value>;

  // The value of `key`, else make(), remembered. Then at most `capacity` (at least one) values are
  // kept.
  template <class Make>
  const ValuePtr& GetOrMake(const Key& key, size_t capacity, Make make) {
    if (!order_.empty() && order_.front().first == key) return order_.front().second;
    const auto found = places_.find(key);
    if (found != places_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return order_.front().second;
    }
    ValuePtr made = make();
    order_.emplace_front(key, std::move(made));
    places_[key] = order_.begin();
    while (order_.size() > 1 && order_.size() > capacity) {
      places_.erase(order_.back().first);
      order_.pop_back();
    }
    return order_.front().second;
  }

  bool Contains(const Key& key) const {
    return (!order_.empty() && order_.front().first == key) || places_.contains(key);
  }

  // Forgets what was used longest ago until the rest, but for the newest value, holds at most
  // `bytes`. O(size()).
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
  using Order = std::list<std::pair<Key, ValuePtr>>;
  Order order_;  // most recently used first
  std::unordered_map<Key, typename Order::iterator, Hash> places_;
};

}  // namespace ks
