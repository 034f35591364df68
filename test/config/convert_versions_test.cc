// SPDX-License-Identifier: Apache-2.0
// The rows of docs/spec/config.md section 11: older versions of KubeSchedulerConfiguration.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "config/convert_rig.h"

namespace ks::config {
namespace {

struct VersionCase {
  std::string name;
  std::string version;
  std::string body;                                       // YAML behind apiVersion and kind
  std::vector<std::pair<std::string, std::string>> want;  // JSON pointer, compact JSON
  std::vector<std::string> want_notes;                    // parts of the list
  bool legacy = false;
};

class OldVersions : public ::testing::TestWithParam<VersionCase> {};

TEST_P(OldVersions, BecomeV1) {
  const VersionCase& c = GetParam();
  const ReadBack back = ConvertAndLoad("apiVersion: kubescheduler.config.k8s.io/" + c.version +
                                           "\nkind: KubeSchedulerConfiguration\n" + c.body,
                                       c.legacy);
  EXPECT_EQ(At(back.document, "/apiVersion"), "\"kubescheduler.config.k8s.io/v1\"");
  for (const auto& [pointer, want] : c.want) {
    EXPECT_EQ(At(back.document, pointer), want) << pointer << "\n" << back.document.dump(1);
  }
  for (const std::string& note : c.want_notes) {
    EXPECT_NE(back.notes.find(note), std::string::npos) << note << " in\n" << back.notes;
  }
}

constexpr const char* kProfile = "/profiles/0";
constexpr const char* kPlugins = "/profiles/0/plugins";
constexpr const char* kConfig = "/profiles/0/pluginConfig";

INSTANTIATE_TEST_SUITE_P(
    Alpha, OldVersions,
    ::testing::Values(
        VersionCase{
            .name = "fields_move_into_the_profile",
            .version = "v1alpha1",
            .body = "schedulerName: mine\nhardPodAffinitySymmetricWeight: 7\n"
                    "bindTimeoutSeconds: 30\ndisablePreemption: true\n",
            .want = {{"/profiles/0/schedulerName", "\"mine\""},
                     {"/schedulerName", ""},
                     {"/bindTimeoutSeconds", ""},
                     {"/disablePreemption", ""},
                     {"/profiles/0/plugins/postFilter",
                      R"({"disabled":[{"name":"DefaultPreemption"}]})"},
                     {kConfig, R"([{"args":{"hardPodAffinityWeight":7},"name":"InterPodAffinity"},)"
                               R"({"args":{"bindTimeoutSeconds":30},"name":"VolumeBinding"}])"}}},
        VersionCase{.name = "addresses_go",
                    .version = "v1alpha2",
                    .body = "healthzBindAddress: 0.0.0.0\nmetricsBindAddress: ''\n",
                    .want = {{"/healthzBindAddress", ""}, {"/metricsBindAddress", ""}},
                    .want_notes = {"healthzBindAddress: left out"}},
        VersionCase{
            .name = "lock_object",
            .version = "v1alpha1",
            .body = "leaderElection: {lockObjectName: lock, lockObjectNamespace: ns, "
                    "resourceLock: endpoints}\n",
            .want = {{"/leaderElection", R"({"resourceLock":"leases","resourceName":"lock",)"
                                         R"("resourceNamespace":"ns"})"}},
            .want_notes = {"leaderElection.resourceLock: \"endpoints\" became leases"}},
        VersionCase{.name = "default_provider",
                    .version = "v1alpha1",
                    .body = "algorithmSource: {provider: DefaultProvider}\n",
                    .want = {{"/algorithmSource", ""}, {kConfig, ""}}},
        VersionCase{.name = "autoscaler_provider",
                    .version = "v1alpha1",
                    .body = "algorithmSource: {provider: ClusterAutoscalerProvider}\n",
                    .want = {{"/profiles/0/pluginConfig/0/args/scoringStrategy/type",
                              "\"MostAllocated\""}}},
        VersionCase{.name = "policy_source",
                    .version = "v1alpha1",
                    .body = "algorithmSource: {policy: {file: {path: /p.json}}}\n",
                    .want_notes = {"algorithmSource.policy: left out; convert the policy file"}},
        VersionCase{
            .name = "plugins_at_top",
            .version = "v1alpha1",
            .body = "plugins: {unreserve: {enabled: [{name: VolumeBinding}]}, postFilter: "
                    "{enabled: [{name: NodeAffinity}]}}\n"
                    "pluginConfig: [{name: Mine, args: {a: 1}}]\n",
            .want = {{"/plugins", ""},
                     {"/profiles/0/plugins/reserve", R"({"enabled":[{"name":"VolumeBinding"}]})"},
                     {"/profiles/0/plugins/preScore", R"({"enabled":[{"name":"NodeAffinity"}]})"},
                     {kConfig, R"([{"args":{"a":1},"name":"Mine"}])"}},
            .want_notes = {"plugins.unreserve: became reserve",
                           "plugins.postFilter: became preScore"}},
        VersionCase{
            .name = "unknown_fields_go",
            .version = "v1alpha2",
            .body = "colour: blue\nleaderElection: {mood: good}\n",
            .want = {{"/colour", ""}, {"/leaderElection", "{}"}},
            .want_notes = {"colour: unknown, left out", "leaderElection.mood: unknown, left out"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Beta, OldVersions,
    ::testing::Values(
        VersionCase{
            .name = "most_allocated",
            .version = "v1beta1",
            .body = "profiles:\n- plugins:\n    score:\n"
                    "      disabled: [{name: NodeResourcesLeastAllocated}]\n"
                    "      enabled: [{name: NodeResourcesMostAllocated, weight: 3}]\n"
                    "  pluginConfig: [{name: NodeResourcesMostAllocated, args: {resources: [{name: "
                    "cpu, weight: 5}]}}]\n",
            .want = {{"/profiles/0/plugins/score",
                      R"({"enabled":[{"name":"NodeResourcesFit","weight":3}]})"},
                     {kConfig,
                      R"([{"args":{"scoringStrategy":{"resources":[{"name":"cpu","weight":5}],)"
                      R"("type":"MostAllocated"}},"name":"NodeResourcesFit"}])"}}},
        VersionCase{.name = "least_allocated_off",
                    .version = "v1beta1",
                    .body = "profiles: [{plugins: {score: {disabled: [{name: "
                            "NodeResourcesLeastAllocated}]}}}]\n",
                    .want = {{"/profiles/0/plugins/score",
                              R"({"disabled":[{"name":"NodeResourcesFit"}]})"}}},
        VersionCase{.name = "least_allocated_arguments",
                    .version = "v1beta1",
                    .body = "profiles: [{pluginConfig: [{name: NodeResourcesLeastAllocated, args: "
                            "{resources: [{name: cpu, weight: 2}]}}]}]\n",
                    .want = {{kConfig, R"([{"args":{"scoringStrategy":{"resources":[{"name":"cpu",)"
                                       R"("weight":2}],"type":"LeastAllocated"}},)"
                                       R"("name":"NodeResourcesFit"}])"}}},
        VersionCase{
            .name = "ratio",
            .version = "v1beta1",
            .body =
                "profiles:\n- plugins: {score: {enabled: [{name: RequestedToCapacityRatio}]}}\n"
                "  pluginConfig: [{name: RequestedToCapacityRatio, args: {shape: [{utilization: 0, "
                "score: 1}, {utilization: 100, score: 10}]}}]\n",
            .want = {{"/profiles/0/plugins/score/enabled",
                      R"([{"name":"NodeResourcesFit","weight":1}])"},
                     {"/profiles/0/pluginConfig/0/args/scoringStrategy",
                      R"({"requestedToCapacityRatio":{"shape":[{"score":1,"utilization":0},)"
                      R"({"score":10,"utilization":100}]},"type":"RequestedToCapacityRatio"})"}}},
        VersionCase{
            .name = "two_strategies",
            .version = "v1beta1",
            .body = "profiles: [{plugins: {score: {enabled: [{name: "
                    "NodeResourcesMostAllocated}, {name: RequestedToCapacityRatio}]}}}]\n",
            .want = {{"/profiles/0/pluginConfig/0/args/scoringStrategy/type", "\"MostAllocated\""}},
            .want_notes = {"enabled[1]: RequestedToCapacityRatio: left out"}},
        VersionCase{.name = "endpointsleases",
                    .version = "v1beta2",
                    .body = "leaderElection: {resourceLock: endpointsleases}\n",
                    .want = {{"/leaderElection/resourceLock", "\"leases\""}},
                    .want_notes = {"\"endpointsleases\" became leases"}},
        VersionCase{
            .name = "node_label",
            .version = "v1beta2",
            .body =
                "profiles:\n- plugins: {filter: {enabled: [{name: NodeLabel}]}, score: {enabled: "
                "[{name: NodeLabel, weight: 2}]}}\n"
                "  pluginConfig: [{name: NodeLabel, args: {presentLabels: [a], absentLabels: [b], "
                "presentLabelsPreference: [c]}}]\n",
            .want =
                {{"/profiles/0/plugins/filter/enabled", R"([{"name":"NodeAffinity"}])"},
                 {"/profiles/0/plugins/score/enabled", R"([{"name":"NodeAffinity","weight":2}])"},
                 {kConfig,
                  R"([{"args":{"addedAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":)"
                  R"([{"preference":{"matchExpressions":[{"key":"c","operator":"Exists"}]},)"
                  R"("weight":1}],"requiredDuringSchedulingIgnoredDuringExecution":)"
                  R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"},)"
                  R"({"key":"b","operator":"DoesNotExist"}]}]}}},"name":"NodeAffinity"}])"}},
            .want_notes = {"NodeLabel: became addedAffinity"}},
        VersionCase{.name = "node_label_kept",
                    .version = "v1beta2",
                    .body = "profiles:\n- plugins: {filter: {enabled: [{name: NodeLabel}]}}\n"
                            "  pluginConfig: [{name: NodeLabel, args: {presentLabels: [a]}}]\n",
                    .want = {{"/profiles/0/plugins/filter/enabled", R"([{"name":"NodeLabel"}])"},
                             {kConfig, R"([{"args":{"presentLabels":["a"]},"name":"NodeLabel"}])"}},
                    .legacy = true},
        VersionCase{
            .name = "service_affinity",
            .version = "v1beta2",
            .body = "profiles:\n- plugins: {filter: {enabled: [{name: ServiceAffinity}]}, score: "
                    "{enabled: [{name: ServiceAffinity, weight: 2}]}}\n"
                    "  pluginConfig: [{name: ServiceAffinity, args: "
                    "{antiAffinityLabelsPreference: [rack]}}]\n",
            .want = {{"/profiles/0/plugins/filter", "{}"},
                     {"/profiles/0/plugins/score/enabled",
                      R"([{"name":"PodTopologySpread","weight":2}])"},
                     {"/profiles/0/pluginConfig/0/args/defaultConstraints/0/topologyKey",
                      "\"rack\""}},
            .want_notes = {"ServiceAffinity: its filter is left out"}},
        VersionCase{.name = "prefer_avoid_pods",
                    .version = "v1beta2",
                    .body = "profiles: [{plugins: {score: {enabled: [{name: NodePreferAvoidPods, "
                            "weight: 10000}]}}}]\n",
                    .want = {{"/profiles/0/plugins/score", "{}"}},
                    .want_notes = {"NodePreferAvoidPods: left out"}},
        VersionCase{.name = "selector_spread",
                    .version = "v1beta3",
                    .body = "profiles: [{plugins: {score: {disabled: [{name: SelectorSpread}, "
                            "{name: '*'}], enabled: [{name: SelectorSpread, weight: 4}]}}}]\n",
                    .want = {{"/profiles/0/plugins/score",
                              R"({"disabled":[{"name":"*"}],)"
                              R"("enabled":[{"name":"PodTopologySpread","weight":4}]})"}},
                    .want_notes = {"SelectorSpread: became PodTopologySpread"}},
        VersionCase{
            .name = "volume_limits",
            .version = "v1beta3",
            .body = "profiles: [{plugins: {filter: {disabled: [{name: '*'}], enabled: "
                    "[{name: EBSLimits}, {name: GCEPDLimits}]}, multiPoint: {disabled: "
                    "[{name: AzureDiskLimits}, {name: CinderLimits}]}}}]\n",
            .want = {{"/profiles/0/plugins/filter/enabled", R"([{"name":"NodeVolumeLimits"}])"},
                     {"/profiles/0/plugins/multiPoint", "{}"}},
            .want_notes = {"enabled[0]: EBSLimits: left out", "GCEPDLimits: left out"}},
        VersionCase{.name = "old_default_weights",
                    .version = "v1beta2",
                    .body = "profiles: [{}]\n",
                    .want = {{"/profiles/0/plugins/multiPoint/enabled",
                              R"([{"name":"TaintToleration","weight":1},{"name":"NodeAffinity",)"
                              R"("weight":1},{"name":"InterPodAffinity","weight":1}])"}},
                    .want_notes = {"states the old default weights"}},
        VersionCase{.name = "todays_default_weights",
                    .version = "v1beta3",
                    .body = "profiles: [{}]\n",
                    .want = {{kPlugins, ""}, {kProfile, "{}"}}},
        VersionCase{.name = "constraints_without_type",
                    .version = "v1beta1",
                    .body = "profiles: [{pluginConfig: [{name: PodTopologySpread, args: "
                            "{apiVersion: kubescheduler.config.k8s.io/v1beta1, kind: "
                            "PodTopologySpreadArgs, defaultConstraints: [{maxSkew: 1, topologyKey: "
                            "z, whenUnsatisfiable: ScheduleAnyway}]}}]}]\n",
                    .want = {{"/profiles/0/pluginConfig/0/args/defaultingType", "\"List\""},
                             {"/profiles/0/pluginConfig/0/args/apiVersion", ""}}}),
    [](const auto& row) { return row.param.name; });

TEST(ConvertVersions, V1StaysAsItIs) {
  const ReadBack back = ConvertAndLoad(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "parallelism: 5\n");
  EXPECT_EQ(At(back.document, "/parallelism"), "5");
  EXPECT_EQ(back.notes, "");
}

TEST(ConvertVersions, WhatConflictsIsSaid) {
  const auto converted = ConvertConfiguration(
      "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"
      "parallelism: -1\n",
      {});
  ASSERT_TRUE(converted.ok());
  EXPECT_EQ(converted->refused,
            "parallelism: Invalid value: -1: should be an integer value greater than zero");
}

TEST(ConvertVersions, OtherKindsAreRefused) {
  for (const auto& [text, want] :
       {std::pair{"kind: Pod\napiVersion: v1\n", "kind \"Pod\" of version \"v1\" is no scheduler"},
        std::pair{"a: [", "yaml: "}, std::pair{"", "kind \"\" of version \"\""},
        std::pair{"kind: KubeSchedulerConfiguration\napiVersion: "
                  "kubescheduler.config.k8s.io/v9\n",
                  "is no scheduler configuration"},
        std::pair{"kind: KubeSchedulerConfiguration\napiVersion: "
                  "kubescheduler.config.k8s.io/v1beta1\nprofiles: [{plugins: {score: {enabled: "
                  "5}}}]\n",
                  "profiles[0].plugins.score.enabled: must be a list"},
        std::pair{"kind: KubeSchedulerConfiguration\napiVersion: "
                  "kubescheduler.config.k8s.io/v1beta1\nprofiles: [{plugins: {score: {enabled: "
                  "[5]}}}]\n",
                  ""}}) {
    const auto converted = ConvertConfiguration(text, {});
    if (std::string(want).empty()) continue;  // must only not crash
    ASSERT_FALSE(converted.ok()) << text;
    EXPECT_NE(converted.error().message.find(want), std::string::npos) << converted.error().message;
  }
}

}  // namespace
}  // namespace ks::config
