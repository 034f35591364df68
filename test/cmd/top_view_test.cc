// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/live/top_view.h"

#include <gtest/gtest.h>

#include <string>

namespace ks::ctl {
namespace {

constexpr const char* kQueue = R"({"standby":false,"identity":"host_1",
  "counts":{"active":3,"backoff":1,"inFlight":0,"waiting":0,"binding":2,"unschedulable":4,"gated":0},
  "rejectedBy":[{"plugin":"NodeResourcesFit","pods":4}],"matching":10,"pods":[]})";

std::string Metrics(int scheduled, int below, int all) {
  return "# HELP scheduler_schedule_attempts_total x\n"
         "scheduler_schedule_attempts_total{profile=\"a\",result=\"scheduled\"} " +
         std::to_string(scheduled) +
         "\n"
         "scheduler_schedule_attempts_total{profile=\"b\",result=\"scheduled\"} 10\n"
         "scheduler_schedule_attempts_total{profile=\"a\",result=\"unschedulable\"} 4\n"
         "scheduler_scheduling_attempt_duration_seconds_bucket{le=\"0.001\"} " +
         std::to_string(below) +
         "\n"
         "scheduler_scheduling_attempt_duration_seconds_bucket{le=\"0.002\"} " +
         std::to_string(all) +
         "\n"
         "scheduler_scheduling_attempt_duration_seconds_bucket{le=\"+Inf\"} " +
         std::to_string(all) +
         "\n"
         "scheduler_plugin_execution_duration_seconds_sum{plugin=\"A\",extension_point=\"Filter\"} "
         "0.5\n"
         "scheduler_plugin_execution_duration_seconds_count{plugin=\"A\",extension_point="
         "\"Filter\"} 100\n";
}

std::string Text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(Top, RatesAreThoseBetweenTwoLooks) {
  TopSample before = ReadTopSample(kQueue, Metrics(90, 0, 0)).value();
  TopSample now = ReadTopSample(kQueue, Metrics(190, 50, 100)).value();
  now.daemon = "pod kube-system/kubesched-1";
  now.time = before.time + std::chrono::seconds(2);
  EXPECT_EQ(Text(TopLines(now, &before)), R"(kubesched pod kube-system/kubesched-1: leader host_1

QUEUE          PODS
active            3
backoff           1
inFlight          0
waiting           0
binding           2
unschedulable     4
gated             0

ATTEMPTS         RATE
scheduled      50.0/s
unschedulable   0.0/s

LATENCY      COUNT     P50     P90     P99
attempt        100  1.0 ms  1.8 ms  2.0 ms
pod to node      0       -       -       -

REJECTING PLUGIN  PENDING PODS
NodeResourcesFit             4
)");
}

TEST(Top, TheFirstLookCountsFromTheStart) {
  TopSample now = ReadTopSample(kQueue, Metrics(190, 50, 100)).value();
  const std::string text = Text(TopLines(now, nullptr));
  EXPECT_NE(text.find("ATTEMPTS       SINCE START\nscheduled              200\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find("SLOWEST PLUGIN  CALLS SAMPLED    MEAN\nA/Filter                  100  5.0 ms"),
      std::string::npos)
      << text;
}

TEST(Top, ARestartIsNoNegativeRate) {
  TopSample before = ReadTopSample(kQueue, Metrics(190, 50, 100)).value();
  TopSample now = ReadTopSample(kQueue, Metrics(5, 1, 2)).value();
  now.time = before.time + std::chrono::seconds(1);
  EXPECT_NE(Text(TopLines(now, &before)).find("scheduled      15.0/s"), std::string::npos);
}

TEST(Top, Json) {
  TopSample now = ReadTopSample(kQueue, "").value();
  now.note = "forbidden";
  EXPECT_EQ(TopJson(now, nullptr),
            R"({"time":"1970-01-01T00:00:00.000000Z","daemon":"","standby":false,)"
            R"("identity":"host_1","note":"forbidden","queue":{"active":3,"backoff":1,)"
            R"("inFlight":0,"waiting":0,"binding":2,"unschedulable":4,"gated":0},)"
            R"("latencySeconds":{"attempt":{"count":0.0},"podToNode":{"count":0.0}},)"
            R"("rejectedBy":[{"plugin":"NodeResourcesFit","pods":4}],"slowestPlugins":[]})");
}

TEST(Top, AnAnswerOfSomebodyElseIsRefused) {
  EXPECT_FALSE(ReadTopSample("<html>", "").ok());
  EXPECT_FALSE(ReadTopSample(R"({"counts":3})", "").ok());
}

TEST(MetricsText, Lines) {
  const auto samples = ParseMetrics(
      "# TYPE a counter\n\na 1\nb{x=\"1\",y=\"q\\\"\\\\\\n,}\"} 2.5 1700000000\nbroken{x=\"1\n{ 3\n"
      "c{} +Inf\n");
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples[0].name, "a");
  EXPECT_EQ(samples[0].value, 1);
  EXPECT_EQ(samples[1].Label("y"), "q\"\\\n,}");
  EXPECT_EQ(samples[1].Label("z"), "");
  EXPECT_EQ(samples[1].value, 2.5);
  EXPECT_EQ(samples[2].name, "c");
}

TEST(MetricsText, Quantiles) {
  const auto samples = ParseMetrics(
      "h_bucket{le=\"1\"} 10\nh_bucket{le=\"2\"} 30\nh_bucket{le=\"+Inf\"} 40\n"
      "h_bucket{le=\"1\",x=\"2\"} 0\nh_bucket{le=\"2\",x=\"2\"} 0\nh_bucket{le=\"+Inf\",x=\"2\"} "
      "0\n");
  const HistogramCounts counts = HistogramCounts::Of(samples, "h");
  EXPECT_EQ(counts.count(), 40);
  EXPECT_DOUBLE_EQ(*counts.Quantile(0.25), 1);
  EXPECT_DOUBLE_EQ(*counts.Quantile(0.5), 1.5);
  EXPECT_DOUBLE_EQ(*counts.Quantile(0.99), 2) << "beyond the last bound";
  EXPECT_FALSE(HistogramCounts::Of(samples, "other").Quantile(0.5).has_value());
  EXPECT_EQ(counts.Since(counts).count(), 0);
}

TEST(TopView, PartsThatOnlyGroupsOfPodsHave) {
  const auto sample = ReadTopSample(R"({"counts":{"active":1,"incomplete":2,"pending":3}})", "");
  ASSERT_TRUE(sample.ok());
  const auto& queue = sample->queue;
  ASSERT_GE(queue.size(), 2U);
  EXPECT_EQ(queue[queue.size() - 2], (std::pair<std::string, int64_t>("incomplete", 2)));
  EXPECT_EQ(queue.back(), (std::pair<std::string, int64_t>("pending", 3)));
  const auto without = ReadTopSample(R"({"counts":{"active":1}})", "");
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without->queue.size(), queue.size() - 2);
}

}  // namespace
}  // namespace ks::ctl
