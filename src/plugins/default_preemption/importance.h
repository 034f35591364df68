// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of two pods is evicted rather than the other.
//
// Upstream: docs/spec/preemption.md section 6.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "framework/node_info.h"

namespace ks::plugins {

// A pod that may have to go. `place`: its place among the node's pods; of pods without start time
// the earlier one counts as started earlier.
struct PotentialVictim {
  framework::PodInfoPtr info;
  int32_t priority = 0;
  std::optional<TimePoint> start_time;
  uint32_t place = 0;
};

// Those of lower priority, in the order of `pods`.
std::vector<PotentialVictim> PotentialVictims(std::span<const framework::PodInfoPtr> pods,
                                              int32_t priority);

// Higher priority first, then earlier start. Equal ones keep their order; upstream's order of more
// than twelve pods with equal ones among them is deterministic, but follows no rule.
void SortByImportance(std::vector<PotentialVictim>* victims);

}  // namespace ks::plugins
