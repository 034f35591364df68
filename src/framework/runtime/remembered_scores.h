// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scores of node-local plugins, remembered per pod spec and node. Only for this folder.
//
// Design: docs/decisions/0021-remembered-verdicts.md.

#include <cstddef>
#include <cstdint>
#include <span>

#include "framework/runtime/node_verdicts.h"
#include "framework/runtime/point_lists.h"
#include "framework/runtime/profile_meters.h"

namespace ks::framework {

// Fills in what `state.verdicts` does not know. Requires: PreScore ran. Threads: the scheduling
// thread. Lifetime: everything outlives it.
class RememberedScores {
 public:
  RememberedScores(std::span<const ScoreEntry> entries, const CycleState& state,
                   const api::Pod& pod, const CallSampler& sampler)
      : entries_(entries), state_(state), pod_(pod), sampler_(sampler) {}

  // Sets what is remembered: the scores of those of `plugins` that are not skipped.
  void Begin(PluginMask plugins);
  // Whether the node has its scores remembered afterwards. Not when one fails or leaves its range:
  // the long way then says it as upstream does.
  bool Score(const NodeInfo& node, uint32_t slot);
  // The same for all these nodes, after Begin.
  bool Complete(PluginMask plugins, std::span<const NodeInfo* const> nodes,
                std::span<const uint32_t> slots);

  bool IsRemembered(const ScoreEntry& entry) const {
    return entry.node_local && (state_.skip_score & entry.bit) == 0;
  }
  // Raw scores are remembered, in the order of these entries.
  bool IsColumn(const ScoreEntry& entry) const {
    return IsRemembered(entry) && entry.normalizer != nullptr;
  }

 private:
  const std::span<const ScoreEntry> entries_;
  const CycleState& state_;
  const api::Pod& pod_;
  const CallSampler& sampler_;
};

}  // namespace ks::framework
