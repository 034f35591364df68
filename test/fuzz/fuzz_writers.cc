// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_writers.h"

#include <algorithm>
#include <chrono>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <vector>

#include "fuzz/script.h"
#include "golang/utf8.h"
#include "metrics/protobuf_format.h"
#include "metrics/text_format.h"
#include "testing/otlp_decoder.h"
#include "tracing/otlp_encoding.h"

namespace ks::fuzz {

namespace {

// What is left of a text where only UTF-8 may go.
std::string AsUtf8(std::string_view text) { return golang::ToUtf8(text); }

tracing::Span MakeSpan(Script& script) {
  tracing::Span span;
  span.context = {.trace = {script.Number() | 1, script.Number()}, .span = script.Number() | 1};
  span.parent = script.Byte() % 2 == 0 ? 0 : script.Number() | 1;
  span.name = "n" + std::string(script.Text());
  span.start = TimePoint(std::chrono::nanoseconds(1 + (script.Number() >> 4)));
  span.end = span.start + std::chrono::nanoseconds(script.Byte());
  if (script.Byte() % 2 == 0) span.Add("text", std::string(script.Text()));
  if (script.Byte() % 2 == 0) span.Add("number", static_cast<int64_t>(script.Number()));
  if (script.Byte() % 4 == 0) {
    span.links.push_back({.to = {.trace = {1, script.Number()}, .span = script.Number() | 1},
                          .attributes = {{"why", std::string(script.Text())}}});
  }
  span.failed = script.Byte() % 2 == 0;
  if (span.failed) span.message = script.Text();
  return span;
}

// A strict collector takes it, and reads what was written.
std::string WhyMisread(const std::vector<tracing::Span>& spans) {
  const testing::OtlpRequest read = testing::DecodeOtlp(
      tracing::EncodeTraces({.attributes = {{"service.name", std::string("kubesched")}},
                             .scope_name = "s",
                             .scope_version = "1"},
                            spans));
  if (!read.fault.empty()) return "a collector refuses it: " + read.fault;
  if (read.spans.size() != spans.size()) return "spans are missing";
  for (size_t i = 0; i < spans.size(); ++i) {
    const tracing::Span& meant = spans[i];
    const testing::OtlpSpan& seen = read.spans[i];
    if (seen.name != AsUtf8(meant.name)) return "another name";
    if (seen.failed != meant.failed || seen.message != AsUtf8(meant.message)) {
      return "another failure";
    }
    if (seen.links.size() != meant.links.size()) return "links are missing";
    for (const tracing::Attribute& attribute : meant.attributes) {
      const std::string value =
          attribute.is_number ? std::to_string(attribute.number) : AsUtf8(attribute.text);
      if (seen.Get(std::string(attribute.key)) != value) return "another attribute";
    }
  }
  return "";
}

}  // namespace

std::string RunOtlp(std::string_view input) {
  tracing::DecodeAnswer(input);
  Script script(input);
  std::vector<tracing::Span> spans;
  while (!script.over() && spans.size() < 16) spans.push_back(MakeSpan(script));
  return spans.empty() ? "" : WhyMisread(spans);
}

namespace {

// One line of the text format, up to the value.
struct Sample {
  std::string name;
  std::vector<std::string> values;  // of its labels
};

// Strict: names as Prometheus allows them, quoted values with its three escapes. False: no sample.
bool ReadSample(std::string_view line, Sample* sample) {
  const size_t name_end = line.find_first_of("{ ");
  if (name_end == std::string_view::npos) return false;
  sample->name = line.substr(0, name_end);
  line.remove_prefix(name_end);
  while (line[0] == '{' || line[0] == ',') {
    const size_t quote = line.find("=\"");
    if (quote == std::string_view::npos) return false;
    line.remove_prefix(quote + 2);
    std::string& value = sample->values.emplace_back();
    while (!line.empty() && line[0] != '"') {
      if (line[0] == '\\') {
        line.remove_prefix(1);
        if (line.empty()) return false;
        if (line[0] != 'n' && line[0] != '\\' && line[0] != '"') return false;
        value += line[0] == 'n' ? '\n' : line[0];
      } else {
        value += line[0];
      }
      line.remove_prefix(1);
    }
    if (line.size() < 2) return false;
    line.remove_prefix(1);
  }
  if (line[0] == '}') line.remove_prefix(1);
  return line.size() > 1 && line[0] == ' ' && line.find(' ', 1) == std::string_view::npos;
}

using Families = std::vector<prometheus::MetricFamily>;

// Each line is a comment or a sample, and the samples have the labels of their metrics in order.
std::string WhyTextIsMisread(const Families& families) {
  std::string_view text;
  const std::string written = metrics::FormatText(families);
  text = written;
  for (const prometheus::MetricFamily& family : families) {
    for (int comments = 0; comments < 2; ++comments) {
      if (!text.starts_with("# ")) return "a comment is missing:\n" + written;
      text.remove_prefix(text.find('\n') + 1);
    }
    for (const prometheus::ClientMetric& metric : family.metric) {
      const size_t end = text.find('\n');
      Sample sample;
      if (end == std::string_view::npos || !ReadSample(text.substr(0, end), &sample)) {
        return "no sample:\n" + written;
      }
      text.remove_prefix(end + 1);
      if (sample.name != family.name) return "a sample of another metric:\n" + written;
      if (sample.values.size() != metric.label.size()) return "labels are missing:\n" + written;
      for (size_t i = 0; i < metric.label.size(); ++i) {
        if (sample.values[i] != AsUtf8(metric.label[i].value)) return "another label:\n" + written;
      }
    }
  }
  return text.empty() ? "" : "more than was meant:\n" + written;
}

// The length in front of each family is right, and each is a message with its name and its metrics.
std::string WhyProtobufIsMisread(const Families& families) try {
  const std::string written = metrics::FormatProtobuf(families);
  const char* at = written.data();
  const char* const end = at + written.size();
  for (const prometheus::MetricFamily& family : families) {
    const uint64_t length = protozero::decode_varint(&at, end);
    if (length > static_cast<uint64_t>(end - at)) return "a length beyond the end";
    protozero::pbf_reader message(at, length);
    at += length;
    size_t count = 0;
    while (message.next()) {
      if (message.tag() == 4) ++count;
      if (message.tag() != 1) {
        message.skip();
      } else if (message.get_string() != family.name) {
        return "another name";
      }
    }
    if (count != family.metric.size()) return "metrics are missing";
  }
  return at == end ? "" : "more than was meant";
} catch (const protozero::exception& error) {
  return std::string("no message: ") + error.what();
}

}  // namespace

std::string RunMetrics(std::string_view input) {
  Script script(input);
  Families families;
  while (!script.over() && families.size() < 8) {
    prometheus::MetricFamily& family = families.emplace_back();
    family.name = "family_" + std::to_string(families.size());
    family.help = script.Text();
    family.type = prometheus::MetricType::Gauge;
    for (int i = script.Byte() % 4; i >= 0; --i) {
      prometheus::ClientMetric& metric = family.metric.emplace_back();
      for (int labels = script.Byte() % 3; labels > 0; --labels) {
        metric.label.push_back({"label_" + std::to_string(labels), std::string(script.Text())});
      }
      metric.gauge.value = static_cast<double>(script.Number());
    }
  }
  std::string wrong = WhyTextIsMisread(families);
  return wrong.empty() ? WhyProtobufIsMisread(families) : wrong;
}

}  // namespace ks::fuzz
