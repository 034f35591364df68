// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Prometheus text format 0.0.4 as upstream's servers write it. prometheus-cpp's TextSerializer
// is not used: it cuts numbers to 16 digits, which changes bucket bounds such as
// 1.5000000000000002e-05, and puts _count and _sum before the buckets.
//
// Upstream: docs/spec/metrics.md 1.2.

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace ks::metrics {

// The shortest text that reads back to the same number, in exponent form below 1e-4 and from 1e+06
// on: "65389", "1.048576e+06", "1e-05"; "+Inf", "-Inf", "NaN".
std::string FormatNumber(double value);

// Families by name, series by their label values, labels by name with `le` last. Families without
// series are left out. Counters, gauges and histograms only.
std::string FormatText(std::vector<prometheus::MetricFamily> families);

}  // namespace ks::metrics
