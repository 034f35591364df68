// SPDX-License-Identifier: Apache-2.0
#pragma once
// Spans of a trace as OpenTelemetry knows them, and where finished ones go. Nothing here knows what
// is traced (pod_traces.h) or how spans leave the process (client/otlp).
//
// Upstream: none; kube-scheduler has no tracing (docs/spec/operations.md section 10.4).

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace ks::tracing {

// Which span, of which trace. Lifetime: like a value.
struct SpanContext {
  std::array<uint64_t, 2> trace{};  // 128 bits, the upper ones first
  uint64_t span = 0;                // 0: no span

  bool valid() const { return span != 0; }
  friend bool operator==(const SpanContext&, const SpanContext&) = default;
};

// Value of the header `traceparent` (W3C Trace Context) for a span that is recorded.
std::string Traceparent(const SpanContext& context);
// 32 digits.
std::string TraceIdText(const SpanContext& context);

// A text or a number.
struct Attribute {
  Attribute(std::string_view name, std::string value) : key(name), text(std::move(value)) {}
  Attribute(std::string_view name, int64_t value) : key(name), number(value), is_number(true) {}

  std::string_view key;  // of static lifetime
  std::string text;
  int64_t number = 0;
  bool is_number = false;
};

struct Link {
  SpanContext to;
  std::vector<Attribute> attributes{};
};

// Of the kinds that OpenTelemetry has, those in use; with its numbers.
enum class SpanKind : uint8_t { kInternal = 1, kClient = 3 };

// A span that is over. Lifetime: like a value.
struct Span {
  SpanContext context{};
  uint64_t parent = 0;  // 0: the root of its trace
  std::string name{};
  SpanKind kind = SpanKind::kInternal;
  TimePoint start{};
  TimePoint end{};
  std::vector<Attribute> attributes{};
  std::vector<Link> links{};
  bool failed = false;
  std::string message{};  // of a failure

  void Add(std::string_view key, std::string value);
  void Add(std::string_view key, int64_t value);
};

// Takes finished spans. Threads: any. Never waits.
class SpanSink {
 public:
  virtual ~SpanSink() = default;
  virtual void Add(Span span) = 0;
  // An id for a new span; never 0.
  virtual uint64_t NewSpanId() = 0;
};

// The span that calls made by this thread belong to; not valid: none.
const SpanContext& CurrentSpan();

// Makes a span the current one of this thread for as long as it lives. Threads: one.
class CurrentSpanScope {
 public:
  explicit CurrentSpanScope(const SpanContext& context);
  ~CurrentSpanScope();
  CurrentSpanScope(const CurrentSpanScope&) = delete;
  CurrentSpanScope& operator=(const CurrentSpanScope&) = delete;

 private:
  const SpanContext former_;
};

}  // namespace ks::tracing
