// SPDX-License-Identifier: Apache-2.0
#include "scheduler/decision_ring.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "inspect/decision_json.h"
#include "scheduler/rig.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Resources;
using std::chrono::milliseconds;
using std::chrono::seconds;

using Counted = std::vector<std::pair<size_t, std::string>>;

api::NodePtr Node(const std::string& name, const Resources& allocatable) {
  return MakeNode().Name(name).Allocatable(allocatable).Obj();
}
api::PodPtr Pod(const std::string& name, const Resources& requests) {
  return MakePod().Name(name).Req(requests).Obj();
}
const Resources kBigNode = {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}};

// "web: Bound on n1", newest first.
std::vector<std::string> Lines(const Scheduler& scheduler) {
  std::vector<std::string> lines;
  for (const Decision& decision : scheduler.context().decisions.Newest(100)) {
    lines.push_back(decision.pod->meta.name + ": " +
                    std::string(DecisionResultText(decision.result)) +
                    (decision.node.empty() ? "" : " on " + decision.node));
  }
  return lines;
}

TEST(DecisionRing, ABoundPodWithItsBestNodes) {
  Rig rig;
  rig.Sync({Node("n1", kBigNode), Node("n2", {{"cpu", "2"}, {"memory", "8Gi"}, {"pods", "110"}}),
            Node("n3", {{"cpu", "1"}, {"memory", "8Gi"}, {"pods", "110"}}),
            Node("n4", {{"cpu", "100m"}, {"memory", "8Gi"}, {"pods", "110"}})},
           {Pod("web", {{"cpu", "500m"}})});
  rig.Settle();
  EXPECT_EQ(Lines(*rig.scheduler), (std::vector<std::string>{"web: Scheduled on n1"}));
  rig.clock.Advance(milliseconds(20));
  rig.Bind();
  const std::vector<Decision> all = rig.scheduler->context().decisions.Newest(100);
  ASSERT_EQ(all.size(), 1U);
  const Decision& decision = all.front();
  EXPECT_EQ(decision.result, DecisionResult::kBound);
  EXPECT_EQ(decision.number, 1U);
  EXPECT_EQ(decision.attempt, 1);
  EXPECT_EQ(decision.all_nodes, 4U);
  EXPECT_EQ(decision.evaluated_nodes, 4U);
  EXPECT_EQ(decision.feasible_nodes, 3U);
  EXPECT_EQ(decision.ended, milliseconds(20));
  ASSERT_EQ(decision.best_count, 3U);
  EXPECT_EQ(decision.best[0].name, "n1");
  EXPECT_GE(decision.best[0].total, decision.best[1].total);
  EXPECT_GE(decision.best[1].total, decision.best[2].total);
  ASSERT_NE(decision.scorers, nullptr);
  for (const Decision::Node& node : decision.best) {
    int64_t sum = 0;
    for (const int64_t weighted : node.weighted) sum += weighted;
    EXPECT_EQ(sum, node.total) << node.name;
  }
}

TEST(DecisionRing, ScoresByPluginAreKeptTenTimesASecond) {
  Rig rig;
  rig.Sync({Node("n1", kBigNode), Node("n2", kBigNode)});
  rig.Settle();
  std::string by_plugin;
  for (int i = 0; i < 6; ++i) {
    // A hundred milliseconds are over before the fourth.
    if (i == 3) rig.clock.Advance(milliseconds(100));
    rig.UpsertPod(Pod("p" + std::to_string(i), {{"cpu", "100m"}}));
    rig.Settle();
    const Decision decision = rig.scheduler->context().decisions.Newest(1)[0];
    ASSERT_EQ(decision.best_count, 2U);
    by_plugin += decision.scorers != nullptr ? 'x' : '.';
    EXPECT_EQ(decision.best[0].weighted.empty(), decision.scorers == nullptr);
  }
  EXPECT_EQ(by_plugin, "x..x..");
}

TEST(DecisionRing, APodThatFitsNowhereSaysWhy) {
  Rig rig;
  rig.Sync({Node("n1", {{"cpu", "1"}, {"pods", "10"}}),
            MakeNode().Name("n2").Allocatable(kBigNode).Unschedulable().Obj()},
           {Pod("big", {{"cpu", "2"}})});
  rig.Settle();
  const std::vector<Decision> all = rig.scheduler->context().decisions.Newest(100);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].result, DecisionResult::kUnschedulable);
  EXPECT_EQ(all[0].message, rig.LastMessage("big"));
  EXPECT_EQ(all[0].evaluated_nodes, 2U);
  EXPECT_EQ(inspect::CountedReasons(all[0].message),
            (Counted{{1, "Insufficient cpu"}, {1, "node(s) were unschedulable"}}));
  EXPECT_EQ(all[0].unschedulable_plugins,
            (std::set<std::string>{"NodeResourcesFit", "NodeUnschedulable"}));
}

TEST(DecisionRing, AFailedBindingIsNoBoundPod) {
  Rig rig;
  rig.Sync({Node("n1", kBigNode)}, {Pod("p", {{"cpu", "4"}})});
  rig.Settle();
  api::ApiError boom;
  boom.code = 400;
  boom.message = "boom";
  rig.api.AnswerBinds(boom);
  rig.Settle();
  EXPECT_EQ(Lines(*rig.scheduler), (std::vector<std::string>{"p: BindingFailed on n1"}));
  EXPECT_NE(rig.scheduler->context().decisions.Newest(1)[0].message.find("boom"),
            std::string::npos);
  rig.Advance(seconds(5));
  EXPECT_EQ(Lines(*rig.scheduler),
            (std::vector<std::string>{"p: Scheduled on n1", "p: BindingFailed on n1"}));
  EXPECT_EQ(rig.scheduler->context().decisions.Newest(1)[0].attempt, 2);
}

// A thousand decisions may be about pods that are gone: of a large one little is kept.
TEST(DecisionRing, KeepsOnlyTheNamesOfALargePod) {
  Rig rig;
  const api::PodPtr large =
      MakePod().Name("large").Req({{"cpu", "1m"}}, std::string(100'000, 'x')).Obj();
  const api::PodPtr small = MakePod().Name("small").Req({{"cpu", "1m"}}, "image").Obj();
  rig.Sync({Node("n1", kBigNode)}, {large, small});
  rig.Settle();
  EXPECT_EQ(Lines(*rig.scheduler),
            (std::vector<std::string>{"small: Scheduled on n1", "large: Scheduled on n1"}));
  const std::vector<Decision> all = rig.scheduler->context().decisions.Newest(100);
  EXPECT_EQ(all[0].pod, small);
  EXPECT_NE(all[1].pod, large);
  EXPECT_EQ(all[1].pod->meta.Key(), large->meta.Key());
  EXPECT_EQ(all[1].pod->meta.uid, large->meta.uid);
  EXPECT_EQ(all[1].pod->spec->scheduler_name, large->spec->scheduler_name);
  EXPECT_TRUE(all[1].pod->spec->containers.empty());
}

TEST(DecisionRing, KeepsTheNewestAndTellsEachOnce) {
  std::vector<std::string> told;
  Rig::Options options;
  options.decisions_kept = 2;
  options.on_decision = [&told](const Decision& decision) {
    told.push_back(decision.pod->meta.name + " " +
                   std::string(DecisionResultText(decision.result)));
  };
  Rig rig(std::move(options));
  rig.Sync({Node("n1", kBigNode)}, {Pod("a", {}), Pod("b", {}), Pod("c", {{"cpu", "9"}})});
  rig.Settle();
  EXPECT_EQ(Lines(*rig.scheduler),
            (std::vector<std::string>{"c: Unschedulable", "b: Scheduled on n1"}));
  EXPECT_EQ(rig.scheduler->context().decisions.newest(), 3U);
  rig.Bind();
  // The place of the first was needed before its binding was over.
  EXPECT_EQ(told, (std::vector<std::string>{"a Scheduled", "c Unschedulable", "b Bound"}));
}

TEST(DecisionRing, SwitchedOffItKeepsNothing) {
  Rig::Options options;
  options.decisions_kept = 0;
  Rig rig(std::move(options));
  rig.Sync({Node("n1", kBigNode)}, {Pod("a", {}), Pod("c", {{"cpu", "9"}})});
  rig.Settle();
  rig.Bind();
  EXPECT_TRUE(rig.scheduler->context().decisions.Newest(100).empty());
  EXPECT_EQ(rig.Bound().size(), 1U);
}

// In large clusters nodes are ranked, not gone through, for pods of a spec that came before: the
// best are known all the same.
TEST(DecisionRing, TheBestNodesOfARanking) {
  Rig rig;
  std::vector<api::NodePtr> nodes;
  for (size_t i = 0; i < NodeSearch::kLeastRankedNodes; ++i) {
    nodes.push_back(Node("n" + std::to_string(i), kBigNode));
  }
  nodes[3] = Node("n3", {{"cpu", "16"}, {"memory", "32Gi"}, {"pods", "110"}});
  const api::PodPtr first = Pod("web-0", {{"cpu", "1"}, {"memory", "2Gi"}});
  std::vector<api::PodPtr> pods;
  for (int i = 0; i < 3; ++i) {
    auto pod = std::make_shared<api::Pod>(*first);  // with the same spec
    pod->meta.name = "web-" + std::to_string(i);
    pod->meta.uid = "uid-" + pod->meta.name;
    pods.push_back(pod);
  }
  rig.Sync(std::move(nodes), std::move(pods));
  rig.Settle();
  const std::vector<Decision> all = rig.scheduler->context().decisions.Newest(100);
  ASSERT_EQ(all.size(), 3U);
  for (const Decision& decision : all) {
    SCOPED_TRACE(decision.pod->meta.name);
    EXPECT_EQ(decision.all_nodes, NodeSearch::kLeastRankedNodes);
    EXPECT_EQ(decision.evaluated_nodes, 420U);
    EXPECT_EQ(decision.feasible_nodes, 420U);
    ASSERT_EQ(decision.best_count, 3U);
    EXPECT_GE(decision.best[0].total, decision.best[1].total);
    EXPECT_EQ(decision.best[1].total, decision.best[2].total);
  }
  // The first one's window begins with the largest node. Windows follow each other in the list.
  EXPECT_EQ(all[2].best[0].name, "n3");
  EXPECT_EQ(all[2].node, "n3");
  EXPECT_EQ(all[1].best[0].name, "n420");
  EXPECT_EQ(all[0].best[0].name, "n3");
  EXPECT_TRUE(all[0].best[0].weighted.empty());
}

TEST(DecisionJson, SaysWhatThereIs) {
  ks::testing::FakeClock clock;
  DecisionRing ring({.capacity = 2}, clock);
  framework::QueuedPod queued(Pod("web", {}));
  queued.attempts = 3;
  const uint64_t number = ring.Begin(queued);
  clock.Advance(milliseconds(1));
  ring.Failed(number, {.rejected = true,
                       .message = "0/2 nodes are available: 2 Insufficient cpu.",
                       .nominated = "n7",
                       .all_nodes = 2,
                       .evaluated_nodes = 2,
                       .unschedulable_plugins = {"NodeResourcesFit"}});
  const std::string json = inspect::DecisionJson(ring.Newest(1)[0]);
  EXPECT_EQ(json.substr(json.find(R"("pod")")),
            R"("pod":"ns/web","uid":"uid-web","profile":"default-scheduler","attempt":3,)"
            R"("result":"Unschedulable","nominatedNode":"n7","nodes":2,"evaluatedNodes":2,)"
            R"("message":"0/2 nodes are available: 2 Insufficient cpu.",)"
            R"("reasons":[{"count":2,"reason":"Insufficient cpu"}],)"
            R"("rejectedBy":["NodeResourcesFit"],"decidedMicroseconds":1000})");
  EXPECT_EQ(inspect::DecisionsJson({.kept = 2, .made = 1, .decisions = {}},
                                   {.standby = true, .identity = "me"}),
            R"({"standby":true,"identity":"me","kept":2,"made":1,"decisions":[]})");
}

TEST(DecisionJson, NamesRequestsThatCannotBeCounted) {
  ks::testing::FakeClock clock;
  DecisionRing ring({.capacity = 1}, clock);
  const uint64_t number =
      ring.Begin(framework::QueuedPod(Pod("cut", {{"memory", "50E"}, {"cpu", "1"}})));
  ring.Failed(number, {.rejected = true, .message = "no"});
  EXPECT_NE(inspect::DecisionJson(ring.Newest(1)[0])
                .find(R"("cutRequests":[{"resource":"memory","asked":"50E","counted":0}])"),
            std::string::npos);
}

struct ReasonCase {
  std::string message;
  Counted want;
};

TEST(DecisionJson, ReasonsAreCounted) {
  const ReasonCase cases[] = {
      {"", {}},
      {"binding rejected: boom", {}},
      {"0/3 nodes are available:", {}},
      {"0/3 nodes are available: never, at all.", {}},
      {"0/13 nodes are available: 1 node(s) had untolerated taint(s), 10 Insufficient cpu, 2 "
       "node(s) were unschedulable. preemption: 0/13 nodes are available: 13 Preemption is not "
       "helpful for scheduling.",
       {{1, "node(s) had untolerated taint(s)"},
        {10, "Insufficient cpu"},
        {2, "node(s) were unschedulable"}}},
      {"0/2 nodes are available: 1 Insufficient example.com/gpu, 1 this, and that.",
       {{1, "Insufficient example.com/gpu"}, {1, "this, and that"}}},
      {"0/1 nodes are available: 1 no full stop", {{1, "no full stop"}}},
  };
  for (const ReasonCase& c : cases)
    EXPECT_EQ(inspect::CountedReasons(c.message), c.want) << c.message;
}

}  // namespace
}  // namespace ks::scheduler
