// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/service_affinity/service_affinity.h"

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
using ks::testing::Texts;
using Scores = std::vector<int64_t>;
using Results = std::vector<std::string>;

const std::string kNo = "Unschedulable: node(s) didn't match service affinity";
const std::string kYes = "Success";
const Texts kWeb = {{"app", "web"}};

ks::testing::NodeBuilder Node(const std::string& name, const Texts& labels) {
  ks::testing::NodeBuilder node = MakeNode().Name(name);
  for (const auto& [key, value] : labels) node.Label(key, value);
  return node;
}
api::PodPtr Web(const std::string& name) { return MakePod().Name(name).Labels(kWeb).Obj(); }

// Nodes a{region r1, rack k1}, b{region r1, rack k2}, c{region r2, rack k1}, d{}.
void AddNodes(PluginRig& rig, const std::vector<std::vector<api::PodPtr>>& pods) {
  const auto on = [&pods](size_t i) {
    return i < pods.size() ? pods[i] : std::vector<api::PodPtr>();
  };
  rig.AddNode(Node("a", {{"region", "r1"}, {"rack", "k1"}}), on(0));
  rig.AddNode(Node("b", {{"region", "r1"}, {"rack", "k2"}}), on(1));
  rig.AddNode(Node("c", {{"region", "r2"}, {"rack", "k1"}}), on(2));
  rig.AddNode(Node("d", {}), on(3));
}

struct FilterCase {
  std::string name;
  std::string labels = R"(["region"])";
  bool service = true;
  Texts node_selector;
  std::vector<std::vector<api::PodPtr>> pods;
  Results want;  // for a, b, c, d
};

class ServiceAffinityFilterTest : public ::testing::TestWithParam<FilterCase> {};

TEST_P(ServiceAffinityFilterTest, Filter) {
  const FilterCase& row = GetParam();
  PluginRig rig(NewServiceAffinity, R"({"affinityLabels":)" + row.labels + "}");
  if (row.service) rig.handle.fake_owner_listers().Add(MakeService("ns", "web", kWeb));
  AddNodes(rig, row.pods);
  const api::PodPtr pod = MakePod().Labels(kWeb).NodeSelector(row.node_selector).Obj();
  EXPECT_EQ(rig.FilterAll(*pod), row.want);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ServiceAffinityFilterTest,
    ::testing::Values(
        FilterCase{.name = "NoAffinityLabels",
                   .labels = "[]",
                   .pods = {{Web("p")}},
                   .want = {kYes, kYes, kYes, kYes}},
        FilterCase{.name = "FirstPodOfTheService", .want = {kYes, kYes, kYes, kYes}},
        FilterCase{.name = "FollowsTheFirstPod",
                   .pods = {{}, {}, {Web("p")}},
                   .want = {kNo, kNo, kYes, kNo}},
        FilterCase{.name = "TheFirstInNodeOrderDecides",
                   .pods = {{}, {Web("p")}, {Web("q")}},
                   .want = {kYes, kYes, kNo, kNo}},
        FilterCase{.name = "TwoLabels",
                   .labels = R"(["region","rack"])",
                   .pods = {{Web("p")}},
                   .want = {kYes, kNo, kNo, kNo}},
        FilterCase{.name = "NodeSelectorGivesOneLabel",
                   .labels = R"(["region","rack"])",
                   .node_selector = {{"rack", "k2"}},
                   .pods = {{Web("p")}},
                   .want = {kNo, kYes, kNo, kNo}},
        FilterCase{.name = "NodeSelectorGivesAll",
                   .service = false,
                   .node_selector = {{"region", "r2"}},
                   .want = {kNo, kNo, kYes, kNo}},
        FilterCase{.name = "NoService",
                   .service = false,
                   .pods = {{Web("p")}},
                   .want = {kYes, kYes, kYes, kYes}},
        FilterCase{.name = "ThePeersNodeLacksTheLabel",
                   .pods = {{}, {}, {}, {Web("p")}},
                   .want = {kYes, kYes, kYes, kYes}},
        FilterCase{.name = "OtherLabelsAreNoPeers",
                   .pods = {{MakePod().Name("db").Labels({{"app", "db"}}).Obj()}},
                   .want = {kYes, kYes, kYes, kYes}},
        FilterCase{.name = "OtherNamespacesAreNoPeers",
                   .pods = {{MakePod().Name("x").Namespace("other").Labels(kWeb).Obj()}},
                   .want = {kYes, kYes, kYes, kYes}},
        FilterCase{
            .name = "MoreLabelsArePeers",
            .pods = {{}, {}, {MakePod().Name("x").Labels({{"app", "web"}, {"v", "2"}}).Obj()}},
            .want = {kNo, kNo, kYes, kNo}}),
    [](const auto& row) { return row.param.name; });

TEST(ServiceAffinityFilterRulesTest, APodWithoutLabelsHasAllPodsAsPeers) {
  PluginRig rig(NewServiceAffinity, R"({"affinityLabels":["region"]})");
  rig.handle.fake_owner_listers().Add(MakeService("ns", "all", Texts{}));
  AddNodes(rig, {{}, {}, {Web("p")}});
  EXPECT_EQ(rig.FilterAll(*MakePod().Obj()), (Results{kNo, kNo, kYes, kNo}));
}

TEST(ServiceAffinityFilterRulesTest, SkipsWhatCanNeverReject) {
  PluginRig rig(NewServiceAffinity, R"({"affinityLabels":["region"]})");
  AddNodes(rig, {{Web("p")}});
  EXPECT_TRUE(rig.PreFilter(*Web("new")).status.IsSkip());
  rig.handle.fake_owner_listers().Add(MakeService("ns", "web", kWeb));
  EXPECT_TRUE(rig.PreFilter(*Web("new")).status.ok());
}

TEST(ServiceAffinityFilterRulesTest, FilterWithoutPreFilterIsAnError) {
  PluginRig rig(NewServiceAffinity, R"({"affinityLabels":["region"]})");
  const framework::NodeInfo& node = rig.AddNode(MakeNode());
  EXPECT_EQ(Describe(rig.As<framework::FilterPlugin>()->Filter(rig.state, *Web("p"), node)),
            "Error: error reading \"PreFilterServiceAffinity\" from cycleState: not found");
}

class ServiceAffinityHooksTest : public ::testing::Test {
 protected:
  ServiceAffinityHooksTest() {
    rig.handle.fake_owner_listers().Add(MakeService("ns", "web", kWeb));
  }
  // What the nodes say in the state as it is.
  Results Verdicts(const framework::CycleState& state) {
    Results results;
    for (const framework::NodeInfo* node : rig.nodes()) {
      results.push_back(Describe(rig.As<framework::FilterPlugin>()->Filter(state, *pod, *node)));
    }
    return results;
  }
  void AddPod(framework::CycleState& state, const api::PodPtr& added, size_t node) {
    const framework::PodInfo added_info(added);
    EXPECT_TRUE(rig.As<framework::PreFilterExtensions>()
                    ->AddPod(state, *pod, added_info, *rig.nodes()[node])
                    .ok());
  }
  void RemovePod(framework::CycleState& state, const api::PodPtr& removed, size_t node) {
    const framework::PodInfo removed_info(removed);
    EXPECT_TRUE(rig.As<framework::PreFilterExtensions>()
                    ->RemovePod(state, *pod, removed_info, *rig.nodes()[node])
                    .ok());
  }

  PluginRig rig{NewServiceAffinity, R"({"affinityLabels":["region"]})"};
  const api::PodPtr pod = Web("new");
};

TEST_F(ServiceAffinityHooksTest, TheNextPeerDecidesAfterARemoval) {
  const api::PodPtr on_a = Web("on-a");
  const api::PodPtr on_c = Web("on-c");
  AddNodes(rig, {{on_a}, {}, {on_c}});
  EXPECT_EQ(rig.FilterAll(*pod), (Results{kYes, kYes, kNo, kNo}));
  framework::CycleState clone = rig.state.Clone();
  RemovePod(clone, on_a, 0);
  EXPECT_EQ(Verdicts(clone), (Results{kNo, kNo, kYes, kNo}));
  RemovePod(clone, on_c, 2);
  EXPECT_EQ(Verdicts(clone), (Results{kYes, kYes, kYes, kYes}));
  RemovePod(clone, on_c, 2);  // unknown by now
  // Put back, the pod is the only peer.
  AddPod(clone, on_a, 0);
  EXPECT_EQ(Verdicts(clone), (Results{kYes, kYes, kNo, kNo}));
  EXPECT_EQ(Verdicts(rig.state), (Results{kYes, kYes, kNo, kNo}));  // the clone was a deep one
}

TEST_F(ServiceAffinityHooksTest, OnlyPeersAreAdded) {
  AddNodes(rig, {});
  rig.FilterAll(*pod);
  AddPod(rig.state, MakePod().Name("db").Labels({{"app", "db"}}).Obj(), 2);
  AddPod(rig.state, MakePod().Name("x").Namespace("other").Labels(kWeb).Obj(), 2);
  EXPECT_EQ(Verdicts(rig.state), (Results{kYes, kYes, kYes, kYes}));
  AddPod(rig.state, Web("nominated"), 2);
  EXPECT_EQ(Verdicts(rig.state), (Results{kNo, kNo, kYes, kNo}));
}

TEST(ServiceAffinityScoreTest, WorkedExample) {
  PluginRig rig(NewServiceAffinity, R"({"antiAffinityLabelsPreference":["zone"]})");
  rig.handle.fake_owner_listers().Add(MakeService("ns", "web", kWeb));
  rig.AddNode(Node("a", {{"zone", "z1"}}), {Web("1"), Web("2")});
  rig.AddNode(Node("b", {{"zone", "z1"}}), {Web("3")});
  rig.AddNode(Node("c", {{"zone", "z2"}}), {Web("4")});
  rig.AddNode(Node("d", {}));
  const api::PodPtr pod = Web("new");
  EXPECT_EQ(rig.ScoreAll(*pod), (Scores{2, 1, 1, 0}));
  EXPECT_EQ(rig.Normalized(*pod, {2, 1, 1, 0}), (Scores{25, 25, 75, 0}));
  EXPECT_EQ(rig.Normalized(*pod, {0, 0, 0, 0}), (Scores{100, 100, 100, 0}));
}

// Each of two labels gives half: 100·(4−3)/4/2 + 100·(4−2)/4/2 = 12.5 + 25, cut to 37.
TEST(ServiceAffinityScoreTest, SeveralLabelsShareTheScore) {
  PluginRig rig(NewServiceAffinity, R"({"antiAffinityLabelsPreference":["zone","rack"]})");
  rig.AddNode(Node("a", {{"zone", "z1"}, {"rack", "k1"}}));
  rig.AddNode(Node("b", {{"zone", "z1"}}));
  rig.AddNode(Node("c", {{"zone", "z2"}, {"rack", "k2"}}));
  EXPECT_EQ(rig.Normalized(*Web("new"), {2, 1, 1}), (Scores{37, 12, 75}));
}

TEST(ServiceAffinityScoreTest, CountsByTheFirstServiceOnly) {
  PluginRig rig(NewServiceAffinity, R"({"antiAffinityLabelsPreference":["zone"]})");
  rig.handle.fake_owner_listers().Add(MakeService("ns", "z-last", Texts{{"tier", "front"}}));
  rig.handle.fake_owner_listers().Add(MakeService("ns", "a-first", kWeb));
  rig.AddNode(Node("a", {}), {Web("1"), MakePod().Name("front").Labels({{"tier", "front"}}).Obj(),
                              MakePod().Name("ends").Labels(kWeb).Terminating().Obj(),
                              MakePod().Name("foreign").Namespace("other").Labels(kWeb).Obj()});
  const api::PodPtr pod = MakePod().Labels({{"app", "web"}, {"tier", "front"}}).Obj();
  EXPECT_EQ(rig.ScoreAll(*pod), (Scores{1}));
  rig.state.Reset();
  EXPECT_EQ(rig.RawScores(*pod), (Scores{1}));  // without PreScore, too
  EXPECT_EQ(rig.ScoreAll(*MakePod().Name("other").Obj()), (Scores{0}));
}

TEST(ServiceAffinityScoreTest, SkipsWithoutLabels) {
  PluginRig rig(NewServiceAffinity);
  EXPECT_EQ(Describe(rig.PreScore(*Web("p"))), "Skip");
}

TEST(ServiceAffinityTest, EventsAndListers) {
  PluginRig rig(NewServiceAffinity);
  const auto text = [](uint32_t actions) { return std::to_string(actions); };
  EXPECT_EQ(rig.Events(),
            (Results{"AssignedPod/" + text(framework::kActionAdd | framework::kActionDelete |
                                           framework::kActionUpdatePodLabel),
                     "TargetPod/" + text(framework::kActionUpdatePodLabel),
                     "Node/" + text(framework::kActionAdd | framework::kActionUpdateNodeLabel),
                     "Service/" + text(framework::kActionAll)}));
  EXPECT_EQ(rig.As<framework::OptionalKindReader>()->NeededKinds(),
            framework::OptionalKinds{framework::OptionalKind::kService});
}

TEST(ServiceAffinityTest, ArgumentErrors) {
  const auto error = [](const std::string& args) {
    return PluginRig::FactoryError(NewServiceAffinity, args);
  };
  EXPECT_EQ(error(R"({"affinityLabels":["a"],"antiAffinityLabelsPreference":["a"]})"), "");
  EXPECT_EQ(error(R"({"affinityLabel":["a"]})"),
            "unknown field \"affinityLabel\"; did you mean \"affinityLabels\"?");
  EXPECT_EQ(error(R"({"affinityLabels":{}})"), "affinityLabels: expected a list, got object");
  EXPECT_TRUE(error(R"({"antiAffinityLabelsPreference":[""]})")
                  .starts_with("antiAffinityLabelsPreference[0]: \"\" is no label key: "));
}

}  // namespace
}  // namespace ks::plugins
