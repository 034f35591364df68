// SPDX-License-Identifier: Apache-2.0
#include "scheduler/metrics/group_metrics.h"

#include <map>
#include <string>
#include <vector>

#include "golang/durations.h"

namespace ks::scheduler {
namespace {

constexpr const char* kOutcomes[] = {"scheduled", "unschedulable", "waiting_on_preemption",
                                     "error"};

const std::vector<double>& Buckets() {
  static const std::vector<double> buckets = metrics::ExponentialBuckets(0.001, 2, 15);
  return buckets;
}

}  // namespace

GroupMetrics::GroupMetrics(metrics::Registry& registry, const Clock& clock, bool placements)
    : clock_(clock),
      attempts_(registry.AddCounter({.name = "scheduler_podgroup_schedule_attempts_total",
                                     .help = "Finished tries to place a pod group."})),
      attempt_durations_(
          registry.AddHistogram({.name = "scheduler_podgroup_scheduling_attempt_duration_seconds",
                                 .help = "Time of one such try."})),
      algorithm_durations_(
          registry
              .AddHistogram({.name = "scheduler_podgroup_scheduling_algorithm_duration_seconds",
                             .help = "Time of the placement search for a group."})
              .Add({}, Buckets())) {
  if (!placements) return;
  generated_ = &registry.AddCounter({.name = "scheduler_generated_placements_total",
                                     .help = "Candidate node sets produced for groups."});
  evaluations_ =
      &registry.AddCounter({.name = "scheduler_placement_evaluations_total",
                            .help = "Candidate node sets tried, by whether the group fits."});
  evaluation_durations_ =
      &registry.AddHistogram({.name = "scheduler_placement_evaluation_duration_seconds",
                              .help = "Time to try one candidate node set."});
}

void GroupMetrics::AttemptEnded(std::string_view profile, GroupOutcome outcome, TimePoint began) {
  const std::map<std::string, std::string> labels = {
      {"result", kOutcomes[static_cast<size_t>(outcome)]}, {"profile", std::string(profile)}};
  attempts_.Add(labels).Increment();
  attempt_durations_.Add(labels, Buckets()).Observe(golang::Seconds(clock_.Now() - began));
}

void GroupMetrics::AlgorithmEnded(TimePoint began) {
  algorithm_durations_.Observe(golang::Seconds(clock_.Now() - began));
}

void GroupMetrics::PlacementsGenerated(std::string_view profile, size_t count) {
  if (generated_ == nullptr) return;
  generated_->Add({{"profile", std::string(profile)}}).Increment(static_cast<double>(count));
}

void GroupMetrics::PlacementTried(std::string_view profile, const framework::Status& status,
                                  TimePoint began) {
  if (evaluations_ == nullptr || status.code() == framework::Code::kError) return;
  const std::map<std::string, std::string> labels = {
      {"result", status.ok() ? "feasible" : "infeasible"}, {"profile", std::string(profile)}};
  evaluations_->Add(labels).Increment();
  evaluation_durations_->Add(labels, Buckets()).Observe(golang::Seconds(clock_.Now() - began));
}

}  // namespace ks::scheduler
