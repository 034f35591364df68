// SPDX-License-Identifier: Apache-2.0
// Groups of pods in the reports on the queue and on decisions: one entry, its members below it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inspect/answering_replica.h"
#include "inspect/decision_json.h"
#include "inspect/group_rig.h"
#include "inspect/queue_report.h"

namespace ks::scheduler {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

inspect::QueueReport GroupedReport(GroupRig& rig) {
  inspect::QueueReport report = inspect::CollectQueue(rig.scheduler());
  inspect::SortQueue(&report);
  return report;
}

// "backoff 1 ns/a of podgroup/ns/g".
std::vector<std::string> EntryLines(const inspect::QueueReport& report) {
  std::vector<std::string> lines;
  for (const inspect::QueueEntry& entry : report.entries) {
    lines.push_back(std::string(inspect::QueuePartText(entry.part)) + " " +
                    std::to_string(entry.position) + " " + entry.pod->meta.Key() +
                    (entry.group == nullptr ? "" : " of " + entry.group->root.Text()));
  }
  return lines;
}

TEST(QueueGroups, EveryPart) {
  GroupRig rig({GroupRig::Node("n1", "2")});
  rig.ShowGroup("g", 2);
  rig.ShowGroup("big", 2);
  rig.ShowGroup("few", 3);
  for (const char* name : {"a", "b"}) rig.Add(name, "1", "g");
  for (const char* name : {"c", "d"}) rig.Add(name, "2", "big");
  rig.Add("e", "1", "few");
  rig.Add("f", "1", "nobody");
  rig.Settle();
  rig.scheduler().Stop();
  rig.rig().UpsertPod(testing::MakePod().Name("alone").Req({{"cpu", "1"}}).Obj());
  rig.Settle();
  const inspect::QueueReport report = GroupedReport(rig);
  EXPECT_EQ(EntryLines(report),
            (std::vector<std::string>{
                "active 1 ns/alone", "backoff 1 ns/c of podgroup/ns/big",
                "backoff 1 ns/d of podgroup/ns/big", "binding 0 ns/a of podgroup/ns/g",
                "binding 0 ns/b of podgroup/ns/g", "gated 0 ns/e of podgroup/ns/few",
                "incomplete 0 ns/f of podgroup/ns/nobody"}));
  EXPECT_EQ(report.entries[1].group->attempts, 1);
  const std::string json = inspect::QueueJson(report, {}, {});
  EXPECT_THAT(json, HasSubstr(R"("gated":1,"incomplete":1,"pending":0})"));
  EXPECT_THAT(json, HasSubstr(R"({"podGroup":"podgroup/ns/big","queue":"backoff","position":1,)"
                              R"("priority":0,"profile":"default-scheduler","attempts":1,)"));
  EXPECT_THAT(json, HasSubstr(R"("members":[{"pod":"ns/c","uid":"uid-c","queue":"backoff")"));
  EXPECT_THAT(json, HasSubstr(R"("matching":7,"pods":[{"pod":"ns/alone")"));
  // Filters speak of pods.
  const std::string one = inspect::QueueJson(report, {.pod = "ns/d"}, {});
  EXPECT_THAT(one, HasSubstr(R"("matching":1,"pods":[{"podGroup":"podgroup/ns/big")"));
  EXPECT_THAT(one, Not(HasSubstr("ns/c")));
  const auto found = inspect::FindInQueue(rig.scheduler(), *GroupRig::Pod("c", "2", "big"));
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(inspect::QueueEntryJson(*found), HasSubstr(R"("podGroup":"podgroup/ns/big")"));
}

TEST(QueueGroups, AGroupHasOnePositionAmongPods) {
  GroupRig rig({GroupRig::Node("n1", "2")});
  rig.scheduler().Stop();
  rig.ShowGroup("g", 2);
  rig.rig().UpsertPod(testing::MakePod().Name("z").Priority(1).Req({{"cpu", "1"}}).Obj());
  for (const char* name : {"m1", "m2"}) rig.Add(name, "1", "g");
  rig.Settle();
  rig.rig().clock.Advance(std::chrono::seconds(1));
  rig.rig().UpsertPod(testing::MakePod().Name("a").Req({{"cpu", "1"}}).Obj());
  rig.Settle();
  EXPECT_EQ(EntryLines(GroupedReport(rig)),
            (std::vector<std::string>{"active 1 ns/z", "active 2 ns/m1 of podgroup/ns/g",
                                      "active 2 ns/m2 of podgroup/ns/g", "active 3 ns/a"}));
}

std::string Decisions(GroupRig& rig, size_t limit) {
  const DecisionRing& ring = rig.scheduler().context().decisions;
  return inspect::DecisionsJson(
      {.kept = ring.capacity(), .made = ring.newest(), .decisions = ring.Newest(limit)}, {});
}

TEST(DecisionGroups, OneEntryAnAttempt) {
  GroupRig rig({GroupRig::Node("n1", "2")});
  rig.ShowGroup("g", 2);
  rig.ShowGroup("big", 2);
  for (const char* name : {"a", "b"}) rig.Add(name, "1", "g");
  rig.Settle();
  for (const char* name : {"c", "d"}) rig.Add(name, "2", "big");
  rig.Settle();
  const std::string all = Decisions(rig, 10);
  EXPECT_THAT(all, HasSubstr(R"("made":4,"decisions":[{"podGroup":"podgroup/ns/big",)"));
  EXPECT_THAT(all, HasSubstr(R"("attempt":1,"result":"Unschedulable","message":"minCount (2))"));
  EXPECT_THAT(all, HasSubstr(R"("attempt":1,"result":"Scheduled","members":[{"number":1,)"));
  EXPECT_THAT(all, HasSubstr(R"("pod":"ns/b","uid":"uid-b","profile":"default-scheduler",)"
                             R"("podGroup":"podgroup/ns/g",)"));
  EXPECT_THAT(all, HasSubstr(R"("attempt":1,"result":"Scheduled","node":"n1","nodes":1,)"));
  // The members of an attempt count as one.
  const std::string last = Decisions(rig, 1);
  EXPECT_THAT(last, HasSubstr("ns/c"));
  EXPECT_THAT(last, HasSubstr("ns/d"));
  EXPECT_THAT(last, Not(HasSubstr("ns/a")));
}

}  // namespace
}  // namespace ks::scheduler
