// SPDX-License-Identifier: Apache-2.0
// Rows 81 to 91 of docs/spec/plugins-node.md 7.6 (ex81 to Ex91), and traps 20 to 24.
#include "plugins/node_affinity/node_affinity.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using api::SelectorRequirement;
using testing::MakeNode;
using testing::MakePod;
using testing::NodeBuilder;
using testing::PodBuilder;

const std::string kMismatch =
    "UnschedulableAndUnresolvable: node(s) didn't match Pod's node affinity/selector";
const std::string kConflict = "UnschedulableAndUnresolvable: pod affinity terms conflict";
const std::string kSuccess = "Success";

SelectorRequirement Label(std::string key, std::string op, std::vector<std::string> values = {}) {
  return {std::move(key), std::move(op), std::move(values)};
}
SelectorRequirement NameIn(std::vector<std::string> names) {
  return {"metadata.name", "In", std::move(names)};
}
NodeBuilder Named(std::string_view name) { return MakeNode().Name(name); }
PodBuilder Requires(SelectorRequirement requirement) {
  return MakePod().RequiredTerm({std::move(requirement)});
}
PodBuilder NoTerms() {
  PodBuilder pod = MakePod();
  pod.spec().node_affinity.emplace().required.emplace();
  return pod;
}

struct FilterCase {
  std::string name;
  PodBuilder pod;
  std::vector<NodeBuilder> nodes;
  std::vector<std::string> want;
  std::optional<std::set<std::string>> want_names = std::nullopt;
};

class NodeAffinityFilterTest : public ::testing::TestWithParam<FilterCase> {};

TEST_P(NodeAffinityFilterTest, Filters) {
  const FilterCase& c = GetParam();
  PluginRig rig(NewNodeAffinity);
  for (const NodeBuilder& node : c.nodes) rig.AddNode(node);
  const api::PodPtr pod = c.pod.Obj();
  EXPECT_EQ(rig.FilterAll(*pod), c.want);
  EXPECT_EQ(rig.PreFilter(*pod).nodes, c.want_names);
  if (c.want[0] == kConflict) return;
  const framework::CycleState unprepared;
  for (size_t i = 0; i < c.want.size(); ++i) {
    EXPECT_EQ(
        Describe(rig.As<framework::FilterPlugin>()->Filter(unprepared, *pod, *rig.nodes()[i])),
        c.want[i])
        << "without PreFilter";
  }
}

const FilterCase kCases[] = {
    {"ex81_Gt",
     Requires(Label("cores", "Gt", {"7"})),
     {MakeNode().Label("cores", "08")},
     {kSuccess}},
    {"ex81_Lt",
     Requires(Label("cores", "Lt", {"8"})),
     {MakeNode().Label("cores", "08")},
     {kMismatch}},
    {"ex82_negative",
     Requires(Label("neg", "Gt", {"-6"})),
     {MakeNode().Label("neg", "-5")},
     {kMismatch}},
    {"ex82_sign",
     Requires(Label("neg", "Gt", {"+7"})),
     {MakeNode().Label("neg", "-5")},
     {kMismatch}},
    {"ex82_fraction",
     Requires(Label("neg", "Gt", {"7.5"})),
     {MakeNode().Label("neg", "-5")},
     {kMismatch}},
    {"ex82_two_values",
     Requires(Label("neg", "Gt", {"7", "6"})),
     {MakeNode().Label("neg", "-5")},
     {kMismatch}},
    {"ex83_missing_label", Requires(Label("zone", "NotIn", {"a"})), {MakeNode()}, {kSuccess}},
    {"ex83_bad_value", Requires(Label("zone", "NotIn", {"bad value"})), {MakeNode()}, {kMismatch}},
    {"ex84",
     MakePod()
         .RequiredTerm({Label("zone", "Foo", {"a"})})
         .RequiredTerm({Label("zone", "In", {"a"})}),
     {MakeNode().Label("zone", "a")},
     {kSuccess}},
    {"ex85_no_terms", NoTerms(), {Named("a"), Named("b")}, {kMismatch, kMismatch}},
    {"ex85_empty_term",
     MakePod().RequiredTerm({}),
     {Named("a"), Named("b")},
     {kMismatch, kMismatch}},
    {"ex86",
     MakePod().RequiredTerm({}, {NameIn({"node1"}), NameIn({"node2"})}),
     {Named("node1"), Named("node2")},
     {kConflict, kConflict}},
    {"ex87",
     MakePod()
         .RequiredTerm({}, {NameIn({"node1"}), NameIn({"node2"})})
         .RequiredTerm({}, {NameIn({"node1"})}),
     {Named("node1"), Named("node2")},
     {kSuccess, kMismatch},
     std::set<std::string>{"node1"}},
    // Trap 22.
    {"ex88",
     MakePod().RequiredTerm({}, {NameIn({"node1", "node2"})}),
     {Named("node1"), Named("node2")},
     {kMismatch, kMismatch},
     std::set<std::string>{"node1", "node2"}},
    {"ex89",
     MakePod().RequiredTerm({}, {NameIn({"node2"})}).RequiredTerm({Label("zone", "In", {"a"})}),
     {Named("node1").Label("zone", "a"), Named("node2"), Named("node3")},
     {kSuccess, kSuccess, kMismatch}},
    // Trap 23.
    {"other_requirements_do_not_narrow",
     MakePod().RequiredTerm({Label("zone", "In", {"a"})}, {NameIn({"node1"})}),
     {Named("node1")},
     {kMismatch},
     std::set<std::string>{"node1"}},
    {"node_selector",
     MakePod().NodeSelector({{"zone", "a"}, {"disk", "ssd"}}),
     {MakeNode().Label("zone", "a").Label("disk", "ssd"), MakeNode().Label("zone", "a")},
     {kSuccess, kMismatch}},
    // Trap 20: values are never validated.
    {"node_selector_odd_value",
     MakePod().NodeSelector({{"zone", "bad value"}}),
     {MakeNode().Label("zone", "bad value")},
     {kSuccess}},
    {"empty_node_selector", MakePod().NodeSelector({}), {MakeNode()}, {kSuccess}},
    {"selector_and_affinity",
     Requires(Label("zone", "In", {"a"})).NodeSelector({{"disk", "ssd"}}),
     {MakeNode().Label("zone", "a"), MakeNode().Label("zone", "a").Label("disk", "ssd")},
     {kMismatch, kSuccess}},
};

INSTANTIATE_TEST_SUITE_P(Rows, NodeAffinityFilterTest, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

TEST(NodeAffinityTest, PlainPodIsSkipped) {
  PluginRig rig(NewNodeAffinity);
  EXPECT_EQ(Describe(rig.PreFilter(*MakePod().Obj()).status), "Skip");
  EXPECT_EQ(Describe(rig.PreScore(*MakePod().Obj())), "Skip");
  EXPECT_EQ(Describe(rig.PreFilter(*MakePod().NodeSelector({}).Obj()).status), "Success");
}

PodBuilder PreferringPod() {
  return MakePod()
      .PreferredTerm(10, {Label("zone", "In", {"a"})})
      .PreferredTerm(3, {Label("disk", "Exists")})
      .PreferredTerm(50, {});
}

void AddPreferredNodes(PluginRig* rig) {
  rig->AddNode(Named("a").Label("zone", "a").Label("disk", "ssd"));
  rig->AddNode(Named("b").Label("zone", "b"));
  rig->AddNode(Named("c").Label("disk", "ssd"));
}

TEST(NodeAffinityTest, Ex90PreferredTerms) {
  PluginRig rig(NewNodeAffinity);
  AddPreferredNodes(&rig);
  const api::PodPtr pod = PreferringPod().Obj();
  const std::vector<int64_t> want_raw = {13, 0, 3};
  EXPECT_EQ(rig.ScoreAll(*pod), want_raw);
  EXPECT_EQ(rig.Normalized(*pod, want_raw), (std::vector<int64_t>{100, 0, 23}));
  rig.state.Reset();
  EXPECT_EQ(rig.RawScores(*pod), want_raw) << "without PreScore";
}

const char kAddedPreferred[] = R"({"addedAffinity": {
  "preferredDuringSchedulingIgnoredDuringExecution": [
    {"weight": 2, "preference": {"matchExpressions": [
      {"key": "zone", "operator": "In", "values": ["b"]}]}}]}})";

TEST(NodeAffinityTest, Ex91AddedPreferredTerms) {
  PluginRig rig(NewNodeAffinity, kAddedPreferred);
  AddPreferredNodes(&rig);
  const api::PodPtr pod = PreferringPod().Obj();
  const std::vector<int64_t> want_raw = {13, 2, 3};
  EXPECT_EQ(rig.ScoreAll(*pod), want_raw);
  EXPECT_EQ(rig.Normalized(*pod, want_raw), (std::vector<int64_t>{100, 15, 23}));
  EXPECT_EQ(rig.ScoreAll(*MakePod().Obj()), (std::vector<int64_t>{0, 2, 0}));
}

TEST(NodeAffinityTest, AddedRequiredAffinity) {
  PluginRig rig(NewNodeAffinity, R"({"addedAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}}})");
  rig.AddNode(Named("a"));
  rig.AddNode(Named("b"));
  const std::string enforced =
      "UnschedulableAndUnresolvable: node(s) didn't match scheduler-enforced node affinity";
  EXPECT_EQ(rig.FilterAll(*MakePod().Obj()), (std::vector<std::string>{kSuccess, enforced}));
  EXPECT_EQ(rig.PreFilter(*MakePod().Obj()).nodes, std::nullopt);
  EXPECT_EQ(rig.FilterAll(*Requires(Label("x", "Exists")).Obj()),
            (std::vector<std::string>{kMismatch, enforced}));
}

const char kUnsupported[] =
    ".matchExpressions[0].operator: Unsupported value: \"Foo\": supported values: \"In\", "
    "\"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"";

// Trap 24.
TEST(NodeAffinityTest, MalformedPreferredTermFailsTheCycle) {
  PluginRig rig(NewNodeAffinity);
  rig.AddNode(Named("a"));
  const api::PodPtr bad = MakePod().PreferredTerm(1, {Label("zone", "Foo")}).Obj();
  EXPECT_EQ(Describe(rig.PreScore(*bad)), std::string("Error: [0]") + kUnsupported);
  const api::PodPtr unused = MakePod().PreferredTerm(0, {Label("zone", "Foo")}).Obj();
  EXPECT_EQ(Describe(rig.PreScore(*unused)), "Success");
}

TEST(NodeAffinityTest, SignatureIgnoresOrder) {
  PluginRig rig(NewNodeAffinity);
  const auto sign = [&rig](const PodBuilder& pod) { return rig.Signature(*pod.Obj()); };
  EXPECT_EQ(sign(MakePod()), (std::vector<std::string>{"v1.Pod.Spec.Affinity.NodeAffinity=null",
                                                       "v1.Pod.Spec.Affinity.NodeSelector=null"}));
  EXPECT_NE(sign(MakePod()), sign(MakePod().NodeSelector({})));
  const auto a = Label("a", "In", {"1", "2"});
  const auto a_swapped = Label("a", "In", {"2", "1"});
  const auto b = Label("b", "Exists");
  EXPECT_EQ(sign(MakePod().RequiredTerm({a, b}).RequiredTerm({b})),
            sign(MakePod().RequiredTerm({b}).RequiredTerm({b, a_swapped})));
  EXPECT_EQ(sign(MakePod().PreferredTerm(1, {a}).PreferredTerm(2, {b})),
            sign(MakePod().PreferredTerm(2, {b}).PreferredTerm(1, {a_swapped})));
  EXPECT_NE(sign(MakePod().PreferredTerm(1, {a})), sign(MakePod().PreferredTerm(2, {a})));
}

TEST(NodeAffinityTest, Events) {
  EXPECT_EQ(PluginRig(NewNodeAffinity).Events(), std::vector<std::string>{"Node/9"});
}

}  // namespace
}  // namespace ks::plugins
