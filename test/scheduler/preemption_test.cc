// SPDX-License-Identifier: Apache-2.0
// Preemption from the failed attempt to the binding: order of the calls, the gate at PreEnqueue,
// errors, victims that are not bound yet, nominations (docs/spec/preemption.md sections 10 to 13;
// P9, P22 to P22c, P29).
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scheduler/preemption_rig.h"
#include "testing/affinity_builders.h"

namespace ks::scheduler {
namespace {

using framework::EvictionOutcome;
using framework::Status;
using ks::testing::PodBuilder;
using std::chrono::seconds;
using Texts = PreemptionTexts;

config::FeatureGates Gates(bool async) {
  config::FeatureGates gates;
  gates.Set(config::Gate::kSchedulerAsyncPreemption, async);
  return gates;
}

// ---- a nominated node that is lost (not upstream's: there the pod waits for the flush)

// Two nodes with a victim each; p's victim on n1 takes its time to leave.
class LostNodeTest : public ::testing::Test {
 protected:
  LostNodeTest() {
    rig_.Sync({n1_, CpuNode("n2", "2").Obj()},
              {victim_.Obj(), CpuPod("w", 5, "2").Node("n2").Obj(), preemptor_.Obj()});
    rig_.Settle();
    EXPECT_EQ(rig_.Victims(), Texts{"v"});
    EXPECT_EQ(rig_.Nomination("p"), "n1");
  }
  void VictimTerminates() {
    rig_.ShowNomination(preemptor_, "n1");
    rig_.UpsertPod(Preempted(victim_).ResourceVersion("2").Obj());
    rig_.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
    rig_.Advance(seconds(20));
    attempts_ = rig_.scheduler->context().stats.attempts;
  }
  void ExpectPreemptionOnN2() {
    rig_.Advance(seconds(20));
    EXPECT_EQ(rig_.Victims(), (Texts{"v", "w"}));
    EXPECT_EQ(rig_.Nomination("p"), "n2");
    rig_.AnswerAll();
    rig_.Advance(seconds(20));
    EXPECT_EQ(rig_.Bound()["p"], "n2");
  }
  void ExpectNoAttempt() {
    rig_.Advance(seconds(60));
    EXPECT_EQ(rig_.scheduler->context().stats.attempts, attempts_);
    EXPECT_EQ(rig_.Victims(), Texts{"v"});
  }
  static testing::NodeBuilder N1() { return CpuNode("n1", "2").Label("disk", "ssd"); }

  PreemptionRig rig_;
  const api::NodePtr n1_ = N1().Obj();
  PodBuilder victim_ = Running("v", 0, "2");
  PodBuilder preemptor_ = CpuPod("p", 10, "2");
  uint64_t attempts_ = 0;
};

TEST_F(LostNodeTest, DeletedItLetsThePreemptorLookElsewhere) {
  VictimTerminates();
  rig_.DeleteNode(n1_);
  ExpectPreemptionOnN2();
}

TEST_F(LostNodeTest, TaintedItLetsThePreemptorLookElsewhere) {
  VictimTerminates();
  rig_.UpsertNode(N1().Taint("k", "v", "PreferNoSchedule").ResourceVersion("2").Obj());
  ExpectNoAttempt();
  rig_.UpsertNode(N1().Taint("k", "v", "NoExecute").ResourceVersion("3").Obj());
  ExpectPreemptionOnN2();
}

TEST_F(LostNodeTest, CordonedItLetsThePreemptorLookElsewhere) {
  VictimTerminates();
  rig_.UpsertNode(N1().Unschedulable().ResourceVersion("2").Obj());
  ExpectPreemptionOnN2();
}

TEST_F(LostNodeTest, WhatThePodToleratesIsNoLoss) {
  preemptor_.Toleration("k", "Exists", "", "");
  VictimTerminates();
  rig_.UpsertNode(N1().Taint("k", "v", "NoSchedule").ResourceVersion("2").Obj());
  ExpectNoAttempt();
}

// While the victims are being evicted the preemptor is held; it must not have missed its wake.
TEST_F(LostNodeTest, LostWhileTheVictimsAreEvicted) {
  rig_.ShowNomination(preemptor_, "n1");
  rig_.UpsertNode(N1().Taint("k", "v", "NoSchedule").ResourceVersion("2").Obj());
  rig_.Settle();
  EXPECT_EQ(rig_.Victims(), Texts{"v"});
  rig_.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  ExpectPreemptionOnN2();
}

// The patch of the nomination may take longer than the evictions. Whatever wakes the preemptor
// then, it waits for its victim.
TEST_F(LostNodeTest, NotSeenYetItIsNotLost) {
  rig_.UpsertPod(Preempted(victim_).ResourceVersion("2").Obj());
  rig_.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  rig_.UpsertPod(CpuPod("cheaper", -5, "2").Node("n2").Obj());
  rig_.UpsertPod(CpuPod("x", 20, "1").Node("n2").Obj());
  for (const char* grown : {"3", "4"}) {
    const uint64_t attempts = rig_.scheduler->context().stats.attempts;
    rig_.UpsertNode(CpuNode("n2", grown).ResourceVersion(grown).Obj());
    rig_.Advance(seconds(20));
    EXPECT_GT(rig_.scheduler->context().stats.attempts, attempts);
    EXPECT_EQ(rig_.Victims(), Texts{"v"});
    EXPECT_EQ(rig_.Nomination("p"), "n1");
  }
  rig_.DeletePod(victim_.Obj());
  rig_.Advance(seconds(20));
  EXPECT_EQ(rig_.Bound()["p"], "n1");
}

// Nor passed over: n2 has become the better one.
TEST_F(LostNodeTest, NotSeenYetItIsTriedFirst) {
  rig_.UpsertNode(CpuNode("n2", "64").ResourceVersion("2").Obj());
  rig_.AnswerAll();
  rig_.Advance(seconds(20));
  EXPECT_EQ(rig_.Bound()["p"], "n1");
}

// ---- in the background

TEST(PreemptionTest, VictimsGoneThenBound) {
  PreemptionRig rig;
  rig.Sync({CpuNode("n1", "2").Obj()}, {Running("a", 0, "1").Generation(7).Obj(),
                                        Running("b", 5, "1").Obj(), CpuPod("p", 10, "2").Obj()});
  rig.Settle();
  ASSERT_EQ(rig.Victims(), Texts{"b"}) << "the least important one goes alone, last";
  rig.AnswerOne();
  ASSERT_EQ(rig.Victims(), (Texts{"b", "a"}));
  const api::Condition& condition = rig.api.evictions[1].condition;
  EXPECT_EQ(condition.type, "DisruptionTarget");
  EXPECT_EQ(condition.status, "True");
  EXPECT_EQ(condition.reason, "PreemptionByScheduler");
  EXPECT_EQ(condition.message,
            "default-scheduler: preempting to accommodate a higher priority pod");
  EXPECT_EQ(condition.observed_generation, 7);
  EXPECT_EQ(condition.last_transition_time, rig.clock.WallNow());
  rig.AnswerOne();
  EXPECT_EQ(rig.PreemptedEvents(), (Texts{"b: Preempted by pod uid-p on node n1",
                                          "a: Preempted by pod uid-p on node n1"}));
  rig.Advance(seconds(10));
  EXPECT_EQ(rig.Bound()["p"], "n1");
  EXPECT_EQ(rig.Victims().size(), 2U);
}

// The delete event of a victim wakes the preemptor; PreEnqueue holds it until the last victim goes.
TEST(PreemptionTest, TheGateHoldsThePreemptor) {
  PreemptionRig rig;
  const api::PodPtr a = Running("a", 0, "1").Obj();
  const api::PodPtr b = Running("b", 5, "1").Obj();
  rig.Sync({CpuNode("n1", "2").Obj()}, {a, b, CpuPod("p", 10, "2").Obj()});
  rig.Settle();
  const uint64_t attempts = rig.scheduler->context().stats.attempts;
  rig.DeletePod(b);  // seen before the answer
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.scheduler->context().stats.attempts, attempts) << "no last victim yet";
  rig.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.scheduler->context().stats.attempts, attempts) << "the last victim runs";
  rig.DeletePod(a);
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.Bound()["p"], "n1") << "the event came before the answer, which is no race";
  rig.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  EXPECT_EQ(rig.Victims(), (Texts{"b", "a"}));
}

// Somebody else deletes the last victim while the others are evicted: its event finds the preemptor
// held, and there is no other one.
TEST(PreemptionTest, ALastVictimThatIsGoneBeforeLeavesNobodyWaiting) {
  PreemptionRig rig;
  const api::PodPtr a = Running("a", 0, "1").Obj();
  const api::PodPtr b = Running("b", 5, "1").Obj();
  rig.Sync({CpuNode("n1", "2").Obj()}, {a, b, CpuPod("p", 10, "2").Obj()});
  rig.Settle();
  rig.DeletePod(a);
  rig.DeletePod(b);
  rig.Advance(seconds(20));
  EXPECT_FALSE(rig.Bound().contains("p"));
  rig.AnswerOne(EvictionOutcome::kGone, /*leaves=*/false);
  rig.AnswerOne(EvictionOutcome::kGone, /*leaves=*/false);
  rig.Settle();
  EXPECT_EQ(rig.Bound()["p"], "n1");
}

// The victim's binding fails while its eviction is under way. That frees the room, and finds the
// preemptor held; the deletion is then that of a pod without a node, which wakes nobody.
TEST(PreemptionTest, AVictimThatIsNeverBoundLeavesNobodyWaiting) {
  PreemptionRig rig;
  const api::PodPtr v = CpuPod("v", 0, "1").Obj();
  rig.Sync({CpuNode("n1", "1").Obj()}, {v});
  rig.Settle();
  ASSERT_EQ(rig.api.binds.size(), 1U);
  rig.UpsertPod(CpuPod("p", 10, "1").Obj());
  rig.Settle();
  ASSERT_EQ(rig.Victims(), Texts{"v"});
  api::ApiError error;
  error.message = "boom";
  rig.api.AnswerBinds(error);
  rig.Advance(seconds(20));
  EXPECT_FALSE(rig.Bound().contains("p")) << "the victim is not evicted yet";
  rig.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  EXPECT_EQ(rig.Bound()["p"], "n1");
  rig.DeletePod(v);
  rig.Settle();
}

// The victim stops being in the way while the preemptor is held, and its deletion means nothing to
// the plugin that had rejected the preemptor.
TEST(PreemptionTest, APreemptorThatWasTurnedAwayComesBackWhenItsVictimsHaveLeft) {
  PreemptionRig rig;
  PodBuilder v = Running("v", 0, "1").Labels({{"app", "x"}});
  rig.Sync({CpuNode("n1", "4").Label("host", "n1").Obj()},
           {v.Obj(),
            testing::AffinePod(CpuPod("p", 10, "1")).Far(testing::Term("host").App("x")).Obj()});
  rig.Settle();
  ASSERT_EQ(rig.Victims(), Texts{"v"});
  rig.UpsertPod(v.Labels({{"app", "y"}}).ResourceVersion("2").Obj());
  rig.Advance(seconds(20));
  rig.UpsertPod(Preempted(v).ResourceVersion("3").Obj());
  rig.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  EXPECT_FALSE(rig.Bound().contains("p"));
  rig.DeletePod(v.Obj());
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.Bound()["p"], "n1");
}

// A preemptor that is let through by its last victim's end may preempt again before the first
// preemption's last answer, which must not end the second one's hold.
TEST(PreemptionTest, AnEarlierPreemptionDoesNotEndALaterOnesHold) {
  PreemptionRig rig;
  const api::PodPtr a = Running("a", 0, "1").Obj();
  const api::PodPtr b = Running("b", 5, "1").Obj();
  rig.Sync({CpuNode("n1", "2").Obj()}, {a, b, CpuPod("p", 10, "1").Obj()});
  rig.Settle();
  ASSERT_EQ(rig.Victims(), Texts{"a"});
  rig.DeletePod(a);
  rig.UpsertPod(Running("c", 7, "1").Obj());  // bound by somebody else
  rig.Advance(seconds(20));
  ASSERT_EQ(rig.Victims(), (Texts{"a", "b"}));
  const uint64_t attempts = rig.scheduler->context().stats.attempts;
  rig.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);  // a's
  rig.UpsertPod(CpuPod("q", 0, "4").Node("n1").Obj());
  rig.DeletePod(CpuPod("q", 0, "4").Node("n1").Obj());  // would wake p
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.scheduler->context().stats.attempts, attempts) << "b runs";
  rig.AnswerOne();
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.Bound()["p"], "n1");
}

// The server has answered the last eviction, and the watch is behind: to whoever looks now the
// victim runs, and another node's pods would have to go as well.
class UnheardVictimTest : public ::testing::Test {
 protected:
  UnheardVictimTest() {
    rig_.Sync({CpuNode("n1", "2").Obj(), CpuNode("n2", "2").Obj(), CpuNode("n3", "1").Obj()},
              {a_.Obj(), CpuPod("b", 5, "2").Node("n2").Obj(), CpuPod("p", 10, "2").Obj()});
    rig_.Settle();
    rig_.ShowNomination(CpuPod("p", 10, "2"), "n1");
    rig_.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
    attempts_ = Attempts();
  }
  uint64_t Attempts() { return rig_.scheduler->context().stats.attempts; }
  void WakeThePreemptor() {
    rig_.UpsertNode(CpuNode("n2", "3").ResourceVersion("2").Obj());
    rig_.Advance(seconds(20));
  }

  PreemptionRig rig_;
  PodBuilder a_ = Running("a", 0, "2");
  uint64_t attempts_ = 0;
};

TEST_F(UnheardVictimTest, IsTakenForTerminating) {
  WakeThePreemptor();
  EXPECT_EQ(Attempts(), attempts_ + 1);
  EXPECT_EQ(rig_.LastMessage("p"),
            "0/3 nodes are available: 3 Insufficient cpu. preemption: not eligible due to a "
            "terminating pod on the nominated node.");
  EXPECT_EQ(rig_.Victims(), Texts{"a"});
  rig_.DeletePod(a_.Obj());
  rig_.Advance(seconds(20));
  EXPECT_EQ(rig_.Bound()["p"], "n1");
  EXPECT_EQ(rig_.Victims(), Texts{"a"});
}

TEST_F(UnheardVictimTest, DoesNotHoldThePreemptorWhereItFits) {
  rig_.UpsertNode(CpuNode("n3", "3").ResourceVersion("2").Obj());
  rig_.Advance(seconds(20));
  EXPECT_EQ(rig_.Bound()["p"], "n3");
  EXPECT_EQ(rig_.Victims(), Texts{"a"});
}

TEST_F(UnheardVictimTest, CountsNoMoreWhereItsNodeIsLost) {
  rig_.UpsertNode(CpuNode("n1", "2").Unschedulable().ResourceVersion("2").Obj());
  rig_.Advance(seconds(20));
  EXPECT_EQ(rig_.Victims(), (Texts{"a", "b"}));
}

TEST_F(UnheardVictimTest, IsNotAnotherPodOfItsName) {
  rig_.DeletePod(a_.Obj());
  rig_.UpsertPod(Running("a", 20, "2").Uid("another").Obj());
  rig_.Advance(seconds(20));
  EXPECT_EQ(rig_.Victims(), (Texts{"a", "b"})) << "n1 is taken";
}

TEST(PreemptionTest, TerminatingLastVictimOpensTheGate) {
  PreemptionRig rig;
  PodBuilder victim = Running("v", 0, "2");
  rig.Sync({CpuNode("n1", "2").Obj()}, {victim.Obj(), CpuPod("p", 10, "2").Obj()});
  rig.Settle();
  rig.ShowNomination(CpuPod("p", 10, "2"), "n1");
  rig.UpsertPod(Preempted(victim).ResourceVersion("2").Obj());
  rig.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  const uint64_t attempts = rig.scheduler->context().stats.attempts;
  rig.UpsertNode(CpuNode("n1", "3").ResourceVersion("2").Obj());  // wakes it
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.scheduler->context().stats.attempts, attempts + 1);
  EXPECT_EQ(rig.LastMessage("p"),
            "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to a "
            "terminating pod on the nominated node.");
  EXPECT_EQ(rig.Victims(), Texts{"v"});
  rig.DeletePod(victim.Obj());
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.Bound()["p"], "n1");
}

TEST(PreemptionTest, P9) {
  PreemptionRig rig;
  rig.Sync(
      {CpuNode("n1", "2").Obj()},
      {Running("v1", 1, "2").Obj(), CpuPod("q", 3, "2").NominatedNode("n1").Gates({"held"}).Obj(),
       CpuPod("r", 10, "2").NominatedNode("n1").Gates({"held"}).Obj(), CpuPod("p", 11, "2").Obj()});
  rig.Settle();
  EXPECT_EQ(rig.Nomination("q"), "");
  EXPECT_EQ(rig.Nomination("r"), "");
  EXPECT_EQ(rig.Nomination("p"), "n1");
  EXPECT_EQ(rig.Victims(), Texts{"v1"});
}

TEST(PreemptionTest, OfEqualNodesTheOneListedFirst) {
  PreemptionRig rig;
  rig.Sync({CpuNode("b", "2").Obj(), CpuNode("a", "2").Obj()},
           {CpuPod("v", 0, "2").Node("b").Obj(), CpuPod("w", 0, "2").Node("a").Obj(),
            CpuPod("p", 10, "2").Obj()});
  rig.Settle();
  EXPECT_EQ(rig.Nomination("p"), "b");
}

TEST(PreemptionTest, EqualNominationsStay) {
  PreemptionRig rig;
  rig.Sync(
      {CpuNode("n1", "4").Obj()},
      {Running("v1", 1, "3").Obj(), CpuPod("q", 10, "1").NominatedNode("n1").Gates({"held"}).Obj(),
       CpuPod("p", 10, "2").Obj()});
  rig.Settle();
  EXPECT_EQ(rig.Nomination("q"), "-");
  EXPECT_EQ(rig.Victims(), Texts{"v1"});
}

TEST(PreemptionTest, P29) {
  PreemptionRig rig;
  rig.Sync({CpuNode("n1", "2").Obj()},
           {Running("a", 0, "1").Obj(), Running("b", 5, "1").Obj(), CpuPod("p", 10, "2").Obj()});
  rig.Settle();
  EXPECT_EQ(rig.Nomination("p"), "n1");
  const uint64_t attempts = rig.scheduler->context().stats.attempts;
  rig.AnswerOne(EvictionOutcome::kFailed);
  EXPECT_EQ(rig.scheduler->context().stats.attempts, attempts + 1) << "activated, past its backoff";
  EXPECT_EQ(rig.Victims(), (Texts{"b", "b"})) << "the last victim was not touched, p tries again";
  EXPECT_TRUE(rig.PreemptedEvents().empty());
}

TEST(PreemptionTest, AGoneVictimIsSuccessWithoutEvent) {
  PreemptionRig rig;
  rig.Sync({CpuNode("n1", "2").Obj()},
           {Running("a", 0, "1").Obj(), Running("b", 5, "1").Obj(), CpuPod("p", 10, "2").Obj()});
  rig.Settle();
  rig.AnswerOne(EvictionOutcome::kGone);
  EXPECT_EQ(rig.Victims(), (Texts{"b", "a"}));
  EXPECT_TRUE(rig.PreemptedEvents().empty());
}

// The first error lets nobody else begin.
TEST(PreemptionTest, ManyVictimsAtOnce) {
  Rig::Options options;
  options.configuration.parallelism = 3;
  PreemptionRig rig(std::move(options));
  std::vector<api::PodPtr> pods = {CpuPod("p", 10, "6").Obj()};
  for (int i = 0; i < 6; ++i) pods.push_back(Running("v" + std::to_string(i), 6 - i, "1").Obj());
  rig.Sync({CpuNode("n1", "6").Obj()}, pods);
  rig.Settle();
  EXPECT_EQ(rig.Victims(), (Texts{"v0", "v1", "v2"}));
  rig.AnswerOne();
  EXPECT_EQ(rig.Victims(), (Texts{"v0", "v1", "v2", "v3"}));
  rig.AnswerOne(EvictionOutcome::kFailed);
  rig.AnswerOne();
  const size_t begun = rig.Victims().size();
  EXPECT_EQ(begun, 4U) << "v4 and v5 are not touched";
  rig.AnswerOne();
  EXPECT_GT(rig.Victims().size(), begun) << "p was activated and tries again";
}

TEST(PreemptionTest, Metrics) {
  PreemptionRig rig;
  rig.Sync({CpuNode("n1", "2").Obj()},
           {Running("a", 0, "1").Obj(), Running("b", 5, "1").Obj(), CpuPod("p", 10, "2").Obj()});
  rig.Settle();
  rig.AnswerAll();
  const std::string text = rig.metrics_registry.Text();
  for (const char* line :
       {"\nscheduler_preemption_attempts_total 1\n", "\nscheduler_preemption_victims_sum 2\n",
        "\nscheduler_preemption_victims_bucket{le=\"64\"} 1\n",
        "\nscheduler_preemption_goroutines_execution_total{result=\"success\"} 1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(text.find("scheduler_preemption_evaluation"), std::string::npos)
      << "only with GenericWorkload";
}

// ---- without the gate SchedulerAsyncPreemption

Rig::Options AtOnce(int32_t parallelism) {
  static const config::FeatureGates gates = Gates(false);
  Rig::Options options;
  options.configuration.parallelism = parallelism;
  options.gates = &gates;
  return options;
}

TEST(PreemptionTest, AtOnceEverybodyGoes) {
  PreemptionRig rig(AtOnce(16));
  rig.Sync(
      {CpuNode("n1", "2").Obj()},
      {Running("a", 0, "1").Obj(), Running("b", 5, "1").Obj(),
       CpuPod("q", 3, "2").NominatedNode("n1").Gates({"held"}).Obj(), CpuPod("p", 10, "2").Obj()});
  rig.Settle();
  EXPECT_EQ(rig.Victims(), (Texts{"b", "a"}));
  EXPECT_EQ(rig.Nomination("q"), "-") << "cleared after the evictions";
  rig.AnswerOne();
  EXPECT_EQ(rig.Nomination("q"), "-");
  rig.AnswerOne();
  EXPECT_EQ(rig.Nomination("q"), "");
  rig.Advance(seconds(10));
  EXPECT_EQ(rig.Bound()["p"], "n1");
}

// Upstream's attempt lasts until the calls are answered. Tried meanwhile, the preemptor would have
// the pods of another node evicted, too.
TEST(PreemptionTest, AtOnceThePreemptorIsHeldUntilTheAnswersAreHere) {
  PreemptionRig rig(AtOnce(16));
  const api::PodPtr a = Running("a", 0, "1").Obj();
  const api::PodPtr b = Running("b", 0, "1").Obj();
  const api::PodPtr other = Running("other", 0, "1").Node("n2").Obj();
  rig.Sync({CpuNode("n1", "2").Obj(), CpuNode("n2", "2").Obj()},
           {a, b, other, Running("c", 5, "1").Node("n2").Obj(), CpuPod("p", 10, "2").Obj()});
  rig.Settle();
  ASSERT_EQ(rig.Victims(), (Texts{"a", "b"}));
  const uint64_t attempts = rig.scheduler->context().stats.attempts;
  rig.DeletePod(a);      // seen before the answer
  rig.DeletePod(other);  // makes n2 the cheaper node
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.scheduler->context().stats.attempts, attempts);
  for (int i = 0; i < 2; ++i) rig.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.Victims(), (Texts{"a", "b"})) << "b is as good as terminating";
  rig.DeletePod(b);
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.Bound()["p"], "n1");
}

TEST(PreemptionTest, AtOnceAnErrorBringsThePreemptorBack) {
  PreemptionRig rig(AtOnce(1));
  rig.Sync({CpuNode("n1", "2").Obj()},
           {Running("a", 0, "1").Obj(), Running("b", 5, "1").Obj(), CpuPod("p", 10, "2").Obj()});
  rig.Settle();
  EXPECT_EQ(rig.Victims(), Texts{"b"});
  const uint64_t attempts = rig.scheduler->context().stats.attempts;
  rig.AnswerOne(EvictionOutcome::kFailed);
  EXPECT_EQ(rig.scheduler->context().stats.attempts, attempts + 1);
  EXPECT_EQ(rig.Victims(), (Texts{"b", "b"}));
}

// ---- victims that are not bound yet

// The default plugins and one more.
class UnboundVictimTest : public ::testing::Test {
 protected:
  template <class... Parts>
  void Start(testing::PluginScript script) {
    Rig::Options options;
    config::Profile& profile = options.configuration.profiles[0];
    profile.plugins.multi_point.enabled.push_back({script.name, {}});
    slot_ = std::make_unique<testing::FactorySlot>(
        [script](const config::PluginArgs&,
                 framework::Handle&) -> Result<std::unique_ptr<framework::Plugin>> {
          return std::unique_ptr<framework::Plugin>(new testing::TestPlugin<Parts...>(script));
        });
    ASSERT_TRUE(options.registry.Register(script.name, slot_->factory()).ok());
    rig_ = std::make_unique<PreemptionRig>(std::move(options));
    rig_->Sync({CpuNode("n1", "1").Obj()}, {CpuPod("v", 0, "1").Obj()});
    rig_->Settle();
    ASSERT_TRUE(rig_->api.binds.empty());
    rig_->UpsertPod(CpuPod("p", 10, "1").Obj());
    hold_ = false;
    rig_->Settle();
  }
  void ExpectTakenBack(const std::string& message) {
    EXPECT_TRUE(rig_->Victims().empty());
    EXPECT_EQ(rig_->PreemptedEvents(),
              Texts{"v: Preempted by pod uid-p on node n1 (in kube-scheduler memory)."});
    EXPECT_EQ(rig_->Bound()["p"], "n1");
    bool told = false;
    for (const auto& patch : rig_->api.patches) {
      if (patch.pod->meta.name != "v" || !patch.change.condition) continue;
      if (patch.change.condition->message != message) continue;
      told = true;
      EXPECT_EQ(patch.change.condition->reason, "SchedulerError");
    }
    EXPECT_TRUE(told) << rig_->LastMessage("v");
    rig_->Bind();
    rig_->Advance(seconds(20));
    EXPECT_EQ(rig_->LastMessage("v"),
              "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
              "1 No preemption victims found for incoming pod.");
  }

  bool hold_ = true;
  std::unique_ptr<testing::FactorySlot> slot_;
  std::unique_ptr<PreemptionRig> rig_;
};

TEST_F(UnboundVictimTest, P22) {
  Start<testing::Permits>({.name = "WP", .permit = [this]() -> framework::PermitResult {
                             if (!hold_) return {};
                             return {Status(framework::Code::kWait, {"m"}), seconds(600)};
                           }});
  ExpectTakenBack("waiting on permit for pod: preempted");
}

// Waits until it is cancelled.
class Endless final : public framework::PreBindSequence {
 public:
  explicit Endless(bool hold) : hold_(hold) {}
  framework::PreBindStep Next(const Status&) override {
    framework::PreBindStep step;
    step.finished = !hold_;
    step.condition = [] { return std::optional<Status>(); };
    return step;
  }

 private:
  const bool hold_;
};

TEST_F(UnboundVictimTest, P22b) {
  Start<testing::PreBinds>(
      {.name = "WP", .pre_bind = [this] { return std::make_unique<Endless>(hold_); }});
  ExpectTakenBack(R"(running PreBind plugin "WP": preempted by DefaultPreemption)");
}

// Does not look at the cancellation.
class Deaf final : public framework::PreBindSequence {
 public:
  explicit Deaf(std::shared_future<void> until) : until_(std::move(until)) {}
  framework::PreBindStep Next(const Status&) override {
    framework::PreBindStep step;
    step.finished = std::exchange(ran_, true);
    if (!step.finished) {
      step.blocking = [until = until_] {
        until.wait();
        return Status();
      };
    }
    return step;
  }

 private:
  const std::shared_future<void> until_;
  bool ran_ = false;
};

// Upstream tries the preemptor before the victim has stopped, which only gives the victim up again.
TEST_F(UnboundVictimTest, P22c) {
  std::promise<void> stop;
  const std::shared_future<void> stopped = stop.get_future().share();
  Start<testing::PreBinds>(
      {.name = "WP", .pre_bind = [stopped] { return std::make_unique<Deaf>(stopped); }});
  const uint64_t attempts = rig_->scheduler->context().stats.attempts;
  rig_->Advance(seconds(20));
  EXPECT_EQ(rig_->scheduler->context().stats.attempts, attempts);
  EXPECT_FALSE(rig_->Bound().contains("p")) << "the victim has not stopped";
  stop.set_value();
  const auto deadline = std::chrono::steady_clock::now() + seconds(30);
  while (rig_->LastMessage("v").empty() && std::chrono::steady_clock::now() < deadline) {
    rig_->Settle();
    std::this_thread::yield();
  }
  rig_->Advance(seconds(20));
  while (!rig_->Bound().contains("p") && std::chrono::steady_clock::now() < deadline) {
    rig_->Settle();
    std::this_thread::yield();
  }
  ExpectTakenBack("preempted by DefaultPreemption");
}

}  // namespace
}  // namespace ks::scheduler
