// SPDX-License-Identifier: Apache-2.0
#pragma once
// What preemption tells /metrics.
//
// Upstream: docs/spec/preemption.md section 13, docs/spec/metrics.md 3.4.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "framework/status.h"
#include "metrics/registry.h"

namespace ks::framework {

// Threads: any.
class PreemptionMetrics {
 public:
  explicit PreemptionMetrics(metrics::Registry& registry);

  // scheduler_preemption_attempts_total.
  void CountAttempt() { attempts_.Increment(); }
  // scheduler_preemption_victims: of the chosen node, those already terminating included.
  void ObserveVictims(size_t victims) { victims_.Observe(static_cast<double>(victims)); }
  // scheduler_preemption_goroutines_execution_total and …_duration_seconds (hidden by age).
  void JobEnded(bool success, Duration duration);

  // Only where the gate GenericWorkload is on. `preemptor`: pod, podgroup or compositepodgroup; an
  // evaluation knows no composites.
  void ObserveEvaluation(std::string_view preemptor, Code result, Duration duration);
  void ObserveExecution(std::string_view preemptor, bool success, Duration duration);
  void CountViolations(std::string_view preemptor, int64_t violations);
  // scheduler_preemption_workload_disruptions: units that belong to groups.
  void ObserveDisruptions(std::string_view preemptor, size_t units);
  // Of groups: scheduler_workload_preemption_attempts_total and …_victims.
  void CountGroupAttempt(Code result);
  void ObserveGroupVictims(size_t victims);

 private:
  metrics::Counter& attempts_;
  metrics::Histogram& victims_;
  metrics::Family<metrics::Counter>& jobs_;
  metrics::Family<metrics::Histogram>& job_durations_;
  metrics::Family<metrics::Histogram>& evaluations_;
  metrics::Family<metrics::Histogram>& executions_;
  metrics::Family<metrics::Counter>& violations_;
  metrics::Family<metrics::Histogram>& disruptions_;
  metrics::Family<metrics::Counter>& group_attempts_;
  metrics::Family<metrics::Histogram>& group_victims_;
};

}  // namespace ks::framework
