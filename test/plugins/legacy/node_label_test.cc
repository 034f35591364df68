// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/node_label/node_label.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;

const std::string kRejected =
    "UnschedulableAndUnresolvable: node(s) didn't have the requested labels";

ks::testing::NodeBuilder NodeWith(const std::vector<std::string>& keys) {
  ks::testing::NodeBuilder node = MakeNode();
  std::string name = "node";
  for (const std::string& key : keys) {
    node.Label(key, "any");
    name += "-" + key;
  }
  node.Name(name);
  return node;
}

struct FilterCase {
  std::string name;
  std::string args;
  std::vector<std::string> node_labels;
  bool want_fits = true;
};

class NodeLabelFilterTest : public ::testing::TestWithParam<FilterCase> {};

TEST_P(NodeLabelFilterTest, Filter) {
  PluginRig rig(NewNodeLabel, GetParam().args);
  const framework::NodeInfo& node = rig.AddNode(NodeWith(GetParam().node_labels));
  const framework::Status status =
      rig.As<framework::FilterPlugin>()->Filter(rig.state, *MakePod().Obj(), node);
  EXPECT_EQ(Describe(status), GetParam().want_fits ? "Success" : kRejected);
}

INSTANTIATE_TEST_SUITE_P(
    Labels, NodeLabelFilterTest,
    ::testing::Values(
        FilterCase{"NoArguments", "null", {}, true},
        FilterCase{"HasAll", R"({"presentLabels":["a","b"]})", {"a", "b", "c"}, true},
        FilterCase{"MissesOne", R"({"presentLabels":["a","b"]})", {"a"}, false},
        FilterCase{"HasNoneOfTheAbsent", R"({"absentLabels":["a","b"]})", {"c"}, true},
        FilterCase{"HasOneOfTheAbsent", R"({"absentLabels":["a","b"]})", {"b"}, false},
        FilterCase{"Both", R"({"presentLabels":["a"],"absentLabels":["b"]})", {"a"}, true},
        FilterCase{
            "BothFail", R"({"presentLabels":["a"],"absentLabels":["b"]})", {"a", "b"}, false},
        FilterCase{"PreferencesDoNotFilter", R"({"presentLabelsPreference":["a"]})", {}, true},
        FilterCase{"KindAndVersionAreAllowed",
                   R"({"kind":"NodeLabelArgs","apiVersion":"v1","presentLabels":["a"]})",
                   {"a"},
                   true}),
    [](const auto& row) { return row.param.name; });

// Section 7.1: preferences present [ssd], absent [retiring].
TEST(NodeLabelScoreTest, WorkedExample) {
  PluginRig rig(NewNodeLabel,
                R"({"presentLabelsPreference":["ssd"],"absentLabelsPreference":["retiring"]})");
  rig.AddNode(NodeWith({"ssd", "retiring"}));
  rig.AddNode(NodeWith({"ssd"}));
  rig.AddNode(NodeWith({"retiring"}));
  EXPECT_EQ(rig.ScoreAll(*MakePod().Obj()), (std::vector<int64_t>{50, 100, 0}));
  EXPECT_EQ(rig.As<framework::ScoreNormalizer>(), nullptr);
}

TEST(NodeLabelScoreTest, TheQuotientIsCut) {
  PluginRig rig(NewNodeLabel, R"({"presentLabelsPreference":["a","b","c"]})");
  rig.AddNode(NodeWith({"a"}));
  rig.AddNode(NodeWith({"a", "b"}));
  EXPECT_EQ(rig.ScoreAll(*MakePod().Obj()), (std::vector<int64_t>{33, 66}));
}

TEST(NodeLabelScoreTest, NoPreferencesGiveZero) {
  PluginRig rig(NewNodeLabel, R"({"presentLabels":["a"]})");
  rig.AddNode(NodeWith({"a"}));
  EXPECT_EQ(rig.ScoreAll(*MakePod().Obj()), (std::vector<int64_t>{0}));
}

TEST(NodeLabelTest, Events) {
  PluginRig rig(NewNodeLabel);
  EXPECT_EQ(
      rig.Events(),
      (std::vector<std::string>{
          "Node/" + std::to_string(framework::kActionAdd | framework::kActionUpdateNodeLabel)}));
}

TEST(NodeLabelTest, ReadsNothingOfAPod) {
  PluginRig rig(NewNodeLabel);
  EXPECT_TRUE(rig.Signature(*MakePod().Obj()).empty());
}

struct ArgsCase {
  std::string name;
  std::string args;
  std::string want_error;
};

class NodeLabelArgsTest : public ::testing::TestWithParam<ArgsCase> {};

TEST_P(NodeLabelArgsTest, Errors) {
  EXPECT_EQ(PluginRig::FactoryError(NewNodeLabel, GetParam().args), GetParam().want_error);
}

INSTANTIATE_TEST_SUITE_P(
    Args, NodeLabelArgsTest,
    ::testing::Values(
        ArgsCase{"Fine", R"({"presentLabels":["a"],"absentLabels":["b"]})", ""},
        ArgsCase{"FilterAndPreferenceDoNotContradict",
                 R"({"presentLabels":["a"],"absentLabelsPreference":["a"]})", ""},
        ArgsCase{"PresentAndAbsent", R"({"presentLabels":["x","a"],"absentLabels":["a"]})",
                 "presentLabels and absentLabels both list \"a\": remove it from one of them"},
        ArgsCase{"PreferredBothWays",
                 R"({"presentLabelsPreference":["a"],"absentLabelsPreference":["a"]})",
                 "presentLabelsPreference and absentLabelsPreference both list \"a\": remove it "
                 "from one of them"},
        ArgsCase{"UnknownField", R"({"presentLabel":["a"]})",
                 "unknown field \"presentLabel\"; did you mean \"presentLabels\"?"},
        ArgsCase{"FieldOfSomethingElse", R"({"weight":1})",
                 "unknown field \"weight\"; the fields here are presentLabels, absentLabels, "
                 "presentLabelsPreference, absentLabelsPreference"},
        ArgsCase{"NoList", R"({"presentLabels":"a"})",
                 "presentLabels: expected a list, got string"},
        ArgsCase{"NoText", R"({"absentLabels":["a",1]})",
                 "absentLabels[1]: expected a string, got number"},
        ArgsCase{"NoObject", R"([])", "args: expected an object, got array"}),
    [](const auto& row) { return row.param.name; });

TEST(NodeLabelArgsTest, WhatIsNoLabelKeyIsRefused) {
  const std::string error =
      PluginRig::FactoryError(NewNodeLabel, R"({"absentLabels":["a","b c"]})");
  EXPECT_TRUE(error.starts_with("absentLabels[1]: \"b c\" is no label key: ")) << error;
}

}  // namespace
}  // namespace ks::plugins
