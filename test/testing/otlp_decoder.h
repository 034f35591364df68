// SPDX-License-Identifier: Apache-2.0
#pragma once
// A strict reader of OTLP trace requests (opentelemetry-proto 1.x): whatever a collector might
// refuse, repair or overlook is a fault here.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ks::testing {

struct OtlpSpan {
  std::string trace;   // 32 digits
  std::string span;    // 16 digits
  std::string parent;  // 16 digits; empty: a root
  std::string name;
  int kind = 0;
  uint64_t start = 0;  // nanoseconds since 1970
  uint64_t end = 0;
  std::map<std::string, std::string> attributes;           // numbers as text
  std::vector<std::pair<std::string, std::string>> links;  // trace, span
  bool failed = false;
  std::string message;

  std::string Get(const std::string& key) const {
    const auto it = attributes.find(key);
    return it == attributes.end() ? std::string() : it->second;
  }
};

struct OtlpRequest {
  std::map<std::string, std::string> resource;
  std::string scope_name;
  std::string scope_version;
  std::vector<OtlpSpan> spans;
  std::string fault;  // empty: all is in order; else what is not, and the rest does not count
};

OtlpRequest DecodeOtlp(std::string_view body);

// What is wrong with spans as traces, once they are all there: a second root, a span that appears
// twice, a parent that is missing, a child that begins before its root. Empty: nothing.
std::vector<std::string> TraceFaults(const std::vector<OtlpSpan>& spans);

}  // namespace ks::testing
