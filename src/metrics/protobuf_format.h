// SPDX-License-Identifier: Apache-2.0
#pragma once
// Metrics as length-delimited messages io.prometheus.client.MetricFamily, written by hand: the
// message is small and a generated library is not. Classic buckets only.
//
// Upstream: docs/spec/metrics.md 1.2 and 1.3.

#include <prometheus/metric_family.h>

#include <string>
#include <string_view>
#include <vector>

namespace ks::metrics {

// One family, its series appended one by one, so that a long family needs no list of them.
class ProtobufFamily {
 public:
  ProtobufFamily(std::string_view name, std::string_view help, prometheus::MetricType type);
  void Add(const prometheus::ClientMetric& metric);
  // Appends the message with its length in front.
  void Finish(std::string* out) const;

 private:
  const prometheus::MetricType type_;
  std::string message_;
};

// Families, series and labels in the order given.
std::string FormatProtobuf(const std::vector<prometheus::MetricFamily>& families);

}  // namespace ks::metrics
