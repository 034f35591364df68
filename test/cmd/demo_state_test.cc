// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/demo_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubeschedctl/cluster/pod_manifest.h"
#include "testing/builders.h"
#include "testing/deltas.h"

namespace ks::ctl {
namespace {

using ::ks::testing::MakeNode;
using ::ks::testing::MakePod;
using ::ks::testing::PodBuilder;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const SteadyTime kStart{std::chrono::hours(1)};

PodBuilder Ours(const std::string& name) {
  PodBuilder pod;
  pod.Name(name).Labels({{kOwnerLabel, "demo"}}).Req({{"cpu", "1"}, {"memory", "1Gi"}});
  return pod;
}

PodBuilder Refused(const std::string& name, const std::string& message) {
  return Ours(name).Condition(
      {.type = "PodScheduled", .status = "False", .reason = "Unschedulable", .message = message});
}

class DemoStateTest : public ::testing::Test {
 protected:
  void Upsert(const PodBuilder& pod, milliseconds at) {
    state_.ApplyPods({testing::Upsert(pod.Obj())}, kStart + at);
  }
  ViewState View(milliseconds at) {
    ViewState view;
    state_.Fill(view, kStart, kStart + at);
    return view;
  }

  DemoState state_{"demo", {"odd"}};
};

TEST_F(DemoStateTest, LatencyIsFromFirstSightToBinding) {
  Upsert(Ours("a"), milliseconds(10));
  Upsert(Ours("b"), milliseconds(20));
  Upsert(Ours("a").Node("n"), milliseconds(15));
  Upsert(Ours("b").Node("n"), milliseconds(120));
  const ViewState view = View(milliseconds(1000));
  EXPECT_EQ(view.bound, 2U);
  EXPECT_EQ(view.latency.count, 2U);
  EXPECT_DOUBLE_EQ(view.latency.p50, 5);
  EXPECT_DOUBLE_EQ(view.latency.most, 100);
}

TEST_F(DemoStateTest, APodFirstSeenBoundHasNoLatency) {
  Upsert(Ours("a").Node("n"), milliseconds(10));
  EXPECT_EQ(View(milliseconds(20)).bound, 1U);
  EXPECT_EQ(View(milliseconds(20)).latency.count, 0U);
}

TEST_F(DemoStateTest, PodsOfOthersOnlyFillNodes) {
  state_.ApplyNodes(
      {testing::Upsert(MakeNode().Name("n").Zone("z").Allocatable({{"cpu", "4"}}).Obj())});
  Upsert(MakePod().Name("x").Node("n").Req({{"cpu", "1"}}), milliseconds(1));
  const ViewState view = View(milliseconds(2));
  EXPECT_EQ(view.bound, 0U);
  EXPECT_DOUBLE_EQ(view.cpu_fill, 0.25);
  ASSERT_EQ(view.zones.size(), 1U);
  EXPECT_EQ(view.zones[0].name, "z");
  EXPECT_DOUBLE_EQ(view.zones[0].cpu, 0.25);
  EXPECT_EQ(view.nodes_by_cpu, (std::array<size_t, 10>{0, 0, 1}));
}

TEST_F(DemoStateTest, ANodeThatComesAfterItsPodsIsFilled) {
  Upsert(Ours("a").Node("n"), milliseconds(1));
  state_.ApplyNodes(
      {testing::Replace<api::Node>({MakeNode().Name("n").Allocatable({{"cpu", "2"}}).Obj()})});
  EXPECT_DOUBLE_EQ(View(milliseconds(2)).cpu_fill, 0.5);
}

TEST_F(DemoStateTest, EndedAndDeletedPodsGiveBackWhatTheyTook) {
  state_.ApplyNodes({testing::Upsert(MakeNode().Name("n").Allocatable({{"cpu", "4"}}).Obj())});
  Upsert(Ours("a").Node("n"), milliseconds(1));
  Upsert(Ours("b").Node("n"), milliseconds(1));
  EXPECT_DOUBLE_EQ(View(milliseconds(2)).cpu_fill, 0.5);
  PodBuilder ended = Ours("a").Node("n");
  ended.pod().status.phase = Symbol("Succeeded");
  Upsert(ended, milliseconds(3));
  EXPECT_DOUBLE_EQ(View(milliseconds(4)).cpu_fill, 0.25);
  state_.ApplyPods({testing::Delete(Ours("b").Node("n").Obj())}, kStart);
  EXPECT_DOUBLE_EQ(View(milliseconds(5)).cpu_fill, 0);
  EXPECT_EQ(state_.PlaceableBound(), 2U);  // they were bound all the same
}

TEST_F(DemoStateTest, ARelistForgetsWhatIsGone) {
  Upsert(Ours("a"), milliseconds(1));
  Upsert(Ours("b"), milliseconds(1));
  state_.ApplyPods({testing::Replace<api::Pod>({Ours("b").Obj()})}, kStart);
  ASSERT_EQ(state_.Pending().size(), 1U);
  EXPECT_EQ(state_.Pending()[0].pods, 1U);
}

TEST_F(DemoStateTest, ASecondNodeIsAViolation) {
  Upsert(Ours("a"), milliseconds(1));
  Upsert(Ours("a").Node("n"), milliseconds(2));
  EXPECT_THAT(state_.Violations(), IsEmpty());
  Upsert(Ours("a").Node("m"), milliseconds(3));
  EXPECT_THAT(state_.Violations(), ElementsAre("pod a went from n to m"));
  EXPECT_EQ(state_.Bound(), 1U);
}

TEST_F(DemoStateTest, AnUnplaceablePodThatIsBoundIsAViolation) {
  Upsert(Ours("odd"), milliseconds(1));
  Upsert(Ours("odd").Node("n"), milliseconds(2));
  EXPECT_THAT(state_.Violations(), ElementsAre("pod odd, which should fit nowhere, is bound to n"));
  EXPECT_EQ(state_.PlaceableBound(), 0U);
}

TEST_F(DemoStateTest, PendingPodsAreGroupedByReason) {
  Upsert(Ours("new"), milliseconds(1));
  Upsert(Refused("a",
                 "0/9 nodes are available: 9 Insufficient cpu. preemption: 0/9 nodes are "
                 "available: 9 Preemption is not helpful for scheduling."),
         milliseconds(1));
  Upsert(Refused("odd", "0/8 nodes are available: 8 Insufficient cpu."), milliseconds(1));
  const std::vector<ReasonCount> pending = state_.Pending();
  ASSERT_EQ(pending.size(), 2U);
  EXPECT_EQ(pending[0].reason, "Insufficient cpu");
  EXPECT_EQ(pending[0].pods, 2U);
  EXPECT_EQ(pending[1].reason, "not looked at yet");
  EXPECT_EQ(state_.PlaceableRefused(), 1U);
  EXPECT_EQ(state_.UnplaceableExplained(), 1U);
  EXPECT_EQ(state_.PendingUnexpected().size(), 2U);
}

TEST_F(DemoStateTest, RatesCountWholeSeconds) {
  for (int i = 0; i < 30; ++i) {
    const std::string name = "p" + std::to_string(i);
    Upsert(Ours(name), milliseconds(0));
    Upsert(Ours(name).Node("n"), milliseconds(100 * i));
  }
  const ViewState view = View(milliseconds(3500));
  EXPECT_THAT(view.rate_history, ElementsAre(10, 10, 10));
  EXPECT_DOUBLE_EQ(view.rate_now, 10);
  EXPECT_NEAR(view.rate_average, 10, 1e-9);
}

TEST_F(DemoStateTest, EventsAreNewestFirstAndLimited) {
  for (int i = 0; i < 100; ++i) state_.AddEvent({.reason = std::to_string(i)});
  const ViewState view = View(milliseconds(1));
  EXPECT_EQ(view.events.size(), 64U);
  EXPECT_EQ(view.events[0].reason, "99");
}

struct ReasonCase {
  std::string name;
  PodBuilder pod;
  std::string want;
};

class PendingReasonTest : public ::testing::TestWithParam<ReasonCase> {};

TEST_P(PendingReasonTest, Text) {
  EXPECT_EQ(PendingReason(*GetParam().pod.Obj()), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Pods, PendingReasonTest,
    ::testing::Values(
        ReasonCase{"not_told", Ours("a"), ""},
        ReasonCase{"gated", Ours("a").Gates({"x"}), "held back by a scheduling gate"},
        ReasonCase{"several_sorted",
                   Refused("a",
                           "0/5 nodes are available: 2 node(s) didn't match Pod's node "
                           "affinity/selector, 3 Insufficient cpu."),
                   "Insufficient cpu, node(s) didn't match Pod's node affinity/selector"},
        ReasonCase{"comma_inside_of_a_cause",
                   Refused("a", "0/5 nodes are available: 5 node(s) had odd taint, or not."),
                   "node(s) had odd taint, or not"},
        ReasonCase{"no_nodes", Refused("a", "no nodes available to schedule pods"),
                   "no nodes available to schedule pods"},
        ReasonCase{"group",
                   Refused("a",
                           "pod group is unschedulable, minCount (4) cannot be satisfied: 3 "
                           "scheduled, 0 remaining, pod group preemption: No preemption victims "
                           "found for incoming preemptor"),
                   "minCount (4) cannot be satisfied"},
        ReasonCase{"not_tried_in_its_group",
                   Refused("a", "minCount (4) cannot be satisfied: 2 scheduled, 1 remaining"),
                   "minCount (4) cannot be satisfied"},
        ReasonCase{"placements",
                   Refused("a",
                           "pod group is unschedulable, 0/3 placements are available, first "
                           "placement status: minCount (2) cannot be satisfied: 1 scheduled, 0 "
                           "remaining"),
                   "0/3 placements are available"},
        ReasonCase{"no_message", Refused("a", ""), "Unschedulable"}),
    [](const auto& row) { return row.param.name; });

TEST(LatencyTest, NearestRank) {
  std::vector<double> values;
  for (int i = 200; i > 0; --i) values.push_back(i);
  const Latency latency = LatencyOf(values);
  EXPECT_EQ(latency.count, 200U);
  EXPECT_DOUBLE_EQ(latency.p50, 100);
  EXPECT_DOUBLE_EQ(latency.p90, 180);
  EXPECT_DOUBLE_EQ(latency.p99, 198);
  EXPECT_DOUBLE_EQ(latency.most, 200);
  EXPECT_EQ(LatencyOf({}).count, 0U);
}

}  // namespace
}  // namespace ks::ctl
