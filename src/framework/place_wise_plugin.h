// SPDX-License-Identifier: Apache-2.0
#pragma once
// PlaceWisePlugin: what a plugin that counts pods by topology keys says of a node follows from the
// node's place. Nodes at one place need not be asked one by one.
//
// Design: docs/decisions/0070-windows-are-judged-by-places.md.

#include <cstdint>
#include <span>
#include <vector>

#include "api/pod.h"
#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "framework/status.h"

namespace ks::framework {

// For plugins that are not NodeLocalPlugins. A node's place is a sequence of numbers. Within one
// attempt, nodes at the same place get the same verdict of Filter and the same raw score, whatever
// these are, and NormalizeScore says of a node what it says when one node of each place is given.
class PlaceWisePlugin {
 public:
  virtual ~PlaceWisePlugin() = default;
  // False: it is not like that in this attempt. Else appends what the meaning of places depends on:
  // while that is the same from attempt to attempt of pods of one spec, a node that the change log
  // does not mention keeps its place. Asked after PreFilter, and after PreScore without nodes.
  virtual bool FindPlaces(const CycleState& state, std::vector<uint64_t>* basis) const = 0;
  // Appends the node's place, of the same length for all nodes. Requires: FindPlaces said true.
  virtual void AppendPlace(const CycleState& state, const NodeInfo& node,
                           std::vector<int64_t>* place) const = 0;
  // PreScore with one node of each place: nodes[i] stands for `counts[i]` of them. Called instead
  // of PreScore, after FindPlaces, when PreScorePlugin::ReadsNodes.
  virtual Status PreScorePlaces(CycleState& /*state*/, const api::Pod& /*pod*/,
                                std::span<const NodeInfo* const> /*nodes*/,
                                std::span<const size_t> /*counts*/) {
    return {};
  }
};

}  // namespace ks::framework
