// SPDX-License-Identifier: Apache-2.0
// docs/spec/metrics.md section 4: requests, watches, informers, and kubesched's own of the writer.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "client/fake_transport.h"
#include "client/http/connection_metrics.h"
#include "client/rest/rest_metrics.h"
#include "client/watch/informer_metrics.h"
#include "client/write/writer_metrics.h"
#include "testing/fake_clock.h"

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

// What is unlabeled is there from the start, what has labels comes with its first use.
TEST(ConnectionMetricsTest, AtStart) {
  metrics::Registry registry;
  const ConnectionMetrics metrics(registry);
  EXPECT_EQ(
      Samples(registry, "rest_client_"),
      (Lines{"rest_client_exec_plugin_certificate_rotation_age_sum 0",
             "rest_client_exec_plugin_certificate_rotation_age_count 0",
             "rest_client_exec_plugin_ttl_seconds +Inf", "rest_client_transport_cache_entries 0"}));
}

TEST(ConnectionMetricsTest, Connections) {
  metrics::Registry registry;
  ConnectionMetrics metrics(registry);
  metrics.Made();
  metrics.Made();
  for (int i = 0; i < 3; ++i) metrics.Shared();
  metrics.Gone();
  EXPECT_EQ(Samples(registry, "rest_client_transport_"),
            (Lines{"rest_client_transport_cache_entries 1",
                   R"(rest_client_transport_create_calls_total{result="hit"} 3)",
                   R"(rest_client_transport_create_calls_total{result="miss"} 2)"}));
}

TEST(ConnectionMetricsTest, LabelsOfOutcomes) {
  metrics::Registry registry;
  ConnectionMetrics metrics(registry);
  using Status = ExecCall::Status;
  for (const ExecCall call :
       {ExecCall{}, ExecCall{Status::kExecutionError, 3}, ExecCall{Status::kExecutionError, -1},
        ExecCall{Status::kNotFound, 1}, ExecCall{Status::kClientError, 1}}) {
    metrics.CountExecCall(call);
  }
  const std::string calls = "rest_client_exec_plugin_call_total";
  EXPECT_EQ(Samples(registry, calls),
            (Lines{calls + R"({call_status="client_internal_error",code="1"} 1)",
                   calls + R"({call_status="no_error",code="0"} 1)",
                   calls + R"({call_status="plugin_execution_error",code="-1"} 1)",
                   calls + R"({call_status="plugin_execution_error",code="3"} 1)",
                   calls + R"({call_status="plugin_not_found_error",code="1"} 1)"}));
  for (const CaReload outcome : {CaReload::kUpdated, CaReload::kUnchanged, CaReload::kUnreadable,
                                 CaReload::kEmpty, CaReload::kUnusable}) {
    metrics.CountCaReload(outcome);
  }
  const std::string reloads = "rest_client_transport_ca_reload_total";
  EXPECT_EQ(Samples(registry, reloads),
            (Lines{reloads + R"({reason="ca_parse_error",result="failure"} 1)",
                   reloads + R"({reason="empty",result="failure"} 1)",
                   reloads + R"({reason="read_error",result="failure"} 1)",
                   reloads + R"({reason="unchanged",result="success"} 1)",
                   reloads + R"({reason="updated",result="success"} 1)"}));
}

TEST(ConnectionMetricsTest, TheEarliestCertificateOfAllLogins) {
  metrics::Registry registry;
  ks::testing::FakeClock clock;
  ConnectionMetrics metrics(registry, clock);
  const Lines unused{"rest_client_exec_plugin_ttl_seconds +Inf"};
  const auto left = [&] { return Samples(registry, "rest_client_exec_plugin_ttl_seconds"); };
  const int one = 0;
  const int two = 0;
  metrics.SetCertificateEnd(&one, clock.WallNow() + seconds(300));
  metrics.SetCertificateEnd(&two, clock.WallNow() + seconds(200));
  clock.Advance(seconds(50));
  EXPECT_EQ(left(), Lines{"rest_client_exec_plugin_ttl_seconds 150"}) << "of this moment";
  metrics.SetCertificateEnd(&two, std::nullopt);
  EXPECT_EQ(left(), Lines{"rest_client_exec_plugin_ttl_seconds 250"});
  clock.Advance(seconds(260));
  EXPECT_EQ(left(), Lines{"rest_client_exec_plugin_ttl_seconds -10"}) << "it has ended";
  metrics.SetCertificateEnd(&one, std::nullopt);
  EXPECT_EQ(left(), unused);
}

TEST(ConnectionMetricsTest, AgeOfReplacedCertificates) {
  metrics::Registry registry;
  ks::testing::FakeClock clock;
  ConnectionMetrics metrics(registry, clock);
  const TimePoint born = clock.WallNow();
  clock.Advance(seconds(1800));
  metrics.CertificateReplaced(born);
  const std::string name = "rest_client_exec_plugin_certificate_rotation_age";
  EXPECT_EQ(Samples(registry, name), (Lines{name + "_sum 1800", name + "_count 1"}));
  const std::string text = registry.Text();
  std::string bounds;
  for (size_t at = 0; (at = text.find(name + "_bucket{le=\"", at)) != std::string::npos;) {
    at += name.size() + 12;
    bounds += text.substr(at, text.find('"', at) - at) + " ";
  }
  EXPECT_EQ(bounds,
            "600 1800 3600 14400 86400 604800 2.592e+06 7.776e+06 1.5552e+07 3.1104e+07 "
            "1.24416e+08 +Inf ");
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
                    .claim_write_failures = 6,
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
                   R"(kubesched_api_write_failures_total{kind="claim"} 6)",
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
