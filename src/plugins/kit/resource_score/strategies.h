// SPDX-License-Identifier: Apache-2.0
#pragma once
// The three scoring strategies of NodeResourcesFit.
//
// Upstream: docs/spec/plugins-node.md 4.8 (Score) and 2.11 (shape).

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plugins/kit/resource_score/args.h"
#include "plugins/kit/resource_score/scored_resources.h"

namespace ks::plugins {

// Threads: immutable after construction.
class FitScorer {
 public:
  explicit FitScorer(const FitArgs& args);

  FitStrategy strategy() const { return strategy_; }
  std::span<const ScoredResource> resources() const { return resources_; }
  // `amounts` is parallel to resources(); `tally` may be null. 0 when no resource counts.
  int64_t Score(std::span<const int64_t> amounts, const framework::NodeInfo& node,
                const DeviceTally* tally = nullptr) const;
  // How full a group's pods, which ask for `amounts` together, would make the nodes as a whole: as
  // MostAllocated, whatever the strategy, and without devices.
  int64_t ScorePlacement(std::span<const int64_t> amounts,
                         std::span<const framework::NodeInfo* const> nodes) const;

 private:
  int64_t LeastAllocated(std::span<const int64_t> amounts, const framework::NodeInfo& node,
                         const DeviceTally* tally) const;
  int64_t MostAllocated(std::span<const int64_t> amounts, const framework::NodeInfo& node,
                        const DeviceTally* tally) const;
  int64_t Ratio(std::span<const int64_t> amounts, const framework::NodeInfo& node,
                const DeviceTally* tally) const;

  FitStrategy strategy_;
  std::vector<ScoredResource> resources_;
  std::vector<config::UtilizationShapePoint> shape_;  // scores already 0..100
};

// "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio".
std::string_view StrategyName(FitStrategy strategy);

// The piecewise linear function through `shape`. Requires: points of rising utilization.
int64_t ShapeValue(std::span<const config::UtilizationShapePoint> shape, int64_t utilization);

}  // namespace ks::plugins
