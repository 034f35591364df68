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
    if (Use(key)) return order_.front().value;
    ValuePtr made = make();
    order_.push_front({key, std::move(made)});
    places_[key] = order_.begin();
    while (order_.size() > 1 && order_.size() > capacity) DropOldest();
    return order_.front().value;
  }

  // The same with a limit of bytes: `bytes_of` says what a value takes now. It is asked when the
  // value is made, and about all values once in some uses, as they may grow. The newest is kept
  // whatever it takes.
  template <class Make, class BytesOf>
  const ValuePtr& GetOrMake(const Key& key, const CacheLimits& limits, Make make,
                            BytesOf bytes_of) {
    size_t made_bytes = 0;  // stays when the value was remembered
    const ValuePtr& value = GetOrMake(key, limits.values, [&] {
      ValuePtr made = make();
      made_bytes = bytes_of(*made);
      return made;
    });
    held_ += made_bytes;
    order_.front().bytes += made_bytes;
    if (++uses_ > order_.size() + kUses) Measure(bytes_of);
    while (order_.size() > 1 && held_ > limits.bytes) DropOldest();
    return value;
  }

  // The value of `key`, as used now; null: it is not remembered.
  ValuePtr Find(const Key& key) { return Use(key) ? order_.front().value : nullptr; }

  bool Contains(const Key& key) const {
    return (!order_.empty() && order_.front().key == key) || places_.contains(key);
  }

  size_t size() const { return order_.size(); }
  void Clear() {
    places_.clear();
    order_.clear();
    held_ = 0;
  }

 private:
  static constexpr size_t kUses = 1024;  // and one a value, between two times of measuring all
  struct Entry {
    Key key;
    ValuePtr value;
    size_t bytes = 0;
  };

  // Whether it is remembered; then it is the first.
  bool Use(const Key& key) {
    if (!order_.empty() && order_.front().key == key) return true;
    const auto found = places_.find(key);
    if (found == places_.end()) return false;
    order_.splice(order_.begin(), order_, found->second);
    return true;
  }

  void DropOldest() {
    held_ -= order_.back().bytes;
    places_.erase(order_.back().key);
    order_.pop_back();
  }

  template <class BytesOf>
  void Measure(BytesOf& bytes_of) {
    uses_ = 0;
    held_ = 0;
    for (Entry& entry : order_) held_ += entry.bytes = bytes_of(*entry.value);
  }

  using Order = std::list<Entry>;
  Order order_;  // most recently used first
  std::unordered_map<Key, typename Order::iterator, Hash> places_;
  size_t held_ = 0;  // bytes, as they were measured last
  size_t uses_ = 0;  // since all were measured
};

}  // namespace ks
