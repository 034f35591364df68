// SPDX-License-Identifier: Apache-2.0
// docs/spec/config.md 3, 4, 5.1, 5.2, 5.7.
#include "config/read/defaults.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ks::config {
namespace {

std::string Joined(const std::vector<PluginRef>& refs) {
  std::string text;
  for (const PluginRef& ref : refs) {
    text += (text.empty() ? "" : " ") + ref.name;
    if (ref.weight != 0) text += std::to_string(ref.weight);
  }
  return text;
}

std::string EntryNames(const Profile& profile) {
  std::string text;
  for (const PluginConfig& entry : profile.plugin_config) {
    text += (text.empty() ? "" : " ") + entry.name;
  }
  return text;
}

Configuration Defaulted(Configuration configuration, const FeatureGates& gates = {}) {
  SetDefaults(&configuration, gates);
  return configuration;
}

constexpr char kDefaultPlugins[] =
    "SchedulingGates PrioritySort NodeName NodeUnschedulable TaintToleration3 NodeAffinity2 "
    "NodePorts NodeResourcesFit1 VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone "
    "PodTopologySpread2 InterPodAffinity2 DynamicResources2 DefaultPreemption "
    "NodeResourcesBalancedAllocation1 ImageLocality1 DefaultBinder NodeDeclaredFeatures";

TEST(Defaults, OfAnEmptyConfiguration) {
  const Configuration configuration = Defaulted({});
  EXPECT_EQ(configuration.parallelism, 16);
  EXPECT_EQ(configuration.client_connection.qps, 50);
  EXPECT_EQ(configuration.enable_contention_profiling, true);
  ASSERT_EQ(configuration.profiles.size(), 1U);
  const Profile& profile = configuration.profiles[0];
  EXPECT_EQ(profile.name(), "default-scheduler");
  EXPECT_EQ(Joined(profile.plugins.multi_point.enabled), kDefaultPlugins);
  for (const PluginSection& section : PluginSections()) {
    if (section.section == &Plugins::multi_point) continue;
    EXPECT_EQ(profile.plugins.*section.section, PluginSet()) << section.field;
  }
  EXPECT_EQ(EntryNames(profile),
            "DefaultPreemption DynamicResources InterPodAffinity NodeAffinity "
            "NodeResourcesBalancedAllocation NodeResourcesFit PodTopologySpread VolumeBinding");
}

TEST(Defaults, ZeroesThatMeanDefault) {
  Configuration configuration;
  configuration.leader_election = {.lease_duration = {},
                                   .renew_deadline = {},
                                   .retry_period = {},
                                   .resource_lock = "",
                                   .resource_name = "",
                                   .resource_namespace = ""};
  configuration.client_connection = {.content_type = "", .qps = 0, .burst = 0};
  configuration.extenders = {{.http_timeout = {}}, {.http_timeout = std::chrono::seconds(-1)}};
  configuration = Defaulted(configuration);
  EXPECT_EQ(configuration.leader_election, LeaderElection());
  EXPECT_EQ(configuration.client_connection, ClientConnection());
  EXPECT_EQ(configuration.extenders[0].http_timeout, std::chrono::seconds(5));
  EXPECT_EQ(configuration.extenders[1].http_timeout, std::chrono::seconds(-1));
}

TEST(Defaults, ZeroesThatStay) {
  Configuration configuration;
  configuration.parallelism = 0;
  configuration.pod_initial_backoff_seconds = 0;
  configuration.pod_max_backoff_seconds = 0;
  configuration = Defaulted(configuration);
  EXPECT_EQ(configuration.parallelism, 0);
  EXPECT_EQ(configuration.pod_initial_backoff_seconds, 0);
  EXPECT_EQ(configuration.pod_max_backoff_seconds, 0);
}

TEST(Defaults, ContentionProfilingFollowsProfiling) {
  EXPECT_EQ(Defaulted({.enable_profiling = false}).enable_contention_profiling, false);
  EXPECT_EQ(Defaulted({.enable_profiling = false, .enable_contention_profiling = true})
                .enable_contention_profiling,
            true);
}

// Trap T5.
TEST(Defaults, OnlyASingleProfileWithoutNameGetsOne) {
  EXPECT_EQ(Defaulted({.profiles = {{.scheduler_name = ""}}}).profiles[0].name(), "");
  const Configuration two = Defaulted({.profiles = {{}, {}}});
  EXPECT_FALSE(two.profiles[0].scheduler_name.has_value());
  EXPECT_FALSE(two.profiles[1].scheduler_name.has_value());
}

TEST(Defaults, GatesChangeThePlugins) {
  FeatureGates gates;
  for (const Gate gate : {Gate::kNodeDeclaredFeatures, Gate::kDynamicResourceAllocation,
                          Gate::kInPlacePodVerticalScalingSchedulerPreemption,
                          Gate::kGenericWorkload, Gate::kTopologyAwareWorkloadScheduling}) {
    gates.Set(gate, false);
  }
  const std::string without = Joined(DefaultPlugins(gates).multi_point.enabled);
  EXPECT_EQ(without.find("Dynamic"), std::string::npos);
  EXPECT_EQ(without.find("NodeDeclaredFeatures"), std::string::npos);
  for (const Gate gate : {Gate::kNodeDeclaredFeatures, Gate::kDynamicResourceAllocation,
                          Gate::kInPlacePodVerticalScalingSchedulerPreemption,
                          Gate::kGenericWorkload, Gate::kTopologyAwareWorkloadScheduling}) {
    gates.Set(gate, true);
  }
  EXPECT_EQ(Joined(DefaultPlugins(gates).multi_point.enabled),
            "SchedulingGates PrioritySort NodeName NodeUnschedulable TaintToleration3 "
            "NodeAffinity2 NodePorts DeferredPodScheduling NodeResourcesFit1 VolumeRestrictions "
            "NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread2 InterPodAffinity2 "
            "DynamicResources2 DefaultPreemption NodeResourcesBalancedAllocation1 ImageLocality1 "
            "DefaultBinder NodeDeclaredFeatures GangScheduling TopologyPlacementGenerator "
            "PodGroupPodsCount1");
}

struct MergeRow {
  const char* name;
  PluginSet user;
  const char* enabled;
  const char* disabled;
};

class Merge : public ::testing::TestWithParam<MergeRow> {};

TEST_P(Merge, FollowsTheRule) {
  const PluginSet defaults = {.enabled = {{"A", 1}, {"B", 2}, {"C"}}, .disabled = {{"Z"}}};
  const PluginSet merged = MergePluginSet(defaults, GetParam().user);
  EXPECT_EQ(Joined(merged.enabled), GetParam().enabled);
  EXPECT_EQ(Joined(merged.disabled), GetParam().disabled);
}

const MergeRow kMergeRows[] = {
    {"Empty", {}, "A1 B2 C", "Z"},
    {"Disabled", {.disabled = {{"B", 7}}}, "A1 C", "B Z"},
    {"AllDisabled", {.enabled = {{"X", 3}}, .disabled = {{"*"}}}, "X3", "* Z"},
    {"ReplacedInPlace", {.enabled = {{"B"}, {"X"}}}, "A1 B C X", "Z"},
    {"LastOfRepeatedReplaces", {.enabled = {{"B", 4}, {"B", 6}}}, "A1 B6 C B4", "Z"},
    {"DisabledAndEnabledGoesLast", {.enabled = {{"A", 5}}, .disabled = {{"A"}}}, "B2 C A5", "A Z"},
    {"UnknownDisabled", {.disabled = {{"b"}}}, "A1 B2 C", "b Z"},
};

INSTANTIATE_TEST_SUITE_P(Spec, Merge, ::testing::ValuesIn(kMergeRows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Defaults, ArgumentsAreCompleted) {
  Profile profile;
  profile.plugin_config = {
      {"NodeResourcesFit",
       NodeResourcesFitArgs{.scoring_strategy = ScoringStrategy{.resources = {{"cpu", 0}}}}},
      {"Foo", RawArgs{"5"}},
      {"PodTopologySpread", std::monostate()},
      {"Bar", std::monostate()},
  };
  profile = Defaulted({.profiles = {profile}}).profiles[0];
  EXPECT_EQ(EntryNames(profile),
            "NodeResourcesFit Foo PodTopologySpread Bar DefaultPreemption DynamicResources "
            "InterPodAffinity NodeAffinity NodeResourcesBalancedAllocation VolumeBinding");
  const auto& fit = std::get<NodeResourcesFitArgs>(profile.plugin_config[0].args);
  EXPECT_EQ(fit.scoring_strategy->type, "");
  EXPECT_EQ(fit.scoring_strategy->resources, (std::vector<ResourceSpec>{{"cpu", 1}}));
  EXPECT_EQ(profile.plugin_config[1].args, PluginArgs(RawArgs{"5"}));
  EXPECT_EQ(std::get<PodTopologySpreadArgs>(profile.plugin_config[2].args).defaulting_type,
            "System");
  EXPECT_EQ(profile.plugin_config[3].args, PluginArgs());
}

TEST(Defaults, ArgumentsThatDependOnGates) {
  FeatureGates gates;
  for (const Gate gate : {Gate::kStorageCapacityScoring, Gate::kDRASchedulerFilterTimeout,
                          Gate::kDRADeviceBindingConditions, Gate::kDRAResourceClaimDeviceStatus}) {
    gates.Set(gate, true);
  }
  const std::vector<UtilizationShapePoint> shape = {{0, 10}, {100, 0}};
  EXPECT_EQ(std::get<VolumeBindingArgs>(DefaultArgs("VolumeBinding", gates)).shape, shape);
  const auto on = std::get<DynamicResourcesArgs>(DefaultArgs("DynamicResources", gates));
  EXPECT_EQ(on.filter_timeout, std::chrono::seconds(10));
  EXPECT_EQ(on.binding_timeout, std::chrono::minutes(10));
  gates.Set(Gate::kStorageCapacityScoring, false);
  gates.Set(Gate::kDRASchedulerFilterTimeout, false);
  gates.Set(Gate::kDRAResourceClaimDeviceStatus, false);
  EXPECT_EQ(std::get<VolumeBindingArgs>(DefaultArgs("VolumeBinding", gates)).shape, std::nullopt);
  EXPECT_EQ(std::get<DynamicResourcesArgs>(DefaultArgs("DynamicResources", gates)),
            DynamicResourcesArgs());
  EXPECT_EQ(DefaultArgs("ImageLocality", gates), PluginArgs());
}

// Trap T8.
TEST(Defaults, PodGroupPostFilterAddsNoArguments) {
  Profile profile;
  profile.plugins.multi_point.disabled = {{"*"}};
  profile.plugins.pod_group_post_filter.enabled = {{"DefaultPreemption"}};
  profile.plugins.filter.enabled = {{"NodeAffinity"}};
  EXPECT_EQ(EntryNames(Defaulted({.profiles = {profile}}).profiles[0]), "NodeAffinity");
}

TEST(Defaults, ReducedPluginConfigIsSortedAndRegistered) {
  Profile profile;
  profile.plugins.multi_point.enabled = {{"B"}, {"A"}, {"Missing"}, {"NoArgs"}};
  profile.plugins.pod_group_post_filter.enabled = {{"C"}};
  profile.plugin_config = {{"B", RawArgs{"1"}}, {"Disabled", RawArgs{"1"}},
                           {"A", RawArgs{"2"}}, {"Missing", RawArgs{"1"}},
                           {"C", RawArgs{"1"}}, {"NoArgs", std::monostate()}};
  Configuration configuration{.profiles = {profile}};
  ReducePluginConfig(&configuration, [](std::string_view name) { return name != "Missing"; });
  EXPECT_EQ(EntryNames(configuration.profiles[0]), "A B C");
}

}  // namespace
}  // namespace ks::config
