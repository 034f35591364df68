// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/remembered_scores.h"

namespace ks::framework {

void RememberedScores::Begin(PluginMask plugins) {
  size_t columns = 0;
  for (const ScoreEntry& entry : entries_) columns += IsColumn(entry) ? 1 : 0;
  state_.verdicts->UseScores(plugins & ~state_.skip_score, columns);
}

bool RememberedScores::Complete(PluginMask plugins, std::span<const NodeInfo* const> nodes,
                                std::span<const uint32_t> slots) {
  Begin(plugins);
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!Score(*nodes[i], slots[i])) return false;
  }
  return true;
}

bool RememberedScores::Score(const NodeInfo& node, uint32_t slot) {
  NodeVerdicts& verdicts = *state_.verdicts;
  if (verdicts.HasScores(slot)) return true;
  int64_t sum = 0;
  size_t column = 0;
  for (const ScoreEntry& entry : entries_) {
    if (!IsRemembered(entry)) continue;
    int64_t value = 0;
    const Status status = sampler_.Measure(
        entry.meter, [&] { return entry.plugin->Score(state_, pod_, node, &value); });
    if (!status.ok()) return false;
    if (entry.normalizer != nullptr) {
      verdicts.raw(column++, slot) = value;
    } else {
      if (value < kMinNodeScore || value > kMaxNodeScore) return false;
      sum += value * entry.weight;
    }
  }
  verdicts.SetScores(slot, sum);
  return true;
}

}  // namespace ks::framework
