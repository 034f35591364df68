// SPDX-License-Identifier: Apache-2.0
#pragma once
// The metrics of the queue. The queue counts for itself in plain numbers (queue/queue_stats.h);
// Publish carries them over when somebody wants to read them, so that a move costs no more than
// before. Only measured times are recorded as they happen.
//
// Upstream: docs/spec/metrics.md 3.2.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "base/clock.h"
#include "base/string_map.h"
#include "framework/events.h"
#include "metrics/registry.h"
#include "queue/scheduling_queue.h"

namespace ks::scheduler {

// What stands for an event's label in maps: its resource and actions. Requires: no custom label.
inline uint64_t EventKey(const framework::ClusterEvent& event) {
  return uint64_t{static_cast<uint8_t>(event.resource)} << 32 | event.actions;
}

// Threads: the scheduling thread; the registry may be read by any. Lifetime: `registry` outlives
// it; it outlives the queue that it observes.
class QueueMetrics {
 public:
  explicit QueueMetrics(metrics::Registry& registry);

  // For SchedulingQueueOptions of a new queue, whose counts begin at 0.
  queue::QueueObservers Observers();
  // Costs a few microseconds: one step for each label value seen so far.
  void Publish(const queue::SchedulingQueue& queue);

 private:
  // What a count of the queue was when it was last carried over.
  struct Carried {
    metrics::Counter* counter = nullptr;
    int64_t count = 0;
    void To(int64_t now) {
      counter->Increment(static_cast<double>(now - count));
      count = now;
    }
  };
  struct Arrivals {
    std::map<std::string, Carried, std::less<>> pods;  // by event
    std::map<std::string, Carried, std::less<>> entities;
    std::map<std::string, Carried, std::less<>> groups;
  };
  // Of one type of entities, by part; null: not used yet.
  struct EntityGauges {
    const char* type;
    std::array<metrics::Gauge*, 4> gauges{};
  };
  struct Effect {
    Carried events;
    Carried woken;
    Carried hint_runs;
  };

  void PublishArrivals(const char* queue, const queue::StoreArrivals& stats, Arrivals* carried);
  void PublishEffects(const queue::QueueStats& stats);
  void PublishEntities(EntityGauges& of, size_t part, size_t entities, bool used);
  void ObserveHint(std::string_view plugin, const framework::ClusterEvent& event,
                   std::string_view hint, Duration took);

  metrics::Family<metrics::Gauge>& pending_;
  metrics::Family<metrics::Gauge>& entities_;
  metrics::Family<metrics::Counter>& incoming_pods_;
  metrics::Family<metrics::Counter>& incoming_entities_;
  metrics::Family<metrics::Gauge>& unschedulable_;
  metrics::Family<metrics::Gauge>& in_flight_;
  metrics::Family<metrics::Histogram>& hints_;
  metrics::Family<metrics::Counter>& queue_events_;
  metrics::Family<metrics::Counter>& woken_;
  metrics::Family<metrics::Counter>& hint_runs_;

  // active, backoff, unschedulable, gated, incomplete, pending
  std::array<metrics::Gauge*, 6> pending_gauges_{};
  EntityGauges pod_gauges_{.type = "pod"};
  EntityGauges group_gauges_{.type = "podgroup"};
  Arrivals active_;
  Arrivals backoff_;
  Arrivals unschedulable_arrivals_;
  std::map<std::string, Effect, std::less<>> effects_;
  std::map<std::pair<std::string, std::string>, metrics::Gauge*> unschedulable_gauges_;
  std::map<std::string, metrics::Gauge*, std::less<>> in_flight_gauges_;
  // By event and outcome, then plugin.
  absl::flat_hash_map<uint64_t, StringMap<metrics::Histogram*>> hint_series_;
};

}  // namespace ks::scheduler
