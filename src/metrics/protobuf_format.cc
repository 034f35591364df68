// SPDX-License-Identifier: Apache-2.0
#include "metrics/protobuf_format.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "golang/utf8.h"

namespace ks::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

// Wire types.
constexpr uint32_t kVarint = 0;
constexpr uint32_t kFixed64 = 1;
constexpr uint32_t kLength = 2;

void AppendVarint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out += static_cast<char>(value | 0x80);
  *out += static_cast<char>(value);
}

void AppendTag(std::string* out, uint32_t field, uint32_t wire_type) {
  AppendVarint(out, field << 3 | wire_type);
}

void AppendUnsigned(std::string* out, uint32_t field, uint64_t value) {
  AppendTag(out, field, kVarint);
  AppendVarint(out, value);
}

void AppendDouble(std::string* out, uint32_t field, double value) {
  AppendTag(out, field, kFixed64);
  auto bits = std::bit_cast<uint64_t>(value);
  for (int byte = 0; byte < 8; ++byte, bits >>= 8) *out += static_cast<char>(bits & 0xff);
}

void AppendBytes(std::string* out, uint32_t field, std::string_view bytes) {
  AppendTag(out, field, kLength);
  AppendVarint(out, bytes.size());
  *out += bytes;
}

// Readers refuse a whole family for one text that is not UTF-8.
void AppendText(std::string* out, uint32_t field, std::string_view text) {
  if (golang::IsUtf8(text)) {
    AppendBytes(out, field, text);
  } else {
    AppendBytes(out, field, golang::ToUtf8(text));
  }
}

// The number of the type in MetricType, and of its value's field in Metric.
struct TypeNumbers {
  uint64_t type;
  uint32_t field;
};
TypeNumbers NumbersOf(MetricType type) {
  if (type == MetricType::Counter) return {.type = 0, .field = 3};
  if (type == MetricType::Histogram) return {.type = 4, .field = 7};
  return {.type = 1, .field = 2};
}

std::string HistogramMessage(const ClientMetric::Histogram& histogram) {
  std::string message;
  AppendUnsigned(&message, 1, histogram.sample_count);
  AppendDouble(&message, 2, histogram.sample_sum);
  for (const auto& bucket : histogram.bucket) {
    if (std::isinf(bucket.upper_bound)) continue;  // readers take the count for it
    std::string entry;
    AppendUnsigned(&entry, 1, bucket.cumulative_count);
    AppendDouble(&entry, 2, bucket.upper_bound);
    AppendBytes(&message, 3, entry);
  }
  return message;
}

std::string ValueMessage(MetricType type, const ClientMetric& metric) {
  if (type == MetricType::Histogram) return HistogramMessage(metric.histogram);
  std::string message;
  AppendDouble(&message, 1,
               type == MetricType::Counter ? metric.counter.value : metric.gauge.value);
  return message;
}

}  // namespace

ProtobufFamily::ProtobufFamily(std::string_view name, std::string_view help, MetricType type)
    : type_(type) {
  AppendBytes(&message_, 1, name);
  AppendText(&message_, 2, help);
  AppendUnsigned(&message_, 3, NumbersOf(type).type);
}

void ProtobufFamily::Add(const ClientMetric& metric) {
  std::string message;
  for (const auto& label : metric.label) {
    std::string pair;
    AppendBytes(&pair, 1, label.name);
    AppendText(&pair, 2, label.value);
    AppendBytes(&message, 1, pair);
  }
  AppendBytes(&message, NumbersOf(type_).field, ValueMessage(type_, metric));
  AppendBytes(&message_, 4, message);
}

void ProtobufFamily::Finish(std::string* out) const {
  AppendVarint(out, message_.size());
  *out += message_;
}

std::string FormatProtobuf(const std::vector<prometheus::MetricFamily>& families) {
  std::string out;
  for (const prometheus::MetricFamily& family : families) {
    ProtobufFamily message(family.name, family.help, family.type);
    for (const ClientMetric& metric : family.metric) message.Add(metric);
    message.Finish(&out);
  }
  return out;
}

}  // namespace ks::metrics
