// SPDX-License-Identifier: Apache-2.0
#pragma once
// The arithmetic of choosing: how many feasible nodes to look for, and which of the scored ones
// wins. Pure functions.
//
// Upstream: docs/spec/cycle.md 9.2 (sample size) and 12.3 (heap and ties).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "framework/runtime/node_ranking.h"

namespace ks::scheduler {

// K of 9.2, rules 1 to 4: how many feasible nodes end the search among `candidates`. The profile's
// percentage wins over the global one when it is set, also when set to 0, which selects the
// adaptive rule.
size_t NumFeasibleNodesToFind(size_t candidates, std::optional<int32_t> profile_percentage,
                              int32_t global_percentage);

// Position of the best total: the root of upstream's binary heap, whose mechanics decide ties.
// Requires: totals is not empty.
size_t PickBest(std::span<const int64_t> totals);

// The same among the nodes of a window, by rank.
size_t PickBest(const framework::RankedWindow& window);

// Positions 0 to totals.size() - 1 as a heap by total, and its root taken out. The chosen one is
// PickBest's.
std::vector<uint32_t> MakeHeap(std::span<const int64_t> totals);
// Requires: the heap is not empty.
uint32_t TakeBest(std::span<const int64_t> totals, std::vector<uint32_t>* heap);

// All positions in the order they would be taken. For tests and explaining.
std::vector<uint32_t> PickOrder(std::span<const int64_t> totals);

}  // namespace ks::scheduler
