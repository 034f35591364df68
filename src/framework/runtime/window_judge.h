// SPDX-License-Identifier: Apache-2.0
#pragma once
// Judges windows of nodes for one pod by what is remembered about pods like it, plugins asked where
// nothing is. Only for this folder.
//
// Design: docs/decisions/0054-windows-are-judged-by-blocks.md,
// 0070-windows-are-judged-by-places.md.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/runtime/node_ranking.h"
#include "framework/runtime/node_verdicts.h"
#include "framework/runtime/place_wise.h"
#include "framework/runtime/remembered_scores.h"
#include "framework/runtime/runtime.h"

namespace ks::framework {

// Threads: the scheduling thread. Lifetime: everything outlives it.
class WindowJudge final : public NodeRanking::Judge {
 public:
  // Requires: filters.IsRemembered(), PreScore ran without nodes.
  WindowJudge(const Handle& handle, const PointLists& lists, const CallSampler& sampler,
              CycleState& state, const api::Pod& pod, Framework::FilterBatch& filters,
              PlaceSpace& space);

  // The first `wanted` nodes from index `start` on that fit, ranked. Null: not to be ranked now.
  const RankedWindow* Look(size_t start, size_t wanted);

  NodeRanking::Leaf Ask(size_t index) override;
  uint8_t AskPlaceOf(size_t index) override;

 private:
  // A raw score and what it comes to: most nodes have the same.
  struct Column {
    const ScoreEntry* entry;
    int64_t raw;
    int64_t scaled;
    bool is_set;
  };
  static constexpr size_t kMostQuestions = 2048;

  bool Begin();
  NodeRanking& Refreshed();
  NodeRanking::Leaf TooManyPlaces();
  bool AddColumn(size_t i, int64_t raw, NodeRanking::Leaf* leaf);
  std::vector<int64_t> HighestOf(const RankedWindow& window) const;

  const Snapshot& snapshot_;
  const PointLists& lists_;
  const CycleState& state_;
  const api::Pod& pod_;
  Framework::FilterBatch& filters_;
  NodeVerdicts& verdicts_;
  RememberedScores scores_;
  PlaceWiseRun places_;
  std::vector<Column> columns_;
  size_t questions_left_;
};

}  // namespace ks::framework
