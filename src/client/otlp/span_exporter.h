// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sends finished spans to a collector: OTLP over HTTP, as protobuf. Spans wait in a bounded queue;
// what does not fit, what the collector refuses, and what it does not take within a minute of
// trying is dropped and counted. Nobody who hands in a span ever waits.
//
//   Add ──▶ queue ──gather time, or a batch is full──▶ sending ──taken, refused──▶ next batch
//                                                       ▲    │ 429, 502, 503, 504, no answer
//                                                       └────┴─ backoff, or Retry-After
//
// OTLP 1.x: docs/decisions/0059-traces.md.

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "client/http/timer_service.h"
#include "client/http/transport.h"
#include "metrics/registry.h"
#include "tracing/otlp_encoding.h"
#include "tracing/span.h"

namespace ks::client {

struct SpanExporterOptions {
  std::string path = "/v1/traces";
  std::string user_agent{};
  tracing::Resource resource{};
  size_t queue_spans = 20'000;
  size_t batch_spans = 512;
  // What comes within it is sent together.
  Duration gather = std::chrono::seconds(1);
  Duration timeout = std::chrono::seconds(10);  // of one sending
  Duration backoff_first = std::chrono::seconds(1);
  Duration backoff_most = std::chrono::seconds(30);
  // From the first sending of a batch on; then it is dropped.
  Duration give_up = std::chrono::seconds(60);
  uint64_t seed = 0;  // of span ids and of jitter
};

// Threads: any; encoding and decisions run on the timers' thread. Lifetime: transport, timers and
// registry outlive it; calls that it has made end before the transport does.
class SpanExporter final : public tracing::SpanSink {
 public:
  SpanExporter(Transport& transport, TimerService& timers, metrics::Registry& registry,
               SpanExporterOptions options);
  // Drops what waits.
  ~SpanExporter() override;

  void Add(tracing::Span span) override;
  uint64_t NewSpanId() override;

  // Sends what waits, and takes nothing any more. False: `limit` was over before. Requires: not on
  // a client thread.
  bool Flush(Duration limit);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace ks::client
