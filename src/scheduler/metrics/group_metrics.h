// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is measured of attempts of pod groups. Registered only where the gate GenericWorkload is on,
// that of placements only with TopologyAwareWorkloadScheduling.
//
// Upstream: docs/spec/metrics.md 3.8.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "framework/status.h"
#include "metrics/registry.h"

namespace ks::scheduler {

enum class GroupOutcome : uint8_t { kScheduled, kUnschedulable, kWaitingOnPreemption, kError };

// One for all profiles. Threads: the scheduling thread; the registry may be read by any. Lifetime:
// `registry` and `clock` outlive it; it outlives the scheduler.
class GroupMetrics {
 public:
  // `placements`: those are measured, too.
  GroupMetrics(metrics::Registry& registry, const Clock& clock, bool placements);

  TimePoint Now() const { return clock_.Now(); }

  // The attempt of a root is over.
  void AttemptEnded(std::string_view profile, GroupOutcome outcome, TimePoint began);
  // Members were given nodes, or not.
  void AlgorithmEnded(TimePoint began);
  void PlacementsGenerated(std::string_view profile, size_t count);
  // Errors are not counted.
  void PlacementTried(std::string_view profile, const framework::Status& status, TimePoint began);

 private:
  const Clock& clock_;
  metrics::Family<metrics::Counter>& attempts_;
  metrics::Family<metrics::Histogram>& attempt_durations_;
  metrics::Histogram& algorithm_durations_;
  // Null without placements.
  metrics::Family<metrics::Counter>* generated_ = nullptr;
  metrics::Family<metrics::Counter>* evaluations_ = nullptr;
  metrics::Family<metrics::Histogram>* evaluation_durations_ = nullptr;
};

}  // namespace ks::scheduler
