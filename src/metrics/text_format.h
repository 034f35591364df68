// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Prometheus text format 0.0.4 as upstream's servers write it. prometheus-cpp's TextSerializer
// is not used: it cuts numbers to 16 digits, which changes bucket bounds such as
// 1.5000000000000002e-05, and puts _count and _sum before the buckets.
//
// Upstream: docs/spec/metrics.md 1.2.

#include <prometheus/metric_family.h>

#include <string>
#include <string_view>
#include <vector>

namespace ks::metrics {

// The shortest text that reads back to the same number, in exponent form below 1e-4 and from 1e+06
// on: "65389", "1.048576e+06", "1e-05"; "+Inf", "-Inf", "NaN".
std::string FormatNumber(double value);

// The lines before a family's samples. Counters, gauges and histograms only.
void AppendTextHead(std::string* out, std::string_view name, std::string_view help,
                    prometheus::MetricType type);
// The lines of one series, labels in the order given, `le` behind them.
void AppendTextSeries(std::string* out, std::string_view name, prometheus::MetricType type,
                      const prometheus::ClientMetric& metric);

// Families, series and labels in the order given.
std::string FormatText(const std::vector<prometheus::MetricFamily>& families);

}  // namespace ks::metrics
