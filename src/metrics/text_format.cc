// SPDX-License-Identifier: Apache-2.0
#include "metrics/text_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace ks::metrics {
namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string_view TypeName(prometheus::MetricType type) {
  switch (type) {
    case prometheus::MetricType::Counter:
      return "counter";
    case prometheus::MetricType::Gauge:
      return "gauge";
    case prometheus::MetricType::Histogram:
      return "histogram";
    default:
      return "untyped";
  }
}

void AppendEscaped(std::string* out, std::string_view text, bool in_quotes) {
  for (const char c : text) {
    if (c == '\n') {
      *out += "\\n";
      continue;
    }
    if (c == '\\' || (in_quotes && c == '"')) *out += '\\';
    *out += c;
  }
}

void AppendLabel(std::string* out, char before, std::string_view name, std::string_view value) {
  *out += before;
  *out += name;
  *out += "=\"";
  AppendEscaped(out, value, true);
  *out += '"';
}

// One line. `bound` is the `le` label of a bucket.
void AppendSample(std::string* out, const std::string& name, const Labels& labels, double value,
                  const double* bound = nullptr) {
  *out += name;
  char before = '{';
  for (const auto& label : labels) {
    AppendLabel(out, before, label.name, label.value);
    before = ',';
  }
  if (bound != nullptr) {
    AppendLabel(out, before, "le", FormatNumber(*bound));
    before = ',';
  }
  if (before == ',') *out += '}';
  *out += ' ';
  *out += FormatNumber(value);
  *out += '\n';
}

void AppendHistogram(std::string* out, const std::string& name,
                     const prometheus::ClientMetric& metric) {
  const auto& histogram = metric.histogram;
  const auto count = static_cast<double>(histogram.sample_count);
  const std::string bucket_name = name + "_bucket";
  for (const auto& bucket : histogram.bucket) {
    if (std::isinf(bucket.upper_bound)) continue;
    AppendSample(out, bucket_name, metric.label, static_cast<double>(bucket.cumulative_count),
                 &bucket.upper_bound);
  }
  AppendSample(out, bucket_name, metric.label, count, &kInfinity);
  AppendSample(out, name + "_sum", metric.label, histogram.sample_sum);
  AppendSample(out, name + "_count", metric.label, count);
}

void AppendFamily(std::string* out, prometheus::MetricFamily* family) {
  if (family->metric.empty()) return;
  for (auto& metric : family->metric) std::sort(metric.label.begin(), metric.label.end());
  std::sort(family->metric.begin(), family->metric.end(),
            [](const auto& a, const auto& b) { return a.label < b.label; });
  *out += "# HELP " + family->name + " ";
  AppendEscaped(out, family->help, false);
  *out += "\n# TYPE " + family->name + " ";
  *out += TypeName(family->type);
  *out += '\n';
  for (const auto& metric : family->metric) {
    switch (family->type) {
      case prometheus::MetricType::Counter:
        AppendSample(out, family->name, metric.label, metric.counter.value);
        break;
      case prometheus::MetricType::Histogram:
        AppendHistogram(out, family->name, metric);
        break;
      default:
        AppendSample(out, family->name, metric.label, metric.gauge.value);
        break;
    }
  }
}

}  // namespace

std::string FormatNumber(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  const double magnitude = std::fabs(value);
  const bool exponent = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e6);
  std::array<char, 40> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    exponent ? std::chars_format::scientific : std::chars_format::fixed);
  return error == std::errc() ? std::string(buffer.data(), end) : std::string("NaN");
}

std::string FormatText(std::vector<prometheus::MetricFamily> families) {
  std::sort(families.begin(), families.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string out;
  for (prometheus::MetricFamily& family : families) AppendFamily(&out, &family);
  return out;
}

}  // namespace ks::metrics
