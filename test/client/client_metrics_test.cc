// SPDX-License-Identifier: Apache-2.0
// docs/spec/metrics.md section 4: requests, watches, informers, and kubesched's own of the writer.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/fake_transport.h"
#include "client/informer_metrics.h"
#include "client/rest_metrics.h"
#include "client/writer_metrics.h"

namespace ks::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Lines = std::vector<std::string>;

// The samples whose names begin so, without buckets.
Lines Samples(const metrics::Registry& registry, const std::string& start) {
  Lines lines;
  const std::string text = registry.Text();
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.starts_with(start) && line.find("_bucket{") == std::string::npos) {
      lines.push_back(line);
    }
    at = end + 1;
  }
  return lines;
}

TEST(RestMetricsTest, HostsAsLabels) {
  metrics::Registry registry;
  RestMetrics rest(registry);
  HostMetrics& host = rest.For("https://h:2");
  EXPECT_EQ(&host, &rest.For("https://h:2/prefix"));
  host.CountRequest("PUT", 200);
  rest.For("https://k").CountRequest("PUT", 0);
  EXPECT_EQ(Samples(registry, "rest_client_requests_total"),
            (Lines{
                R"(rest_client_requests_total{code="200",host="h:2",method="PUT"} 1)",
                R"(rest_client_requests_total{code="<error>",host="k:443",method="PUT"} 1)",
            }));
}

class Sink final : public WatchSink {
 public:
  void OnOpened() override {}
  StreamSink::Flow OnData(std::string_view) override { return StreamSink::Flow::kContinue; }
  void OnEnd(std::optional<api::ApiError>) override {}
};

class RequestMetricsTest : public ::testing::Test {
 protected:
  metrics::Registry registry_;
  RestMetrics rest_{registry_};
  FakeNetwork net_;
  std::unique_ptr<RestClient> client_ =
      net_.Client({.qps = 10, .burst = 1, .metrics = &rest_.For("https://h:1")});
};

TEST_F(RequestMetricsTest, OneRequest) {
  client_->Send({.method = "POST", .target = "/x", .body = "12345"}, [](RestReply) {});
  net_.timers.Advance(milliseconds(30));
  net_.transport.Answer(0, 201, "{}");
  EXPECT_EQ(Samples(registry_, "rest_client_requests_total"),
            (Lines{R"(rest_client_requests_total{code="201",host="h:1",method="POST"} 1)"}));
  EXPECT_EQ(Samples(registry_, "rest_client_request_duration_seconds"),
            (Lines{R"(rest_client_request_duration_seconds_sum{host="h:1",verb="POST"} 0.03)",
                   R"(rest_client_request_duration_seconds_count{host="h:1",verb="POST"} 1)"}));
  EXPECT_EQ(Samples(registry_, "rest_client_request_size_bytes_sum"),
            (Lines{R"(rest_client_request_size_bytes_sum{host="h:1",verb="POST"} 5)"}));
  EXPECT_EQ(Samples(registry_, "rest_client_response_size_bytes_sum"),
            (Lines{R"(rest_client_response_size_bytes_sum{host="h:1",verb="POST"} 2)"}));
  EXPECT_EQ(Samples(registry_, "rest_client_request_retries_total"), Lines{});
}

TEST_F(RequestMetricsTest, RepetitionsAndFailures) {
  client_->Send({.method = "PUT", .target = "/x"}, [](RestReply) {});
  net_.transport.Answer(0, 429, StatusBody(429, "", "no"), "1");
  net_.timers.Advance(milliseconds(1100));  // what the server asks for, and the rate limit
  net_.transport.Fail(1, TransportError::Kind::kRefused);
  EXPECT_EQ(Samples(registry_, "rest_client_requests_total"),
            (Lines{R"(rest_client_requests_total{code="429",host="h:1",method="PUT"} 1)",
                   R"(rest_client_requests_total{code="<error>",host="h:1",method="PUT"} 1)"}));
  EXPECT_EQ(Samples(registry_, "rest_client_request_retries_total"),
            (Lines{R"(rest_client_request_retries_total{code="429",host="h:1",verb="PUT"} 1)"}));
  EXPECT_EQ(Samples(registry_, "rest_client_request_duration_seconds"), Lines{})
      << "no answer was whole";
}

TEST_F(RequestMetricsTest, RateLimit) {
  for (int i = 0; i < 2; ++i) client_->Send({.target = "/x"}, [](RestReply) {});
  EXPECT_EQ(Samples(registry_, "rest_client_rate_limiter_duration_seconds"),
            (Lines{R"(rest_client_rate_limiter_duration_seconds_sum{host="h:1",verb="GET"} 0.1)",
                   R"(rest_client_rate_limiter_duration_seconds_count{host="h:1",verb="GET"} 2)"}));
  net_.timers.Advance(seconds(1));
  net_.transport.Answer(0, 200, "{}");
  net_.transport.Answer(1, 200, "{}");
}

TEST_F(RequestMetricsTest, AWatchCountsWhenItOpensAndHasNoDuration) {
  client_->Watch({.target = "/watch"}, std::make_shared<Sink>());
  EXPECT_EQ(Samples(registry_, "rest_client_requests_total"), Lines{});
  net_.transport.Headers(0, 200);
  const Lines once{R"(rest_client_requests_total{code="200",host="h:1",method="GET"} 1)"};
  EXPECT_EQ(Samples(registry_, "rest_client_requests_total"), once);
  net_.transport.End(0);
  EXPECT_EQ(Samples(registry_, "rest_client_requests_total"), once);
  EXPECT_EQ(Samples(registry_, "rest_client_request_duration_seconds"), Lines{});

  client_->Watch({.target = "/watch"}, std::make_shared<Sink>());
  net_.transport.End(1, TransportError::Kind::kRefused);
  EXPECT_EQ(Samples(registry_, "rest_client_requests_total").size(), 2U) << "one <error>";
}

TEST(InformerMetricsTest, LabelsAndDigits) {
  metrics::Registry registry;
  InformerMetrics metrics(registry);
  InformerSeries& pods = metrics.For("/api/v1/pods", "Pod");
  EXPECT_EQ(&pods, &metrics.For("/api/v1/pods", "Pod"));
  metrics.For("/apis/storage.k8s.io/v1/storageclasses", "StorageClass").Seen("7");
  pods.Seen("912345678901234567");
  pods.Queued(3);
  pods.Processed(2, milliseconds(4));
  const std::string labels = R"({group="",name="kube-scheduler",resource="pods",version="v1"})";
  EXPECT_EQ(Samples(registry, "informer_queued_items").front(),
            "informer_queued_items" + labels + " 1");
  EXPECT_EQ(Samples(registry, "informer_processing_latency_seconds_sum").front(),
            "informer_processing_latency_seconds_sum" + labels + " 0.004");
  EXPECT_EQ(
      Samples(registry, "informer_store_resource_version"),
      (Lines{"informer_store_resource_version" + labels + " 3.45678901234567e+14",
             R"(informer_store_resource_version{group="storage.k8s.io",name="kube-scheduler",)"
             R"(resource="storageclasss",version="v1"} 7)"}));
  pods.Begin();
  EXPECT_EQ(Samples(registry, "informer_queued_items").front(),
            "informer_queued_items" + labels + " 0");
}

TEST(WriterMetricsTest, CountsOfOneWriterAddToThoseBefore) {
  metrics::Registry registry;
  WriterMetrics metrics(registry);
  WriterStats stats{.bind_failures = 2,
                    .volume_write_failures = 4,
                    .events_dropped = 5,
                    .patches_pending = 3};
  metrics.Watch([&stats] { return stats; });
  const std::string dropped = R"(kubesched_api_events_total{result="dropped"})";
  EXPECT_EQ(Samples(registry, dropped), (Lines{dropped + " 5"}));
  EXPECT_EQ(Samples(registry, dropped), (Lines{dropped + " 5"}));
  stats.events_dropped = 6;
  EXPECT_EQ(Samples(registry, dropped), (Lines{dropped + " 6"}));
  EXPECT_EQ(Samples(registry, "kubesched_api_write_failures_total"),
            (Lines{R"(kubesched_api_write_failures_total{kind="binding"} 2)",
                   R"(kubesched_api_write_failures_total{kind="eviction"} 0)",
                   R"(kubesched_api_write_failures_total{kind="status"} 0)",
                   R"(kubesched_api_write_failures_total{kind="volume"} 4)"}));
  EXPECT_EQ(Samples(registry, "kubesched_api_writes_pending"),
            (Lines{R"(kubesched_api_writes_pending{kind="binding"} 0)",
                   R"(kubesched_api_writes_pending{kind="event"} 0)",
                   R"(kubesched_api_writes_pending{kind="status"} 3)"}));
  metrics.Watch([] { return WriterStats{.events_dropped = 1}; });
  EXPECT_EQ(Samples(registry, dropped), (Lines{dropped + " 7"}));
}

}  // namespace
}  // namespace ks::client
