// SPDX-License-Identifier: Apache-2.0
// Expected texts are from kube-scheduler's errors about differing arguments: docs/spec/config.md
// 3.6 and 3.7.
#include <gtest/gtest.h>

#include <string>

#include "config/print/print_args.h"
#include "config/read/defaults.h"

namespace ks::config {
namespace {

FeatureGates Gates() {
  FeatureGates gates;
  for (const Gate gate : {Gate::kStorageCapacityScoring, Gate::kDRASchedulerFilterTimeout,
                          Gate::kDRADeviceBindingConditions, Gate::kDRAResourceClaimDeviceStatus}) {
    gates.Set(gate, true);
  }
  return gates;
}

TEST(GoArgsJson, Defaults) {
  const std::pair<const char*, const char*> rows[] = {
      {"Unknown", "null"},
      {"DefaultPreemption",
       R"({"MinCandidateNodesPercentage":10,"MinCandidateNodesAbsolute":100})"},
      {"DynamicResources", R"({"FilterTimeout":"10s","BindingTimeout":"10m0s"})"},
      {"InterPodAffinity",
       R"({"HardPodAffinityWeight":1,"IgnorePreferredTermsOfExistingPods":false})"},
      {"NodeAffinity", R"({"AddedAffinity":null})"},
      {"NodeResourcesBalancedAllocation",
       R"({"Resources":[{"Name":"cpu","Weight":1},{"Name":"memory","Weight":1}]})"},
      {"NodeResourcesFit",
       R"({"IgnoredResources":null,"IgnoredResourceGroups":null,"ScoringStrategy":{"Type":)"
       R"("LeastAllocated","Resources":[{"Name":"cpu","Weight":1},{"Name":"memory","Weight":1}],)"
       R"("RequestedToCapacityRatio":null}})"},
      {"PodTopologySpread", R"({"DefaultConstraints":null,"DefaultingType":"System"})"},
      {"VolumeBinding", R"({"BindTimeoutSeconds":600,"Shape":[{"Utilization":0,"Score":10},)"
                        R"({"Utilization":100,"Score":0}]})"},
  };
  for (const auto& [plugin, json] : rows) {
    EXPECT_EQ(GoArgsJson(DefaultArgs(plugin, Gates())), json) << plugin;
  }
}

TEST(GoArgsJson, Others) {
  EXPECT_EQ(GoArgsJson(RawArgs{R"({"a":[1.0,"<"]})"}), R"({"a":[1.0,"\u003c"]})");
  EXPECT_EQ(GoArgsJson(DynamicResourcesArgs{}), R"({"FilterTimeout":null,"BindingTimeout":null})");
  EXPECT_EQ(GoArgsJson(VolumeBindingArgs{}), R"({"BindTimeoutSeconds":600,"Shape":null})");
  EXPECT_EQ(GoArgsJson(NodeResourcesFitArgs{
                .ignored_resources = {"a"},
                .scoring_strategy = ScoringStrategy{.type = "RequestedToCapacityRatio",
                                                    .resources = {{"cpu", 1}},
                                                    .ratio_shape = {{{0, 1}}}}}),
            R"({"IgnoredResources":["a"],"IgnoredResourceGroups":null,"ScoringStrategy":{"Type":)"
            R"("RequestedToCapacityRatio","Resources":[{"Name":"cpu","Weight":1}],)"
            R"("RequestedToCapacityRatio":{"Shape":[{"Utilization":0,"Score":1}]}}})");
  // The pod API's types keep their own names.
  EXPECT_EQ(GoArgsJson(NodeAffinityArgs{
                NodeAffinity{.required = NodeSelector{{{NodeSelectorTerm{}}}}, .preferred = {}}}),
            R"({"AddedAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
            R"({"nodeSelectorTerms":[{}]}}})");
  EXPECT_EQ(GoArgsJson(PodTopologySpreadArgs{.default_constraints = {{1, "a", "ScheduleAnyway"}},
                                             .defaulting_type = "List"}),
            R"({"DefaultConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":)"
            R"("ScheduleAnyway"}],"DefaultingType":"List"})");
}

}  // namespace
}  // namespace ks::config
