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
constexpr size_t kPreorderSteps = 32;  // before all totals are looked through

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

// `size` behind the last one.
size_t NextInPreorder(size_t i, size_t size) {
  if (2 * i + 1 < size) return 2 * i + 1;
  // To the next right sibling on the way up: left children are odd.
  while (i != 0 && (i % 2 == 0 || i + 1 >= size)) i = (i - 1) / 2;
  return i == 0 ? size : i + 1;
}

// The lowest level first: it has the most nodes.
bool SubtreeHasBest(const framework::RankedWindow& window, size_t root) {
  const size_t size = window.feasible();
  size_t begin = root;
  size_t width = 1;
  while (2 * begin + 1 < size) {
    begin = 2 * begin + 1;
    width *= 2;
  }
  for (; width > 0; width /= 2, begin = (begin - 1) / 2) {
    if (begin < size && window.HasBest(begin, std::min(begin + width, size))) return true;
  }
  return false;
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
// is no need to make the heap. Where many are best, the first of them is found near the root.
size_t PickBest(std::span<const int64_t> totals) {
  KS_CHECK(!totals.empty(), "nothing to pick from");
  int64_t most = totals[0];
  for (const int64_t total : totals) most = std::max(most, total);
  size_t i = 0;
  for (size_t steps = 0; steps < kPreorderSteps && i < totals.size(); ++steps) {
    if (totals[i] == most) return i;
    i = NextInPreorder(i, totals.size());
  }
  size_t best = totals.size();
  for (i = 0; i < totals.size(); ++i) {
    if (totals[i] == most && (best == totals.size() || IsBefore(i, best))) best = i;
  }
  KS_CHECK(best < totals.size(), "the greatest total is nobody's");
  return best;
}

// The same, down the tree to where the best are: what is below a node are neighbors on each level.
size_t PickBest(const framework::RankedWindow& window) {
  const size_t size = window.feasible();
  KS_CHECK(size > 0, "nothing to pick from");
  size_t i = 0;
  while (!window.HasBest(i, i + 1)) {
    i = 2 * i + 1;
    if (!SubtreeHasBest(window, i)) ++i;
    KS_CHECK(i < size, "the greatest total is nobody's");
  }
  return i;
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
