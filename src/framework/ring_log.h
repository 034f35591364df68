// SPDX-License-Identifier: Apache-2.0
#pragma once
// RingLog: the newest entries of a sequence, by position. Whoever derives something from what the
// entries tell reads on from where it stopped; one that is too far behind begins anew.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ks::framework {

// Threads: one at a time.
template <class Entry>
class RingLog {
 public:
  static constexpr size_t kDefaultCapacity = size_t{1} << 14;

  // `capacity` is a power of two. Positions begin at `start`.
  explicit RingLog(size_t capacity = kDefaultCapacity, uint64_t start = 0)
      : begin_(start), end_(start), ring_(capacity) {}

  // Position of the next entry.
  uint64_t end() const { return end_; }
  // Whether all entries from `position` on are still here.
  bool Holds(uint64_t position) const { return begin_ <= position && position <= end_; }
  // Requires: Holds(position), position < end().
  const Entry& At(uint64_t position) const { return ring_[position & (ring_.size() - 1)]; }

  void Append(Entry entry) {
    if (size() == ring_.size()) ++begin_;
    ring_[end_ & (ring_.size() - 1)] = std::move(entry);
    ++end_;
  }

 protected:
  size_t size() const { return end_ - begin_; }
  size_t capacity() const { return ring_.size(); }
  // Takes the oldest entry out. Requires: size() > 0.
  Entry TakeOldest() { return std::exchange(ring_[begin_++ & (ring_.size() - 1)], Entry()); }
  // As if an entry had come and gone. Requires: size() == 0.
  void SkipOne() { begin_ = ++end_; }

 private:
  uint64_t begin_;
  uint64_t end_;
  std::vector<Entry> ring_;
};

}  // namespace ks::framework
