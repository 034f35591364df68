// SPDX-License-Identifier: Apache-2.0
#include "testing/otlp_decoder.h"

#include <set>

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

namespace ks::testing {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Ends the reading of a request.
struct Fault {
  std::string text;
};

void Require(bool holds, const std::string& text) {
  if (!holds) throw Fault{text};
}

// Goes on to the next field, which must have the wire type that the schema gives it.
bool Next(pbf_reader& message, std::string_view of,
          const std::map<uint32_t, pbf_wire_type>& fields) {
  if (!message.next()) return false;
  const auto field = fields.find(message.tag());
  const std::string name = std::string(of) + " field " + std::to_string(message.tag());
  Require(field != fields.end(), name + " is not in the schema, or not expected here");
  Require(field->second == message.wire_type(), name + " has another wire type");
  return true;
}

constexpr pbf_wire_type kBytes = pbf_wire_type::length_delimited;

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t more = lead < 0x80 ? 0 : lead >> 5 == 6 ? 1 : lead >> 4 == 14 ? 2 : 3;
    if (more == 3 && lead >> 3 != 30) return false;
    for (size_t k = 0; k < more; ++k) {
      if (++i >= text.size() || (static_cast<unsigned char>(text[i]) >> 6) != 2) return false;
    }
  }
  return true;
}

std::string Text(pbf_reader& message) {
  std::string text = message.get_string();
  Require(IsUtf8(text), "a string is not UTF-8");
  return text;
}

std::string Id(pbf_reader& message, size_t size) {
  const std::string bytes = message.get_string();
  Require(bytes.size() == size, "an id has another length than " + std::to_string(size));
  Require(bytes.find_first_not_of('\0') != std::string::npos, "an id is all zeros");
  std::string text;
  for (const char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::string ReadValue(pbf_reader value) {
  std::string text;
  int values = 0;
  while (Next(value, "AnyValue",
              {{1, kBytes}, {2, pbf_wire_type::varint}, {3, pbf_wire_type::varint}})) {
    ++values;
    if (value.tag() == 1) {
      text = Text(value);
    } else if (value.tag() == 2) {
      text = value.get_bool() ? "true" : "false";
    } else {
      text = std::to_string(value.get_int64());
    }
  }
  Require(values == 1, "a value is none, or several");
  return text;
}

void ReadAttribute(pbf_reader pair, std::map<std::string, std::string>& attributes) {
  std::string key;
  std::optional<std::string> value;
  while (Next(pair, "KeyValue", {{1, kBytes}, {2, kBytes}})) {
    if (pair.tag() == 1) {
      key = Text(pair);
    } else {
      value = ReadValue(pair.get_message());
    }
  }
  Require(!key.empty() && value.has_value(), "an attribute without key or value");
  Require(attributes.emplace(key, *value).second, "the attribute " + key + " appears twice");
}

void ReadLink(pbf_reader link, OtlpSpan& span) {
  std::pair<std::string, std::string> to;
  std::map<std::string, std::string> attributes;
  while (Next(link, "Link", {{1, kBytes}, {2, kBytes}, {4, kBytes}, {6, pbf_wire_type::fixed32}})) {
    if (link.tag() == 1) to.first = Id(link, 16);
    if (link.tag() == 2) to.second = Id(link, 8);
    if (link.tag() == 4) ReadAttribute(link.get_message(), attributes);
    if (link.tag() == 6) Require(link.get_fixed32() < 0x400, "unknown flags of a link");
  }
  Require(!to.first.empty() && !to.second.empty(), "a link to nothing");
  span.links.push_back(std::move(to));
}

void ReadStatus(pbf_reader status, OtlpSpan& span) {
  while (Next(status, "Status", {{2, kBytes}, {3, pbf_wire_type::varint}})) {
    if (status.tag() == 2) {
      span.message = Text(status);
    } else {
      const int code = status.get_enum();
      Require(code >= 0 && code <= 2, "an unknown status code");
      span.failed = code == 2;
    }
  }
}

OtlpSpan ReadSpan(pbf_reader message) {
  OtlpSpan span;
  while (Next(message, "Span",
              {{1, kBytes},
               {2, kBytes},
               {4, kBytes},
               {5, kBytes},
               {6, pbf_wire_type::varint},
               {7, pbf_wire_type::fixed64},
               {8, pbf_wire_type::fixed64},
               {9, kBytes},
               {13, kBytes},
               {15, kBytes},
               {16, pbf_wire_type::fixed32}})) {
    switch (message.tag()) {
      case 1:
        span.trace = Id(message, 16);
        break;
      case 2:
        span.span = Id(message, 8);
        break;
      case 4:
        span.parent = Id(message, 8);
        break;
      case 5:
        span.name = Text(message);
        break;
      case 6:
        span.kind = message.get_enum();
        break;
      case 7:
        span.start = message.get_fixed64();
        break;
      case 8:
        span.end = message.get_fixed64();
        break;
      case 9:
        ReadAttribute(message.get_message(), span.attributes);
        break;
      case 13:
        ReadLink(message.get_message(), span);
        break;
      case 15:
        ReadStatus(message.get_message(), span);
        break;
      default:
        Require(message.get_fixed32() < 0x400, "unknown flags of a span");
    }
  }
  Require(!span.trace.empty() && !span.span.empty(), "a span without ids");
  Require(!span.name.empty(), "a span without a name");
  Require(span.kind >= 1 && span.kind <= 5, "a span without a kind");
  Require(span.start > 0 && span.end >= span.start, span.name + " ends before it begins");
  return span;
}

void ReadScope(pbf_reader scope, OtlpRequest& request) {
  while (Next(scope, "ScopeSpans", {{1, kBytes}, {2, kBytes}})) {
    if (scope.tag() == 2) {
      request.spans.push_back(ReadSpan(scope.get_message()));
      continue;
    }
    pbf_reader named = scope.get_message();
    while (Next(named, "InstrumentationScope", {{1, kBytes}, {2, kBytes}})) {
      std::string& field = named.tag() == 1 ? request.scope_name : request.scope_version;
      field = Text(named);
    }
  }
}

void ReadResource(pbf_reader of_resource, OtlpRequest& request) {
  while (Next(of_resource, "ResourceSpans", {{1, kBytes}, {2, kBytes}})) {
    if (of_resource.tag() == 2) {
      ReadScope(of_resource.get_message(), request);
      continue;
    }
    pbf_reader resource = of_resource.get_message();
    while (Next(resource, "Resource", {{1, kBytes}})) {
      ReadAttribute(resource.get_message(), request.resource);
    }
  }
}

}  // namespace

OtlpRequest DecodeOtlp(std::string_view body) {
  OtlpRequest request;
  try {
    pbf_reader message(body.data(), body.size());
    while (Next(message, "ExportTraceServiceRequest", {{1, kBytes}})) {
      ReadResource(message.get_message(), request);
    }
    Require(request.resource.contains("service.name"), "a resource without service.name");
    Require(!request.spans.empty(), "a request without spans");
  } catch (const Fault& fault) {
    request.fault = fault.text;
  } catch (const protozero::exception& error) {
    request.fault = error.what();
  }
  return request;
}

std::vector<std::string> TraceFaults(const std::vector<OtlpSpan>& spans) {
  std::vector<std::string> faults;
  std::map<std::pair<std::string, std::string>, const OtlpSpan*> known;
  std::map<std::string, const OtlpSpan*> roots;
  for (const OtlpSpan& span : spans) {
    if (!known.emplace(std::pair(span.trace, span.span), &span).second) {
      faults.push_back(span.name + " appears twice");
    }
    if (span.parent.empty() && !roots.emplace(span.trace, &span).second) {
      faults.push_back("a second root of " + span.trace);
    }
  }
  for (const OtlpSpan& span : spans) {
    if (span.parent.empty()) continue;
    if (!known.contains({span.trace, span.parent})) {
      faults.push_back("the parent of " + span.name + " is missing");
    }
    const auto root = roots.find(span.trace);
    if (root != roots.end() && span.start < root->second->start) {
      faults.push_back(span.name + " begins before its trace");
    }
  }
  return faults;
}

}  // namespace ks::testing
