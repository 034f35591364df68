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

const std::vector<double>& GroupBuckets() {
  static const std::vector<double> buckets = metrics::ExponentialBuckets(1, 2, 11);
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
                                       .help = "Disruption budgets overridden by preemption."})),
      disruptions_(
          registry.AddHistogram({.name = "scheduler_preemption_workload_disruptions",
                                 .stability = Stability::kAlpha,
                                 .help = "Pod groups (or single members) hit by one preemption."})),
      group_attempts_(registry.AddCounter({.name = "scheduler_workload_preemption_attempts_total",
                                           .stability = Stability::kAlpha,
                                           .help = "Eviction searches started for pod groups."})),
      group_victims_(
          registry.AddHistogram({.name = "scheduler_workload_preemption_victims",
                                 .stability = Stability::kAlpha,
                                 .help = "Pods picked for eviction in favour of a pod group."})) {}

void PreemptionMetrics::JobEnded(bool success, Duration duration) {
  static const std::vector<double> buckets = metrics::ExponentialBuckets(0.01, 2, 20);
  jobs_.Add({{"result", JobResult(success)}}).Increment();
  job_durations_.Add({{"result", JobResult(success)}}, buckets).Observe(golang::Seconds(duration));
}

void PreemptionMetrics::ObserveEvaluation(std::string_view preemptor, Code result,
                                          Duration duration) {
  evaluations_
      .Add({{"preemptor", std::string(preemptor)}, {"result", std::string(CodeText(result))}},
           DurationBuckets())
      .Observe(golang::Seconds(duration));
}

void PreemptionMetrics::ObserveExecution(std::string_view preemptor, bool success,
                                         Duration duration) {
  executions_
      .Add({{"preemptor", std::string(preemptor)}, {"result", JobResult(success)}},
           DurationBuckets())
      .Observe(golang::Seconds(duration));
}

void PreemptionMetrics::CountViolations(std::string_view preemptor, int64_t violations) {
  if (violations <= 0) return;
  violations_.Add({{"preemptor", std::string(preemptor)}})
      .Increment(static_cast<double>(violations));
}

void PreemptionMetrics::ObserveDisruptions(std::string_view preemptor, size_t units) {
  if (units == 0) return;
  disruptions_.Add({{"preemptor", std::string(preemptor)}}, GroupBuckets())
      .Observe(static_cast<double>(units));
}

void PreemptionMetrics::CountGroupAttempt(Code result) {
  group_attempts_.Add({{"result", std::string(CodeText(result))}}).Increment();
}

void PreemptionMetrics::ObserveGroupVictims(size_t victims) {
  group_victims_.Add({}, GroupBuckets()).Observe(static_cast<double>(victims));
}

}  // namespace ks::framework
