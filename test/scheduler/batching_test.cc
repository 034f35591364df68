// SPDX-License-Identifier: Apache-2.0
// Opportunistic batching: when a pod is tried on the node that the pod before it left over.
// docs/spec/cycle.md section 20.

#include "scheduler/algorithm/batching.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "config/read/load.h"
#include "scheduler/rig.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;

constexpr const char* kNoDefaultSpread =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- pluginConfig:\n"
    "  - name: PodTopologySpread\n"
    "    args:\n"
    "      defaultingType: List\n"
    "      defaultConstraints: []\n";

class BatchingTest : public ::testing::Test {
 protected:
  void Start(const std::string& configuration = kNoDefaultSpread) {
    Rig::Options options;
    const config::LoadResult loaded = config::ParseConfiguration(configuration);
    ASSERT_TRUE(std::holds_alternative<config::Loaded>(loaded));
    options.configuration = std::get<config::Loaded>(loaded).configuration;
    options.gates = &gates_;
    rig_ = std::make_unique<Rig>(std::move(options));
    std::vector<api::NodePtr> nodes;
    for (int i = 0; i < 6; ++i) nodes.push_back(Node(i));
    rig_->Sync(std::move(nodes));
    rig_->Settle();
  }
  static api::NodePtr Node(int i) {
    return MakeNode()
        .Name("n" + std::to_string(i))
        .Label("host", "n" + std::to_string(i))
        .Allocatable({{"cpu", std::to_string(4 + i)}, {"memory", "32Gi"}, {"pods", "110"}})
        .Obj();
  }
  static ks::testing::PodBuilder Plain(const std::string& name, const char* cpu = "500m") {
    return MakePod().Name(name).Req({{"cpu", cpu}});
  }
  void Run(const api::PodPtr& pod) {
    rig_->UpsertPod(pod);
    rig_->Settle();
  }
  // The value of one series; 0 when there is none.
  double Value(const std::string& series) const {
    const std::string text = rig_->metrics_registry.Text();
    const size_t at = text.find("\n" + series + " ");
    return at == std::string::npos ? 0 : std::stod(text.substr(at + series.size() + 2));
  }
  double Attempts(const std::string& result) const {
    return Value("scheduler_batch_attempts_total{profile=\"default-scheduler\",result=\"" + result +
                 "\"}");
  }
  double Flushed(const std::string& reason) const {
    return Value("scheduler_batch_cache_flushed_total{profile=\"default-scheduler\",reason=\"" +
                 reason + "\"}");
  }

  double Stored() const {
    return Value(
        "scheduler_store_schedule_results_duration_seconds_count{profile=\"default-scheduler\"}");
  }

  config::FeatureGates gates_;
  std::unique_ptr<Rig> rig_;
};

TEST_F(BatchingTest, EqualPodsOneAfterTheOtherUseWhatIsLeftOver) {
  Start();
  for (int i = 0; i < 5; ++i) Run(Plain("p" + std::to_string(i)).Obj());
  EXPECT_EQ(Attempts("no_hint"), 1);
  EXPECT_EQ(Attempts("hint_used"), 4);
  EXPECT_EQ(Attempts("hint_not_used"), 0);
  EXPECT_EQ(Stored(), 5) << "those that used one, too";
  EXPECT_EQ(Value("scheduler_batch_rescore_attempts_total{profile=\"default-scheduler\"}"), 4);
  EXPECT_EQ(rig_->Bound().size(), 5U);
}

// Nothing changes between the pods and no totals tie, so that the short way and the long one agree.
TEST_F(BatchingTest, TheNodesAreThoseThatScoringAllWouldChoose) {
  std::vector<std::map<std::string, std::string>> bound;
  for (const bool batching : {true, false}) {
    gates_.Set(config::Gate::kOpportunisticBatching, batching);
    Start();
    for (int i = 0; i < 9; ++i) Run(Plain("p" + std::to_string(i)).Obj());
    bound.push_back(rig_->Bound());
    EXPECT_EQ(Attempts("hint_used"), batching ? 8 : 0);
  }
  EXPECT_EQ(bound[0], bound[1]);
}

TEST_F(BatchingTest, DefaultConstraintsMakeNoPodFit) {
  Start("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n");
  for (int i = 0; i < 3; ++i) Run(Plain("p" + std::to_string(i)).Obj());
  EXPECT_EQ(Attempts("no_hint"), 3);
  EXPECT_EQ(Attempts("hint_used"), 0);
  EXPECT_EQ(Flushed("pod_not_batchable"), 3) << "whether or not there was a ranking";
  EXPECT_EQ(Stored(), 3);
}

// As kube-scheduler counts them: the nodes come before the signature.
TEST_F(BatchingTest, WhereOneNodeFitsNothingIsLeftOver) {
  Start();
  Run(Plain("a").NodeSelector({{"host", "n3"}}).Obj());
  EXPECT_EQ(Flushed("empty_list"), 1);
  auto lonely = Plain("b").NodeSelector({{"host", "n3"}});
  lonely.spec().pod_anti_affinity.emplace();
  Run(lonely.Obj());
  EXPECT_EQ(Flushed("empty_list"), 2);
  EXPECT_EQ(Flushed("pod_not_batchable"), 0);
  EXPECT_EQ(rig_->Bound().size(), 2U);
}

TEST_F(BatchingTest, ARankingIsGoodForHalfASecond) {
  Start();
  Run(Plain("a").Obj());
  rig_->Advance(std::chrono::milliseconds(500));
  Run(Plain("b").Obj());
  EXPECT_EQ(Attempts("hint_used"), 1);
  rig_->Advance(std::chrono::nanoseconds(1));
  Run(Plain("c").Obj());
  EXPECT_EQ(Attempts("hint_used"), 1) << "the age counts from the scoring, not from the last use";
  EXPECT_EQ(Flushed("expired"), 1);
}

TEST_F(BatchingTest, AFailedPodInBetween) {
  Start();
  Run(Plain("a").Obj());
  Run(Plain("big", "100").Obj());
  EXPECT_EQ(Flushed("pod_incompatible"), 1);
  Run(Plain("b").Obj());
  EXPECT_EQ(Flushed("pod_skipped"), 1);
  EXPECT_EQ(Attempts("hint_used"), 0);
}

TEST_F(BatchingTest, APodWithANomination) {
  Start();
  Run(Plain("a").Obj());
  Run(Plain("b").NominatedNode("n5").Obj());
  EXPECT_EQ(Flushed("pod_nominated"), 1);
  EXPECT_EQ(rig_->Bound().at("b"), "n5");
}

TEST_F(BatchingTest, APodThatIsNotEqual) {
  Start();
  Run(Plain("a").Obj());
  Run(Plain("b").Labels({{"app", "other"}}).Obj());
  EXPECT_EQ(Flushed("pod_incompatible"), 1);
  Run(Plain("c").Labels({{"app", "other"}}).Obj());
  EXPECT_EQ(Attempts("hint_used"), 1);
}

TEST_F(BatchingTest, APodThatCannotBeSignedEndsIt) {
  Start();
  Run(Plain("a").Obj());
  auto lonely = Plain("b");
  lonely.spec().pod_anti_affinity.emplace();
  Run(lonely.Obj());
  EXPECT_EQ(Flushed("pod_incompatible"), 1);
  EXPECT_EQ(Flushed("pod_not_batchable"), 1);
  Run(Plain("c").Obj());
  EXPECT_EQ(Attempts("no_hint"), 3);
}

TEST_F(BatchingTest, TheNodeUsedLastIsGone) {
  Start();
  Run(Plain("a").Obj());
  rig_->Bind();
  const std::string used = rig_->Bound().at("a");
  rig_->DeleteNode(Node(used.back() - '0'));
  Run(Plain("b").Obj());
  EXPECT_EQ(Flushed("node_missing"), 1);
}

TEST_F(BatchingTest, ANodeOfTheRankingIsGone) {
  Start();
  Run(Plain("a").Obj());
  const int other = rig_->Bound().at("a") == "n0" ? 1 : 0;
  rig_->DeleteNode(Node(other));
  Run(Plain("b").Obj());
  EXPECT_EQ(Flushed("node_missing"), 1);
  EXPECT_EQ(rig_->Bound().size(), 2U);
}

TEST_F(BatchingTest, AFullNodeIsLeftOutAndTheNextOneTaken) {
  Start();
  Run(Plain("a", "4").Obj());
  const std::string first = rig_->Bound().at("a");
  Run(Plain("b", "4").Obj());
  EXPECT_EQ(Attempts("hint_used"), 1);
  EXPECT_EQ(Value("scheduler_batch_rescore_attempts_total{profile=\"default-scheduler\"}"),
            first == "n4" || first == "n5" ? 1 : 0);
}

TEST_F(BatchingTest, AHintThatDoesNotFitLeadsToAFullSearch) {
  Start();
  Run(Plain("a").Obj());
  for (int i = 0; i < 6; ++i) {
    if (rig_->Bound().at("a") == "n" + std::to_string(i)) continue;
    auto node = MakeNode();
    node.Name("n" + std::to_string(i)).Taint("full", "", "NoSchedule");
    node.Allocatable({{"cpu", "8"}, {"memory", "32Gi"}, {"pods", "110"}});
    rig_->UpsertNode(node.Obj());
  }
  Run(Plain("b", "500m").Obj());
  EXPECT_EQ(rig_->Bound().at("b"), rig_->Bound().at("a"));
  EXPECT_EQ(Attempts("hint_used") + Attempts("hint_not_used"), 1);
}

}  // namespace
}  // namespace ks::scheduler
