// SPDX-License-Identifier: Apache-2.0
#include "scheduler/extender_choice.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "scheduler/algorithm/selection.h"

namespace ks::scheduler {

using framework::Status;

namespace {

constexpr std::string_view kExtender = "Extender";

Status PluginScores(Attempt& attempt, const ExtenderCandidates& candidates,
                    framework::NodeScores* scores) {
  std::vector<std::unique_ptr<framework::NodeInfo>> rebuilt;
  std::vector<const framework::NodeInfo*> nodes;
  std::vector<uint32_t> slots;
  for (const ExtenderCandidate& candidate : candidates) {
    slots.push_back(candidate.node->slot());
    nodes.push_back(candidate.node);
    if (candidate.replaced == nullptr) continue;
    rebuilt.push_back(std::make_unique<framework::NodeInfo>(candidate.replaced));
    rebuilt.back()->SetPlace(candidate.node->index(), candidate.node->slot());
    nodes.back() = rebuilt.back().get();
  }
  const framework::Framework& framework = attempt.framework;
  const api::Pod& pod = *attempt.pod;
  Status status = framework.RunPreScorePlugins(attempt.state, pod, nodes);
  if (!status.ok()) return status;
  if (!rebuilt.empty()) return framework.RunScorePlugins(attempt.state, pod, nodes, scores);
  return framework.score_points().RunScorePlugins(attempt.state, pod, nodes, slots, scores);
}

// The order of (total, tie-break number) as ranks.
Status Rank(const ExtenderVerdict& verdict, const ExtenderCandidates& candidates, Random& random,
            Attempt& attempt, std::vector<int64_t>* ranks) {
  framework::NodeScores scores;
  if (attempt.framework.plugins().HasScorePlugins()) {
    Status status = PluginScores(attempt, candidates, &scores);
    if (!status.ok()) return status;
  } else {
    scores.totals.assign(candidates.size(), 0);
  }
  std::vector<std::pair<int64_t, uint64_t>> keys;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const auto extra = verdict.scores.find(candidates[i].node->name());
    const bool named = extra != verdict.scores.end();
    // Sums wrap around, as upstream's.
    const uint64_t total = static_cast<uint64_t>(scores.totals[i]) +
                           (named ? static_cast<uint64_t>(extra->second) : 0);
    keys.emplace_back(static_cast<int64_t>(total), named ? random.Next() >> 1 : 0);
  }
  std::map<std::pair<int64_t, uint64_t>, int64_t> rank_of;
  for (const auto& key : keys) rank_of.emplace(key, 0);
  int64_t rank = 0;
  for (auto& [key, place] : rank_of) place = rank++;
  for (const auto& key : keys) ranks->push_back(rank_of[key]);
  return {};
}

}  // namespace

std::vector<api::NodePtr> FeasibleNodeObjects(const SearchSpace& search) {
  std::vector<api::NodePtr> nodes;
  for (const framework::NodeInfo* node : search.feasible.nodes) nodes.push_back(node->node_ptr());
  return nodes;
}

void NoteRejections(const ExtenderVerdict& verdict, size_t asked,
                    const framework::Snapshot& snapshot, framework::Diagnosis* diagnosis) {
  for (const auto& [name, status] : verdict.statuses) {
    const framework::NodeInfo* node = snapshot.Find(name);
    if (node != nullptr) diagnosis->AddNodeStatus(node->index(), status);
  }
  if (verdict.kept.size() != asked) diagnosis->unschedulable_plugins.emplace(kExtender);
}

Status PickCandidate(const ExtenderVerdict& verdict, const ExtenderCandidates& candidates,
                     Random& random, Attempt* attempt) {
  const framework::NodeInfo* best = candidates.front().node;
  if (candidates.size() > 1) {
    std::vector<int64_t> ranks;
    Status status = Rank(verdict, candidates, random, *attempt, &ranks);
    if (!status.ok()) return status;
    best = candidates[PickBest(ranks)].node;
  }
  ScheduleResult& result = attempt->result;
  result.evaluated_nodes = candidates.size() + attempt->search->diagnosis.nodes.explicit_count();
  result.feasible_nodes = candidates.size();
  result.node = best;
  return {};
}

}  // namespace ks::scheduler
