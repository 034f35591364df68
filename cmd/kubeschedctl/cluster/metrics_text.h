// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the text of /metrics, as far as kubeschedctl top needs it.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ks::ctl {

struct MetricSample {
  std::string name;
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;

  // Empty when it has no such label.
  std::string_view Label(std::string_view label) const {
    const auto found = labels.find(label);
    return found == labels.end() ? std::string_view() : std::string_view(found->second);
  }
};

// Comments and lines that are none are passed over.
std::vector<MetricSample> ParseMetrics(std::string_view text);

// Observations of a histogram, series with different labels together.
class HistogramCounts {
 public:
  // The buckets of `name` ("…_seconds").
  static HistogramCounts Of(const std::vector<MetricSample>& samples, std::string_view name);

  // What came since `before`; all of it when the counts went back (a restart).
  HistogramCounts Since(const HistogramCounts& before) const;
  double count() const;
  // Interpolated within the bucket, as PromQL's histogram_quantile; absent without observations.
  // Beyond the last bound: that bound.
  std::optional<double> Quantile(double q) const;

 private:
  std::map<double, double> cumulative_;  // by upper bound, infinity included
};

}  // namespace ks::ctl
