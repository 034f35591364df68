// SPDX-License-Identifier: Apache-2.0
// docs/spec/metrics.md 1.2: which format, and the binary one.
#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <string>

#include "metrics/negotiation.h"
#include "metrics/process_metrics.h"
#include "metrics/protobuf_format.h"
#include "metrics/registry.h"
#include "testing/sanitized.h"

namespace ks::metrics {
namespace {

TEST(NegotiateTest, ContentTypes) {
  const std::string text = "text/plain; version=0.0.4; charset=utf-8; escaping=";
  const std::string protobuf =
      "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
      "encoding=delimited; escaping=";
  struct Case {
    const char* name;
    const char* accept;
    std::string want;
  };
  const Case cases[] = {
      {"absent", "", text + "underscores"},
      {"anything", "*/*", text + "underscores"},
      {"html", "text/html", text + "underscores"},
      {"OpenMetrics is not offered", "application/openmetrics-text;version=1.0.0",
       text + "underscores"},
      {"escaping asked for", "text/plain;version=0.0.4;escaping=allow-utf-8", text + "allow-utf-8"},
      {"unknown escaping", "text/plain;escaping=runes", text + "underscores"},
      {"protobuf",
       "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
       protobuf + "underscores"},
      {"another message",
       "application/vnd.google.protobuf;proto=io.prometheus.client.Metric;encoding=delimited",
       text + "underscores"},
      {"protobuf as text",
       "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text",
       text + "underscores"},
      {"the better of two",
       "text/plain;version=0.0.4;q=0.3,application/vnd.google.protobuf;"
       "proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6",
       protobuf + "underscores"},
      {"as Prometheus 3 asks",
       "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
       "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;"
       "escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
       text + "allow-utf-8"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Exposition answer = Negotiate(c.accept);
    EXPECT_EQ(answer.content_type, c.want);
    EXPECT_EQ(answer.protobuf, c.want.starts_with("application/"));
  }
}

TEST(NegotiateTest, Gzip) {
  EXPECT_FALSE(AcceptsGzip(""));
  EXPECT_TRUE(AcceptsGzip("gzip"));
  EXPECT_TRUE(AcceptsGzip("deflate, gzip;q=0.5"));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0"));
  EXPECT_FALSE(AcceptsGzip("zstd, br"));

  const std::string text(100000, 'x');
  const auto packed = Gzip(text);
  ASSERT_TRUE(packed.has_value());
  EXPECT_LT(packed->size(), 2000U);
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string unpacked(text.size() + 1, '\0');
  std::string input = *packed;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
  stream.avail_out = static_cast<uInt>(unpacked.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  unpacked.resize(stream.total_out);
  inflateEnd(&stream);
  EXPECT_EQ(unpacked, text);
}

// Reads the wire format.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
  double Fixed() {
    double value = 0;
    std::string(rest_.substr(0, 8)).copy(reinterpret_cast<char*>(&value), 8);
    rest_.remove_prefix(8);
    return value;
  }
  std::string_view Bytes() {
    const size_t size = Varint();
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// "field:value field:{message}". Bytes are a message but at the paths of texts.
std::string Shown(std::string_view message, const std::string& path) {
  // name, help, label name, label value
  const std::string texts = " .1 .2 .4.1.1 .4.1.2 ";
  WireReader reader(message);
  std::string text;
  while (!reader.AtEnd()) {
    const uint64_t tag = reader.Varint();
    const std::string field = path + "." + std::to_string(tag >> 3);
    if (!text.empty()) text += ' ';
    text += std::to_string(tag >> 3) + ":";
    if ((tag & 7) == 0) {
      text += std::to_string(reader.Varint());
    } else if ((tag & 7) == 1) {
      text += std::to_string(reader.Fixed());
    } else {
      const std::string_view bytes = reader.Bytes();
      text += texts.find(" " + field + " ") != std::string::npos ? std::string(bytes)
                                                                 : "{" + Shown(bytes, field) + "}";
    }
  }
  return text;
}

TEST(ProtobufTest, DelimitedFamilies) {
  Registry registry;
  registry.AddCounter({.name = "a_total", .help = "A."}).Add({{"l", "v"}}).Increment(3);
  registry.AddGauge({.name = "b", .help = "B."}).Add({}).Set(-1.5);
  auto& histogram =
      registry.AddHistogram({.name = "c", .help = "C."}).Add({}, std::vector<double>{0.5});
  histogram.Observe(0.25);
  histogram.Observe(200);
  const std::string message = FormatProtobuf(registry.Collect());
  WireReader families(message);
  EXPECT_EQ(Shown(families.Bytes(), ""),
            "1:a_total 2:[ALPHA] A. 3:0 4:{1:{1:l 2:v} 3:{1:3.000000}}");
  EXPECT_EQ(Shown(families.Bytes(), ""), "1:b 2:[ALPHA] B. 3:1 4:{2:{1:-1.500000}}");
  EXPECT_EQ(Shown(families.Bytes(), ""),
            "1:c 2:[ALPHA] C. 3:4 4:{7:{1:2 2:200.250000 3:{1:1 2:0.500000}}}");
  EXPECT_TRUE(families.AtEnd());
}

TEST(ProcessMetricsTest, FiguresOfThisProcess) {
  Registry registry;
  const ProcessMetrics metrics(registry);
  std::map<std::string, double> values;
  for (const auto& family : registry.Collect()) {
    EXPECT_EQ(family.metric.size(), 1U) << family.name;
    values[family.name] = family.type == prometheus::MetricType::Counter
                              ? family.metric[0].counter.value
                              : family.metric[0].gauge.value;
  }
  EXPECT_GE(values["process_cpu_seconds_total"], 0);
  EXPECT_GE(values["process_open_fds"], 3);
  EXPECT_GE(values["process_max_fds"], values["process_open_fds"]);
  EXPECT_GT(values["process_resident_memory_bytes"], 1e5);
  EXPECT_GT(values["process_virtual_memory_bytes"], values["process_resident_memory_bytes"]);
  EXPECT_GT(values["process_virtual_memory_max_bytes"], values["process_virtual_memory_bytes"]);
  EXPECT_EQ(values["process_start_time_seconds"], ProcessStartSeconds());
  EXPECT_GT(ProcessStartSeconds(), 1.6e9);
  EXPECT_TRUE(values.contains("process_network_receive_bytes_total"));
  EXPECT_TRUE(values.contains("process_network_transmit_bytes_total"));
  EXPECT_GE(values["kubesched_threads"], 1);
  if (!ks::testing::kSanitized) {  // a sanitizer has its own allocator
    EXPECT_GT(values["kubesched_allocator_used_bytes"], 0);
  }
  EXPECT_EQ(registry.Text().find("# HELP process_open_fds ["), std::string::npos) << "no bracket";
}

TEST(ProcessMetricsTest, StartTimeOfTheHealthPage) {
  Registry registry;
  ShowStartTime(registry);
  EXPECT_NE(registry.Text().find("# HELP process_start_time_seconds [ALPHA] "), std::string::npos);
  EXPECT_NE(registry.Text().find("\nprocess_start_time_seconds 1."), std::string::npos);
}

}  // namespace
}  // namespace ks::metrics
