// SPDX-License-Identifier: Apache-2.0
#include "scheduler/metrics/scheduler_metrics.h"

#include <algorithm>

#include "golang/durations.h"

namespace ks::scheduler {
namespace {

using metrics::ExponentialBuckets;
using metrics::Stability;

constexpr const char* kOutcomes[] = {"scheduled", "unschedulable", "error"};

const std::vector<double>& AttemptBuckets() {
  static const std::vector<double> buckets = ExponentialBuckets(0.001, 2, 15);
  return buckets;
}
const std::vector<double>& SliBuckets() {
  static const std::vector<double> buckets = ExponentialBuckets(0.01, 2, 20);
  return buckets;
}
const std::vector<double>& EventBuckets() {
  static const std::vector<double> buckets = ExponentialBuckets(0.0001, 2, 12);
  return buckets;
}

}  // namespace

SchedulerMetrics::SchedulerMetrics(metrics::Registry& registry, const Clock& clock)
    : clock_(clock),
      attempts_(registry.AddCounter(
          {.name = "scheduler_schedule_attempts_total",
           .stability = Stability::kStable,
           .help = "Finished tries to place a pod; result tells placed, rejected, or failed on an "
                   "internal error."})),
      attempt_durations_(registry.AddHistogram(
          {.name = "scheduler_scheduling_attempt_duration_seconds",
           .stability = Stability::kStable,
           .help = "Time of one finished try, from taking the pod off the queue until it was bound "
                   "or given back."})),
      sli_durations_(registry.AddHistogram(
          {.name = "scheduler_pod_scheduling_sli_duration_seconds",
           .stability = Stability::kBeta,
           .help = "For bound pods: time since the pod first became eligible for scheduling, over "
                   "all tries."})),
      event_durations_(
          registry.AddHistogram({.name = "scheduler_event_handling_duration_seconds",
                                 .help = "Time to apply one watch event to cache and queue."})),
      algorithm_durations_(
          registry
              .AddHistogram({.name = "scheduler_scheduling_algorithm_duration_seconds",
                             .stability = Stability::kBeta,
                             .help = "Time spent choosing a node in one try, preemption search "
                                     "included."})
              .Add({}, AttemptBuckets())),
      attempts_until_bound_(registry
                                .AddHistogram({.name = "scheduler_pod_scheduling_attempts",
                                               .stability = Stability::kStable,
                                               .help = "For bound pods: how many tries it took."})
                                .Add({}, ExponentialBuckets(1, 2, 5))),
      bound_after_flush_(
          registry
              .AddCounter({.name = "scheduler_pod_scheduled_after_flush_total",
                           .help = "Bound pods whose last requeue was the timeout of the "
                                   "unschedulable pool; growth hints at a missing wake-up event."})
              .Add({})),
      workers_(registry.AddGauge({.name = "scheduler_goroutines",
                                  .stability = Stability::kBeta,
                                  .help = "Parallel workers running now, by kind of work."})),
      cache_size_(registry.AddGauge({.name = "scheduler_cache_size",
                                     .help = "Objects the scheduler holds in its cluster view."})),
      queue_(registry),
      cached_nodes_(cache_size_.Add({{"type", "nodes"}})),
      cached_pods_(cache_size_.Add({{"type", "pods"}})),
      assumed_pods_(cache_size_.Add({{"type", "assumed_pods"}})) {}

SchedulerMetrics::~SchedulerMetrics() = default;

SchedulerMetrics::Attempts& SchedulerMetrics::Of(std::string_view profile, AttemptOutcome outcome) {
  auto entry = std::find_if(profiles_.begin(), profiles_.end(),
                            [profile](const Profile& known) { return known.name == profile; });
  if (entry == profiles_.end()) {
    entry = profiles_.insert(profiles_.end(), {.name = std::string(profile), .by_outcome = {}});
  }
  const auto place = static_cast<size_t>(outcome);
  Attempts& attempts = entry->by_outcome[place];
  if (attempts.total == nullptr) {
    const prometheus::Labels labels{{"result", kOutcomes[place]}, {"profile", entry->name}};
    attempts.total = &attempts_.Add(labels);
    attempts.duration = &attempt_durations_.Add(labels, AttemptBuckets());
  }
  return attempts;
}

void SchedulerMetrics::AttemptEnded(std::string_view profile, AttemptOutcome outcome,
                                    TimePoint began) {
  Attempts& attempts = Of(profile, outcome);
  attempts.total->Increment();
  attempts.duration->Observe(golang::Seconds(clock_.Now() - began));
}

void SchedulerMetrics::AlgorithmEnded(TimePoint began) {
  algorithm_durations_.Observe(golang::Seconds(clock_.Now() - began));
}

void SchedulerMetrics::PodBound(const framework::QueuedEntity& pod) {
  CountBindings();
  attempts_until_bound_.Observe(static_cast<double>(pod.attempts));
  if (pod.was_flushed_from_unschedulable) bound_after_flush_.Increment();
  // Absent for a pod that was never queued, which tests alone bring about.
  if (!pod.initial_attempt_timestamp.has_value()) return;
  const size_t place = std::clamp<int64_t>(pod.attempts, 1, kAttemptsShown) - 1;
  metrics::Histogram*& series = sli_series_[place];
  if (series == nullptr) {
    std::string attempts = std::to_string(place + 1);
    if (place + 1 == kAttemptsShown) attempts += '+';
    series = &sli_durations_.Add({{"attempts", attempts}}, SliBuckets());
  }
  series->Observe(golang::Seconds(clock_.Now() - *pod.initial_attempt_timestamp));
}

void SchedulerMetrics::EventHandled(const framework::ClusterEvent& event, Duration took) {
  metrics::Histogram*& series = event_series_[EventKey(event)];
  if (series == nullptr) {
    series = &event_durations_.Add({{"event", event.Label()}}, EventBuckets());
  }
  series->Observe(golang::Seconds(took));
}

void SchedulerMetrics::Publish(const queue::SchedulingQueue& queue, const cache::Cache& cache,
                               size_t bindings) {
  queue_.Publish(queue);
  const cache::Cache::Counts counts = cache.counts();
  cached_nodes_.Set(static_cast<double>(counts.nodes));
  cached_pods_.Set(static_cast<double>(counts.pods));
  assumed_pods_.Set(static_cast<double>(counts.assumed_pods));
  if (bindings > 0) CountBindings();
  if (binding_workers_ != nullptr) binding_workers_->Set(static_cast<double>(bindings));
}

// From now on.
void SchedulerMetrics::CountBindings() {
  if (binding_workers_ == nullptr) binding_workers_ = &workers_.Add({{"operation", "binding"}});
}

void SchedulerMetrics::SetWorkers(Loop loop, int threads) {
  metrics::Gauge*& gauge = loop_workers_[static_cast<size_t>(loop)];
  if (gauge == nullptr) {
    gauge = &workers_.Add({{"operation", loop == Loop::kFilter ? "Filter" : "Score"}});
  }
  gauge->Set(threads);
}

}  // namespace ks::scheduler
