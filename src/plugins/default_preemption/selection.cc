// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/selection.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

namespace ks::plugins {
namespace {

constexpr int64_t kPriorityOffset = int64_t{1} << 31;  // makes every priority count as a loss

// The earliest start among the victims with the highest priority.
TimePoint EarliestStart(const framework::Victims& victims, TimePoint now) {
  int32_t highest = std::numeric_limits<int32_t>::min();
  TimePoint earliest = now;
  for (const api::PodPtr& pod : victims.pods) {
    const TimePoint start = pod->status.start_time.value_or(now);
    const int32_t priority = pod->Priority();
    if (priority > highest || &pod == &victims.pods.front()) {
      highest = priority;
      earliest = start;
    } else if (priority == highest) {
      earliest = std::min(earliest, start);
    }
  }
  return earliest;
}

// Smaller is better, member by member.
auto Cost(const framework::Victims& victims, TimePoint now) {
  int64_t sum = 0;
  for (const api::PodPtr& pod : victims.pods) sum += pod->Priority() + kPriorityOffset;
  return std::tuple(victims.pdb_violations, victims.pods.front()->Priority(), sum,
                    victims.pods.size(), -EarliestStart(victims, now).time_since_epoch().count());
}

}  // namespace

const Candidate& PickCandidate(std::span<const Candidate> candidates, TimePoint now) {
  const Candidate* best = &candidates.front();
  if (candidates.size() == 1) return *best;
  auto lowest = Cost(best->victims, now);
  for (const Candidate& candidate : candidates.subspan(1)) {
    const auto cost = Cost(candidate.victims, now);
    if (cost < lowest) {
      best = &candidate;
      lowest = cost;
    }
  }
  return *best;
}

}  // namespace ks::plugins
