// SPDX-License-Identifier: Apache-2.0
#include "metrics/text_format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "golang/utf8.h"

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

// Readers refuse a whole page for one text that is not UTF-8.
void AppendEscaped(std::string* out, std::string_view text, bool in_quotes) {
  if (!golang::IsUtf8(text)) {
    AppendEscaped(out, golang::ToUtf8(text), in_quotes);
    return;
  }
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
void AppendSample(std::string* out, std::string_view name, std::string_view suffix,
                  const Labels& labels, double value, const double* bound = nullptr) {
  *out += name;
  *out += suffix;
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

void AppendHistogram(std::string* out, std::string_view name,
                     const prometheus::ClientMetric& metric) {
  const auto& histogram = metric.histogram;
  const auto count = static_cast<double>(histogram.sample_count);
  for (const auto& bucket : histogram.bucket) {
    if (std::isinf(bucket.upper_bound)) continue;
    AppendSample(out, name, "_bucket", metric.label, static_cast<double>(bucket.cumulative_count),
                 &bucket.upper_bound);
  }
  AppendSample(out, name, "_bucket", metric.label, count, &kInfinity);
  AppendSample(out, name, "_sum", metric.label, histogram.sample_sum);
  AppendSample(out, name, "_count", metric.label, count);
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

void AppendTextHead(std::string* out, std::string_view name, std::string_view help,
                    prometheus::MetricType type) {
  out->append("# HELP ").append(name).append(" ");
  AppendEscaped(out, help, false);
  out->append("\n# TYPE ").append(name).append(" ").append(TypeName(type)).append("\n");
}

void AppendTextSeries(std::string* out, std::string_view name, prometheus::MetricType type,
                      const prometheus::ClientMetric& metric) {
  switch (type) {
    case prometheus::MetricType::Counter:
      AppendSample(out, name, "", metric.label, metric.counter.value);
      break;
    case prometheus::MetricType::Histogram:
      AppendHistogram(out, name, metric);
      break;
    default:
      AppendSample(out, name, "", metric.label, metric.gauge.value);
      break;
  }
}

std::string FormatText(const std::vector<prometheus::MetricFamily>& families) {
  std::string out;
  for (const prometheus::MetricFamily& family : families) {
    AppendTextHead(&out, family.name, family.help, family.type);
    for (const auto& metric : family.metric) {
      AppendTextSeries(&out, family.name, family.type, metric);
    }
  }
  return out;
}

}  // namespace ks::metrics
