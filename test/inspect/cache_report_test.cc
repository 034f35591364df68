// SPDX-License-Identifier: Apache-2.0
#include "inspect/cache_report.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scheduler/rig.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Resources;

const Resources kNode = {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}};

api::NodePtr Node(const std::string& name) {
  return MakeNode().Name(name).Allocatable(kNode).Obj();
}
api::PodPtr On(const std::string& name, const std::string& node, const std::string& cpu) {
  return MakePod().Name(name).Node(node).Req({{"cpu", cpu}}).Obj();
}

// "requested n1 cpu 3000m 2000m".
std::vector<std::string> Lines(const std::vector<inspect::CacheDifference>& differences) {
  std::vector<std::string> lines;
  for (const inspect::CacheDifference& difference : differences) {
    std::string line = std::string(difference.kind) + " " + difference.object;
    for (const std::string& text : {difference.cached, difference.other}) {
      if (!text.empty()) line += " " + text;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

struct Case {
  std::string name;
  inspect::ClusterAccount other;
  std::vector<std::string> want;
};

class CompareTest : public ::testing::TestWithParam<Case> {};

// The cache has n1 and n2, a and assumed on n1 (2 + 1 CPU), big waits in the queue.
TEST_P(CompareTest, NamesWhatDiffers) {
  Rig rig;
  rig.Sync({Node("n1"), MakeNode().Name("n2").Allocatable({{"cpu", "1m"}}).Obj()},
           {On("a", "n1", "2"), MakePod().Name("assumed").Req({{"cpu", "1"}}).Obj(),
            MakePod().Name("big").Req({{"cpu", "9"}}).Obj()});
  rig.Settle();
  ASSERT_EQ(rig.scheduler->context().cluster.cache.counts().assumed_pods, 1U);
  EXPECT_EQ(Lines(inspect::Compare(inspect::CollectCache(*rig.scheduler), GetParam().other)),
            GetParam().want);
}

const api::PodPtr kAssumed = MakePod().Name("assumed").Req({{"cpu", "1"}}).Obj();
const api::PodPtr kBig = MakePod().Name("big").Req({{"cpu", "9"}}).Obj();

const Case kCases[] = {
    {"Same", {{Node("n1"), Node("n2")}, {On("a", "n1", "2"), kAssumed, kBig}}, {}},
    {"TheAssumedOneIsBoundThere",
     {{Node("n1"), Node("n2")}, {On("a", "n1", "2"), On("assumed", "n1", "1"), kBig}},
     {}},
    {"Nodes",
     {{Node("n1"), Node("n3")}, {On("a", "n1", "2"), kAssumed, kBig}},
     {"missedNode n3", "redundantNode n2"}},
    {"Pods",
     {{Node("n1"), Node("n2")},
      {kAssumed, kBig, On("b", "n2", "1"), MakePod().Name("new").Req({}).Obj()}},
     {"missedPod ns/b node n2", "missedPod ns/new pending", "redundantPod ns/a node n1"}},
    {"OtherNode",
     {{Node("n1"), Node("n2")}, {On("a", "n2", "2"), kAssumed, kBig}},
     {"podOnOtherNode ns/a node n1 node n2"}},
    {"Unbound",
     {{Node("n1"), Node("n2")}, {MakePod().Name("a").Req({{"cpu", "2"}}).Obj(), kAssumed, kBig}},
     {"podOnOtherNode ns/a node n1 pending"}},
    {"Sums",
     {{Node("n1"), Node("n2")}, {On("a", "n1", "1500m"), kAssumed, kBig}},
     {"requested n1 cpu 3000m 2500m"}},
    {"OthersPendingPodsAndLeavingOnes",
     {{Node("n1"), Node("n2")},
      {On("a", "n1", "2"), kAssumed, kBig,
       MakePod().Name("theirs").SchedulerName("theirs").Req({}).Obj(),
       MakePod().Name("leaving").Terminating().Req({}).Obj()}},
     {}},
};
INSTANTIATE_TEST_SUITE_P(Cases, CompareTest, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return row.param.name; });

TEST(CacheReport, TheInformersAgreeWithTheCache) {
  Rig rig;
  rig.Sync({Node("n1")}, {On("a", "n1", "2"), kAssumed, kBig,
                          MakePod().Name("theirs").SchedulerName("theirs").Req({}).Obj()});
  rig.Settle();
  EXPECT_EQ(Lines(inspect::Compare(inspect::CollectCache(*rig.scheduler),
                                   inspect::InformerAccount(*rig.scheduler))),
            std::vector<std::string>{});
}

TEST(CacheReport, OnlyLastingDifferencesCount) {
  const inspect::CacheDifference a{.kind = "missedNode", .object = "n1"};
  const inspect::CacheDifference before{
      .kind = "requested", .object = "n1 cpu", .cached = "1m", .other = "2m"};
  const inspect::CacheDifference after{
      .kind = "requested", .object = "n1 cpu", .cached = "3m", .other = "4m"};
  EXPECT_EQ(Lines(inspect::Lasting({a, before}, {after})),
            (std::vector<std::string>{"requested n1 cpu 3m 4m"}));
}

TEST(CacheReport, Json) {
  Rig rig;
  rig.Sync({Node("n1")}, {On("a", "n1", "2")});
  rig.Settle();
  const inspect::CacheDump dump = inspect::CollectCache(*rig.scheduler);
  const std::string json = inspect::CacheJson(dump, {.list_pods = true}, {.standby = true});
  EXPECT_EQ(json.substr(json.find(R"("standby")")),
            R"("standby":true,"synced":true,"counts":{"nodes":1,"pods":1,"assumedPods":0},)"
            R"("nodes":[{"name":"n1","allocatable":{"cpuMilli":4000,"memory":8589934592,)"
            R"("ephemeralStorage":0,"pods":110},"requested":{"cpuMilli":2000,"memory":0,)"
            R"("ephemeralStorage":0,"pods":1},"pods":[{"pod":"ns/a","uid":"uid-a","priority":0,)"
            R"("cpuMilli":2000,"memory":0}]}]})");
  inspect::CacheComparison comparison{.rounds = 1, .nodes = 1, .pods = 1};
  const std::string compared =
      inspect::CacheJson(dump, {.list_nodes = false, .comparison = &comparison}, {});
  EXPECT_NE(compared.find(R"("comparison":{"rounds":1,"nodes":1,"pods":1,"same":true,)"
                          R"("differences":[]}})"),
            std::string::npos)
      << compared;
}

TEST(CacheReport, OneNode) {
  Rig rig;
  rig.Sync({Node("n1"), Node("n2")}, {On("a", "n1", "2")});
  rig.Settle();
  EXPECT_EQ(inspect::CollectCache(*rig.scheduler, {.node = "n2"}).nodes.size(), 1U);
  EXPECT_TRUE(inspect::CollectCache(*rig.scheduler, {.node = "n9"}).nodes.empty());
}

TEST(CacheReport, WhatIsNotWantedIsLeftOut) {
  Rig rig;
  rig.Sync({Node("n1")}, {On("a", "n1", "2"), MakePod().Name("big").Req({{"cpu", "100"}}).Obj()});
  rig.Settle();
  const inspect::CacheDump all = inspect::CollectCache(*rig.scheduler);
  EXPECT_EQ(all.nodes.at(0).pods.size(), 1U);
  EXPECT_EQ(all.pending.size(), 1U);
  const inspect::CacheDump few =
      inspect::CollectCache(*rig.scheduler, {.pods = false, .pending = false});
  EXPECT_TRUE(few.nodes.at(0).pods.empty());
  EXPECT_TRUE(few.pending.empty());
  EXPECT_EQ(inspect::CacheJson(few, {}, {}), inspect::CacheJson(all, {}, {}))
      << "the count is there";
}

// docs/spec/operations.md 1.4.
TEST(CacheReport, TextsOfTheSignal) {
  Rig rig;
  rig.Sync({Node("n1")}, {On("a", "n1", "2")});
  rig.Settle();
  EXPECT_EQ(inspect::PodLine(*MakePod().Name("p").NominatedNode("n1").Obj()),
            "name: p, namespace: ns, uid: uid-p, phase: Pending, nominated node: n1\n");
  EXPECT_EQ(inspect::NodeLines(inspect::CollectCache(*rig.scheduler)),
            "Node name: n1\nDeleted: false\n"
            "Requested Resources: cpu 2000m, memory 0, ephemeral-storage 0\n"
            "Allocatable Resources: cpu 4000m, memory 8589934592, ephemeral-storage 0\n"
            "Scheduled Pods(number: 1):\n"
            "name: a, namespace: ns, uid: uid-a, phase: Pending, nominated node: \n");
}

}  // namespace
}  // namespace ks::scheduler
