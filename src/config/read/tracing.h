// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a TracingConfiguration (apiserver.config.k8s.io), the file of --tracing-config-file: the
// kind that kube-apiserver and the kubelet read, with another meaning of the endpoint's default.
// Upstream's scheduler has no such flag (docs/spec/operations.md section 10.4).

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "config/text/findings.h"

namespace ks::config {

inline constexpr int32_t kMostPerMillion = 1'000'000;

struct TracingConfiguration {
  // As written: "collector:4318", or a URL. Empty: localhost:4318.
  std::string endpoint{};
  int32_t sampling_rate_per_million = 0;  // pods whose trace is recorded; 0: none

  // Where the endpoint is; filled in by reading.
  std::string server = "http://localhost:4318";
  std::string path = "/v1/traces";
};

// Unknown and repeated fields are faults, each with its place and a cure.
using TracingResult = std::variant<TracingConfiguration, Faults>;
TracingResult ParseTracingConfiguration(std::string_view text);
// The fault of a file that cannot be read is the operating system's.
TracingResult ReadTracingConfiguration(const std::string& file);

}  // namespace ks::config
