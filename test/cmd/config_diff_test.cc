// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/config/config_diff.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

namespace ks::ctl {
namespace {

constexpr const char* kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
constexpr const char* kFew =
    "    multiPoint:\n      disabled: [{name: \"*\"}]\n"
    "      enabled: [{name: PrioritySort}, {name: NodeResourcesFit}, {name: ImageLocality}, {name: "
    "DefaultBinder}]\n";

class DiffConfig : public ::testing::Test {
 protected:
  // What two files are made of that differ in their top, in their profile's plugins and behind
  // these.
  struct Parts {
    std::string top, plugins, rest;
  };
  std::string Diff(const Parts& before, const Parts& after) {
    std::vector<nlohmann::json> trees;
    for (const Parts& parts : {before, after}) {
      const auto built = BuildEffective(
          kHead + parts.top + "profiles:\n- plugins:\n" + kFew + parts.plugins + parts.rest,
          gates_);
      if (const auto* faults = std::get_if<config::Faults>(&built)) {
        ADD_FAILURE() << faults->text;
        return "";
      }
      trees.push_back(EffectiveTree(*std::get<0>(built)));
    }
    std::string lines;
    for (const Difference& difference : DiffTrees(trees[0], trees[1])) {
      lines += DifferenceLine(difference) + "\n";
    }
    return lines;
  }

  const config::FeatureGates gates_;
};

TEST_F(DiffConfig, DefaultsAndSpellingsAreNoDifference) {
  EXPECT_EQ(Diff({}, {}), "");
  EXPECT_EQ(Diff({}, {.top = "parallelism: 0x10\nleaderElection: {leaseDuration: 15000ms}\n"}), "");
  // Named at the point or at multiPoint: the same plugins in the same order.
  EXPECT_EQ(Diff({}, {.plugins = "    bind: {enabled: [{name: DefaultBinder}]}\n"}), "");
}

TEST_F(DiffConfig, ValuesHavePaths) {
  EXPECT_EQ(Diff({}, {.top = "parallelism: 4\nleaderElection: {leaderElect: false}\n"}),
            "leaderElection.leaderElect: true -> false\nparallelism: 16 -> 4\n");
}

TEST_F(DiffConfig, PluginsAreComparedAtTheirPoints) {
  EXPECT_EQ(Diff({}, {.plugins = "    score: {disabled: [{name: ImageLocality}]}\n"}),
            "profiles[default-scheduler].plugins.score[ImageLocality]: 1 -> (none)\n");
  EXPECT_EQ(Diff({}, {.plugins = "    score: {enabled: [{name: NodeResourcesFit, weight: 7}]}\n"}),
            "profiles[default-scheduler].plugins.score[NodeResourcesFit]: 1 -> 7\n");
  EXPECT_EQ(
      Diff({}, {.plugins = "    score: {enabled: [{name: ImageLocality}]}\n"}),
      "profiles[default-scheduler].plugins.score.order: "
      "[\"NodeResourcesFit\",\"ImageLocality\"] -> [\"ImageLocality\",\"NodeResourcesFit\"]\n");
}

TEST_F(DiffConfig, ArgumentsAreComparedByPluginAndResource) {
  EXPECT_EQ(
      Diff({},
           {.rest = "  pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
                    "MostAllocated, resources: [{name: memory, weight: 3}, {name: cpu}]}}}]\n"}),
      "profiles[default-scheduler].pluginConfig[NodeResourcesFit].args.scoringStrategy.resources"
      "[memory].weight: 1 -> 3\n"
      "profiles[default-scheduler].pluginConfig[NodeResourcesFit].args.scoringStrategy.type: "
      "\"LeastAllocated\" -> \"MostAllocated\"\n");
}

TEST_F(DiffConfig, ExtendersComeAndGo) {
  EXPECT_EQ(Diff({.rest = "extenders: [{urlPrefix: a}]\n"}, {}),
            "extenders: [{\"httpTimeout\":\"5s\",\"urlPrefix\":\"a\"}] -> (none)\n");
}

TEST(Differences, Json) {
  const auto document = nlohmann::json::parse(DifferencesJson(
      {{.path = "a", .before = "1", .after = "\"x\""}, {.path = "b", .after = "[]"}}));
  EXPECT_EQ(document.dump(),
            R"({"differences":[{"after":"x","before":1,"path":"a"},{"after":[],"path":"b"}],)"
            R"("same":false})");
}

}  // namespace
}  // namespace ks::ctl
