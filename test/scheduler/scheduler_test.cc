// SPDX-License-Identifier: Apache-2.0
#include "scheduler/scheduler.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/rig.h"
#include "testing/deltas.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Resources;
using std::chrono::seconds;

api::NodePtr Node(const std::string& name, const Resources& allocatable) {
  return MakeNode().Name(name).Allocatable(allocatable).Obj();
}
api::PodPtr Pod(const std::string& name, const Resources& requests) {
  return MakePod().Name(name).Req(requests).Obj();
}
const Resources kBigNode = {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}};

struct MessageCase {
  std::string name;
  std::vector<api::NodePtr> nodes;
  std::vector<api::PodPtr> bound;
  api::PodPtr pod;
  std::string want_message;
  std::string want_reason = "Unschedulable";
};

class FailureText : public ::testing::TestWithParam<MessageCase> {};

TEST_P(FailureText, ReadsAsUpstream) {
  const MessageCase& c = GetParam();
  Rig rig;
  std::vector<api::PodPtr> pods = c.bound;
  pods.push_back(c.pod);
  rig.Sync(c.nodes, pods);
  rig.Settle();
  ASSERT_EQ(rig.api.patches.size(), 1U);
  const api::Condition& condition = *rig.api.patches[0].change.condition;
  EXPECT_EQ(condition.message, c.want_message);
  EXPECT_EQ(condition.reason, c.want_reason);
  EXPECT_EQ(condition.status, "False");
  EXPECT_EQ(condition.type, "PodScheduled");
  EXPECT_EQ(condition.observed_generation, 1);
  ASSERT_EQ(rig.api.events.size(), 1U);
  EXPECT_EQ(rig.api.events[0].reason, "FailedScheduling");
  EXPECT_EQ(rig.api.events[0].action, "Scheduling");
  EXPECT_EQ(rig.api.events[0].note, c.want_message);
  EXPECT_TRUE(rig.api.events[0].warning);
  EXPECT_TRUE(rig.api.binds.empty());
}

std::vector<api::NodePtr> ThirteenNodes() {
  std::vector<api::NodePtr> nodes;
  for (int i = 0; i < 10; ++i) {
    nodes.push_back(Node("small-" + std::to_string(i), {{"cpu", "1"}, {"pods", "10"}}));
  }
  for (int i = 0; i < 2; ++i) {
    nodes.push_back(MakeNode()
                        .Name("cordoned-" + std::to_string(i))
                        .Allocatable(kBigNode)
                        .Unschedulable()
                        .Obj());
  }
  nodes.push_back(
      MakeNode().Name("tainted").Allocatable(kBigNode).Taint("k", "v", "NoSchedule").Obj());
  return nodes;
}

api::PodPtr OnlyOnNode(const std::string& node, const std::string& nominated = "") {
  return MakePod()
      .Name("p")
      .Req({{"cpu", "2"}})
      .RequiredTerm({}, {{"metadata.name", "In", {node}}})
      .NominatedNode(nominated)
      .Obj();
}

// docs/spec/cycle.md, worked examples 21 to 28.
INSTANTIATE_TEST_SUITE_P(
    WorkedExamples, FailureText,
    ::testing::Values(
        MessageCase{
            "ex21", {}, {}, Pod("p", {{"cpu", "2"}}), "no nodes available to schedule pods"},
        MessageCase{"ex22",
                    {Node("n1", {{"cpu", "1"}, {"pods", "10"}}),
                     Node("n2", {{"cpu", "1"}, {"pods", "10"}})},
                    {},
                    Pod("p", {{"cpu", "2"}}),
                    "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are "
                    "available: 2 Preemption is not helpful for scheduling."},
        MessageCase{
            "ex23",
            {Node("n1", {{"cpu", "1"}, {"pods", "1"}}), Node("n2", {{"cpu", "4"}, {"pods", "1"}})},
            {MakePod().Name("a").Node("n1").Req({}).Obj(),
             MakePod().Name("b").Node("n2").Req({}).Obj()},
            Pod("p", {{"cpu", "2"}}),
            "0/2 nodes are available: 1 Insufficient cpu, 2 Too many pods. preemption: 0/2 "
            "nodes are available: 1 No preemption victims found for incoming pod, 1 "
            "Preemption is not helpful for scheduling."},
        MessageCase{"ex24",
                    ThirteenNodes(),
                    {},
                    Pod("p", {{"cpu", "2"}}),
                    "0/13 nodes are available: 1 node(s) had untolerated taint(s), 10 Insufficient "
                    "cpu, 2 node(s) were unschedulable. preemption: 0/13 nodes are available: 13 "
                    "Preemption is not helpful for scheduling."},
        MessageCase{"ex26",
                    {Node("n1", kBigNode), Node("n2", kBigNode)},
                    {},
                    OnlyOnNode("nX"),
                    "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
                    "preemption: 0/2 nodes are available: 2 Preemption is not helpful for "
                    "scheduling."},
        MessageCase{"ex27",
                    {Node("n1", {{"cpu", "1"}, {"pods", "10"}}), Node("n2", kBigNode),
                     Node("n3", kBigNode)},
                    {},
                    OnlyOnNode("n1", "n1"),
                    "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy "
                    "plugin(s) [NodeAffinity NodeResourcesFit]. preemption: 0/3 nodes are "
                    "available: 3 Preemption is not helpful for scheduling."},
        MessageCase{"ex28",
                    {Node("n1", {{"cpu", "1"}, {"pods", "10"}}), Node("n2", kBigNode),
                     Node("n3", kBigNode)},
                    {},
                    OnlyOnNode("n1", "n2"),
                    "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's "
                    "node affinity/selector, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
                    "preemption: 0/3 nodes are available: 3 Preemption is not helpful for "
                    "scheduling."}),
    [](const auto& row) { return row.param.name; });

// docs/spec/cycle.md, worked example 7: sampling, rotation and ties together.
TEST(Scheduler, Example7RotatesThroughEqualNodes) {
  Rig::Options options;
  options.configuration.percentage_of_nodes_to_score = 5;
  Rig rig(std::move(options));
  std::vector<api::NodePtr> nodes;
  for (int i = 0; i < 120; ++i) {
    std::string digits = std::to_string(i);
    nodes.push_back(Node("n" + std::string(3 - digits.size(), '0') + digits, kBigNode));
  }
  std::vector<api::PodPtr> pods;
  for (int i = 0; i < 8; ++i) pods.push_back(Pod("p" + std::to_string(i), {}));
  rig.Sync(nodes, pods);
  rig.Settle();
  std::vector<std::string> order;
  for (const auto& call : rig.api.binds) order.push_back(call.node_name);
  EXPECT_EQ(order, (std::vector<std::string>{"n000", "n100", "n080", "n060", "n040", "n020", "n001",
                                             "n101"}));
}

TEST(Scheduler, BindsAndReports) {
  Rig rig;
  rig.Sync({Node("n1", kBigNode)}, {Pod("p", {{"cpu", "1"}})});
  rig.Settle();
  ASSERT_EQ(rig.Bound(), (std::map<std::string, std::string>{{"p", "n1"}}));
  EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().assumed_pods, 1U);
  rig.Bind();
  EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().assumed_pods, 0U);
  EXPECT_EQ(rig.scheduler->context().stats.bound, 1U);
  ASSERT_EQ(rig.api.events.size(), 1U);
  EXPECT_EQ(rig.api.events[0].reason, "Scheduled");
  EXPECT_EQ(rig.api.events[0].action, "Binding");
  EXPECT_EQ(rig.api.events[0].note, "Successfully assigned ns/p to n1");
  EXPECT_FALSE(rig.api.events[0].warning);
  EXPECT_TRUE(rig.api.patches.empty());
}

TEST(Scheduler, DecidesNothingBeforeBothKindsAreSynced) {
  Rig rig;
  rig.scheduler->Post(PodDeltas{testing::Replace<api::Pod>({Pod("p", {})})});
  rig.Settle();
  EXPECT_FALSE(rig.scheduler->Synced());
  EXPECT_TRUE(rig.api.patches.empty());
  rig.scheduler->Post(NodeDeltas{testing::Replace<api::Node>({Node("n1", kBigNode)})});
  rig.Settle();
  EXPECT_TRUE(rig.scheduler->Synced());
  EXPECT_EQ(rig.api.binds.size(), 1U);
}

// docs/spec/cycle.md, worked example 34.
TEST(Scheduler, AFailedBindingGivesTheRoomBackAndRetries) {
  Rig rig;
  rig.Sync({Node("n1", kBigNode)}, {Pod("p", {{"cpu", "4"}})});
  rig.Settle();
  ASSERT_EQ(rig.api.binds.size(), 1U);
  api::ApiError boom;
  boom.code = 400;
  boom.message = "boom";
  rig.api.AnswerBinds(boom);
  rig.Settle();
  EXPECT_EQ(rig.LastMessage("p"), "running Bind plugin \"DefaultBinder\": boom");
  EXPECT_EQ(rig.api.patches.back().change.condition->reason, "SchedulerError");
  EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().pods, 0U);
  EXPECT_EQ(rig.scheduler->context().stats.binding_failures, 1U);
  rig.Advance(seconds(3));
  EXPECT_EQ(rig.api.binds.size(), 2U);
}

TEST(Scheduler, NeverOverbooksWhileBindingsAreUnanswered) {
  Rig rig;
  std::vector<api::PodPtr> pods;
  for (int i = 0; i < 6; ++i) pods.push_back(Pod("p" + std::to_string(i), {{"cpu", "1"}}));
  rig.Sync({Node("n1", kBigNode)}, pods);
  rig.Settle();
  EXPECT_EQ(rig.api.binds.size(), 4U);
  EXPECT_EQ(rig.scheduler->context().stats.unschedulable, 2U);
}

TEST(Scheduler, PausesWhenTooManyBindingsAreUnanswered) {
  Rig::Options options;
  options.max_outstanding_bindings = 2;
  Rig rig(std::move(options));
  std::vector<api::PodPtr> pods;
  for (int i = 0; i < 5; ++i) pods.push_back(Pod("p" + std::to_string(i), {}));
  rig.Sync({Node("n1", kBigNode)}, pods);
  rig.Settle();
  EXPECT_EQ(rig.api.binds.size(), 2U);
  rig.Bind();
  EXPECT_EQ(rig.api.binds.size(), 4U);
  rig.Bind();
  EXPECT_EQ(rig.api.binds.size(), 5U);
}

struct WakeCase {
  std::string name;
  std::vector<api::NodePtr> nodes;
  std::vector<api::PodPtr> bound;
  api::PodPtr pod;
  std::function<void(Rig&)> event;
};

class Wake : public ::testing::TestWithParam<WakeCase> {};

TEST_P(Wake, TheEventBringsThePodBack) {
  const WakeCase& c = GetParam();
  Rig rig;
  std::vector<api::PodPtr> pods = c.bound;
  pods.push_back(c.pod);
  rig.Sync(c.nodes, pods);
  rig.Settle();
  ASSERT_TRUE(rig.api.binds.empty());
  c.event(rig);
  rig.Settle();
  // The backoff of one failure is over after at most two seconds.
  rig.Advance(seconds(2));
  EXPECT_EQ(rig.api.binds.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Events, Wake,
    ::testing::Values(
        WakeCase{"node_added",
                 {Node("n1", {{"cpu", "1"}, {"pods", "1"}})},
                 {},
                 Pod("p", {{"cpu", "2"}}),
                 [](Rig& rig) { rig.UpsertNode(Node("n2", kBigNode)); }},
        WakeCase{"taint_removed",
                 {MakeNode().Name("n1").Allocatable(kBigNode).Taint("k", "", "NoSchedule").Obj()},
                 {},
                 Pod("p", {}),
                 [](Rig& rig) { rig.UpsertNode(Node("n1", kBigNode)); }},
        WakeCase{"uncordoned",
                 {MakeNode().Name("n1").Allocatable(kBigNode).Unschedulable().Obj()},
                 {},
                 Pod("p", {}),
                 [](Rig& rig) { rig.UpsertNode(Node("n1", kBigNode)); }},
        WakeCase{"allocatable_grew",
                 {Node("n1", {{"cpu", "1"}, {"pods", "9"}})},
                 {},
                 Pod("p", {{"cpu", "2"}}),
                 [](Rig& rig) { rig.UpsertNode(Node("n1", kBigNode)); }},
        WakeCase{"label_added",
                 {Node("n1", kBigNode)},
                 {},
                 MakePod().Name("p").Req({}).NodeSelector({{"disk", "ssd"}}).Obj(),
                 [](Rig& rig) {
                   rig.UpsertNode(
                       MakeNode().Name("n1").Allocatable(kBigNode).Label("disk", "ssd").Obj());
                 }},
        WakeCase{"pod_deleted",
                 {Node("n1", {{"cpu", "4"}, {"pods", "1"}})},
                 {MakePod().Name("other").Node("n1").Req({}).Obj()},
                 Pod("p", {}),
                 [](Rig& rig) { rig.DeletePod(MakePod().Name("other").Node("n1").Req({}).Obj()); }},
        WakeCase{"gates_removed",
                 {Node("n1", kBigNode)},
                 {},
                 MakePod().Name("p").Req({}).Gates({"wait"}).Obj(),
                 [](Rig& rig) {
                   rig.UpsertPod(MakePod().Name("p").Req({}).ResourceVersion("2").Obj());
                 }}),
    [](const auto& row) { return row.param.name; });

TEST(Scheduler, LeftoversAreRetriedWithoutAnEvent) {
  Rig rig;
  rig.Sync({Node("n1", {{"cpu", "1"}, {"pods", "1"}})}, {Pod("p", {{"cpu", "2"}})});
  rig.Settle();
  EXPECT_EQ(rig.scheduler->context().stats.attempts, 1U);
  rig.Advance(std::chrono::minutes(4));
  EXPECT_EQ(rig.scheduler->context().stats.attempts, 1U);
  for (int i = 0; i < 10; ++i) rig.Advance(seconds(15));
  EXPECT_EQ(rig.scheduler->context().stats.attempts, 2U);
}

TEST(Scheduler, ATerminatingPodIsSkippedWithAnEvent) {
  Rig rig;
  rig.Sync({Node("n1", kBigNode)}, {MakePod().Name("p").Req({}).Terminating().Obj()});
  rig.Settle();
  EXPECT_TRUE(rig.api.binds.empty());
  ASSERT_EQ(rig.api.events.size(), 1U);
  EXPECT_EQ(rig.api.events[0].note, "skip schedule deleting pod: ns/p");
  EXPECT_TRUE(rig.api.patches.empty());
}

TEST(Scheduler, PodsOfOtherSchedulersAreOnlyCounted) {
  Rig rig;
  rig.Sync({Node("n1", kBigNode)},
           {MakePod().Name("pending").SchedulerName("other").Req({}).Obj(),
            MakePod().Name("bound").SchedulerName("other").Node("n1").Req({{"cpu", "3"}}).Obj(),
            Pod("p", {{"cpu", "2"}})});
  rig.Settle();
  EXPECT_TRUE(rig.api.binds.empty());
  EXPECT_EQ(rig.LastMessage("p"),
            "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 "
            "No preemption victims found for incoming pod.");
}

TEST(Scheduler, APodDeletedWhileBindingFreesItsRoomAtOnce) {
  Rig rig;
  const api::PodPtr first = Pod("first", {{"cpu", "4"}});
  rig.Sync({Node("n1", kBigNode)}, {first, Pod("second", {{"cpu", "4"}})});
  rig.Settle();
  ASSERT_EQ(rig.api.binds.size(), 1U);
  const std::string bound = rig.api.binds[0].pod->meta.name;
  rig.DeletePod(bound == "first" ? first : Pod("second", {{"cpu", "4"}}));
  rig.Settle();
  rig.Advance(seconds(2));
  EXPECT_EQ(rig.api.binds.size(), 2U);
  api::ApiError gone;
  gone.code = 404;
  gone.reason = "NotFound";
  gone.message = "pods \"" + bound + "\" not found";
  rig.api.AnswerBinds(gone);
  rig.Settle();
  EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().pods, 0U);
}

// The bound pod is seen before the failed answer: it stays where it is (docs/spec/cache.md, example
// 29).
TEST(Scheduler, ABindingThatSucceededUnseenIsNotRepeated) {
  Rig rig;
  rig.Sync({Node("n1", kBigNode)}, {Pod("p", {{"cpu", "1"}})});
  rig.Settle();
  auto bound = MakePod().Name("p").Node("n1").Req({{"cpu", "1"}}).ResourceVersion("2").Obj();
  rig.UpsertPod(bound);
  rig.Settle();
  api::ApiError conflict;
  conflict.code = 409;
  conflict.message = "already assigned";
  rig.api.AnswerBinds(conflict);
  rig.Settle();
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.api.binds.size(), 1U);
  EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().pods, 1U);
}

TEST(Scheduler, ARecreatedPodIsScheduledAnew) {
  Rig rig;
  rig.Sync({Node("n1", kBigNode)}, {MakePod().Name("p").Node("n1").Req({{"cpu", "4"}}).Obj()});
  rig.Settle();
  rig.UpsertPod(MakePod().Name("p").Uid("new").ResourceVersion("2").Req({{"cpu", "4"}}).Obj());
  rig.Settle();
  ASSERT_EQ(rig.api.binds.size(), 1U);
  EXPECT_EQ(rig.api.binds[0].pod->meta.uid, "new");
}

TEST(Scheduler, HigherPriorityGoesFirst) {
  Rig rig;
  rig.Sync({Node("n1", {{"cpu", "1"}, {"pods", "10"}})},
           {MakePod().Name("low").Req({{"cpu", "1"}}).Obj(),
            MakePod().Name("high").Priority(10).Req({{"cpu", "1"}}).Obj()});
  rig.Settle();
  EXPECT_EQ(rig.Bound(), (std::map<std::string, std::string>{{"high", "n1"}}));
}

TEST(Scheduler, AWrongProfileIsRefusedAtStart) {
  framework::Registry registry = plugins::InTreeRegistry();
  ks::testing::FakeClock clock;
  ks::testing::FakeApiWriter api;
  config::Configuration configuration = config::DefaultConfiguration();
  configuration.profiles[0].plugins.multi_point.enabled.push_back({"Nope", {}});
  auto made = Scheduler::Create(
      {.configuration = configuration, .registry = &registry, .api = &api, .clock = &clock});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("\"Nope\" does not exist"), std::string::npos)
      << made.error().message;
}

// The watch broke before it showed the binding; the list that follows knows the pod no more.
TEST(Scheduler, APodThatIsGoneBeforeItsBindingWasSeenFreesItsRoom) {
  Rig rig;
  const api::NodePtr node = MakeNode().Name("n1").Allocatable({{"cpu", "1"}, {"pods", "10"}}).Obj();
  const api::PodPtr first = MakePod().Name("first").Req({{"cpu", "1"}}).Obj();
  const api::PodPtr second = MakePod().Name("second").Req({{"cpu", "1"}}).Obj();
  rig.Sync({node}, {first});
  rig.Settle();
  rig.api.AnswerBinds();
  rig.Settle();
  rig.UpsertPod(second);
  rig.Settle();
  ASSERT_FALSE(rig.Bound().contains("second"));
  rig.scheduler->Post(PodDeltas{testing::Replace<api::Pod>({second})});
  rig.Settle();
  EXPECT_EQ(rig.Bound().at("second"), "n1");
}

}  // namespace
}  // namespace ks::scheduler
