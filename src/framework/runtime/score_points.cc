// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/score_points.h"

#include <algorithm>
#include <utility>

#include "framework/runtime/node_verdicts.h"
#include "framework/runtime/point_statuses.h"
#include "framework/runtime/remembered_scores.h"
#include "golang/quote.h"

namespace ks::framework {
namespace {

using Nodes = std::span<const NodeInfo* const>;

// Upstream goes node by node, this code plugin by plugin (one plugin's data stays in the cache).
// The failures are collected so that the one upstream would report with one worker wins.
class ScoreRun {
 public:
  ScoreRun(const CycleState& state, const api::Pod& pod, Nodes nodes, const CallSampler& sampler,
           NodeScores* scores)
      : observed_(sampler),
        sampler_(sampler.Unobserved()),
        state_(state),
        pod_(pod),
        nodes_(nodes),
        scores_(*scores),
        score_limit_(nodes.size()),
        range_limit_(nodes.size()),
        values_(nodes.size()) {
    scores_.totals.assign(nodes.size(), 0);
    scores_.details.clear();
  }

  void Add(const ScoreEntry& entry) {
    if (entry.plugin->ScoresNothing(state_)) return AddNothing(entry);
    const TimePoint start = observed_.ObservedNow();
    ScoreNodes(entry);
    observed_.TellObserver(entry.meter, start, observed_.ObservedNow() - start);
    if (!score_failure_.ok()) return;
    if (scores_.keep_details) {
      scores_.details.push_back({entry.name, entry.weight, values_, {}});
    }
    Finish(entry);
  }

  // The weighted sum of plugins without normalization, which are within their range.
  void AddRemembered(const NodeVerdicts& verdicts, std::span<const uint32_t> slots) {
    for (size_t i = 0; i < slots.size(); ++i) scores_.totals[i] += verdicts.sum(slots[i]);
  }
  // Remembered raw scores in the place of the plugin's.
  void AddRemembered(const ScoreEntry& entry, const std::vector<int64_t>& raws,
                     std::span<const uint32_t> slots) {
    for (size_t i = 0; i < slots.size(); ++i) values_[i] = raws[slots[i]];
    entry.CountCalls(slots.size());
    Finish(entry);
  }

  // Precedence: every node is scored before any normalization, and that before any range check.
  Status Outcome() const {
    if (!score_failure_.ok()) return score_failure_;
    if (!normalize_failure_.ok()) return normalize_failure_;
    return range_failure_;
  }

 private:
  void AddNothing(const ScoreEntry& entry) {
    entry.CountCalls(score_limit_);
    if (!scores_.keep_details) return;
    const std::vector<int64_t> zeros(nodes_.size());
    scores_.details.push_back({entry.name, entry.weight, zeros, zeros});
  }

  void Finish(const ScoreEntry& entry) {
    Normalize(entry);
    if (!normalize_failure_.ok()) return;
    if (scores_.keep_details) scores_.details.back().normalized = values_;
    AddToTotals(entry);
  }

  // The one place where a Score plugin is called. After a failure at node i later plugins are only
  // asked about the nodes before i: only those could fail first.
  void ScoreNodes(const ScoreEntry& entry) {
    for (size_t i = 0; i < score_limit_; ++i) {
      const Status status = sampler_.Measure(
          entry.meter, [&] { return entry.plugin->Score(state_, pod_, *nodes_[i], &values_[i]); });
      if (status.ok()) [[likely]] {
        continue;
      }
      score_failure_ = ScoreFailure("running Score plugins", entry.name, status);
      entry.CountCalls(i + 1);
      score_limit_ = i;
      return;
    }
    entry.CountCalls(score_limit_);
  }

  void Normalize(const ScoreEntry& entry) {
    if (entry.normalizer == nullptr || !normalize_failure_.ok()) return;
    const Status status = observed_.Measure(entry.normalize_meter, [&] {
      return entry.normalizer->NormalizeScore(state_, pod_, nodes_, values_);
    });
    if (!status.ok()) {
      normalize_failure_ = ScoreFailure("running Normalize on Score plugins", entry.name, status);
    }
  }

  void AddToTotals(const ScoreEntry& entry) {
    for (size_t i = 0; i < values_.size(); ++i) {
      const int64_t value = values_[i];
      if (value < kMinNodeScore || value > kMaxNodeScore) [[unlikely]] {
        if (i < range_limit_) OutOfRange(entry, i);
        return;
      }
      scores_.totals[i] += value * entry.weight;
    }
  }

  void OutOfRange(const ScoreEntry& entry, size_t node) {
    range_limit_ = node;
    range_failure_ = ScoreOutOfRange("Score", entry.name, values_[node]);
  }

  const CallSampler observed_;
  const CallSampler sampler_;  // of single calls
  const CycleState& state_;
  const api::Pod& pod_;
  const Nodes nodes_;
  NodeScores& scores_;
  size_t score_limit_;           // nodes that may still hold the first Score failure
  size_t range_limit_;           // nodes that may still hold the first value out of range
  std::vector<int64_t> values_;  // of the current plugin, by position in nodes_
  Status score_failure_;
  Status normalize_failure_;
  Status range_failure_;
};

}  // namespace

Status ScorePoints::RunPreScorePlugins(CycleState& state, const api::Pod& pod, Nodes nodes) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kPreScore);
  Status status = AskPreScores(state, pod, nodes);
  timer.Stop(status.code());
  return status;
}

bool ScorePoints::CanScoreUnseen(const api::Pod& pod) const {
  for (const PointEntry<PreScorePlugin>& entry : lists_.pre_score) {
    const PluginMask unseen = lists_.local.scores | lists_.place_wise.plugins;
    if ((unseen & entry.bit) == 0 && entry.plugin->ReadsNodes(pod)) return false;
  }
  return true;
}

bool ScorePoints::PreScoreUnseen(CycleState& state, const api::Pod& pod, PluginMask* asked) const {
  const CallSampler sampler = meters_.Sampler(state);
  *asked = 0;
  state.skip_score = 0;
  for (const PointEntry<PreScorePlugin>& entry : lists_.pre_score) {
    const Status status =
        sampler.Measure(entry.meter, [&] { return entry.plugin->PreScore(state, pod, {}); });
    if (status.IsSkip()) {
      state.skip_score |= entry.bit;
      continue;
    }
    if (!status.ok()) return false;
    *asked |= entry.bit;
  }
  const auto is_known = [&](const ScoreEntry& entry) {
    if (((state.skip_score | lists_.place_wise.plugins) & entry.bit) != 0) return true;
    if (!entry.node_local) return entry.plugin->ScoresNothing(state);
    return entry.normalizer == nullptr || entry.normalizer->ScalesToHighest();
  };
  return std::all_of(lists_.score.begin(), lists_.score.end(), is_known);
}

void ScorePoints::CountUnseen(const CycleState& state, PluginMask asked, size_t nodes) const {
  for (const PointEntry<PreScorePlugin>& entry : lists_.pre_score) {
    if ((asked & entry.bit) != 0) entry.CountCalls(1);
  }
  for (const ScoreEntry& entry : lists_.score) {
    if ((state.skip_score & entry.bit) == 0) entry.CountCalls(nodes);
  }
}

Status ScorePoints::AskPreScores(CycleState& state, const api::Pod& pod, Nodes nodes) const {
  const CallSampler sampler = meters_.Sampler(state);
  state.skip_score = 0;
  for (const PointEntry<PreScorePlugin>& entry : lists_.pre_score) {
    const Status status =
        sampler.Measure(entry.meter, [&] { return entry.plugin->PreScore(state, pod, nodes); });
    if (!status.IsSkip()) entry.CountCalls(1);
    if (status.ok()) continue;
    if (!status.IsSkip()) return Wrapped("running PreScore plugin", entry.name, status);
    state.skip_score |= entry.bit;
  }
  return {};
}

Status ScorePoints::RunScorePlugins(const CycleState& state, const api::Pod& pod, Nodes nodes,
                                    NodeScores* scores) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kScore);
  ScoreRun run(state, pod, nodes, meters_.Sampler(state), scores);
  for (const ScoreEntry& entry : lists_.score) {
    if ((state.skip_score & entry.bit) == 0) run.Add(entry);
  }
  Status status = run.Outcome();
  timer.Stop(status.code());
  return status;
}

Status ScorePoints::RunScorePlugins(const CycleState& state, const api::Pod& pod, Nodes nodes,
                                    std::span<const uint32_t> slots, NodeScores* scores) const {
  if (state.verdicts == nullptr || scores->keep_details || lists_.local.scores == 0) {
    return RunScorePlugins(state, pod, nodes, scores);
  }
  const PointTimer timer = meters_.StartTimer(MetricPoint::kScore);
  const CallSampler sampler = meters_.Sampler(state);
  RememberedScores remembered(lists_.score, state, pod, sampler);
  if (!remembered.Complete(lists_.local.scores, nodes, slots)) {
    return RunScorePlugins(state, pod, nodes, scores);
  }
  ScoreRun run(state, pod, nodes, sampler, scores);
  run.AddRemembered(*state.verdicts, slots);
  size_t column = 0;
  for (const ScoreEntry& entry : lists_.score) {
    if ((state.skip_score & entry.bit) != 0) continue;
    if (remembered.IsColumn(entry)) {
      run.AddRemembered(entry, state.verdicts->raws(column++), slots);
    } else if (remembered.IsRemembered(entry)) {
      entry.CountCalls(slots.size());
    } else {
      run.Add(entry);
    }
  }
  Status status = run.Outcome();
  timer.Stop(status.code());
  return status;
}

ScorePoints::RescoreStep ScorePoints::RescoreLast(CycleState& state, const api::Pod& pod,
                                                  Nodes nodes,
                                                  std::vector<NodeScores::PluginScores>* raws,
                                                  std::vector<int64_t>* totals) const {
  if (!RunPreScorePlugins(state, pod, nodes).ok()) return RescoreStep::kPreScore;
  std::vector<std::pair<const ScoreEntry*, NodeScores::PluginScores*>> asked;
  raws->reserve(lists_.score.size());  // the pointers stay valid
  for (const ScoreEntry& entry : lists_.score) {
    if ((state.skip_score & entry.bit) != 0) continue;
    auto raw = std::find_if(raws->begin(), raws->end(),
                            [&](const auto& kept) { return kept.plugin == entry.name; });
    if (raw == raws->end()) {
      raw = raws->insert(raws->end(), {entry.name, entry.weight, {}, {}});
      raw->raw.resize(nodes.size() - 1);
    }
    int64_t value = 0;
    if (!entry.plugin->Score(state, pod, *nodes.back(), &value).ok()) return RescoreStep::kScore;
    entry.CountCalls(1);
    raw->raw.push_back(value);
    asked.emplace_back(&entry, &*raw);
  }
  totals->assign(nodes.size(), 0);
  for (const auto& [entry, raw] : asked) {
    std::vector<int64_t> values = raw->raw;
    if (entry->normalizer != nullptr &&
        !entry->normalizer->NormalizeScore(state, pod, nodes, values).ok()) {
      return RescoreStep::kNormalize;
    }
    for (size_t i = 0; i < values.size(); ++i) (*totals)[i] += values[i] * entry->weight;
  }
  return RescoreStep::kDone;
}

}  // namespace ks::framework
