// SPDX-License-Identifier: Apache-2.0
#include "inspect/live_explain.h"

#include <gtest/gtest.h>

#include <algorithm>
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
api::PodPtr Pod(const std::string& name, const std::string& cpu) {
  return MakePod().Name(name).Req({{"cpu", cpu}}).Obj();
}

inspect::LiveExplanation Explained(Rig& rig, inspect::ExplainQuestion question) {
  auto answer = inspect::ExplainLive(*rig.scheduler, question);
  const auto* refusal = std::get_if<inspect::Refusal>(&answer);
  EXPECT_EQ(refusal, nullptr) << refusal->text;
  return refusal == nullptr ? std::get<inspect::LiveExplanation>(std::move(answer))
                            : inspect::LiveExplanation();
}

TEST(LiveExplain, APendingPodWithWhereItStands) {
  Rig rig;
  rig.Sync({Node("n1"), Node("n2")}, {Pod("big", "9")});
  rig.Settle();
  const inspect::LiveExplanation live = Explained(rig, {.pod = "ns/big"});
  EXPECT_EQ(live.explanation.result, inspect::Verdict::kUnschedulable);
  EXPECT_EQ(live.explanation.message, "0/2 nodes are available: 2 Insufficient cpu.");
  EXPECT_EQ(live.explanation.nodes.size(), 2U);
  EXPECT_TRUE(live.bound_to.empty());
  ASSERT_TRUE(live.queue.has_value());
  EXPECT_EQ(live.queue->part, inspect::QueuePart::kUnschedulable);
  ASSERT_TRUE(live.last_decision.has_value());
  EXPECT_EQ(live.last_decision->result, DecisionResult::kUnschedulable);
  ASSERT_EQ(live.shortages.size(), 1U);
  EXPECT_EQ(live.shortages[0].most.needed, 9000);
  EXPECT_EQ(live.shortages[0].most.free, 4000);
  const std::string json =
      inspect::LiveExplanationJson(live, {.standby = true, .identity = "other"});
  EXPECT_TRUE(json.starts_with(R"({"pod":"ns/big","profile":"default-scheduler",)"));
  EXPECT_NE(json.find(R"("live":{"time":")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("standby":true,"identity":"other","notes":["this kubesched is a standby)"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("shortages":[{"reason":"Insufficient cpu","plugin":"NodeResourcesFit",)"
                      R"("resource":"cpu","needed":9000,"mostFree":4000,"node":"n1"}])"),
            std::string::npos)
      << json;
}

// Only without itself does the pod fit on its node.
TEST(LiveExplain, ABoundPodIsExplainedAsIfItWerePending) {
  Rig rig;
  const api::PodPtr pod =
      MakePod().Name("mine").Node("n1").Req({{"cpu", "3"}}).NominatedNode("n2").Obj();
  rig.Sync({Node("n1"), Node("n2")},
           {pod, MakePod().Name("other").Node("n2").Req({{"cpu", "2"}}).Obj()});
  rig.Settle();
  const inspect::LiveExplanation live = Explained(rig, {.pod = "ns/mine"});
  EXPECT_EQ(live.bound_to, "n1");
  EXPECT_EQ(live.explanation.result, inspect::Verdict::kSchedulable);
  EXPECT_EQ(live.explanation.best_nodes, (std::vector<std::string>{"n1"}));
  EXPECT_EQ(live.explanation.nominated_node, "");
  EXPECT_NE(inspect::LiveExplanationJson(live, {}).find(
                R"("boundTo":"n1","notes":["the pod is on node n1 already: explained as if)"),
            std::string::npos);
  // It is still there.
  EXPECT_EQ(rig.scheduler->context().cluster.cache.Find("n1")->requested().milli_cpu, 3000);
}

// The pod repels its own kind: with itself on n1 it would be kept away from there.
TEST(LiveExplain, ABoundPodDoesNotStandInItsOwnWay) {
  api::PodAffinityTerm term;
  term.label_selector = api::LabelSelectorSpec{{{"app", "a"}}, {}};
  term.topology_key = Symbol("kubernetes.io/hostname");
  auto repelling = MakePod().Name("mine").Labels({{"app", "a"}}).Node("n1").Req({});
  repelling.spec().pod_anti_affinity = api::PodAffinity{{term}, {}};
  Rig rig;
  const auto labeled = [](const std::string& name) {
    return MakeNode().Name(name).Label("kubernetes.io/hostname", name).Allocatable(kNode).Obj();
  };
  rig.Sync({labeled("n1"), labeled("n2")}, {repelling.Obj()});
  rig.Settle();
  const inspect::LiveExplanation live = Explained(rig, {.pod = "ns/mine"});
  EXPECT_EQ(live.explanation.result, inspect::Verdict::kSchedulable);
  EXPECT_TRUE(live.explanation.nodes[0].feasible) << live.explanation.nodes[0].reasons[0];
  EXPECT_TRUE(live.explanation.nodes[1].feasible);
  EXPECT_EQ(rig.scheduler->context().cluster.cache.nodes_with_required_anti_affinity().size(), 1U);
}

TEST(LiveExplain, AnAssumedPodIsOnItsNode) {
  Rig rig;
  rig.Sync({Node("n1")}, {Pod("p", "4")});
  rig.Settle();
  ASSERT_EQ(rig.scheduler->context().cluster.cache.counts().assumed_pods, 1U);
  const inspect::LiveExplanation live = Explained(rig, {.pod = "ns/p"});
  EXPECT_EQ(live.bound_to, "n1");
  EXPECT_EQ(live.explanation.result, inspect::Verdict::kSchedulable);
  ASSERT_TRUE(live.queue.has_value());
  EXPECT_EQ(live.queue->part, inspect::QueuePart::kBinding);
}

TEST(LiveExplain, NamesOfPluginsOutliveTheQuestion) {
  Rig rig;
  rig.Sync({Node("n1")}, {Pod("p", "1")});
  rig.Settle();
  const inspect::LiveExplanation live = Explained(rig, {.pod = "ns/p"});
  ASSERT_EQ(live.explanation.nodes.size(), 1U);
  ASSERT_FALSE(live.explanation.nodes[0].scores.empty());
  const auto& scores = live.explanation.nodes[0].scores;
  EXPECT_TRUE(std::any_of(scores.begin(), scores.end(), [](const inspect::PluginScore& score) {
    return score.plugin == "NodeResourcesFit";
  }));
}

struct RefusalCase {
  std::string name;
  inspect::ExplainQuestion question;
  int want_status;
  std::string want_text;
};

TEST(LiveExplain, Refusals) {
  Rig rig;
  const RefusalCase cases[] = {
      {"Unknown", {.pod = "ns/nobody"}, 404, "no pod ns/nobody is known to the scheduler"},
      {"OtherScheduler", {.pod = "ns/theirs"}, 404, "no profile is named theirs"},
      {"UnknownNode", {.pod = "ns/big", .node = "n9"}, 404, "no node n9 is known"},
  };
  auto early = inspect::ExplainLive(*rig.scheduler, {.pod = "ns/big"});
  ASSERT_TRUE(std::holds_alternative<inspect::Refusal>(early));
  EXPECT_EQ(std::get<inspect::Refusal>(early).status, 503);
  rig.Sync({Node("n1")},
           {Pod("big", "9"), MakePod().Name("theirs").SchedulerName("theirs").Req({}).Obj()});
  rig.Settle();
  for (const RefusalCase& c : cases) {
    SCOPED_TRACE(c.name);
    auto answer = inspect::ExplainLive(*rig.scheduler, c.question);
    ASSERT_TRUE(std::holds_alternative<inspect::Refusal>(answer));
    EXPECT_EQ(std::get<inspect::Refusal>(answer).status, c.want_status);
    EXPECT_NE(std::get<inspect::Refusal>(answer).text.find(c.want_text), std::string::npos)
        << std::get<inspect::Refusal>(answer).text;
  }
  const inspect::LiveExplanation one = Explained(rig, {.pod = "ns/big", .node = "n1"});
  EXPECT_EQ(one.explanation.nodes.size(), 1U);
}

// Two schedulers see the same; one of them is asked about everything after each step.
TEST(LiveExplain, DisturbsNothing) {
  const auto run = [](bool ask) {
    Rig rig;
    std::vector<api::NodePtr> nodes;
    for (int i = 0; i < 8; ++i) nodes.push_back(Node("n" + std::to_string(i)));
    rig.Sync(nodes);
    rig.Settle();
    for (int i = 0; i < 30; ++i) {
      auto pod = MakePod()
                     .Name("p" + std::to_string(i))
                     .Priority(i % 3)
                     .Req({{"cpu", i % 7 == 6 ? "9" : "1"}});
      rig.UpsertPod(pod.Obj());
      rig.Settle();
      for (int j = 0; ask && j <= i; ++j) {
        (void)inspect::ExplainLive(
            *rig.scheduler,
            {.pod = "ns/p" + std::to_string(j), .preemption = inspect::ExplainPreemption::kYes});
      }
      if (i % 5 == 4) rig.Bind();
    }
    return std::make_pair(rig.Bound(), rig.metrics_registry.Text());
  };
  const auto left_alone = run(false);
  const auto asked = run(true);
  EXPECT_EQ(asked.first, left_alone.first);
  EXPECT_EQ(asked.second, left_alone.second);
}

}  // namespace
}  // namespace ks::scheduler
