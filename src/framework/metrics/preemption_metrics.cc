// SPDX-License-Identifier: Apache-2.0
#include "framework/metrics/preemption_metrics.h"

#include <string>
#include <vector>

#include "golang/durations.h"

namespace ks::framework {
namespace {

using metrics::Stability;

std::string JobResult(bool success) { return success ? "success" : "error"; }

const std::vector<double>& DurationBuckets() {
  static const std::vector<double> buckets = metrics::ExponentialBuckets(0.001, 2, 16);
  return buckets;
}

}  // namespace

PreemptionMetrics::PreemptionMetrics(metrics::Registry& registry)
    : attempts_(registry
                    .AddCounter({.name = "scheduler_preemption_attempts_total",
                                 .stability = Stability::kStable,
                                 .help = "Searches for pods to evict in favour of a pod."})
                    .Add({})),
      victims_(registry
                   .AddHistogram({.name = "scheduler_preemption_victims",
                                  .stability = Stability::kStable,
                                  .help = "Pods picked for eviction by one successful search."})
                   .Add({}, metrics::ExponentialBuckets(1, 2, 7))),
      jobs_(registry.AddCounter({.name = "scheduler_preemption_goroutines_execution_total",
                                 .stability = Stability::kAlpha,
                                 .help = "Background eviction jobs finished."})),
      job_durations_(
          registry.AddHistogram({.name = "scheduler_preemption_goroutines_duration_seconds",
                                 .stability = Stability::kAlpha,
                                 .help = "Duration of background eviction jobs.",
                                 .deprecated_since = "1.37.0"})),
      evaluations_(
          registry.AddHistogram({.name = "scheduler_preemption_evaluation_duration_seconds",
                                 .stability = Stability::kAlpha,
                                 .help = "Time to find eviction candidates."})),
      executions_(registry.AddHistogram({.name = "scheduler_preemption_execution_duration_seconds",
                                         .stability = Stability::kAlpha,
                                         .help = "Time to carry out the evictions."})),
      violations_(registry.AddCounter({.name = "scheduler_preemption_pdb_violations_total",
                                       .stability = Stability::kAlpha,
                                       .help = "Disruption budgets overridden by preemption."})) {}

void PreemptionMetrics::JobEnded(bool success, Duration duration) {
  static const std::vector<double> buckets = metrics::ExponentialBuckets(0.01, 2, 20);
  jobs_.Add({{"result", JobResult(success)}}).Increment();
  job_durations_.Add({{"result", JobResult(success)}}, buckets).Observe(golang::Seconds(duration));
}

void PreemptionMetrics::ObserveEvaluation(Code result, Duration duration) {
  evaluations_
      .Add({{"preemptor", "pod"}, {"result", std::string(CodeText(result))}}, DurationBuckets())
      .Observe(golang::Seconds(duration));
}

void PreemptionMetrics::ObserveExecution(bool success, Duration duration) {
  executions_.Add({{"preemptor", "pod"}, {"result", JobResult(success)}}, DurationBuckets())
      .Observe(golang::Seconds(duration));
}

void PreemptionMetrics::CountViolations(int64_t violations) {
  if (violations <= 0) return;
  violations_.Add({{"preemptor", "pod"}}).Increment(static_cast<double>(violations));
}

}  // namespace ks::framework
