// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/resource_score/strategies.h"

#include <algorithm>
#include <cmath>

#include "framework/plugin.h"
#include "golang/go_arithmetic.h"

namespace ks::plugins {
namespace {

using framework::kMaxNodeScore;

constexpr int64_t kShapeScale = 10;  // configured scores are 0..10

// Requires: whole != 0.
int64_t Percent(int64_t part, int64_t whole) {
  return golang::WrappingDiv(golang::WrappingMul(part, kMaxNodeScore), whole);
}

}  // namespace

std::string_view StrategyName(FitStrategy strategy) {
  switch (strategy) {
    case FitStrategy::kLeastAllocated:
      return "LeastAllocated";
    case FitStrategy::kMostAllocated:
      return "MostAllocated";
    case FitStrategy::kRequestedToCapacityRatio:
      return "RequestedToCapacityRatio";
  }
  return {};
}

int64_t ShapeValue(std::span<const config::UtilizationShapePoint> shape, int64_t utilization) {
  for (size_t k = 0; k < shape.size(); ++k) {
    if (utilization > shape[k].utilization) continue;
    if (k == 0) return shape[0].score;
    const config::UtilizationShapePoint& from = shape[k - 1];
    const config::UtilizationShapePoint& to = shape[k];
    return from.score + (to.score - from.score) * (utilization - from.utilization) /
                            (to.utilization - from.utilization);
  }
  return shape.back().score;
}

FitScorer::FitScorer(const FitArgs& args)
    : strategy_(args.strategy), resources_(ScoredResources(args.resources)), shape_(args.shape) {
  for (config::UtilizationShapePoint& point : shape_) point.score *= kShapeScale;
}

int64_t FitScorer::Score(std::span<const int64_t> amounts, const framework::NodeInfo& node,
                         const DeviceTally* tally) const {
  switch (strategy_) {
    case FitStrategy::kLeastAllocated:
      return LeastAllocated(amounts, node, tally);
    case FitStrategy::kMostAllocated:
      return MostAllocated(amounts, node, tally);
    case FitStrategy::kRequestedToCapacityRatio:
      return Ratio(amounts, node, tally);
  }
  return 0;
}

int64_t FitScorer::LeastAllocated(std::span<const int64_t> amounts, const framework::NodeInfo& node,
                                  const DeviceTally* tally) const {
  int64_t sum = 0;
  int64_t weights = 0;
  ForEachCounted(resources_, amounts, node, true, tally,
                 [&](int64_t used, int64_t capacity, int64_t amount, int64_t weight) {
                   const int64_t after = golang::WrappingAdd(used, amount);
                   if (after <= capacity) {
                     const int64_t free = Percent(golang::WrappingSub(capacity, after), capacity);
                     sum = golang::WrappingAdd(sum, golang::WrappingMul(free, weight));
                   }
                   weights += weight;
                 });
  return weights == 0 ? 0 : sum / weights;
}

int64_t FitScorer::MostAllocated(std::span<const int64_t> amounts, const framework::NodeInfo& node,
                                 const DeviceTally* tally) const {
  int64_t sum = 0;
  int64_t weights = 0;
  ForEachCounted(resources_, amounts, node, true, tally,
                 [&](int64_t used, int64_t capacity, int64_t amount, int64_t weight) {
                   const int64_t after = std::min(golang::WrappingAdd(used, amount), capacity);
                   sum = golang::WrappingAdd(sum,
                                             golang::WrappingMul(Percent(after, capacity), weight));
                   weights += weight;
                 });
  return weights == 0 ? 0 : sum / weights;
}

int64_t FitScorer::ScorePlacement(std::span<const int64_t> amounts,
                                  std::span<const framework::NodeInfo* const> nodes) const {
  int64_t sum = 0;
  int64_t weights = 0;
  for (size_t i = 0; i < resources_.size(); ++i) {
    int64_t capacity = 0;
    int64_t after = amounts[i];
    for (const framework::NodeInfo* node : nodes) {
      ForEachCounted(std::span(resources_).subspan(i, 1), amounts.subspan(i, 1), *node, true,
                     nullptr, [&](int64_t used, int64_t of_node, int64_t, int64_t) {
                       capacity = golang::WrappingAdd(capacity, of_node);
                       after = golang::WrappingAdd(after, used);
                     });
    }
    if (capacity == 0) continue;
    const int64_t percent = Percent(std::min(after, capacity), capacity);
    sum = golang::WrappingAdd(sum, golang::WrappingMul(percent, resources_[i].weight));
    weights += resources_[i].weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

int64_t FitScorer::Ratio(std::span<const int64_t> amounts, const framework::NodeInfo& node,
                         const DeviceTally* tally) const {
  int64_t sum = 0;
  int64_t weights = 0;
  ForEachCounted(resources_, amounts, node, true, tally,
                 [&](int64_t used, int64_t capacity, int64_t amount, int64_t weight) {
                   const int64_t after = golang::WrappingAdd(used, amount);
                   const int64_t utilization =
                       after > capacity ? kMaxNodeScore : Percent(after, capacity);
                   const int64_t score = ShapeValue(shape_, utilization);
                   if (score <= 0) return;
                   sum += score * weight;
                   weights += weight;
                 });
  if (weights == 0) return 0;
  return std::llround(static_cast<double>(sum) / static_cast<double>(weights));
}

}  // namespace ks::plugins
