// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/selector_spread/selector_spread.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::MakeService;
using ks::testing::MakeSet;
using ks::testing::Texts;
using Scores = std::vector<int64_t>;

const Texts kWeb = {{"app", "web"}};

api::PodPtr Web(const std::string& name) { return MakePod().Name(name).Labels(kWeb).Obj(); }

std::vector<api::PodPtr> Webs(int count) {
  std::vector<api::PodPtr> pods;
  for (int i = 0; i < count; ++i) pods.push_back(Web("web-" + std::to_string(i)));
  return pods;
}

class SelectorSpreadTest : public ::testing::Test {
 protected:
  void AddZone(const std::string& zone, int pods) {
    ks::testing::NodeBuilder node = MakeNode().Name("n" + std::to_string(rig.nodes().size()));
    if (!zone.empty()) node.Zone(zone);
    rig.AddNode(node, Webs(pods));
  }
  void AddService() { rig.handle.fake_owner_listers().Add(MakeService("ns", "web", kWeb)); }
  Scores Final(const api::PodPtr& pod) { return rig.Normalized(*pod, rig.ScoreAll(*pod)); }

  PluginRig rig{NewSelectorSpread};
};

// Section 7.3: a{z1}=2, b{z1}=0, c{z2}=1.
TEST_F(SelectorSpreadTest, WorkedExample) {
  AddService();
  AddZone("z1", 2);
  AddZone("z1", 0);
  AddZone("z2", 1);
  EXPECT_EQ(rig.ScoreAll(*Web("new")), (Scores{2, 0, 1}));
  EXPECT_EQ(Final(Web("new")), (Scores{0, 33, 50}));
}

TEST_F(SelectorSpreadTest, WithoutZonesOnlyNodesCount) {
  AddService();
  AddZone("", 3);
  AddZone("", 1);
  AddZone("", 0);
  EXPECT_EQ(Final(Web("new")), (Scores{0, 66, 100}));
}

// The node without a zone keeps its node part; its pods are in no zone's count.
TEST_F(SelectorSpreadTest, SomeNodesWithoutZone) {
  AddService();
  AddZone("z1", 1);
  AddZone("z2", 0);
  AddZone("", 2);
  EXPECT_EQ(Final(Web("new")), (Scores{16, 100, 0}));
}

TEST_F(SelectorSpreadTest, RegionsAndOldLabelsMakeZones) {
  AddService();
  rig.AddNode(MakeNode().Name("a").Label("topology.kubernetes.io/region", "r1").Zone("z"), Webs(2));
  rig.AddNode(MakeNode().Name("b").Label("topology.kubernetes.io/region", "r2").Zone("z"));
  rig.AddNode(MakeNode()
                  .Name("c")
                  .Label("failure-domain.beta.kubernetes.io/region", "r1")
                  .Label("failure-domain.beta.kubernetes.io/zone", "z"));
  EXPECT_EQ(Final(Web("new")), (Scores{0, 100, 33}));
}

TEST_F(SelectorSpreadTest, TerminatingForeignAndOtherPodsDoNotCount) {
  AddService();
  rig.AddNode(MakeNode().Name("a"),
              {Web("counts"), MakePod().Name("ends").Labels(kWeb).Terminating().Obj(),
               MakePod().Name("foreign").Namespace("other").Labels(kWeb).Obj(),
               MakePod().Name("db").Labels({{"app", "db"}}).Obj()});
  EXPECT_EQ(rig.ScoreAll(*Web("new")), (Scores{1}));
}

TEST_F(SelectorSpreadTest, NothingSelectsThePod) {
  AddZone("", 2);
  AddZone("", 0);
  EXPECT_EQ(rig.ScoreAll(*Web("new")), (Scores{0, 0}));
  EXPECT_EQ(Final(Web("new")), (Scores{100, 100}));
}

TEST_F(SelectorSpreadTest, TheControllersSelectorCounts) {
  rig.handle.fake_owner_listers().Add(MakeSet<api::ReplicaSet>(
      "ns", "rs",
      api::LabelSelectorSpec{.match_labels = {{"app", "web"}}, .match_expressions = {}}));
  AddZone("", 2);
  ks::testing::PodBuilder pod = MakePod();
  pod.pod().meta.owner_references.Mutable() = {
      {.api_version = "apps/v1", .kind = "ReplicaSet", .name = "rs", .controller = true}};
  EXPECT_EQ(rig.ScoreAll(*pod.Obj()), (Scores{2}));
}

TEST_F(SelectorSpreadTest, OwnConstraintsTurnItOff) {
  AddService();
  AddZone("z1", 2);
  ks::testing::PodBuilder pod = MakePod().Labels(kWeb);
  pod.spec().topology_spread_constraints.emplace_back();
  EXPECT_EQ(Describe(rig.PreScore(*pod.Obj())), "Skip");
  // Also where a profile does not enable PreScore.
  EXPECT_EQ(rig.RawScores(*pod.Obj()), (Scores{0}));
  EXPECT_EQ(rig.Normalized(*pod.Obj(), {0}), (Scores{0}));
}

TEST_F(SelectorSpreadTest, WorksWithoutPreScore) {
  AddService();
  AddZone("", 2);
  EXPECT_EQ(rig.RawScores(*Web("new")), (Scores{2}));
}

TEST_F(SelectorSpreadTest, NeedsAllOwners) {
  const framework::OptionalKinds needed = rig.As<framework::OptionalKindReader>()->NeededKinds();
  for (const framework::OptionalKind kind : framework::kAllOptionalKinds) {
    const bool selects = kind == framework::OptionalKind::kService ||
                         kind == framework::OptionalKind::kReplicationController ||
                         kind == framework::OptionalKind::kReplicaSet ||
                         kind == framework::OptionalKind::kStatefulSet;
    EXPECT_EQ(needed.Contains(kind), selects);
  }
}

TEST(SelectorSpreadArgsTest, TakesNone) {
  EXPECT_EQ(PluginRig::FactoryError(NewSelectorSpread, "{}"), "");
  EXPECT_EQ(PluginRig::FactoryError(NewSelectorSpread, R"({"zone":"z"})"),
            "unknown field \"zone\"; this plugin has no arguments: remove them");
}

}  // namespace
}  // namespace ks::plugins
