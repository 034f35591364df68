// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the scheduling thread tells /metrics: attempts and their latency, handled events, and, when
// somebody reads them, the sizes of queue and cache.
//
// Upstream: docs/spec/metrics.md 3.1 to 3.3 and 3.5.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/clock.h"
#include "cache/cache.h"
#include "framework/events.h"
#include "framework/queued_pod.h"
#include "metrics/registry.h"
#include "scheduler/metrics/group_metrics.h"
#include "scheduler/metrics/queue_metrics.h"

namespace ks::scheduler {

enum class AttemptOutcome : uint8_t { kScheduled, kUnschedulable, kError };

// One for all profiles, so that an exchanged configuration goes on counting.
// Threads: the scheduling thread; the registry may be read by any. Lifetime: `registry` and `clock`
// outlive it; it outlives the scheduler.
class SchedulerMetrics {
 public:
  SchedulerMetrics(metrics::Registry& registry, const Clock& clock);
  ~SchedulerMetrics();

  TimePoint Now() const { return clock_.Now(); }

  // Exactly once for each pod that was taken up, when its attempt is over: bound or given back.
  void AttemptEnded(std::string_view profile, AttemptOutcome outcome, TimePoint began);
  // A node was chosen, or none and PostFilter has run.
  void AlgorithmEnded(TimePoint began);
  // The pod of an attempt that ended kScheduled.
  void PodBound(const framework::QueuedEntity& pod);
  void EventHandled(const framework::ClusterEvent& event, Duration took);

  // The loops over nodes. Sets how many threads a loop occupies; 0 when it is over.
  enum class Loop : uint8_t { kFilter, kScore };
  void SetWorkers(Loop loop, int threads);

  QueueMetrics& queue() { return queue_; }
  // From now on attempts of pod groups are measured; `placements`: those, too. Requires: at most
  // once.
  void MeasureGroups(metrics::Registry& registry, bool placements) {
    groups_ = std::make_unique<GroupMetrics>(registry, clock_, placements);
  }
  // Null: they are not measured.
  GroupMetrics* groups() { return groups_.get(); }
  // What is only computed when it is read. `bindings`: pods between Reserve and the answer to their
  // binding.
  void Publish(const queue::SchedulingQueue& queue, const cache::Cache& cache, size_t bindings);

 private:
  // One profile and outcome.
  struct Attempts {
    metrics::Counter* total = nullptr;
    metrics::Histogram* duration = nullptr;
  };
  struct Profile {
    std::string name;
    std::array<Attempts, 3> by_outcome;
  };
  Attempts& Of(std::string_view profile, AttemptOutcome outcome);
  void CountBindings();

  static constexpr size_t kAttemptsShown = 15;  // more are "15+"

  const Clock& clock_;
  metrics::Family<metrics::Counter>& attempts_;
  metrics::Family<metrics::Histogram>& attempt_durations_;
  metrics::Family<metrics::Histogram>& sli_durations_;
  metrics::Family<metrics::Histogram>& event_durations_;
  metrics::Histogram& algorithm_durations_;
  metrics::Histogram& attempts_until_bound_;
  metrics::Counter& bound_after_flush_;
  metrics::Family<metrics::Gauge>& workers_;
  metrics::Family<metrics::Gauge>& cache_size_;
  QueueMetrics queue_;
  std::unique_ptr<GroupMetrics> groups_;

  std::vector<Profile> profiles_;  // few
  std::array<metrics::Histogram*, kAttemptsShown> sli_series_{};
  absl::flat_hash_map<uint64_t, metrics::Histogram*> event_series_;  // by EventKey
  std::array<metrics::Gauge*, 2> loop_workers_{};                    // null: not used yet
  metrics::Gauge* binding_workers_ = nullptr;                        // the same
  metrics::Gauge& cached_nodes_;
  metrics::Gauge& cached_pods_;
  metrics::Gauge& assumed_pods_;
};

// Shows a loop as running while it lives. Lifetime: the metrics outlive it.
class LoopWorkers {
 public:
  // `metrics` may be null: nothing is shown then.
  LoopWorkers(SchedulerMetrics* metrics, SchedulerMetrics::Loop loop, int threads)
      : metrics_(metrics), loop_(loop) {
    if (metrics_ != nullptr) metrics_->SetWorkers(loop_, threads);
  }
  ~LoopWorkers() {
    if (metrics_ != nullptr) metrics_->SetWorkers(loop_, 0);
  }
  LoopWorkers(const LoopWorkers&) = delete;
  LoopWorkers& operator=(const LoopWorkers&) = delete;

 private:
  SchedulerMetrics* const metrics_;
  const SchedulerMetrics::Loop loop_;
};

// Measures the handling of one event while it lives. Threads: the scheduling thread. Lifetime: the
// metrics outlive it.
class EventTimer {
 public:
  // `metrics` may be null: nothing is measured then.
  EventTimer(SchedulerMetrics* metrics, const framework::ClusterEvent& event)
      : metrics_(metrics), event_(event), start_(metrics ? metrics->Now() : TimePoint()) {}
  ~EventTimer() {
    if (metrics_ != nullptr) metrics_->EventHandled(event_, metrics_->Now() - start_);
  }
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;

 private:
  SchedulerMetrics* const metrics_;
  const framework::ClusterEvent event_;
  const TimePoint start_;
};

}  // namespace ks::scheduler
