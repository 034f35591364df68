// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/window_judge.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ks::framework {

// Nodes are asked about one by one: where other threads can help a search, not about more than they
// are worth.
WindowJudge::WindowJudge(const Handle& handle, const PointLists& lists, const CallSampler& sampler,
                         CycleState& state, const api::Pod& pod, Framework::FilterBatch& filters,
                         PlaceSpace& space)
    : snapshot_(handle.snapshot()),
      lists_(lists),
      state_(state),
      pod_(pod),
      filters_(filters),
      verdicts_(*state.verdicts),
      scores_(lists.score, state, pod, sampler),
      places_(lists, state, pod, space),
      questions_left_(handle.parallelism() > 1 ? kMostQuestions : SIZE_MAX) {}

// The window's highest scores may be others than those assumed; then all is scored anew, once.
const RankedWindow* WindowJudge::Look(size_t start, size_t wanted) {
  SpecRanking& ranking = verdicts_.ranking();
  if (!Begin()) {
    ranking.Rest();
    return nullptr;
  }
  NodeRanking& nodes = Refreshed();
  const RankedWindow* window = nodes.Look(start, wanted, *this);
  if (window == nullptr || window->feasible() < 2) return nullptr;
  if (!ranking.IsHighest(window->marks())) {
    ranking.Assume(HighestOf(*window));
    ranking.Rest();
    window = Refreshed().Look(start, wanted, *this);
    if (window == nullptr || !ranking.IsHighest(window->marks())) return nullptr;
  }
  return !places_.any() || places_.Score(*window, snapshot_, nodes) ? window : nullptr;
}

// Chooses what is remembered. False: not everything can be, and not the rest found out by places.
bool WindowJudge::Begin() {
  scores_.Begin(lists_.local.scores);
  for (const ScoreEntry& entry : lists_.score) {
    if (scores_.IsColumn(entry)) columns_.push_back({&entry, 0, 0, false});
  }
  return columns_.size() <= SpecRanking::kMaxColumns && places_.Begin(filters_.rest());
}

NodeRanking& WindowJudge::Refreshed() {
  NodeRanking& ranking = verdicts_.ranking().Refresh(snapshot_, lists_.local.filters,
                                                     columns_.size(), places_.basis());
  for (Column& column : columns_) column.is_set = false;
  return ranking;
}

NodeRanking::Leaf WindowJudge::Ask(size_t index) {
  const uint32_t slot = snapshot_.node_slots()[index];
  const NodeInfo& node = *snapshot_.nodes()[index];
  if (verdicts_.verdict(slot) == NodeVerdicts::kUnknown && questions_left_-- == 0) return {};
  const uint8_t verdict = filters_.VerdictOf(node, slot);
  if (verdict != NodeRanking::kFits) return {.verdict = verdict};
  if (!scores_.Score(node, slot)) return {};
  NodeRanking::Leaf leaf{.verdict = verdict, .total = verdicts_.sum(slot)};
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!AddColumn(i, verdicts_.raw(i, slot), &leaf)) return {};
  }
  if (!places_.any()) return leaf;
  const std::optional<uint8_t> place = verdicts_.ranking().NumberOf(places_.PlaceOf(node));
  if (!place) return TooManyPlaces();
  leaf.place = *place;
  return leaf;
}

// Some may be nobody's any more; the next look numbers them anew.
NodeRanking::Leaf WindowJudge::TooManyPlaces() {
  verdicts_.ranking().ForgetAll();
  verdicts_.ranking().Rest();
  return {};
}

uint8_t WindowJudge::AskPlaceOf(size_t index) {
  return places_.any() ? filters_.VerdictOfRest(*snapshot_.nodes()[index]) : NodeRanking::kFits;
}

// False: scaling fails, or leaves the range.
bool WindowJudge::AddColumn(size_t i, int64_t raw, NodeRanking::Leaf* leaf) {
  const int64_t highest = verdicts_.ranking().highest()[i];
  if (raw < 0) return false;
  if (raw == highest) leaf->marks |= SpecRanking::HighestMark(i);
  if (raw > highest) {
    leaf->marks |= SpecRanking::HigherMark(i);
    return true;
  }
  Column& column = columns_[i];
  if (!column.is_set || column.raw != raw) {
    const NodeInfo* const nodes[] = {nullptr, nullptr};
    std::array<int64_t, 2> values{raw, highest};
    const Status status = column.entry->normalizer->NormalizeScore(state_, pod_, nodes, values);
    if (!status.ok()) return false;
    column.raw = raw;
    column.scaled = values[0];
    column.is_set = true;
  }
  if (column.scaled < kMinNodeScore || column.scaled > kMaxNodeScore) return false;
  leaf->total += column.scaled * column.entry->weight;
  return true;
}

// The highest raw scores of the window's nodes.
std::vector<int64_t> WindowJudge::HighestOf(const RankedWindow& window) const {
  std::vector<int64_t> highest(columns_.size(), 0);
  window.ForEachFeasible([&](size_t index) {
    const uint32_t slot = snapshot_.node_slots()[index];
    for (size_t i = 0; i < highest.size(); ++i) {
      highest[i] = std::max(highest[i], verdicts_.raws(i)[slot]);
    }
  });
  return highest;
}

}  // namespace ks::framework
