// SPDX-License-Identifier: Apache-2.0
#pragma once
// The metrics of queued API calls (gate SchedulerAsyncAPICalls). The writer queues its calls
// whatever the gate says: it decides only whether these metrics are there.
//
// Upstream: docs/spec/metrics.md 3.7, docs/spec/queue.md section 13.

#include <functional>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "client/write/writer.h"
#include "metrics/registry.h"

namespace ks::client {

// Threads: any; Watch once. Lifetime: `registry` outlives it; it outlives the writer whose calls it
// counts.
class AsyncCallMetrics {
 public:
  explicit AsyncCallMetrics(metrics::Registry& registry);

  // Shows how many calls wait. `stats`: Writer::StatsSource, asked at each Text of the registry.
  void Watch(std::function<WriterStats()> stats);

  // For WriterOptions::call_done.
  void CallDone(std::string_view call_type, bool ok, Duration took);

 private:
  struct Series {
    metrics::Counter* calls;
    metrics::Histogram* durations;
  };

  metrics::Registry& registry_;
  metrics::Family<metrics::Gauge>& pending_;
  metrics::Gauge& pending_bindings_;
  metrics::Gauge& pending_patches_;
  Series series_[2][2];  // by type (binding, patch), then by result (error, success)
  std::shared_ptr<void> before_text_;
};

}  // namespace ks::client
