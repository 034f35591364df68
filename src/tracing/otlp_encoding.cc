// SPDX-License-Identifier: Apache-2.0
#include "tracing/otlp_encoding.h"

#include <protozero/exception.hpp>
#include <protozero/pbf_message.hpp>
#include <protozero/pbf_writer.hpp>

#include "golang/utf8.h"

namespace ks::tracing {
namespace {

using protozero::pbf_writer;

// The numbers below are those of opentelemetry/proto/trace/v1/trace.proto and common.proto.
constexpr int32_t kStatusError = 2;
constexpr uint32_t kSampledFlag = 1;
// OTLP: whether the parent is remote is known, and it is not.
constexpr uint32_t kIsRemoteKnownFlag = 0x100;

// A collector refuses a whole request for one damaged text, and not all of them are the scheduler's
// own (what a server answered).
void AddString(pbf_writer& message, uint32_t number, std::string_view text) {
  if (golang::IsUtf8(text)) {
    message.add_string(number, text.data(), text.size());
  } else {
    message.add_string(number, golang::ToUtf8(text));
  }
}

void AddText(pbf_writer& message, uint32_t number, std::string_view text) {
  if (!text.empty()) AddString(message, number, text);
}

void AppendBigEndian(uint64_t number, std::string& bytes) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
}

void AddTraceId(pbf_writer& message, uint32_t number, const SpanContext& context) {
  std::string bytes;
  for (const uint64_t half : context.trace) AppendBigEndian(half, bytes);
  message.add_bytes(number, bytes);
}

void AddSpanId(pbf_writer& message, uint32_t number, uint64_t span) {
  std::string bytes;
  AppendBigEndian(span, bytes);
  message.add_bytes(number, bytes);
}

void AddAttributes(pbf_writer& message, uint32_t number, const std::vector<Attribute>& attributes) {
  for (const Attribute& attribute : attributes) {
    pbf_writer pair(message, number);
    AddText(pair, 1, attribute.key);
    pbf_writer value(pair, 2);
    if (attribute.is_number) {
      value.add_int64(3, attribute.number);
    } else {
      AddString(value, 1, attribute.text);
    }
  }
}

void AddLinks(pbf_writer& message, const Span& span) {
  for (const Link& link : span.links) {
    pbf_writer linked(message, 13);
    AddTraceId(linked, 1, link.to);
    AddSpanId(linked, 2, link.to.span);
    AddAttributes(linked, 4, link.attributes);
    linked.add_fixed32(6, kSampledFlag | kIsRemoteKnownFlag);
  }
}

uint64_t UnixNano(TimePoint time) { return static_cast<uint64_t>(time.time_since_epoch().count()); }

void AddSpan(pbf_writer& scope, const Span& span) {
  pbf_writer message(scope, 2);
  AddTraceId(message, 1, span.context);
  AddSpanId(message, 2, span.context.span);
  if (span.parent != 0) AddSpanId(message, 4, span.parent);
  AddText(message, 5, span.name);
  message.add_enum(6, static_cast<int32_t>(span.kind));
  message.add_fixed64(7, UnixNano(span.start));
  message.add_fixed64(8, UnixNano(span.end));
  AddAttributes(message, 9, span.attributes);
  AddLinks(message, span);
  if (span.failed) {
    pbf_writer status(message, 15);
    AddText(status, 2, span.message);
    status.add_enum(3, kStatusError);
  }
  message.add_fixed32(16, kSampledFlag | kIsRemoteKnownFlag);
}

PartialSuccess ReadPartialSuccess(protozero::pbf_reader message) {
  PartialSuccess partial;
  while (message.next()) {
    if (message.tag_and_type() == protozero::tag_and_type(1, protozero::pbf_wire_type::varint)) {
      partial.rejected_spans = message.get_int64();
    } else if (message.tag_and_type() ==
               protozero::tag_and_type(2, protozero::pbf_wire_type::length_delimited)) {
      partial.message = message.get_string();
    } else {
      message.skip();
    }
  }
  return partial;
}

}  // namespace

std::string EncodeTraces(const Resource& resource, std::span<const Span> spans) {
  std::string body;
  pbf_writer request(body);
  pbf_writer of_resource(request, 1);
  {
    pbf_writer described(of_resource, 1);
    AddAttributes(described, 1, resource.attributes);
  }
  pbf_writer scope(of_resource, 2);
  {
    pbf_writer named(scope, 1);
    AddText(named, 1, resource.scope_name);
    AddText(named, 2, resource.scope_version);
  }
  for (const Span& span : spans) AddSpan(scope, span);
  scope.commit();
  of_resource.commit();
  return body;
}

std::optional<PartialSuccess> DecodeAnswer(std::string_view body) {
  try {
    PartialSuccess partial;
    protozero::pbf_reader answer(body.data(), body.size());
    while (answer.next()) {
      if (answer.tag_and_type() ==
          protozero::tag_and_type(1, protozero::pbf_wire_type::length_delimited)) {
        partial = ReadPartialSuccess(answer.get_message());
      } else {
        answer.skip();
      }
    }
    return partial;
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
}

}  // namespace ks::tracing
