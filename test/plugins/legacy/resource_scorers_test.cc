// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/resource_scorers/resource_scorers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/read/defaults.h"
#include "framework/runtime/runtime.h"
#include "plugins/node_resources/fit.h"
#include "plugins/plugin_rig.h"
#include "plugins/registry.h"
#include "testing/test_plugins.h"

namespace ks::plugins {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using Scores = std::vector<int64_t>;

constexpr std::string_view kShape =
    R"("shape":[{"utilization":0,"score":0},{"utilization":100,"score":10}])";

struct ScoreCase {
  std::string name;
  framework::PluginFactory factory = nullptr;
  std::string args = "null";
  Scores want;
};

class ResourceScorersTest : public ::testing::TestWithParam<ScoreCase> {};

// Node a has a quarter of its cpu and half of its memory in use with the pod, node b nothing but
// the pod and no memory to give, node c less than the pod wants.
TEST_P(ResourceScorersTest, Score) {
  PluginRig rig(GetParam().factory, GetParam().args);
  rig.AddNode(MakeNode().Name("a").Allocatable({{"cpu", "8"}, {"memory", "8Gi"}}),
              {MakePod().Name("p").Req({{"cpu", "1"}, {"memory", "2Gi"}}).Obj()});
  rig.AddNode(MakeNode().Name("b").Allocatable({{"cpu", "4"}}));
  rig.AddNode(MakeNode().Name("c").Allocatable({{"cpu", "500m"}, {"memory", "4Gi"}}));
  const api::PodPtr pod = MakePod().Req({{"cpu", "1"}, {"memory", "2Gi"}}).Obj();
  EXPECT_EQ(rig.ScoreAll(*pod), GetParam().want);
  rig.state.Reset();
  EXPECT_EQ(rig.RawScores(*pod), GetParam().want);  // without PreScore
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, ResourceScorersTest,
    ::testing::Values(
        ScoreCase{"Least", NewNodeResourcesLeastAllocated, "null", {62, 75, 25}},
        ScoreCase{"LeastByWeight",
                  NewNodeResourcesLeastAllocated,
                  R"({"resources":[{"name":"cpu","weight":3},{"name":"memory"}]})",
                  {68, 75, 12}},
        ScoreCase{"Most", NewNodeResourcesMostAllocated, "{}", {37, 25, 75}},
        ScoreCase{"MostOfOneResource",
                  NewNodeResourcesMostAllocated,
                  R"({"resources":[{"name":"memory","weight":5}]})",
                  {50, 0, 50}},
        // Points 25 and 50; 25 alone; 100 and 50.
        ScoreCase{
            "Ratio", NewRequestedToCapacityRatio, "{" + std::string(kShape) + "}", {38, 25, 75}},
        // 100 − utilization; a resource that scores 0 does not count.
        ScoreCase{"RatioFalling",
                  NewRequestedToCapacityRatio,
                  R"({"shape":[{"utilization":0,"score":10},{"utilization":100,"score":0}]})",
                  {63, 75, 50}}),
    [](const auto& row) { return row.param.name; });

TEST(ResourceScorersEqualTest, AsTheStrategyOfNodeResourcesFit) {
  PluginRig legacy(NewNodeResourcesMostAllocated);
  PluginRig fit(NewNodeResourcesFit,
                R"({"scoringStrategy":{"type":"MostAllocated","resources":[{"name":"cpu",
                "weight":1},{"name":"memory","weight":1}]}})");
  for (PluginRig* rig : {&legacy, &fit}) {
    rig->AddNode(MakeNode().Name("a").Allocatable({{"cpu", "3"}, {"memory", "7Gi"}}),
                 {MakePod().Name("p").Req({}).Obj()});
  }
  const api::PodPtr pod = MakePod().Req({{"cpu", "300m"}}).Req({}).Obj();
  EXPECT_EQ(legacy.ScoreAll(*pod), fit.ScoreAll(*pod));
  EXPECT_EQ(legacy.Signature(*pod), fit.Signature(*pod));
}

struct ArgsCase {
  std::string name;
  framework::PluginFactory factory = nullptr;
  std::string args;
  std::string want_error;
};

class ResourceScorersArgsTest : public ::testing::TestWithParam<ArgsCase> {};

TEST_P(ResourceScorersArgsTest, Errors) {
  EXPECT_EQ(PluginRig::FactoryError(GetParam().factory, GetParam().args), GetParam().want_error);
}

INSTANTIATE_TEST_SUITE_P(
    Args, ResourceScorersArgsTest,
    ::testing::Values(
        ArgsCase{"NoShape", NewRequestedToCapacityRatio, "null",
                 "shape: is missing; give at least one point"},
        ArgsCase{"ShapeWhereNoneIs", NewNodeResourcesLeastAllocated, R"({"shape":[]})",
                 "unknown field \"shape\"; the fields here are resources"},
        ArgsCase{"Weight", NewNodeResourcesMostAllocated,
                 R"({"resources":[{"name":"cpu","weight":1},{"name":"memory","weight":101}]})",
                 "resources[1].weight: 101 is not in the range 1 to 100"},
        ArgsCase{"NegativeWeight", NewNodeResourcesMostAllocated,
                 R"({"resources":[{"name":"cpu","weight":-1}]})",
                 "resources[0].weight: -1 is not in the range 1 to 100"},
        ArgsCase{"NoName", NewNodeResourcesLeastAllocated, R"({"resources":[{"weight":1}]})",
                 "resources[0].name: is missing; give a resource, such as cpu"},
        ArgsCase{"UnknownBelow", NewNodeResourcesLeastAllocated,
                 R"({"resources":[{"name":"cpu","wieght":1}]})",
                 "unknown field \"resources[0].wieght\"; did you mean \"weight\"?"},
        ArgsCase{"Utilization", NewRequestedToCapacityRatio,
                 R"({"shape":[{"utilization":101,"score":1}]})",
                 "shape[0].utilization: 101 is not in the range 0 to 100"},
        ArgsCase{"ShapeScore", NewRequestedToCapacityRatio,
                 R"({"shape":[{"utilization":0,"score":11}]})",
                 "shape[0].score: 11 is not in the range 0 to 10"},
        ArgsCase{"NotRising", NewRequestedToCapacityRatio,
                 R"({"shape":[{"utilization":5,"score":1},{"utilization":5,"score":2}]})",
                 "shape[1].utilization: must be greater than that of the point before"},
        ArgsCase{"WrongType", NewRequestedToCapacityRatio, R"({"shape":[{"score":"1"}]})",
                 "shape[0].score: expected a whole number, got string"}),
    [](const auto& row) { return row.param.name; });

// The default profile with a legacy scorer, built with all plugins of the tree.
class LegacyProfileTest : public ::testing::Test {
 protected:
  void Enable(const std::string& name) {
    profile.plugins.score.enabled.push_back({.name = name, .weight = 1});
  }
  // Empty when the profile can be built.
  std::string BuildError() {
    const framework::Registry registry = InTreeRegistry();
    const auto made =
        framework::Framework::Create(registry, profile, {.parts = testing::LastingParts()});
    return made.ok() ? "" : made.error().message;
  }

  config::Profile profile = config::DefaultConfiguration().profiles.front();
};

TEST_F(LegacyProfileTest, TheSameStrategyTwiceIsRefused) {
  Enable("NodeResourcesLeastAllocated");
  EXPECT_EQ(BuildError(),
            "plugins \"NodeResourcesFit\" and \"NodeResourcesLeastAllocated\" both score by "
            "LeastAllocated, which would count it twice, for profile with scheduler name "
            "\"default-scheduler\": disable one of them at score");
  profile.plugins.score.disabled.push_back({.name = "NodeResourcesFit"});
  EXPECT_EQ(BuildError(), "");
}

TEST_F(LegacyProfileTest, AnotherStrategyIsFine) {
  Enable("NodeResourcesMostAllocated");
  EXPECT_EQ(BuildError(), "");
}

TEST_F(LegacyProfileTest, NoLegacyPluginIsInTheDefaultProfile) {
  const framework::Registry registry = InTreeRegistry();
  const auto made =
      framework::Framework::Create(registry, profile, {.parts = testing::LastingParts()});
  ASSERT_TRUE(made.ok());
  for (const std::string_view point : {"PreFilter", "Filter", "PreScore", "Score"}) {
    for (const std::string& plugin : (*made)->plugins().ListPlugins(point)) {
      const std::string name = plugin.substr(0, plugin.find(' '));
      for (const char* const legacy : {"NodeLabel", "ServiceAffinity", "SelectorSpread",
                                       "NodePreferAvoidPods", "NodeResourcesLeastAllocated",
                                       "NodeResourcesMostAllocated", "RequestedToCapacityRatio"}) {
        EXPECT_NE(name, legacy);
      }
    }
  }
}

TEST_F(LegacyProfileTest, ListersAreAskedForByThePluginsThatAreEnabled) {
  Enable("SelectorSpread");
  const framework::Registry registry = InTreeRegistry();
  const auto made =
      framework::Framework::Create(registry, profile, {.parts = testing::LastingParts()});
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE((*made)->plugins().NeededKinds().Contains(framework::OptionalKind::kStatefulSet));
}

}  // namespace
}  // namespace ks::plugins
