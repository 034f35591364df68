// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/place_wise.h"

#include <algorithm>

namespace ks::framework {

// Whether its scores are neither remembered nor the same everywhere.
bool PlaceWiseRun::Adds(const ScoreEntry& entry) const {
  return !entry.node_local && (state_.skip_score & entry.bit) == 0 &&
         !entry.plugin->ScoresNothing(state_);
}

bool PlaceWiseRun::Begin(PluginMask filters) {
  PluginMask asked = filters;
  for (const ScoreEntry& entry : lists_.score) {
    if (Adds(entry)) asked |= entry.bit;
  }
  for (const PointEntry<PlaceWisePlugin>& entry : lists_.place_wise.entries) {
    if ((asked & entry.bit) == 0) continue;
    asked &= ~entry.bit;
    space_.basis.push_back(entry.bit);
    if (!entry.plugin->FindPlaces(state_, &space_.basis)) return false;
    space_.active.push_back(entry.plugin);
  }
  return asked == 0;
}

const std::vector<int64_t>& PlaceWiseRun::PlaceOf(const NodeInfo& node) {
  space_.place.clear();
  for (const PlaceWisePlugin* plugin : space_.active) {
    plugin->AppendPlace(state_, node, &space_.place);
  }
  return space_.place;
}

bool PlaceWiseRun::Score(const RankedWindow& window, const Snapshot& snapshot,
                         NodeRanking& ranking) {
  window.FindPlaces(&space_.places);
  space_.nodes.clear();
  space_.counts.clear();
  for (const RankedWindow::Place& place : space_.places) {
    space_.nodes.push_back(snapshot.nodes()[place.index]);
    space_.counts.push_back(place.fits);
  }
  if (!PreScore()) return false;
  space_.added.assign(space_.nodes.size(), 0);
  for (const ScoreEntry& entry : lists_.score) {
    if (Adds(entry) && !Add(entry)) return false;
  }
  ranking.ScorePlaces(space_.places, space_.added);
  return true;
}

bool PlaceWiseRun::PreScore() {
  for (const PointEntry<PreScorePlugin>& entry : lists_.pre_score) {
    if ((state_.skip_score & entry.bit) != 0) continue;
    const auto place_wise =
        std::find_if(lists_.place_wise.entries.begin(), lists_.place_wise.entries.end(),
                     [&entry](const auto& other) { return other.bit == entry.bit; });
    if (place_wise == lists_.place_wise.entries.end() || !entry.plugin->ReadsNodes(pod_)) continue;
    const Status status =
        place_wise->plugin->PreScorePlaces(state_, pod_, space_.nodes, space_.counts);
    if (!status.ok()) return false;
  }
  return true;
}

bool PlaceWiseRun::Add(const ScoreEntry& entry) {
  const size_t nodes = space_.nodes.size();
  space_.values.assign(nodes, 0);
  for (size_t i = 0; i < nodes; ++i) {
    if (!entry.plugin->Score(state_, pod_, *space_.nodes[i], &space_.values[i]).ok()) return false;
  }
  if (entry.normalizer != nullptr &&
      !entry.normalizer->NormalizeScore(state_, pod_, space_.nodes, space_.values).ok()) {
    return false;
  }
  for (size_t i = 0; i < nodes; ++i) {
    if (space_.values[i] < kMinNodeScore || space_.values[i] > kMaxNodeScore) return false;
    space_.added[i] += space_.values[i] * entry.weight;
  }
  return true;
}

}  // namespace ks::framework
