// SPDX-License-Identifier: Apache-2.0
// Which plugins are asked again and which are not: docs/decisions/0021-remembered-verdicts.md. That
// the answers are the same either way is the property test in test/scheduler.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "framework/metrics/framework_metrics.h"
#include "framework/runtime/runtime.h"
#include "metrics/registry.h"
#include "testing/builders.h"
#include "testing/fake_clock.h"
#include "testing/fake_nominator.h"
#include "testing/fake_snapshot.h"
#include "testing/test_plugins.h"

namespace ks::framework {
namespace {

using ks::testing::FakeClock;
using ks::testing::FakeSnapshot;
using ks::testing::Filters;
using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Normalizes;
using ks::testing::Says;
using ks::testing::Scores;
using ks::testing::Scripted;
using ks::testing::TestProfile;

using Texts = std::vector<std::string>;

uint64_t outside_version = 0;

class NodeLocal : public NodeLocalPlugin, public virtual Scripted {
 public:
  uint64_t OutsideVersion() const override { return outside_version; }
};

// Nodes n1 and n2; L looks at one node only and rejects n2, G is asked always.
class NodeVerdictsTest : public ::testing::Test {
 protected:
  NodeVerdictsTest() {
    outside_version = 0;
    profile_
        .Add<NodeLocal, Filters, Scores>({.name = "L",
                                          .log = &log_,
                                          .filter =
                                              [this](const CycleState&, const NodeInfo& node) {
                                                if (fails_) return Status::Error("boom");
                                                return node.name() == "n2"
                                                           ? Status(Code::kUnschedulable, {"no"})
                                                           : Status();
                                              },
                                          .score =
                                              [](const NodeInfo& node, int64_t* score) {
                                                *score = node.name() == "n1" ? 7 : 9;
                                                return Status();
                                              }})
        .Add<NodeLocal, Scores, Normalizes>({.name = "M",
                                             .log = &log_,
                                             .score =
                                                 [](const NodeInfo& node, int64_t* score) {
                                                   *score = node.name() == "n1" ? 500 : 250;
                                                   return Status();
                                                 },
                                             .normalize =
                                                 [](std::span<int64_t> scores) {
                                                   for (int64_t& score : scores) score /= 10;
                                                   return Status();
                                                 }})
        .Add<Filters, Scores>({.name = "G", .log = &log_});
  }

  // One attempt over all nodes; the calls of Filter and Score.
  Texts Attempt(const api::Pod& pod) {
    if (framework_ == nullptr) {
      framework_ = profile_.Build({.parts = {.snapshot = &snapshot_, .nominator = &nominator_},
                                   .remember_verdicts = remember_});
    }
    log_.clear();
    CycleState state;
    EXPECT_TRUE(framework_->RunPreFilterPlugins(state, pod).status.ok());
    statuses_.clear();
    {
      Framework::FilterBatch batch(*framework_, state, pod);
      for (const NodeInfo* node : snapshot_.nodes()) {
        statuses_.push_back(batch.RunListed(*node, node->slot()));
      }
    }
    EXPECT_TRUE(framework_->RunPreScorePlugins(state, pod, snapshot_.nodes()).ok());
    EXPECT_TRUE(
        framework_->score_points()
            .RunScorePlugins(state, pod, snapshot_.nodes(), snapshot_.node_slots(), &scores_)
            .ok());
    Texts calls;
    for (const std::string& call : log_) {
      if (call.starts_with("Filter") || call.starts_with("Score ")) calls.push_back(call);
    }
    return calls;
  }
  // The second pod of a spec is the first that is remembered.
  void Learn(const api::Pod& pod) {
    (void)Attempt(pod);
    (void)Attempt(pod);
  }

  Texts log_;
  bool fails_ = false;
  bool remember_ = true;
  FakeSnapshot snapshot_{{MakeNode().Name("n1").Obj(), MakeNode().Name("n2").Obj()}};
  TestProfile profile_;
  testing::FakeNominator nominator_;
  std::unique_ptr<Framework> framework_;
  const api::PodPtr pod_ = MakePod().Name("p").Req({}).Obj();
  std::vector<Status> statuses_;
  NodeScores scores_;
};

const Texts kRemembered{"Filter G n1", "Score G n1", "Score G n2"};

TEST_F(NodeVerdictsTest, OnlyTheOthersAreAskedAgain) {
  const Texts all{"Filter L n1", "Filter G n1", "Filter L n2", "Score L n1", "Score M n1",
                  "Score L n2",  "Score M n2",  "Score G n1",  "Score G n2"};
  const size_t first = Attempt(*pod_).size();
  const std::vector<int64_t> totals = scores_.totals;
  EXPECT_EQ(totals, (std::vector<int64_t>{57, 34}));
  EXPECT_EQ(Attempt(*pod_), all);
  EXPECT_EQ(first, all.size());
  EXPECT_EQ(Attempt(*pod_), kRemembered);
  EXPECT_EQ(scores_.totals, totals);
  EXPECT_TRUE(statuses_[0].ok());
  EXPECT_EQ(statuses_[1], Status(Code::kUnschedulable, {"no"}, "L"));
}

TEST_F(NodeVerdictsTest, AChangedNodeIsAskedAgain) {
  Learn(*pod_);
  auto joined = std::make_shared<const PodInfo>(MakePod().Name("q").Req({}).Obj());
  snapshot_.log().Append(Change::Kind::kPodAdded, 0, joined);
  EXPECT_EQ(Attempt(*pod_), (Texts{"Filter L n1", "Filter G n1", "Score L n1", "Score M n1",
                                   "Score G n1", "Score G n2"}));
  snapshot_.log().Append(Change::Kind::kNode, 1);
  EXPECT_EQ(Attempt(*pod_), (Texts{"Filter G n1", "Filter L n2", "Score L n2", "Score M n2",
                                   "Score G n1", "Score G n2"}));
  EXPECT_EQ(Attempt(*pod_), kRemembered);
}

TEST_F(NodeVerdictsTest, AllIsForgottenWhenSomethingElseChanges) {
  Learn(*pod_);
  outside_version = 1;
  EXPECT_EQ(Attempt(*pod_).size(), 9U);
  EXPECT_EQ(Attempt(*pod_), kRemembered);
  snapshot_.Add(MakeNode().Name("n3").Obj());
  EXPECT_EQ(Attempt(*pod_).size(), 14U);
}

TEST_F(NodeVerdictsTest, PodsOfOneSpecAreAlikeOthersAreNot) {
  Learn(*pod_);
  auto replica = std::make_shared<api::Pod>(*pod_);
  replica->meta.name = "r";
  EXPECT_EQ(Attempt(*replica), kRemembered);
  const api::PodPtr other = MakePod().Name("p").Req({}).Obj();
  EXPECT_EQ(Attempt(*other).size(), 9U);
  EXPECT_EQ(Attempt(*pod_), kRemembered);
}

// What a resize of a running pod is about stands in the status.
TEST_F(NodeVerdictsTest, APodWhoseStatusCountsIsNotRemembered) {
  Learn(*pod_);
  auto resized = std::make_shared<api::Pod>(*pod_);
  resized->status.conditions.Mutable().Add({.type = "PodResizePending", .reason = "Deferred"});
  EXPECT_EQ(Attempt(*resized).size(), 9U);
  EXPECT_EQ(Attempt(*resized).size(), 9U);
}

TEST_F(NodeVerdictsTest, AnErrorIsNotRemembered) {
  fails_ = true;
  Learn(*pod_);
  (void)Attempt(*pod_);
  EXPECT_EQ(statuses_[0].code(), Code::kError);
  fails_ = false;
  (void)Attempt(*pod_);
  EXPECT_TRUE(statuses_[0].ok());
}

// Measured or not, a rejection counts as calls of its plugin and of those before it.
TEST_F(NodeVerdictsTest, CountsOfRememberedRejections) {
  const FakeClock clock;
  metrics::Registry registry;
  FrameworkMetrics metrics(registry, clock, 7);
  TestProfile profile;
  profile.Add<NodeLocal, Filters>({.name = "A"})
      .Add<NodeLocal, Filters>({.name = "B", .filter = Says(Status(Code::kUnschedulable, {"no"}))});
  const auto framework =
      profile.Build({.parts = {.snapshot = &snapshot_, .clock = &clock}, .metrics = &metrics});
  for (const bool measured : {true, false}) {
    const api::PodPtr pod = MakePod().Name("p").Req({}).Obj();
    for (int attempt = 0; attempt < 3; ++attempt) {
      CycleState state;
      state.record_plugin_metrics = measured;
      ASSERT_TRUE(framework->RunPreFilterPlugins(state, *pod).status.ok());
      Framework::FilterBatch batch(*framework, state, *pod);
      const NodeInfo& node = *snapshot_.nodes()[0];
      EXPECT_FALSE(batch.RunListed(node, node.slot()).ok());
    }
    const std::string calls = measured ? "3" : "6";
    EXPECT_NE(registry.Text().find("{extension_point=\"Filter\",plugin=\"B\",profile="
                                   "\"default-scheduler\"} " +
                                   calls + "\n"),
              std::string::npos);
  }
}

// Simulations look at nodes that are not as the snapshot shows them.
TEST_F(NodeVerdictsTest, ACopyOfTheStateRemembersNothing) {
  Learn(*pod_);
  CycleState state;
  ASSERT_TRUE(framework_->RunPreFilterPlugins(state, *pod_).status.ok());
  EXPECT_NE(state.verdicts, nullptr);
  EXPECT_EQ(state.Clone().verdicts, nullptr);
}

// Only the nodes that have nominated pods are evaluated as if these ran there.
TEST_F(NodeVerdictsTest, NodesWithoutNominatedPodsAreRemembered) {
  Learn(*pod_);
  nominator_.pods["n1"] = {
      std::make_shared<const PodInfo>(MakePod().Name("q").Priority(5).Req({}).Obj())};
  nominator_.log.Append("n1");
  EXPECT_EQ(Attempt(*pod_), (Texts{"Filter L n1", "Filter G n1", "Filter L n1", "Filter G n1",
                                   "Score G n1", "Score G n2"}));
  EXPECT_EQ(statuses_[1], Status(Code::kUnschedulable, {"no"}, "L"));
  nominator_.pods.clear();
  nominator_.pods["n2"] = {
      std::make_shared<const PodInfo>(MakePod().Name("q").Priority(-1).Req({}).Obj())};
  nominator_.log.Append("n1");
  nominator_.log.Append("n2");
  EXPECT_EQ(Attempt(*pod_), (Texts{"Filter G n1", "Filter L n2", "Score G n1", "Score G n2"}));
  nominator_.pods.clear();
  nominator_.log.Append("n2");
  EXPECT_EQ(Attempt(*pod_), kRemembered);
}

// A nominator that changed since PreFilter: nothing is taken from memory.
TEST_F(NodeVerdictsTest, NominationsOfAnotherTimeAreNotUsed) {
  Learn(*pod_);
  nominator_.pods["n1"] = {};
  CycleState state;
  ASSERT_TRUE(framework_->RunPreFilterPlugins(state, *pod_).status.ok());
  nominator_.log.Append("n1");
  log_.clear();
  (void)Framework::FilterBatch(*framework_, state, *pod_)
      .RunListed(*snapshot_.nodes()[1], snapshot_.nodes()[1]->slot());
  EXPECT_EQ(log_, Texts{"Filter L n2"});
}

// One filter, which looks at one node only, rejects every node with a pod on it.
class NominatedVerdictsTest : public ::testing::Test {
 protected:
  NominatedVerdictsTest() {
    profile_.Add<NodeLocal, Filters>(
        {.name = "L", .log = &log_, .filter = [this](const CycleState&, const NodeInfo& node) {
           if (fails_) return Status::Error("boom");
           return node.pods().empty() ? Status() : Status(Code::kUnschedulable, {"full"});
         }});
    framework_ = profile_.Build(
        {.parts = {.snapshot = &snapshot_, .clock = &clock_, .nominator = &nominator_},
         .metrics = &metrics_});
    for (int i = 0; i < 2; ++i) (void)Attempt(*pod_);
  }

  void Nominate(const std::string& node, std::vector<api::PodPtr> pods) {
    nominator_.pods[node].clear();
    for (api::PodPtr& pod : pods) {
      nominator_.pods[node].push_back(std::make_shared<const PodInfo>(std::move(pod)));
    }
    nominator_.log.Append(node);
  }
  // How often the filter was called, over all nodes.
  size_t Attempt(const api::Pod& pod) {
    log_.clear();
    CycleState state;
    EXPECT_TRUE(framework_->RunPreFilterPlugins(state, pod).status.ok());
    Framework::FilterBatch batch(*framework_, state, pod);
    statuses_.clear();
    for (const NodeInfo* node : snapshot_.nodes()) {
      statuses_.push_back(batch.RunListed(*node, node->slot()));
    }
    return static_cast<size_t>(std::count_if(log_.begin(), log_.end(), [](const std::string& call) {
      return call.starts_with("Filter");
    }));
  }

  Texts log_;
  bool fails_ = false;
  const FakeClock clock_;
  metrics::Registry registry_;
  FrameworkMetrics metrics_{registry_, clock_, 7};
  FakeSnapshot snapshot_{{MakeNode().Name("n1").Obj(), MakeNode().Name("n2").Obj()}};
  TestProfile profile_;
  testing::FakeNominator nominator_;
  std::unique_ptr<Framework> framework_;
  const api::PodPtr pod_ = MakePod().Name("p").Priority(3).Req({}).Obj();
  std::vector<Status> statuses_;
};

TEST_F(NominatedVerdictsTest, AreForgottenWithWhatTheyAreAbout) {
  Nominate("n1", {MakePod().Name("q").Priority(5).Req({}).Obj()});
  EXPECT_EQ(Attempt(*pod_), 1U);
  EXPECT_EQ(Attempt(*pod_), 0U);
  EXPECT_EQ(statuses_[0], Status(Code::kUnschedulable, {"full"}, "L"));
  EXPECT_TRUE(statuses_[1].ok());

  snapshot_.log().Append(Change::Kind::kNode, 0);
  EXPECT_EQ(Attempt(*pod_), 1U) << "the node changed";
  EXPECT_EQ(Attempt(*pod_), 0U);
  Nominate("n1", {MakePod().Name("q").Priority(1).Req({}).Obj()});
  EXPECT_EQ(Attempt(*pod_), 1U) << "its nominated pod changed: without it the node is asked anew";
  EXPECT_EQ(Attempt(*pod_), 0U);
  EXPECT_TRUE(statuses_[0].ok());
  Nominate("n2", {MakePod().Name("r").Priority(5).Req({}).Obj()});
  EXPECT_EQ(Attempt(*pod_), 1U) << "another node's did";
  EXPECT_EQ(statuses_[1], Status(Code::kUnschedulable, {"full"}, "L"));
  Nominate("n1", {});
  Nominate("n2", {});
  EXPECT_EQ(Attempt(*pod_), 0U) << "what is known of a node without nominated pods still counts";
  EXPECT_TRUE(statuses_[0].ok() && statuses_[1].ok());

  for (size_t i = 0; i < 2000; ++i) nominator_.log.Append("elsewhere");
  Nominate("n1", {MakePod().Name("q").Priority(5).Req({}).Obj()});
  for (size_t i = 0; i < 2 * NominationLog::kDefaultCapacity; ++i) nominator_.log.Append("n2");
  EXPECT_EQ(Attempt(*pod_), 1U) << "the log does not reach back";
  EXPECT_EQ(statuses_[0], Status(Code::kUnschedulable, {"full"}, "L"));
  snapshot_.Add(MakeNode().Name("n3").Obj());
  EXPECT_EQ(Attempt(*pod_), 3U) << "other nodes";
}

// What is remembered is what others meet; the pod itself does not stand in its own way.
TEST_F(NominatedVerdictsTest, APodDoesNotMeetItself) {
  auto replica = std::make_shared<api::Pod>(*pod_);
  replica->meta.name = "r";
  replica->meta.uid = "uid-r";
  Nominate("n1", {replica});
  EXPECT_EQ(Attempt(*pod_), 1U);
  EXPECT_FALSE(statuses_[0].ok());
  EXPECT_EQ(Attempt(*replica), 1U);
  EXPECT_TRUE(statuses_[0].ok());
  EXPECT_EQ(Attempt(*pod_), 0U);
  EXPECT_FALSE(statuses_[0].ok());
}

TEST_F(NominatedVerdictsTest, AnErrorIsNotRemembered) {
  Nominate("n1", {MakePod().Name("q").Priority(5).Req({}).Obj()});
  fails_ = true;
  (void)Attempt(*pod_);
  EXPECT_EQ(statuses_[0].code(), Code::kError);
  fails_ = false;
  (void)Attempt(*pod_);
  EXPECT_EQ(statuses_[0], Status(Code::kUnschedulable, {"full"}, "L"));
}

TEST_F(NodeVerdictsTest, TheSwitchTurnsItOff) {
  remember_ = false;
  Learn(*pod_);
  EXPECT_EQ(Attempt(*pod_).size(), 9U);
}

}  // namespace
}  // namespace ks::framework
