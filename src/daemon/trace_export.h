// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traces of a process: the way to the collector, with a connection and threads of its own, made of
// a TracingConfiguration.

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "client/http/timer_service.h"
#include "client/http/transport.h"
#include "client/otlp/span_exporter.h"
#include "config/read/tracing.h"
#include "metrics/registry.h"
#include "tracing/pod_traces.h"

namespace ks::daemon {

// Threads: one. Lifetime: outlives the terms that trace; `metrics` outlives it.
class TraceExport {
 public:
  // Nothing is sent before there are spans. Error: the endpoint cannot be used. `seed`: of the ids
  // of this process and of its spans. Requires: InitializeClientProcess() ran.
  static Result<std::unique_ptr<TraceExport>> Start(const config::TracingConfiguration& tracing,
                                                    metrics::Registry& metrics, uint64_t seed);

  // What is told to whoever traces.
  tracing::TraceOptions options() const {
    return {.sink = exporter_.get(), .per_million = per_million_};
  }
  // Sends what waits, for a second at most; spans that come later are dropped.
  void Flush();

 private:
  TraceExport() = default;

  // In the order in which they need each other.
  std::unique_ptr<client::Transport> transport_;
  std::unique_ptr<client::TimerService> timers_;
  std::unique_ptr<client::SpanExporter> exporter_;
  uint32_t per_million_ = 0;
};

}  // namespace ks::daemon
