// SPDX-License-Identifier: Apache-2.0
#pragma once
// SpecRanking: the ranking of the nodes for pods of one spec, kept in step with the snapshot's list
// and with what else is remembered about them. Part of NodeVerdicts.
//
// Design: docs/decisions/0054-windows-are-judged-by-blocks.md,
// 0070-windows-are-judged-by-places.md.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "framework/runtime/node_ranking.h"
#include "framework/snapshot.h"

namespace ks::framework {

// Totals are of columns that are scaled to a highest score: which one that is differs from search
// to search, so that a total is computed with an assumed one and a look tells whether that is the
// window's.
// Threads: the scheduling thread.
class SpecRanking {
 public:
  // Columns that marks have room for.
  static constexpr size_t kMaxColumns = 4;
  // Marks of a node: its raw score is the highest one, or higher than that.
  static uint8_t HighestMark(size_t column) { return static_cast<uint8_t>(1U << (2 * column)); }
  static uint8_t HigherMark(size_t column) { return static_cast<uint8_t>(2U << (2 * column)); }

  // The node with that slot has changed; all have, or are to be scored anew.
  void Forget(uint32_t slot);
  void ForgetAll() { list_version_.reset(); }

  // The ranking, up to date with the snapshot. `basis`: what places depend on (PlaceWisePlugin).
  NodeRanking& Refresh(const Snapshot& snapshot, size_t filters, size_t columns,
                       const std::vector<uint64_t>& basis);
  // The number of a place; absent: there are too many. Requires: Refresh.
  std::optional<uint8_t> NumberOf(const std::vector<int64_t>& place);

  // By column. Requires: Refresh.
  const std::vector<int64_t>& highest() const { return highest_; }
  // All nodes are to be scored anew with these.
  void Assume(std::vector<int64_t> highest);
  // Whether the marks of a window's nodes are those of this assumption.
  bool IsHighest(uint8_t marks) const;

  // What cannot be ranked now, and costs looking for that, is not tried for some time.
  bool Rests() { return rest_ > 0 && rest_-- > 0; }
  void Rest() { rest_ = kRest; }

 private:
  static constexpr uint32_t kRest = 31;
  static constexpr uint32_t kFewLooks = 8;
  static constexpr size_t kMostChanged = 4096;

  std::unique_ptr<NodeRanking> ranking_;  // null until it is used
  std::optional<uint64_t> list_version_;  // absent: nothing is known
  std::vector<uint32_t> changed_slots_;   // since then
  std::vector<int64_t> highest_;
  std::vector<uint64_t> basis_;
  uint32_t looks_ = kFewLooks;  // with that basis
  uint32_t early_changes_ = 0;  // of the basis, one soon after the other
  absl::flat_hash_map<std::vector<int64_t>, uint8_t> places_;
  uint32_t rest_ = 1;  // many a spec comes only a few times
};

}  // namespace ks::framework
