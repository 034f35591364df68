// SPDX-License-Identifier: Apache-2.0
#include "scheduler/selection.h"

#include <algorithm>
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

void Build(std::span<const int64_t> totals, std::vector<uint32_t>* heap) {
  heap->resize(totals.size());
  std::iota(heap->begin(), heap->end(), 0U);
  for (size_t i = totals.size() / 2; i-- > 0;) SiftDown(totals, *heap, i);
}

}  // namespace

size_t NumFeasibleNodesToFind(size_t candidates, std::optional<int32_t> profile_percentage,
                              int32_t global_percentage) {
  if (candidates < kMinFeasibleNodes) return candidates;
  int64_t percentage = profile_percentage.value_or(global_percentage);
  if (percentage == 0) {
    percentage = std::max(kMinPercentage, 50 - static_cast<int64_t>(candidates) / 125);
  }
  const size_t wanted = candidates * static_cast<size_t>(percentage) / 100;
  return std::max(wanted, kMinFeasibleNodes);
}

size_t PickBest(std::span<const int64_t> totals, std::vector<uint32_t>* heap) {
  KS_CHECK(!totals.empty(), "nothing to pick from");
  Build(totals, heap);
  return heap->front();
}

std::vector<uint32_t> PickOrder(std::span<const int64_t> totals) {
  std::vector<uint32_t> heap;
  Build(totals, &heap);
  std::vector<uint32_t> order;
  for (size_t n = heap.size(); n > 0; --n) {
    order.push_back(heap[0]);
    std::swap(heap[0], heap[n - 1]);
    SiftDown(totals, std::span(heap).first(n - 1), 0);
  }
  return order;
}

}  // namespace ks::scheduler
