// SPDX-License-Identifier: Apache-2.0
// docs/spec/metrics.md 3.1, 3.2, 3.5, 3.11 and 9.1 to 9.5 through a whole scheduler.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/preemption_rig.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using std::chrono::minutes;
using std::chrono::seconds;

// Samples by what stands before the value, buckets left out.
using Samples = std::map<std::string, std::string, std::less<>>;

// The pods of example 9.1 on three nodes of four CPUs.
std::vector<api::PodPtr> PodsOfExample91() {
  auto claiming = CpuPod("claiming", 0, "1");
  api::Volume volume;
  volume.name = "v";
  volume.source = api::Volume::Source::kPersistentVolumeClaim;
  volume.id = "missing";
  claiming.spec().volumes.push_back(volume);
  return {CpuPod("fits", 0, "1").Obj(), CpuPod("big", 0, "100").Obj(),
          CpuPod("gated", 0, "1").Gates({"example.com/g"}).Obj(), claiming.Obj()};
}

class MetricsTest : public ::testing::Test {
 public:
  explicit MetricsTest(Rig::Options options = {}) : rig_(std::move(options)) {}

  Samples Scrape() {
    rig_.scheduler->PublishMetrics();
    Samples samples;
    const std::string text = rig_.metrics_registry.Text();
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      if (line.starts_with("#") || line.find("_bucket{") != std::string::npos) continue;
      const size_t blank = line.rfind(' ');
      samples[line.substr(0, blank)] = line.substr(blank + 1);
    }
    return samples;
  }
  // "absent" where there is no such series.
  std::string Value(const std::string& series) {
    const Samples samples = Scrape();
    const auto it = samples.find(series);
    return it == samples.end() ? "absent" : it->second;
  }
  // The series of a family: "{labels} value" in order.
  std::vector<std::string> Family(const std::string& name) {
    std::vector<std::string> lines;
    for (const auto& [series, value] : Scrape()) {
      if (series.starts_with(name + "{")) lines.push_back(series.substr(name.size()) + " " + value);
    }
    return lines;
  }
  // The values of scheduler_pending_pods: active, backoff, gated, incomplete, pending,
  // unschedulable.
  std::string Pending() {
    std::string text;
    for (const std::string& line : Family("scheduler_pending_pods")) {
      text += line.substr(line.rfind(' ') + 1);
    }
    return text;
  }
  std::string Attempts(const std::string& result) {
    return Value("scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"" +
                 result + "\"}");
  }
  std::string Durations(const std::string& result) {
    return Value(
        "scheduler_scheduling_attempt_duration_seconds_count{profile=\"default-scheduler\","
        "result=\"" +
        result + "\"}");
  }
  std::string Incoming(const std::string& event, const std::string& queue) {
    return Value("scheduler_queue_incoming_pods_total{event=\"" + event + "\",queue=\"" + queue +
                 "\"}");
  }
  std::string Entities(const std::string& event, const std::string& queue) {
    return Value("scheduler_queue_incoming_entities_total{event=\"" + event + "\",queue=\"" +
                 queue + "\",type=\"pod\"}");
  }
  std::string Rejected(const std::string& plugin) {
    return Value("scheduler_unschedulable_pods{plugin=\"" + plugin +
                 "\",profile=\"default-scheduler\"}");
  }
  std::string Point(const std::string& point, const std::string& status) {
    return Value("scheduler_framework_extension_point_duration_seconds_count{extension_point=\"" +
                 point + "\",profile=\"default-scheduler\",status=\"" + status + "\"}");
  }

  PreemptionRig rig_;
};

// 3.11: what is there before any pod, and what is not.
TEST_F(MetricsTest, VisibleAtStart) {
  EXPECT_EQ(Pending(), "000000");
  EXPECT_EQ(Family("scheduler_cache_size"),
            (std::vector<std::string>{"{type=\"assumed_pods\"} 0", "{type=\"nodes\"} 0",
                                      "{type=\"pods\"} 0"}));
  for (const char* series :
       {"scheduler_pod_scheduled_after_flush_total", "scheduler_pod_scheduling_attempts_count",
        "scheduler_preemption_attempts_total", "scheduler_preemption_victims_count",
        "scheduler_scheduling_algorithm_duration_seconds_count"}) {
    EXPECT_EQ(Value(series), "0") << series;
  }
  for (const char* family : {"scheduler_schedule_attempts_total", "scheduler_unschedulable_pods",
                             "scheduler_goroutines", "scheduler_queued_entities",
                             "scheduler_inflight_events", "scheduler_queue_incoming_pods_total"}) {
    EXPECT_TRUE(Family(family).empty()) << family;
  }
}

TEST_F(MetricsTest, Example91PlacedTooBigGatedAndWithoutItsClaim) {
  rig_.Sync({CpuNode("n1", "4").Obj(), CpuNode("n2", "4").Obj(), CpuNode("n3", "4").Obj()});
  for (const api::PodPtr& pod : PodsOfExample91()) rig_.UpsertPod(pod);
  rig_.Settle();
  EXPECT_EQ(Attempts("scheduled"), "absent") << "counted when the binding is answered";
  EXPECT_EQ(Value("scheduler_goroutines{operation=\"binding\"}"), "1");
  rig_.Bind();

  EXPECT_EQ(Attempts("scheduled"), "1");
  EXPECT_EQ(Attempts("unschedulable"), "2");
  EXPECT_EQ(Attempts("error"), "absent");
  EXPECT_EQ(Durations("scheduled"), "1");
  EXPECT_EQ(Durations("unschedulable"), "2");
  EXPECT_EQ(Value("scheduler_scheduling_algorithm_duration_seconds_count"), "3");
  EXPECT_EQ(Value("scheduler_pod_scheduling_attempts_sum"), "1");
  EXPECT_EQ(Value("scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"1\"}"), "1");
  EXPECT_EQ(Family("scheduler_pending_pods"),
            (std::vector<std::string>{"{queue=\"active\"} 0", "{queue=\"backoff\"} 0",
                                      "{queue=\"gated\"} 1", "{queue=\"incomplete\"} 0",
                                      "{queue=\"pending\"} 0", "{queue=\"unschedulable\"} 2"}));
  EXPECT_EQ(Family("scheduler_queued_entities"),
            (std::vector<std::string>{"{queue=\"active\",type=\"pod\"} 0",
                                      "{queue=\"gated\",type=\"pod\"} 1",
                                      "{queue=\"unschedulable\",type=\"pod\"} 2"}));
  EXPECT_EQ(Incoming("UnscheduledPodAdd", "active"), "3");
  EXPECT_EQ(Incoming("UnscheduledPodAdd", "unschedulable"), "1");
  EXPECT_EQ(Incoming("ScheduleAttemptFailure", "unschedulable"), "2");
  EXPECT_EQ(Entities("UnscheduledPodAdd", "active"), "3");
  EXPECT_EQ(Entities("UnscheduledPodAdd", "unschedulable"), "1");
  EXPECT_EQ(Entities("ScheduleAttemptFailure", "unschedulable"), "absent");
  EXPECT_EQ(Rejected("NodeResourcesFit"), "1");
  EXPECT_EQ(Rejected("SchedulingGates"), "1");
  EXPECT_EQ(Rejected("VolumeRestrictions"), "1");
  EXPECT_EQ(Value("scheduler_preemption_attempts_total"), "1");
  EXPECT_EQ(Value("scheduler_inflight_events{event=\"PodPopped\"}"), "0");
  EXPECT_EQ(Value("scheduler_goroutines{operation=\"binding\"}"), "0");
  EXPECT_EQ(Value("scheduler_goroutines{operation=\"Filter\"}"), "0");
  EXPECT_EQ(Family("scheduler_cache_size"),
            (std::vector<std::string>{"{type=\"assumed_pods\"} 0", "{type=\"nodes\"} 3",
                                      "{type=\"pods\"} 1"}));

  EXPECT_EQ(Point("PreEnqueue", "Success"), "4");
  EXPECT_EQ(Point("PreFilter", "Success"), "2");
  EXPECT_EQ(Point("PreFilter", "UnschedulableAndUnresolvable"), "1");
  EXPECT_EQ(Point("Filter", "Success"), "2") << "also when no node fits";
  EXPECT_EQ(Point("PostFilter", "Unschedulable"), "1");
  for (const char* point :
       {"PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind"}) {
    EXPECT_EQ(Point(point, "Success"), "1") << point;
  }
  EXPECT_EQ(Point("PreBindPreFlight", "Skip"), "1");
}

class StandbyMetricsTest : public MetricsTest {
 public:
  StandbyMetricsTest() : MetricsTest({.standby = true}) {}
};

// A standby attempts nothing; of what the leader does it sees the binding. The lease's metric:
// test/process/metrics_test.cc.
TEST_F(StandbyMetricsTest, Example95ItsQueueFills) {
  rig_.Sync({CpuNode("n1", "4").Obj(), CpuNode("n2", "4").Obj(), CpuNode("n3", "4").Obj()});
  for (const api::PodPtr& pod : PodsOfExample91()) rig_.UpsertPod(pod);
  rig_.Settle();
  rig_.UpsertPod(CpuPod("fits", 0, "1").Node("n2").ResourceVersion("bound").Obj());
  rig_.Settle();

  EXPECT_EQ(Family("scheduler_pending_pods"),
            (std::vector<std::string>{"{queue=\"active\"} 2", "{queue=\"backoff\"} 0",
                                      "{queue=\"gated\"} 1", "{queue=\"incomplete\"} 0",
                                      "{queue=\"pending\"} 0", "{queue=\"unschedulable\"} 0"}));
  EXPECT_EQ(Family("scheduler_cache_size"),
            (std::vector<std::string>{"{type=\"assumed_pods\"} 0", "{type=\"nodes\"} 3",
                                      "{type=\"pods\"} 1"}));
  EXPECT_EQ(Family("scheduler_queue_incoming_pods_total"),
            (std::vector<std::string>{"{event=\"UnscheduledPodAdd\",queue=\"active\"} 3",
                                      "{event=\"UnscheduledPodAdd\",queue=\"unschedulable\"} 1"}));
  EXPECT_EQ(
      Family("scheduler_unschedulable_pods"),
      std::vector<std::string>{"{plugin=\"SchedulingGates\",profile=\"default-scheduler\"} 1"});
  EXPECT_EQ(Family("scheduler_schedule_attempts_total"), std::vector<std::string>{});
  EXPECT_EQ(Value("scheduler_scheduling_algorithm_duration_seconds_count"), "0");
  EXPECT_EQ(Value("scheduler_preemption_attempts_total"), "0");
}

TEST_F(MetricsTest, Example92Preemption) {
  std::vector<api::PodPtr> low;
  for (const char* name : {"a", "b", "c"}) low.push_back(Running(name, 0, "1").Obj());
  rig_.Sync({CpuNode("n1", "3").Obj()}, low);
  rig_.UpsertPod(CpuPod("high", 100, "1").Obj());
  rig_.Settle();
  EXPECT_EQ(Attempts("unschedulable"), "1");
  EXPECT_EQ(Value("scheduler_preemption_attempts_total"), "1");
  EXPECT_EQ(Value("scheduler_preemption_victims_sum"), "1");
  EXPECT_EQ(Value("scheduler_preemption_victims_count"), "1");
  rig_.AnswerOne(framework::EvictionOutcome::kEvicted, /*leaves=*/false);
  EXPECT_EQ(Value("scheduler_preemption_goroutines_execution_total{result=\"success\"}"), "1");
  EXPECT_EQ(Value("scheduler_preemption_goroutines_duration_seconds_count{result=\"success\"}"),
            "absent")
      << "hidden since 1.37";

  rig_.Advance(std::chrono::milliseconds(24540));
  const std::string victim = rig_.Victims().at(0);
  rig_.DeletePod(*std::find_if(low.begin(), low.end(), [&victim](const api::PodPtr& pod) {
    return pod->meta.name == victim;
  }));
  rig_.Settle();
  rig_.Bind();
  EXPECT_EQ(Attempts("scheduled"), "1");
  EXPECT_EQ(Incoming("AssignedPodDelete", "active"), "1");
  EXPECT_EQ(Value("scheduler_pod_scheduling_sli_duration_seconds_sum{attempts=\"2\"}"), "24.54");
  EXPECT_EQ(Value("scheduler_pod_scheduling_attempts_sum"), "2");
  EXPECT_EQ(Value("scheduler_queueing_hint_execution_duration_seconds_count{event="
                  "\"AssignedPodDelete\",hint=\"Queue\",plugin=\"NodeResourcesFit\"}"),
            "1");
  EXPECT_EQ(Value("kubesched_queue_woken_pods_total{event=\"AssignedPodDelete\"}"), "1");
}

TEST_F(MetricsTest, Example93BindingFailsThreeTimes) {
  rig_.Sync({CpuNode("n1", "4").Obj()});
  rig_.UpsertPod(CpuPod("p", 0, "1").Obj());
  rig_.Settle();
  api::ApiError refused;
  refused.message = "boom";
  for (int i = 0; i < 3; ++i) {
    rig_.api.AnswerBinds(refused);
    rig_.Settle();
    rig_.Advance(seconds(20));
  }
  rig_.Bind();
  EXPECT_EQ(Attempts("error"), "3");
  EXPECT_EQ(Attempts("scheduled"), "1");
  EXPECT_EQ(Attempts("unschedulable"), "absent");
  EXPECT_EQ(Point("Bind", "Error"), "3");
  EXPECT_EQ(Point("Unreserve", "Success"), "3");
  EXPECT_EQ(Incoming("ScheduleAttemptFailure", "backoff"), "3");
  EXPECT_EQ(Entities("ScheduleAttemptFailure", "backoff"), "absent");
  EXPECT_EQ(Value("scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"4\"}"), "1");
  EXPECT_EQ(Family("scheduler_unschedulable_pods"), std::vector<std::string>{})
      << "an error is no plugin's";
  int back = 0;
  for (const char* event : {"PopFromBackoffQ", "BackoffComplete"}) {
    const std::string count = Incoming(event, "active");
    if (count != "absent") back += std::stoi(count);
  }
  EXPECT_EQ(back, 3);
}

// With the default of five minutes.
TEST_F(MetricsTest, Example94TimeoutFlush) {
  rig_.Sync({CpuNode("n1", "4").Obj()});
  rig_.UpsertPod(CpuPod("big-1", 0, "100").Obj());
  rig_.UpsertPod(CpuPod("big-2", 0, "100").Obj());
  rig_.UpsertPod(CpuPod("gated", 0, "1").Gates({"example.com/g"}).Obj());
  rig_.Settle();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 12; ++i) rig_.Advance(seconds(30));
  }
  EXPECT_EQ(Incoming("UnschedulableTimeout", "active"), "6");
  EXPECT_EQ(Incoming("UnschedulableTimeout", "unschedulable"), "3");
  EXPECT_EQ(Attempts("unschedulable"), "8");
  EXPECT_EQ(Value("scheduler_pod_scheduled_after_flush_total"), "0");
}

TEST_F(MetricsTest, ManyAttemptsShareOneLabel) {
  rig_.Sync({CpuNode("n1", "4").Obj()});
  rig_.UpsertPod(CpuPod("p", 0, "1").Obj());
  rig_.Settle();
  api::ApiError refused;
  refused.message = "boom";
  for (int i = 0; i < 16; ++i) {
    rig_.api.AnswerBinds(refused);
    rig_.Settle();
    rig_.Advance(seconds(20));
  }
  rig_.Bind();
  EXPECT_EQ(Value("scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"15+\"}"), "1");
  EXPECT_EQ(Value("scheduler_pod_scheduling_attempts_sum"), "17");
}

TEST_F(MetricsTest, EventsByLabel) {
  rig_.Sync({CpuNode("n1", "4").Obj()});
  rig_.UpsertPod(Running("a", 0, "1").Obj());
  rig_.UpsertPod(Running("a", 0, "1").Labels({{"x", "y"}}).ResourceVersion("2").Obj());
  rig_.UpsertPod(CpuPod("p", 0, "100").Obj());
  rig_.Settle();
  rig_.UpsertPod(CpuPod("p", 0, "100").Labels({{"x", "y"}}).ResourceVersion("2").Obj());
  rig_.UpsertNode(CpuNode("n1", "8").Obj());
  rig_.UpsertNode(CpuNode("n1", "8").Obj());
  rig_.DeletePod(CpuPod("p", 0, "100").Obj());
  rig_.DeleteNode(CpuNode("n1", "8").Obj());
  rig_.Settle();
  std::vector<std::string> events;
  const std::string name = "scheduler_event_handling_duration_seconds_count";
  for (const std::string& line : Family(name)) events.push_back(line);
  EXPECT_EQ(events, (std::vector<std::string>{
                        "{event=\"AssignedPodAdd\"} 1", "{event=\"AssignedPodUpdate\"} 1",
                        "{event=\"AssignedPodUpdatePodLabel\"} 1", "{event=\"NodeAdd\"} 1",
                        "{event=\"NodeDelete\"} 1", "{event=\"NodeUpdateNodeAllocatable\"} 1",
                        "{event=\"UnscheduledPodAdd\"} 1", "{event=\"UnscheduledPodDelete\"} 1",
                        "{event=\"UnscheduledPodUpdate\"} 1"}))
      << "a node update without a change of interest is none";
}

// A leader that lost its lease builds a new scheduler: counters go on, sizes are the new queue's.
TEST_F(MetricsTest, CountersOutliveTheScheduler) {
  rig_.Sync({CpuNode("n1", "4").Obj()});
  rig_.UpsertPod(CpuPod("big", 0, "100").Obj());
  rig_.Settle();
  EXPECT_EQ(Incoming("UnscheduledPodAdd", "active"), "1");
  EXPECT_EQ(Rejected("NodeResourcesFit"), "1");

  (void)rig_.scheduler_metrics.queue().Observers();  // as a new queue does
  EXPECT_EQ(rig_.metrics_registry.Text().find(
                "scheduler_unschedulable_pods{plugin=\"NodeResourcesFit\",profile=\"default-"
                "scheduler\"} 1"),
            std::string::npos);
  // The old queue stands for a new one in which as much has happened.
  EXPECT_EQ(Incoming("UnscheduledPodAdd", "active"), "2");
}

}  // namespace
}  // namespace ks::scheduler
