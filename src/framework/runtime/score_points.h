// SPDX-License-Identifier: Apache-2.0
#pragma once
// The points that rank the nodes: PreScore, Score, NormalizeScore.
//
// Upstream: docs/spec/framework.md section 3.

#include <cstdint>
#include <span>
#include <vector>

#include "framework/handle.h"
#include "framework/runtime/point_lists.h"
#include "framework/runtime/profile_meters.h"

namespace ks::framework {

// Threads: the scheduling thread. Lifetime: lists and meters outlive it.
class ScorePoints {
 public:
  ScorePoints(const PointLists& lists, const ProfileMeters& meters)
      : lists_(lists), meters_(meters) {}

  Status RunPreScorePlugins(CycleState& state, const api::Pod& pod,
                            std::span<const NodeInfo* const> nodes) const;
  // PreScore must have run. Totals are 0 when all score plugins are skipped. Of several failures
  // the one that a node-by-node run meets first is reported: Score before NormalizeScore before the
  // range check; the first node, then the first plugin.
  Status RunScorePlugins(const CycleState& state, const api::Pod& pod,
                         std::span<const NodeInfo* const> nodes, NodeScores* scores) const;
  // The same with the nodes' slots (slots[i] of nodes[i]), for snapshot nodes: what is remembered
  // is used then.
  Status RunScorePlugins(const CycleState& state, const api::Pod& pod,
                         std::span<const NodeInfo* const> nodes, std::span<const uint32_t> slots,
                         NodeScores* scores) const;

  // For nodes that are ranked without being gone through (NodeRanking). Whether this is possible
  // for the pod as far as its PreScore plugins are concerned, which have not run then.
  bool CanScoreUnseen(const api::Pod& pod) const;
  // Runs PreScore before the nodes are known. Success: every score is remembered, the same for all
  // nodes, or of a place-wise plugin; `asked`: the plugins to count. Else nothing has happened that
  // RunPreScorePlugins does not do anew. Requires: CanScoreUnseen.
  bool PreScoreUnseen(CycleState& state, const api::Pod& pod, PluginMask* asked) const;
  // So many nodes were scored.
  void CountUnseen(const CycleState& state, PluginMask asked, size_t nodes) const;

  // Adds one node to a ranking. `nodes`: those of the ranking, in its order, and the new one at the
  // end; `raws`: the raw scores that RunScorePlugins kept for the former. Runs PreScore for all,
  // Score for the last one alone and NormalizeScore over all raw scores; appends to `raws` and
  // fills `totals`, both by position in `nodes`. After a failure both are of no use.
  enum class RescoreStep : uint8_t { kDone, kPreScore, kScore, kNormalize };
  RescoreStep RescoreLast(CycleState& state, const api::Pod& pod,
                          std::span<const NodeInfo* const> nodes,
                          std::vector<NodeScores::PluginScores>* raws,
                          std::vector<int64_t>* totals) const;

 private:
  Status AskPreScores(CycleState& state, const api::Pod& pod,
                      std::span<const NodeInfo* const> nodes) const;

  const PointLists& lists_;
  const ProfileMeters& meters_;
};

}  // namespace ks::framework
