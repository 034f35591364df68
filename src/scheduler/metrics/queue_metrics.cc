// SPDX-License-Identifier: Apache-2.0
#include "scheduler/metrics/queue_metrics.h"

#include <utility>
#include <vector>

#include "golang/durations.h"

namespace ks::scheduler {
namespace {

using metrics::Stability;

constexpr const char* kParts[] = {"active", "backoff",    "unschedulable",
                                  "gated",  "incomplete", "pending"};

const std::vector<double>& HintBuckets() {
  static const std::vector<double> buckets = metrics::ExponentialBuckets(0.00001, 1.5, 20);
  return buckets;
}

}  // namespace

QueueMetrics::QueueMetrics(metrics::Registry& registry)
    : pending_(registry.AddGauge(
          {.name = "scheduler_pending_pods",
           .stability = Stability::kStable,
           .help = "Pods waiting in the scheduling queue, by the part of the queue that holds "
                   "them."})),
      entities_(registry.AddGauge(
          {.name = "scheduler_queued_entities",
           .help = "Queue entries by queue part; a lone pod is one entry, a pod group is one "
                   "entry."})),
      incoming_pods_(registry.AddCounter(
          {.name = "scheduler_queue_incoming_pods_total",
           .stability = Stability::kStable,
           .help = "Pods put into a part of the queue, by the event that put them there."})),
      incoming_entities_(registry.AddCounter(
          {.name = "scheduler_queue_incoming_entities_total",
           .help = "Queue entries that changed their part of the queue, by event."})),
      unschedulable_(registry.AddGauge(
          {.name = "scheduler_unschedulable_pods",
           .stability = Stability::kBeta,
           .help = "Queued pods a plugin has rejected; a pod counts once for each such plugin."})),
      in_flight_(registry.AddGauge(
          {.name = "scheduler_inflight_events",
           .help = "Events remembered for pods that are being scheduled right now."})),
      hints_(registry.AddHistogram({.name = "scheduler_queueing_hint_execution_duration_seconds",
                                    .help = "Time of one queueing-hint call."})),
      queue_events_(registry.AddCounter(
          {.name = "kubesched_queue_events_total",
           .help = "Cluster events that some plugin waits for, as the queue took them up."})),
      woken_(registry.AddCounter(
          {.name = "kubesched_queue_woken_pods_total",
           .help = "Pods that an event brought out of the unschedulable part."})),
      hint_runs_(registry.AddCounter(
          {.name = "kubesched_queue_hint_runs_total",
           .help = "Queueing hints asked because of an event; one answer may hold for many "
                   "pods."})) {
  // Nothing narrows pods down before their hints (gate SchedulerPreQueueingHints, off).
  registry.AddCounter({.name = "scheduler_pre_queueing_hint_evaluations_total",
                       .help = "Calls that try to narrow down which pods an event can help."});
  for (size_t part = 0; part < pending_gauges_.size(); ++part) {
    pending_gauges_[part] = &pending_.Add({{"queue", kParts[part]}});
  }
}

queue::QueueObservers QueueMetrics::Observers() {
  for (Arrivals* arrivals : {&active_, &backoff_, &unschedulable_arrivals_}) {
    for (auto& [event, carried] : arrivals->pods) carried.count = 0;
    for (auto& [event, carried] : arrivals->entities) carried.count = 0;
    for (auto& [event, carried] : arrivals->groups) carried.count = 0;
  }
  for (auto& [event, effect] : effects_) {
    effect.events.count = effect.woken.count = effect.hint_runs.count = 0;
  }
  for (auto& [key, gauge] : unschedulable_gauges_) gauge->Set(0);
  for (auto& [event, gauge] : in_flight_gauges_) gauge->Set(0);
  queue::QueueObservers observers;
  observers.hint = [this](std::string_view plugin, const framework::ClusterEvent& event,
                          std::string_view hint,
                          Duration took) { ObserveHint(plugin, event, hint, took); };
  return observers;
}

void QueueMetrics::ObserveHint(std::string_view plugin, const framework::ClusterEvent& event,
                               std::string_view hint, Duration took) {
  // "Queue", "QueueSkip" and "Error" differ in length.
  const uint64_t key = EventKey(event) << 4 | hint.size();
  StringMap<metrics::Histogram*>& by_plugin = hint_series_[key];
  const auto known = by_plugin.find(plugin);
  metrics::Histogram* series = known == by_plugin.end() ? nullptr : known->second;
  if (series == nullptr) {
    series = &hints_.Add(
        {{"plugin", std::string(plugin)}, {"event", event.Label()}, {"hint", std::string(hint)}},
        HintBuckets());
    by_plugin.emplace(std::string(plugin), series);
  }
  series->Observe(golang::Seconds(took));
}

void QueueMetrics::Publish(const queue::SchedulingQueue& queue) {
  const queue::PendingCounts pending = queue.pending();
  const size_t counts[] = {pending.active, pending.backoff,    pending.unschedulable,
                           pending.gated,  pending.incomplete, pending.pending};
  for (size_t part = 0; part < pending_gauges_.size(); ++part) {
    pending_gauges_[part]->Set(static_cast<double>(counts[part]));
  }
  const queue::QueueStats& stats = queue.stats();
  // A part that was gone through between two scrapes was in use.
  const queue::PendingCounts::Groups& groups = pending.groups;
  const queue::PendingCounts::Groups& members = pending.members;
  PublishEntities(pod_gauges_, 0, pending.active - members.active, stats.active.of_pods);
  PublishEntities(pod_gauges_, 1, pending.backoff - members.backoff, stats.backoff.of_pods);
  PublishEntities(pod_gauges_, 2, pending.unschedulable - members.unschedulable, false);
  PublishEntities(pod_gauges_, 3, pending.gated - members.gated, false);
  PublishEntities(group_gauges_, 0, groups.active, stats.active.of_groups);
  PublishEntities(group_gauges_, 1, groups.backoff, stats.backoff.of_groups);
  PublishEntities(group_gauges_, 2, groups.unschedulable, false);
  PublishEntities(group_gauges_, 3, groups.gated, false);
  PublishArrivals("active", stats.active, &active_);
  PublishArrivals("backoff", stats.backoff, &backoff_);
  PublishArrivals("unschedulable", stats.unschedulable, &unschedulable_arrivals_);
  PublishEffects(stats);
  for (const auto& [key, count] : stats.unschedulable_pods) {
    metrics::Gauge*& gauge = unschedulable_gauges_[key];
    if (gauge == nullptr) {
      gauge = &unschedulable_.Add({{"plugin", key.first}, {"profile", key.second}});
    }
    gauge->Set(static_cast<double>(count));
  }
  for (const auto& [label, count] : queue.in_flight().counts()) {
    metrics::Gauge*& gauge = in_flight_gauges_[label];
    if (gauge == nullptr) gauge = &in_flight_.Add({{"event", label}});
    gauge->Set(static_cast<double>(count));
  }
}

void QueueMetrics::PublishEntities(EntityGauges& of, size_t part, size_t entities, bool used) {
  metrics::Gauge*& gauge = of.gauges[part];
  if (gauge == nullptr && entities == 0 && !used) return;
  if (gauge == nullptr) gauge = &entities_.Add({{"queue", kParts[part]}, {"type", of.type}});
  gauge->Set(static_cast<double>(entities));
}

void QueueMetrics::PublishArrivals(const char* queue, const queue::StoreArrivals& stats,
                                   Arrivals* carried) {
  for (const auto& [event, count] : stats.pods) {
    Carried& series = carried->pods[event];
    if (series.counter == nullptr) {
      series.counter = &incoming_pods_.Add({{"queue", queue}, {"event", event}});
    }
    series.To(count);
  }
  const auto publish_entities = [&](const auto& counts, auto& series_of, const char* type) {
    for (const auto& [event, count] : counts) {
      Carried& series = series_of[event];
      if (series.counter == nullptr) {
        series.counter =
            &incoming_entities_.Add({{"queue", queue}, {"event", event}, {"type", type}});
      }
      series.To(count);
    }
  };
  publish_entities(stats.entities, carried->entities, "pod");
  publish_entities(stats.groups, carried->groups, "podgroup");
}

void QueueMetrics::PublishEffects(const queue::QueueStats& stats) {
  for (const auto& [event, effect] : stats.effects) {
    Effect& carried = effects_[event];
    if (carried.events.counter == nullptr) {
      carried.events.counter = &queue_events_.Add({{"event", event}});
      carried.woken.counter = &woken_.Add({{"event", event}});
      carried.hint_runs.counter = &hint_runs_.Add({{"event", event}});
    }
    carried.events.To(effect.events);
    carried.woken.To(effect.woken);
    carried.hint_runs.To(effect.hint_runs);
  }
}

}  // namespace ks::scheduler
