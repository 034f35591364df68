// SPDX-License-Identifier: Apache-2.0
#pragma once
// IndexedHeap: an array-backed binary heap of borrowed items that know their own place. The
// mechanics (which of two equal items moves) are fixed, because ties between equal pods must be
// broken as upstream breaks them.
//
// Upstream: docs/spec/queue.md section 4, "Ties".

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"

namespace ks::queue {

// T has a member `uint32_t index`, which belongs to the heap while the item is in it.
// Threads: one at a time. Lifetime: items outlive their stay.
template <class T>
class IndexedHeap {
 public:
  using Less = std::function<bool(const T& a, const T& b)>;

  explicit IndexedHeap(Less less) : less_(std::move(less)) {}

  // Appends and sifts up while strictly less than the parent.
  void Push(T* item) {
    item->index = static_cast<uint32_t>(items_.size());
    items_.push_back(item);
    Up(item->index);
  }

  // Null when empty.
  T* Top() const { return items_.empty() ? nullptr : items_.front(); }

  // Swaps with the last item, which is then sifted to its place. Requires: `item` is in the heap.
  void Remove(T* item) {
    const size_t place = item->index;
    KS_DCHECK(place < items_.size() && items_[place] == item, "not in this heap");
    const size_t last = items_.size() - 1;
    if (place != last) Swap(place, last);
    items_.pop_back();
    if (place != last && !Down(place)) Up(place);
  }

  // Restores the order after the item's key has changed: down, or else up.
  void Fix(T* item) {
    KS_DCHECK(item->index < items_.size() && items_[item->index] == item, "not in this heap");
    if (!Down(item->index)) Up(item->index);
  }

  std::span<T* const> items() const { return items_; }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }

 private:
  void Swap(size_t a, size_t b) {
    std::swap(items_[a], items_[b]);
    items_[a]->index = static_cast<uint32_t>(a);
    items_[b]->index = static_cast<uint32_t>(b);
  }

  void Up(size_t place) {
    while (place > 0) {
      const size_t parent = (place - 1) / 2;
      if (!less_(*items_[place], *items_[parent])) return;
      Swap(place, parent);
      place = parent;
    }
  }

  // The right child only if it is strictly less than the left one. True when the item moved.
  bool Down(size_t place) {
    const size_t start = place;
    for (;;) {
      const size_t left = 2 * place + 1;
      if (left >= items_.size()) break;
      const size_t right = left + 1;
      const size_t child =
          right < items_.size() && less_(*items_[right], *items_[left]) ? right : left;
      if (!less_(*items_[child], *items_[place])) break;
      Swap(place, child);
      place = child;
    }
    return place > start;
  }

  Less less_;
  std::vector<T*> items_;
};

}  // namespace ks::queue
