// SPDX-License-Identifier: Apache-2.0
#pragma once
// Spans as the body of an OTLP request, and the answer to one: opentelemetry-proto 1.x,
// collector.trace.v1.ExportTraceServiceRequest and -Response, as protobuf.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracing/span.h"

namespace ks::tracing {

// Who tells the spans: resource attributes, and name and version of the instrumentation scope.
struct Resource {
  std::vector<Attribute> attributes;
  std::string scope_name;
  std::string scope_version;
};

std::string EncodeTraces(const Resource& resource, std::span<const Span> spans);

// What a collector that took the request left out of it.
struct PartialSuccess {
  int64_t rejected_spans = 0;
  std::string message{};
};
// Absent: no such message. An empty body is a whole success.
std::optional<PartialSuccess> DecodeAnswer(std::string_view body);

}  // namespace ks::tracing
