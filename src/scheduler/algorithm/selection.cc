// SPDX-License-Identifier: Apache-2.0
#include "scheduler/algorithm/selection.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace ks::scheduler {
namespace {

constexpr size_t kMinFeasibleNodes = 100;
constexpr int64_t kMinPercentage = 5;

// Swaps down only past strictly better children; the right child wins only if strictly better than
// the left.
void SiftDown(std::span<const int64_t> totals, std::span<uint32_t> heap, size_t i) {
  while (true) {
    size_t child = 2 * i + 1;
    if (child >= heap.size()) return;
    if (child + 1 < heap.size() && totals[heap[child + 1]] > totals[heap[child]]) ++child;
    if (totals[heap[child]] <= totals[heap[i]]) return;
    std::swap(heap[child], heap[i]);
    i = child;
  }
}

// In preorder of the tree in which the children of i are 2i+1 and 2i+2. From 1 on, the binary
// digits of a position spell the way to it; an ancestor's are a prefix.
bool IsBefore(size_t a, size_t b) {
  const uint64_t way_a = uint64_t{a} + 1;
  const uint64_t way_b = uint64_t{b} + 1;
  const uint64_t aligned_a = way_a << std::countl_zero(way_a);
  const uint64_t aligned_b = way_b << std::countl_zero(way_b);
  return aligned_a != aligned_b ? aligned_a < aligned_b : a < b;
}

}  // namespace

size_t NumFeasibleNodesToFind(size_t candidates, std::optional<int32_t> profile_percentage,
                              int32_t global_percentage) {
  if (candidates < kMinFeasibleNodes) return candidates;
  int64_t percentage = profile_percentage.value_or(global_percentage);
  if (percentage == 0) {
    percentage = std::max(kMinPercentage, 50 - static_cast<int64_t>(candidates) / 125);
  }
  KS_CHECK(percentage > 0 && percentage <= 100, "no percentage of nodes");
  const size_t wanted = candidates * static_cast<size_t>(percentage) / 100;
  return std::max(wanted, kMinFeasibleNodes);
}

// Making a heap moves the root of a subtree away only for a strictly better child, and prefers the
// left one: of several best elements the first in preorder of the tree comes out on top. So there
// is no need to make the heap.
size_t PickBest(std::span<const int64_t> totals) {
  KS_CHECK(!totals.empty(), "nothing to pick from");
  size_t best = 0;
  for (size_t i = 1; i < totals.size(); ++i) {
    if (totals[i] < totals[best]) continue;
    if (totals[i] > totals[best] || IsBefore(i, best)) best = i;
  }
  return best;
}

std::vector<uint32_t> MakeHeap(std::span<const int64_t> totals) {
  std::vector<uint32_t> heap(totals.size());
  std::iota(heap.begin(), heap.end(), 0U);
  for (size_t i = totals.size() / 2; i-- > 0;) SiftDown(totals, heap, i);
  return heap;
}

uint32_t TakeBest(std::span<const int64_t> totals, std::vector<uint32_t>* heap) {
  KS_CHECK(!heap->empty(), "nothing to take");
  const uint32_t best = heap->front();
  std::swap(heap->front(), heap->back());
  heap->pop_back();
  SiftDown(totals, *heap, 0);
  KS_DCHECK(heap->empty() || totals[heap->front()] <= totals[best], "the best is taken first");
  return best;
}

std::vector<uint32_t> PickOrder(std::span<const int64_t> totals) {
  std::vector<uint32_t> heap = MakeHeap(totals);
  std::vector<uint32_t> order;
  while (!heap.empty()) order.push_back(TakeBest(totals, &heap));
  return order;
}

}  // namespace ks::scheduler
