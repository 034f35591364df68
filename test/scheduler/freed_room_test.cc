// SPDX-License-Identifier: Apache-2.0
// Preemptors that wait for their victims while other pods leave other nodes: who is tried then, and
// who would be in vain (docs/decisions/0071-no-attempt-in-vain-while-victims-leave.md).
#include "scheduler/freed_room.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "scheduler/preemption_rig.h"
#include "testing/affinity_builders.h"
#include "testing/sanitized.h"

namespace ks::scheduler {
namespace {

using framework::EvictionOutcome;
using ks::testing::PodBuilder;
using std::chrono::seconds;
using Texts = PreemptionTexts;

// p made room on n1, where v runs; x, y and z run on n2, and would not go for p.
class FreedRoomTest : public ::testing::Test {
 protected:
  void Begin() { Begin(preemptor_.Obj()); }
  void Begin(const api::PodPtr& preemptor) {
    rig_.Sync({CpuNode("n1", "2").Label("host", "n1").Obj(), N2().Obj()},
              {victim_.Obj(), x_, y_, z_, preemptor});
    rig_.Settle();
    ASSERT_EQ(rig_.Victims(), Texts{"v"});
    auto nominated = std::make_shared<api::Pod>(*preemptor);
    nominated->status.nominated_node_name = Symbol("n1");
    nominated->meta.resource_version = "nominated";
    rig_.UpsertPod(nominated);
    rig_.Settle();
  }
  // The eviction is answered, and v takes its time to leave.
  void VictimLeaves() {
    rig_.UpsertPod(Preempted(victim_).ResourceVersion("2").Obj());
    rig_.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
    rig_.Advance(seconds(20));
  }
  // The same, and then n1 cannot hold the preemptor any more, while a cheaper pod could go on n3.
  void VictimLeavesInVain(const api::NodePtr& n1, const api::NodePtr& n3) {
    VictimLeaves();
    rig_.UpsertPod(CpuPod("cheap", -5, "2").Node("n3").Obj());
    rig_.UpsertNode(n3);
    rig_.Advance(seconds(20));
    rig_.UpsertNode(n1);
    rig_.Advance(seconds(20));
  }
  uint64_t Attempts() { return rig_.scheduler->context().stats.attempts; }
  // How many attempts it brings about that the pod goes.
  uint64_t AttemptsAfter(const api::PodPtr& gone) {
    const uint64_t before = Attempts();
    rig_.DeletePod(gone);
    rig_.Advance(seconds(20));
    return Attempts() - before;
  }
  // A pod that takes one cpu, and cannot be tried for now, counts on n2.
  PodBuilder ExpectedOnN2(int32_t priority) {
    const PodBuilder q = CpuPod("q", priority, "1").NominatedNode("n2");
    rig_.UpsertPod(PodBuilder(q).Gates({"held"}).Obj());
    rig_.Settle();
    return q;
  }
  static testing::NodeBuilder N2() { return CpuNode("n2", "3").Label("host", "n2"); }
  static api::PodPtr OnN2(const std::string& name, const std::string& cpu) {
    return CpuPod(name, 20, cpu).Labels({{"app", name}}).Node("n2").Obj();
  }

  PreemptionRig rig_;
  PodBuilder victim_ = Running("v", 0, "2");
  PodBuilder preemptor_ = CpuPod("p", 10, "2");
  const api::PodPtr x_ = OnN2("x", "1");
  const api::PodPtr y_ = OnN2("y", "1");
  const api::PodPtr z_ = OnN2("z", "1");
};

TEST_F(FreedRoomTest, TooLittleIsNoReasonToTryWhoseVictimsLeave) {
  Begin();
  VictimLeaves();
  EXPECT_EQ(AttemptsAfter(x_), 0U);
  EXPECT_EQ(rig_.Nomination("p"), "n1");
  EXPECT_EQ(AttemptsAfter(victim_.Obj()), 1U);
  EXPECT_EQ(rig_.Bound()["p"], "n1");
}

TEST_F(FreedRoomTest, EnoughLetsItGoThereAtOnce) {
  Begin();
  VictimLeaves();
  EXPECT_EQ(AttemptsAfter(x_), 0U);
  EXPECT_EQ(AttemptsAfter(y_), 1U) << "with what x left";
  EXPECT_EQ(rig_.Bound()["p"], "n2");
}

TEST_F(FreedRoomTest, OfSeveralVictimsOnlyTheLastOneCounts) {
  victim_ = Running("v", 0, "1");
  const PodBuilder other = Running("other", 0, "1");
  rig_.UpsertPod(other.Obj());
  rig_.Sync({CpuNode("n1", "2").Obj()}, {victim_.Obj(), other.Obj(), preemptor_.Obj()});
  rig_.Settle();
  rig_.ShowNomination(preemptor_, "n1");
  for (const PodBuilder& each : {victim_, other}) {
    PodBuilder leaving = each;
    rig_.UpsertPod(Preempted(leaving).ResourceVersion("2").Obj());
  }
  while (rig_.api.evictions.back().done) rig_.AnswerOne(EvictionOutcome::kEvicted, false);
  rig_.Advance(seconds(20));
  EXPECT_EQ(AttemptsAfter(other.Obj()), 0U);
  EXPECT_EQ(AttemptsAfter(victim_.Obj()), 1U);
  EXPECT_EQ(rig_.Bound()["p"], "n1");
}

// The first one is gone before the last one's eviction is answered.
TEST_F(FreedRoomTest, OfSeveralVictimsThatAreStillEvictedOnlyTheLastOneCounts) {
  preemptor_ = CpuPod("p", 10, "3");
  std::vector<api::PodPtr> pods = {preemptor_.Obj()};
  for (const char* name : {"a", "b", "c"}) pods.push_back(Running(name, 0, "1").Obj());
  rig_.Sync({CpuNode("n1", "3").Obj()}, pods);
  rig_.Settle();
  rig_.ShowNomination(preemptor_, "n1");
  ASSERT_EQ(rig_.Victims().size(), 2U) << "the last one waits for them";
  const uint64_t attempts = Attempts();
  rig_.AnswerOne();
  rig_.Advance(seconds(20));
  for (const size_t victim : {1, 2}) {
    PodBuilder leaving = Running(rig_.Victims()[victim], 0, "1");
    rig_.UpsertPod(Preempted(leaving).ResourceVersion("2").Obj());
    rig_.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  }
  rig_.Advance(seconds(20));
  EXPECT_EQ(AttemptsAfter(Running(rig_.Victims()[1], 0, "1").Obj()), 0U);
  EXPECT_EQ(Attempts(), attempts);
  EXPECT_EQ(AttemptsAfter(Running(rig_.Victims()[2], 0, "1").Obj()), 1U);
  EXPECT_EQ(rig_.Bound()["p"], "n1");
}

// It need not be turned away by PreEnqueue, and so not be tried once more afterwards, either.
TEST_F(FreedRoomTest, WhileTheVictimsAreEvictedTooLittleIsNoReason) {
  Begin();
  EXPECT_EQ(AttemptsAfter(x_), 0U);
  const uint64_t attempts = Attempts();
  rig_.UpsertPod(Preempted(victim_).ResourceVersion("2").Obj());
  rig_.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  rig_.Advance(seconds(20));
  EXPECT_EQ(AttemptsAfter(y_), 1U) << "enough now";
  EXPECT_EQ(Attempts(), attempts + 1);
  EXPECT_EQ(rig_.Bound()["p"], "n2");
}

TEST_F(FreedRoomTest, WhoMissedSomethingMeanwhileIsTried) {
  Begin();
  rig_.DeletePod(x_);
  rig_.DeletePod(y_);  // enough, and p is held
  rig_.Advance(seconds(20));
  EXPECT_FALSE(rig_.Bound().contains("p"));
  rig_.UpsertPod(Preempted(victim_).ResourceVersion("2").Obj());
  rig_.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  rig_.Advance(seconds(20));
  EXPECT_EQ(AttemptsAfter(z_), 1U);
  EXPECT_EQ(rig_.Bound()["p"], "n2");
}

TEST_F(FreedRoomTest, WhatMoreImportantPodsExpectIsNotFree) {
  Begin();
  VictimLeaves();
  ExpectedOnN2(10);
  EXPECT_EQ(AttemptsAfter(x_), 0U);
  EXPECT_EQ(AttemptsAfter(y_), 0U) << "q, as important, expects one of the two";
  EXPECT_EQ(AttemptsAfter(z_), 1U);
  EXPECT_EQ(rig_.Bound()["p"], "n2");
}

TEST_F(FreedRoomTest, WhatAMoreImportantPodExpectsIsFreeOnceItGoesElsewhere) {
  Begin();
  VictimLeaves();
  PodBuilder q = ExpectedOnN2(10);
  EXPECT_EQ(AttemptsAfter(x_), 0U);
  EXPECT_EQ(AttemptsAfter(y_), 0U);
  const uint64_t attempts = Attempts();
  rig_.UpsertNode(CpuNode("n3", "1").Label("disk", "ssd").Obj());
  rig_.UpsertPod(q.NodeSelector({{"disk", "ssd"}}).ResourceVersion("2").Obj());
  rig_.Advance(seconds(20));
  EXPECT_EQ(rig_.Bound()["q"], "n3");
  EXPECT_EQ(rig_.Bound()["p"], "n2");
  EXPECT_EQ(Attempts(), attempts + 2);
}

TEST_F(FreedRoomTest, WhatAMoreImportantPodExpectsIsFreeOnceItGivesUp) {
  Begin();
  VictimLeaves();
  PodBuilder q = ExpectedOnN2(10);
  EXPECT_EQ(AttemptsAfter(x_), 0U);
  EXPECT_EQ(AttemptsAfter(y_), 0U);
  const uint64_t attempts = Attempts();
  rig_.UpsertPod(q.NodeSelector({{"disk", "ssd"}}).ResourceVersion("2").Obj());
  rig_.Advance(seconds(20));
  EXPECT_FALSE(rig_.Bound().contains("q"));
  EXPECT_EQ(rig_.Bound()["p"], "n2");
  EXPECT_EQ(Attempts(), attempts + 2);
}

// Its nomination is no more than patched.
TEST_F(FreedRoomTest, WhatAMoreImportantPodExpectsIsFreeOnceItIsGone) {
  victim_ = Running("v", 0, "1");
  preemptor_ = CpuPod("p", 10, "1");
  rig_.Sync({CpuNode("n1", "1").Obj(), N2().Obj()}, {victim_.Obj(), x_, y_, z_, preemptor_.Obj()});
  rig_.Settle();
  VictimLeaves();
  const api::PodPtr q = CpuPod("q", 30, "2").Obj();
  rig_.UpsertPod(q);
  rig_.Advance(seconds(20));
  ASSERT_EQ(rig_.Nomination("q"), "n2");
  const PreemptionTexts victims = rig_.Victims();
  const bool z_stays = std::find(victims.begin(), victims.end(), "z") == victims.end();
  EXPECT_EQ(AttemptsAfter(z_stays ? z_ : x_), 0U);
  rig_.DeletePod(q);
  rig_.Advance(seconds(20));
  EXPECT_EQ(rig_.Bound()["p"], "n2");
}

TEST_F(FreedRoomTest, WhatLessImportantOnesExpectIs) {
  Begin();
  VictimLeaves();
  ExpectedOnN2(9);
  EXPECT_EQ(AttemptsAfter(x_), 0U);
  EXPECT_EQ(AttemptsAfter(y_), 1U);
  EXPECT_EQ(rig_.Bound()["p"], "n2");
}

// Whatever keeps p off n4 may be what leaves n3.
TEST_F(FreedRoomTest, WhoLacksMoreThanRoomIsTried) {
  const auto unwanted = [](const char* name, const char* node) {
    return CpuPod(name, 20, "1").Labels({{"app", "a"}}).Node(node).Obj();
  };
  rig_.Sync(
      {CpuNode("n1", "2").Label("host", "n1").Obj(), CpuNode("n3", "1").Label("host", "n3").Obj(),
       CpuNode("n4", "9").Label("host", "n4").Obj()},
      {victim_.Obj(), unwanted("b", "n3"), unwanted("c", "n4"),
       testing::AffinePod(preemptor_).Far(testing::Term("host").App("a")).Obj()});
  rig_.Settle();
  ASSERT_EQ(rig_.Victims(), Texts{"v"});
  VictimLeaves();
  EXPECT_EQ(AttemptsAfter(unwanted("b", "n3")), 1U);
  EXPECT_EQ(rig_.Victims(), Texts{"v"});
}

TEST_F(FreedRoomTest, WhoWaitsWhereItCannotRunAnyMoreIsTriedAndPreemptsElsewhere) {
  Begin();
  VictimLeavesInVain(CpuNode("n1", "1").ResourceVersion("2").Obj(), CpuNode("n3", "2").Obj());
  EXPECT_EQ(AttemptsAfter(x_), 1U);
  EXPECT_EQ(rig_.Victims(), (Texts{"v", "cheap"}));
  EXPECT_EQ(rig_.Nomination("p"), "n3");
}

TEST_F(FreedRoomTest, SoIsWhoLacksNothingThereButStorage) {
  const auto node = [](const char* name, const char* storage) {
    return testing::MakeNode().Name(name).Allocatable(
        {{"cpu", "2"}, {"ephemeral-storage", storage}, {"pods", "110"}});
  };
  preemptor_ =
      testing::MakePod().Name("p").Priority(10).Req({{"cpu", "2"}, {"ephemeral-storage", "1Gi"}});
  rig_.Sync({node("n1", "1Gi").Obj(), N2().Obj()}, {victim_.Obj(), x_, y_, z_, preemptor_.Obj()});
  rig_.Settle();
  rig_.ShowNomination(preemptor_, "n1");
  VictimLeavesInVain(node("n1", "1Mi").ResourceVersion("2").Obj(), node("n3", "1Gi").Obj());
  EXPECT_EQ(AttemptsAfter(x_), 1U);
  EXPECT_EQ(rig_.Victims(), (Texts{"v", "cheap"}));
}

TEST_F(FreedRoomTest, WhoWasNominatedBySomebodyElseIsTried) {
  Begin();
  rig_.AnswerAll();
  rig_.Advance(seconds(20));
  ASSERT_EQ(rig_.Bound()["p"], "n1");
  rig_.Bind();
  rig_.UpsertPod(CpuPod("q", 5, "2").NominatedNode("n1").Obj());
  rig_.Advance(seconds(20));
  EXPECT_EQ(AttemptsAfter(x_), 1U);
}

TEST_F(FreedRoomTest, WhoWaitsForNobodyIsTried) {
  Begin();
  VictimLeaves();
  rig_.UpsertPod(CpuPod("q", 5, "2").Obj());
  rig_.Advance(seconds(20));
  EXPECT_EQ(AttemptsAfter(x_), 1U) << "q, which may find victims where it fits less badly";
}

// Pods of several templates and priorities among those that wait.
TEST_F(FreedRoomTest, EachTemplateHasItsOwnNeed) {
  rig_.Sync({CpuNode("n1", "2").Obj(), CpuNode("n3", "2").Obj(), N2().Obj()},
            {victim_.Obj(), CpuPod("w", 0, "2").Node("n3").Obj(), x_, y_, z_,
             CpuPod("big", 10, "2").Obj(), CpuPod("small", 10, "1").Obj()});
  rig_.Settle();
  ASSERT_EQ(rig_.Victims().size(), 2U);
  rig_.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  rig_.AnswerOne(EvictionOutcome::kEvicted, /*leaves=*/false);
  rig_.Advance(seconds(20));
  EXPECT_EQ(AttemptsAfter(x_), 1U);
  EXPECT_EQ(rig_.Bound()["small"], "n2");
  EXPECT_FALSE(rig_.Bound().contains("big"));
}

// Whatever is said to be in vain is: each such pod is tried all the same, and nothing comes of it.
// Clusters of a few nodes where pods of all sizes and priorities come, are evicted slowly, and go.
class InVainTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  static constexpr uint64_t kNodes = 4;

  void Step() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
      case 2:
        return Come();
      case 3:
      case 4:
        return Answer();
      case 5:
      case 6:
        return Go();
      default:
        return ResizeNode();
    }
  }
  void Settle() {
    rig_.Advance(seconds(20));
    rig_.Bind();
    for (; patches_ < rig_.api.patches.size(); ++patches_) {
      const auto& patch = rig_.api.patches[patches_];
      const api::PodPtr pod = Known(patch.pod->meta.Key());
      if (!patch.change.nominated_node_name || pod == nullptr) continue;
      auto patched = std::make_shared<api::Pod>(*pod);
      patched->status.nominated_node_name = Symbol(*patch.change.nominated_node_name);
      patched->meta.resource_version = Next();
      rig_.UpsertPod(patched);
      rig_.Settle();
    }
  }
  std::string AnyNode() { return "n" + std::to_string(random_.Below(kNodes)); }
  std::string Next() { return std::to_string(++made_); }

  void ResizeNode() {
    const std::string cpu = std::to_string(2 + random_.Below(4));
    rig_.UpsertNode(CpuNode(AnyNode(), cpu).ResourceVersion(Next()).Obj());
  }
  void Come() {
    const auto priority = static_cast<int32_t>(random_.Below(4)) * 10;
    PodBuilder pod = CpuPod("pod-" + Next(), priority, std::to_string(1 + random_.Below(3)));
    if (random_.Below(8) == 0) pod.NominatedNode(AnyNode());
    if (random_.Below(3) == 0) pod.Node(AnyNode());
    rig_.UpsertPod(pod.Obj());
    keys_.push_back(pod.Obj()->meta.Key());
  }
  // An eviction is answered: it failed, or the victim is leaving, or gone.
  void Answer() {
    const auto& calls = rig_.api.evictions;
    const auto call =
        std::find_if(calls.begin(), calls.end(), [](const auto& each) { return each.done; });
    if (call == calls.end()) return;
    const bool fails = random_.Below(8) == 0;
    const bool leaves = random_.Below(2) == 0;
    if (!fails && !leaves && Known(call->pod->meta.Key()) != nullptr) {
      PodBuilder leaving;
      leaving.pod() = *call->pod;
      leaving.spec() = *call->pod->spec;
      rig_.UpsertPod(Preempted(leaving).ResourceVersion(Next()).Obj());
    }
    rig_.AnswerOne(fails ? EvictionOutcome::kFailed : EvictionOutcome::kEvicted, leaves);
  }
  // A pod leaves a node.
  void Go() {
    std::erase_if(keys_, [this](const std::string& key) { return Known(key) == nullptr; });
    std::vector<api::PodPtr> running;
    for (const std::string& key : keys_) {
      if (!Known(key)->node_name.empty()) running.push_back(Known(key));
    }
    if (running.empty()) return;
    const api::PodPtr gone = running[random_.Below(running.size())];
    rig_.DeletePod(gone);
    Settle();
    ExpectThatTheVainIsVain(gone->node_name.str());
  }
  void ExpectThatTheVainIsVain(const std::string& node) {
    const Context& context = rig_.scheduler->context();
    const queue::PreCheck may_use = MayUseRoomOn(context, node);
    if (!may_use) return;
    std::vector<api::PodPtr> in_vain;
    for (const auto& parked : context.queue.stores().PodsIn(queue::Store::kUnschedulable)) {
      if (!may_use(*parked)) in_vain.push_back(parked->pod());
    }
    in_vain_ += in_vain.size();
    for (const api::PodPtr& pod : in_vain) {
      SCOPED_TRACE(pod->meta.name + " and room on " + node);
      const auto state = [&] {
        return std::make_tuple(rig_.Victims().size(), rig_.api.binds.size(),
                               std::string(context.nominator.NodeOf(pod->meta.uid)));
      };
      const auto before = state();
      context.queue.LookAgain(pod, "Test");
      rig_.Advance(seconds(20));
      EXPECT_EQ(state(), before);
    }
  }
  api::PodPtr Known(const std::string& key) const {
    return rig_.scheduler->context().cluster.pods.Get(key);
  }

  PreemptionRig rig_;
  Random random_{GetParam()};
  int made_ = 0;
  size_t patches_ = 0;  // that the scheduler has been told of
  size_t in_vain_ = 0;
  std::vector<std::string> keys_;  // of all pods, and of some that are gone
};

TEST_P(InVainTest, WhatIsSaidToBe) {
  std::vector<api::NodePtr> nodes;
  for (uint64_t i = 0; i < kNodes; ++i)
    nodes.push_back(CpuNode("n" + std::to_string(i), "4").Obj());
  rig_.Sync(nodes);
  for (int i = 0; i < 400; ++i) {
    Step();
    Settle();
    if (HasFailure()) FAIL() << "step " << i;
  }
  EXPECT_GT(in_vain_, 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, InVainTest, ::testing::Range<uint64_t>(1, testing::Cases(40) + 1));

}  // namespace
}  // namespace ks::scheduler
