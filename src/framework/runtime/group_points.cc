// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/group_points.h"

#include <utility>

#include "framework/runtime/point_statuses.h"
#include "golang/quote.h"

namespace ks::framework {
namespace {

// Adds one plugin's scores to the totals, weighted.
Status AddScores(const PlacementScoreEntry& entry, std::span<const int64_t> scores,
                 std::vector<int64_t>* totals) {
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] < kMinNodeScore || scores[i] > kMaxNodeScore) {
      return ScoreOutOfRange("PlacementScore", entry.name, scores[i]);
    }
    (*totals)[i] += scores[i] * entry.weight;
  }
  return {};
}

}  // namespace

Status GroupPoints::RunPlacementGeneratePlugins(const PodGroupKey& group, const Placement& parent,
                                                std::vector<Placement>* placements) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kPlacementGenerate);
  const PointEntry<PlacementGeneratePlugin>& entry = lists_.placement_generate.front();
  const CallSampler sampler = meters_.Sampler(true);
  Status status = sampler.Measure(
      entry.meter, [&] { return entry.plugin->GeneratePlacements(group, parent, placements); });
  if (status.ok() && placements->empty()) {
    status = Status(Code::kUnschedulable, {"no feasible placements found"});
  }
  timer.Stop(status.code());
  return status.WithPlugin(entry.name);
}

Status GroupPoints::RunPlacementFeasiblePlugin(const GroupProgress& progress) const {
  const PointEntry<PlacementFeasiblePlugin>& entry = lists_.placement_feasible;
  if (entry.plugin == nullptr) return {};
  const PointTimer timer = meters_.StartTimer(MetricPoint::kPlacementFeasible);
  const CallSampler sampler = meters_.Sampler(true);
  Status status =
      sampler.Measure(entry.meter, [&] { return entry.plugin->PlacementFeasible(progress); });
  if (status.code() == Code::kError) {
    status = Status::Error("running PlacementFeasible plugin: " + status.ErrorText());
  } else if (!status.ok() && !status.IsWait() && status.code() != Code::kUnschedulable) {
    status =
        Status::Error("unexpected status from PlacementFeasible plugin: " + status.ErrorText());
  }
  timer.Stop(status.code());
  return status.WithPlugin(entry.name);
}

Status GroupPoints::RunPlacementScorePlugins(const PodGroupKey& group,
                                             std::span<const PlacementCandidate> candidates,
                                             std::vector<int64_t>* totals) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kPlacementScore);
  Status status = ScorePlacements(group, candidates, totals);
  timer.Stop(status.code());
  return status;
}

// Every plugin scores before any is normalized, and that before any weight is applied.
Status GroupPoints::ScorePlacements(const PodGroupKey& group,
                                    std::span<const PlacementCandidate> candidates,
                                    std::vector<int64_t>* totals) const {
  const std::vector<PlacementScoreEntry>& entries = lists_.placement_score;
  std::vector<std::vector<int64_t>> scores(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const Status status = ScoreWith(entries[i], group, candidates, &scores[i]);
    if (!status.ok()) {
      return ScoreFailure("running PlacementScore plugins", entries[i].name, status);
    }
  }
  const CallSampler sampler = meters_.Sampler(true);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].normalizer == nullptr) continue;
    const Status status = sampler.Measure(entries[i].normalize_meter, [&] {
      return entries[i].normalizer->NormalizePlacementScores(scores[i]);
    });
    if (!status.ok()) {
      return ScoreFailure("running NormalizePlacementScore on PlacementScore plugins",
                          entries[i].name, status);
    }
  }
  totals->assign(candidates.size(), 0);
  for (size_t i = 0; i < entries.size(); ++i) {
    if (Status added = AddScores(entries[i], scores[i], totals); !added.ok()) return added;
  }
  return {};
}

Status GroupPoints::ScoreWith(const PlacementScoreEntry& entry, const PodGroupKey& group,
                              std::span<const PlacementCandidate> candidates,
                              std::vector<int64_t>* scores) const {
  const CallSampler sampler = meters_.Sampler(true);
  for (const PlacementCandidate& candidate : candidates) {
    int64_t score = 0;
    Status status = sampler.Measure(entry.meter, [&] {
      return entry.plugin->ScorePlacement(group, *candidate.placement, candidate.assignments,
                                          &score);
    });
    if (!status.ok()) return status;
    scores->push_back(score);
  }
  return {};
}

GroupPostFilterResult GroupPoints::RunPodGroupPostFilterPlugins(
    const GroupPreemptor& preemptor) const {
  return AskPostFilters(
      [&](PodGroupPostFilterPlugin& plugin) { return plugin.PodGroupPostFilter(preemptor); });
}

GroupPostFilterResult GroupPoints::ExplainPodGroupPostFilterPlugins(const GroupPreemptor& preemptor,
                                                                    GroupVictims* victims) const {
  return AskPostFilters([&](PodGroupPostFilterPlugin& plugin) {
    auto* explainer = dynamic_cast<GroupPreemptionExplainer*>(&plugin);
    return explainer == nullptr ? plugin.PodGroupPostFilter(preemptor)
                                : explainer->ExplainGroup(preemptor, victims);
  });
}

GroupPostFilterResult GroupPoints::AskPostFilters(const AskPostFilter& ask) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kPodGroupPostFilter);
  const CallSampler sampler = meters_.Sampler(true);
  std::vector<std::string> reasons;
  std::string rejecting_plugin;
  for (const PointEntry<PodGroupPostFilterPlugin>& entry : lists_.pod_group_post_filter) {
    GroupPostFilterResult result = sampler.Measure(entry.meter, [&] { return ask(*entry.plugin); });
    const Status& status = result.status;
    if (status.ok() || status.code() == Code::kUnschedulableAndUnresolvable) {
      timer.Stop(status.code());
      result.status = status.WithPlugin(entry.name);
      return result;
    }
    if (!status.IsRejected()) {
      timer.Stop(Code::kError);
      return {.status = Status::Error("error in " + golang::Quote(entry.name) +
                                      " PodGroupPostFilter plugins: " + status.ErrorText())
                            .WithPlugin(entry.name)};
    }
    reasons.insert(reasons.end(), status.reasons().begin(), status.reasons().end());
    if (rejecting_plugin.empty()) rejecting_plugin = entry.name;
  }
  timer.Stop(Code::kUnschedulable);
  return {.status = Status(Code::kUnschedulable, std::move(reasons), std::move(rejecting_plugin))};
}

}  // namespace ks::framework
