// SPDX-License-Identifier: Apache-2.0
#include "inspect/queue_report.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inspect/answering_replica.h"
#include "scheduler/rig.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Resources;
using std::chrono::seconds;

const Resources kNode = {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}};

api::NodePtr Node(const std::string& name) {
  return MakeNode().Name(name).Allocatable(kNode).Obj();
}
api::PodPtr Pod(const std::string& name, const std::string& cpu) {
  return MakePod().Name(name).Req({{"cpu", cpu}}).Obj();
}

inspect::QueueReport Report(Rig& rig) {
  inspect::QueueReport report = inspect::CollectQueue(*rig.scheduler);
  inspect::SortQueue(&report);
  return report;
}

// "active 1 ns/web".
std::vector<std::string> Lines(const inspect::QueueReport& report) {
  std::vector<std::string> lines;
  for (const inspect::QueueEntry& entry : report.entries) {
    lines.push_back(std::string(inspect::QueuePartText(entry.part)) + " " +
                    std::to_string(entry.position) + " " + entry.pod->meta.Key());
  }
  return lines;
}

TEST(QueueReport, EveryPartWithPositions) {
  Rig rig;
  rig.Sync({Node("n1")}, {Pod("binding", "1"), Pod("big", "9"),
                          MakePod().Name("gated").Gates({"wait"}).Req({}).Obj()});
  rig.Settle();
  rig.scheduler->Stop();  // what comes from here on is queued and not attempted
  rig.UpsertPod(Pod("first", "1"));
  rig.UpsertPod(Pod("second", "1"));
  rig.UpsertPod(MakePod().Name("urgent").Priority(7).Req({}).Obj());
  rig.Settle();
  const inspect::QueueReport report = Report(rig);
  EXPECT_EQ(Lines(report),
            (std::vector<std::string>{"active 1 ns/urgent", "active 2 ns/first",
                                      "active 3 ns/second", "binding 0 ns/binding",
                                      "unschedulable 0 ns/big", "gated 0 ns/gated"}));
  EXPECT_TRUE(report.synced);
  EXPECT_EQ(report.counts.active, 3U);
  EXPECT_EQ(report.binding, 1U);
  EXPECT_EQ(report.in_flight, 0U);
  const inspect::QueueEntry& big = report.entries[4];
  EXPECT_EQ(big.attempts, 1);
  EXPECT_EQ(big.unschedulable_attempts, 1);
  EXPECT_EQ(big.rejected_by, (std::set<std::string>{"NodeResourcesFit"}));
  EXPECT_EQ(big.last_event.view(), "ScheduleAttemptFailure");
  EXPECT_TRUE(big.woken_by.empty());
  EXPECT_EQ(report.entries[3].node, "n1");
  EXPECT_EQ(report.entries[5].gated_by.view(), "SchedulingGates");
}

TEST(QueueReport, SaysWhichEventAndWhoseHintWokeAPod) {
  Rig rig;
  rig.Sync({Node("n1")}, {Pod("big", "9")});
  rig.Settle();
  rig.UpsertNode(MakeNode().Name("n2").Allocatable({{"cpu", "16"}, {"pods", "5"}}).Obj());
  rig.scheduler->Stop();
  rig.Settle();
  const inspect::QueueReport report = Report(rig);
  ASSERT_EQ(Lines(report), (std::vector<std::string>{"backoff 1 ns/big"}));
  const inspect::QueueEntry& big = report.entries[0];
  EXPECT_EQ(big.last_event.view(), "NodeAdd");
  EXPECT_EQ(big.woken_by.view(), "NodeAdd");
  EXPECT_EQ(big.woken_by_hint.view(), "NodeResourcesFit");
  ASSERT_TRUE(big.backoff_end.has_value());
  EXPECT_GT(*big.backoff_end, report.time);
  EXPECT_LE(*big.backoff_end, report.time + seconds(2));
}

// The attempt that it was worth failed, too.
TEST(QueueReport, WhatWokeAPodIsStillKnownAfterTheAttempt) {
  Rig rig;
  rig.Sync({Node("n1")}, {Pod("big", "9"), Pod("huge", "10")});
  rig.Settle();
  rig.UpsertNode(MakeNode().Name("n2").Allocatable({{"cpu", "16"}, {"pods", "5"}}).Obj());
  rig.Settle();
  rig.Advance(seconds(2));
  const inspect::QueueReport report = Report(rig);
  ASSERT_EQ(Lines(report),
            (std::vector<std::string>{"binding 0 ns/big", "unschedulable 0 ns/huge"}));
  const inspect::QueueEntry& huge = report.entries[1];
  EXPECT_EQ(huge.attempts, 2);
  EXPECT_EQ(huge.last_event.view(), "ScheduleAttemptFailure");
  EXPECT_EQ(huge.woken_by.view(), "NodeAdd");
  EXPECT_EQ(huge.woken_by_hint.view(), "NodeResourcesFit");
}

TEST(QueueReport, AQuestionChangesNothing) {
  Rig rig;
  rig.Sync({Node("n1")}, {Pod("big", "9")});
  rig.Settle();
  const framework::QueuedPod* queued = rig.scheduler->context().queue.stores().FindPod("ns/big");
  ASSERT_NE(queued, nullptr);
  ASSERT_FALSE(queued->backoff_expiration.has_value());
  (void)inspect::CollectQueue(*rig.scheduler);
  EXPECT_FALSE(queued->backoff_expiration.has_value());
}

TEST(QueueReport, PodsBeingScheduledAreInFlight) {
  Rig rig;
  rig.Sync({Node("n1")});
  rig.Settle();
  rig.scheduler->Stop();
  const api::PodPtr pod = Pod("p", "1");
  rig.UpsertPod(pod);
  rig.Settle();
  ASSERT_NE(rig.scheduler->context().queue.Pop().pod, nullptr);
  const inspect::QueueReport report = Report(rig);
  EXPECT_EQ(Lines(report), (std::vector<std::string>{"inFlight 0 ns/p"}));
  EXPECT_EQ(report.in_flight, 1U);
  const auto found = inspect::FindInQueue(*rig.scheduler, *pod);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->part, inspect::QueuePart::kInFlight);
  EXPECT_FALSE(inspect::FindInQueue(*rig.scheduler, *Pod("other", "1")).has_value());
}

struct FilterCase {
  std::string name;
  inspect::QueueFilter filter;
  std::vector<std::string> want;  // names of the pods
  std::string want_matching;
};

TEST(QueueReport, Filters) {
  Rig rig;
  rig.Sync({Node("n1")},
           {Pod("big", "9"), MakePod().Name("far").Namespace("other").Req({{"cpu", "8"}}).Obj(),
            MakePod().Name("picky").Req({}).NodeSelector({{"disk", "ssd"}}).Obj()});
  rig.Settle();
  const inspect::QueueReport report = Report(rig);
  const FilterCase cases[] = {
      {"All", {}, {"big", "picky", "far"}, "3"},
      {"Namespace", {.ns = "other"}, {"far"}, "1"},
      {"Pod", {.pod = "ns/big"}, {"big"}, "1"},
      {"Plugin", {.plugin = "NodeAffinity"}, {"picky"}, "1"},
      {"Part", {.part = inspect::QueuePart::kActive}, {}, "0"},
      {"Limit", {.limit = 1}, {"big"}, "3"},
  };
  for (const FilterCase& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string json = inspect::QueueJson(report, c.filter, {});
    EXPECT_NE(json.find(R"("matching":)" + c.want_matching + ","), std::string::npos) << json;
    size_t pods = 0;
    for (size_t at = json.find(R"("uid":)"); at != std::string::npos;
         at = json.find(R"("uid":)", at + 1)) {
      ++pods;
    }
    EXPECT_EQ(pods, c.want.size()) << json;
    for (const std::string& name : c.want) {
      EXPECT_NE(json.find("\"uid\":\"uid-" + name + "\""), std::string::npos) << json;
    }
    EXPECT_NE(json.find(R"("rejectedBy":[{"plugin":"NodeResourcesFit","pods":2},)"
                        R"({"plugin":"NodeAffinity","pods":1}])"),
              std::string::npos)
        << json;
  }
}

TEST(QueueReport, Json) {
  Rig rig;
  rig.Sync({Node("n1")}, {Pod("big", "9")});
  rig.Settle();
  const std::string time = FormatMicroTime(rig.clock.Now());
  const std::string end = FormatMicroTime(rig.clock.Now() + seconds(1));
  EXPECT_EQ(inspect::QueueJson(Report(rig), {}, {.standby = false, .identity = "host_1"}),
            R"({"time":")" + time +
                R"(","standby":false,"identity":"host_1","synced":true,"counts":{"active":0,)"
                R"("backoff":0,"inFlight":0,"waiting":0,"binding":0,"unschedulable":1,"gated":0},)"
                R"("rejectedBy":[{"plugin":"NodeResourcesFit","pods":1}],"matching":1,"pods":[)"
                R"({"pod":"ns/big","uid":"uid-big","queue":"unschedulable","priority":0,)"
                R"("profile":"default-scheduler","attempts":1,"unschedulableAttempts":1,)"
                R"("since":")" +
                time + R"(","backoffEnd":")" + end +
                R"(","rejectedBy":["NodeResourcesFit"],"lastEvent":"ScheduleAttemptFailure"}]})");
}

TEST(QueueReport, PartsHaveNames) {
  for (size_t i = 0; i <= static_cast<size_t>(inspect::QueuePart::kGated); ++i) {
    const auto part = static_cast<inspect::QueuePart>(i);
    EXPECT_EQ(inspect::ParseQueuePart(inspect::QueuePartText(part)), part);
  }
  EXPECT_FALSE(inspect::ParseQueuePart("activeQ").has_value());
}

}  // namespace
}  // namespace ks::scheduler
