// SPDX-License-Identifier: Apache-2.0
#include "client/write/writer_metrics.h"

#include <utility>

namespace ks::client {

WriterMetrics::WriterMetrics(metrics::Registry& registry) : registry_(registry) {
  auto& events =
      registry.AddCounter({.name = "kubesched_api_events_total",
                           .help = "Events for kubectl, by what became of them; dropped ones found "
                                   "the queue full."});
  const auto event = [&](Count count, const char* result) {
    counters_.push_back({count, &events.Add({{"result", result}}), 0});
  };
  event(&WriterStats::events_sent, "sent");
  event(&WriterStats::events_failed, "failed");
  event(&WriterStats::events_dropped, "dropped");
  auto& failures = registry.AddCounter(
      {.name = "kubesched_api_write_failures_total", .help = "Writes that failed, by kind."});
  const auto failure = [&](Count count, const char* kind) {
    counters_.push_back({count, &failures.Add({{"kind", kind}}), 0});
  };
  failure(&WriterStats::bind_failures, "binding");
  failure(&WriterStats::patch_failures, "status");
  failure(&WriterStats::eviction_failures, "eviction");
  failure(&WriterStats::volume_write_failures, "volume");
  failure(&WriterStats::claim_write_failures, "claim");
  auto& pending = registry.AddGauge(
      {.name = "kubesched_api_writes_pending",
       .help = "Writes queued or in flight, by kind; evictions, volumes and claims (of "
               "volumes and devices) go with bindings."});
  gauges_ = {{&WriterStats::binds_pending, &pending.Add({{"kind", "binding"}})},
             {&WriterStats::patches_pending, &pending.Add({{"kind", "status"}})},
             {&WriterStats::events_pending, &pending.Add({{"kind", "event"}})}};
}

void WriterMetrics::Watch(std::function<WriterStats()> stats) {
  before_text_.reset();
  for (Carried& carried : counters_) carried.seen = 0;
  before_text_ = registry_.BeforeText([this, stats = std::move(stats)] {
    const WriterStats now = stats();
    for (Carried& carried : counters_) {
      carried.counter->Increment(static_cast<double>(now.*carried.count - carried.seen));
      carried.seen = now.*carried.count;
    }
    for (const Pending& entry : gauges_) entry.gauge->Set(static_cast<double>(now.*entry.count));
  });
}

}  // namespace ks::client
