// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the place-wise plugins of a profile say in one attempt. Only for this folder.
//
// Design: docs/decisions/0070-windows-are-judged-by-places.md.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/runtime/node_ranking.h"
#include "framework/runtime/point_lists.h"
#include "framework/snapshot.h"

namespace ks::framework {

// Arrays that are kept from one attempt to the next.
struct PlaceSpace {
  std::vector<PlaceWisePlugin*> active;
  std::vector<uint64_t> basis;
  std::vector<int64_t> place;
  std::vector<int64_t> values;  // of one plugin, by position among the nodes
  // Of a window: nodes[i] stands for counts[i] nodes at places[i], to whose totals added[i] goes.
  std::vector<RankedWindow::Place> places;
  std::vector<const NodeInfo*> nodes;
  std::vector<size_t> counts;
  std::vector<int64_t> added;
};

// Threads: the scheduling thread. Lifetime: everything outlives it; one at a time has the space.
class PlaceWiseRun {
 public:
  PlaceWiseRun(const PointLists& lists, CycleState& state, const api::Pod& pod, PlaceSpace& space)
      : lists_(lists), state_(state), pod_(pod), space_(space) {
    space_.active.clear();
    space_.basis.clear();
  }

  // `filters`: those that are to be asked besides what is remembered. False: someone is not
  // place-wise in this attempt. Requires: PreFilter ran, and PreScore without nodes.
  bool Begin(PluginMask filters);
  // Whether anybody has something to say; else all nodes are at one place.
  bool any() const { return !space_.active.empty(); }
  // What places depend on.
  const std::vector<uint64_t>& basis() const { return space_.basis; }
  // Valid until the next call.
  const std::vector<int64_t>& PlaceOf(const NodeInfo& node);
  // Scores the places of the window, which `ranking` has looked at. False: someone fails, or leaves
  // the range.
  bool Score(const RankedWindow& window, const Snapshot& snapshot, NodeRanking& ranking);

 private:
  bool Adds(const ScoreEntry& entry) const;
  bool PreScore();
  bool Add(const ScoreEntry& entry);

  const PointLists& lists_;
  CycleState& state_;
  const api::Pod& pod_;
  PlaceSpace& space_;
};

}  // namespace ks::framework
