// SPDX-License-Identifier: Apache-2.0
// The rows of docs/spec/config.md section 11: Policy.
#include <gtest/gtest.h>

#include <string>

#include "config/convert_rig.h"

namespace ks::config {
namespace {

constexpr const char* kFilter = "/profiles/0/plugins/filter/enabled";
constexpr const char* kScore = "/profiles/0/plugins/score/enabled";

std::string Policy(const std::string& members) {
  return std::string(R"({"kind":"Policy","apiVersion":"v1")") + (members.empty() ? "" : ",") +
         members + "}";
}

struct PredicateCase {
  std::string name;
  std::string predicate;     // JSON
  std::string want_plugins;  // beside those that are always there
  std::string want_plugin;   // whose arguments follow
  std::string want_args;
  std::string want_note;
  std::string want_legacy_plugins;  // with --legacy, "": the same
};

class PolicyPredicates : public ::testing::TestWithParam<PredicateCase> {};

std::string FilterWith(const std::string& plugins) {
  return "NodeUnschedulable TaintToleration " + plugins + (plugins.empty() ? "" : " ") +
         "DynamicResources NodeDeclaredFeatures";
}

TEST_P(PolicyPredicates, BecomeFilters) {
  const PredicateCase& c = GetParam();
  const std::string policy = Policy(R"("predicates":[)" + c.predicate + "]");
  const ReadBack back = ConvertAndLoad(policy);
  EXPECT_EQ(PluginsAt(back.document, kFilter), FilterWith(c.want_plugins));
  EXPECT_EQ(PluginsAt(back.document, "/profiles/0/plugins/preFilter/enabled"),
            FilterWith(c.want_plugins));
  EXPECT_EQ(PluginsAt(back.document, "/profiles/0/plugins/filter/disabled"), "*");
  // No priorities: the default scores, but no volume scoring without volume filtering.
  const bool volumes = c.want_plugins == "VolumeBinding";
  EXPECT_EQ(PluginsAt(back.document, "/profiles/0/plugins/score/disabled"),
            volumes ? "" : "VolumeBinding");
  EXPECT_EQ(PluginsAt(back.document, "/profiles/0/plugins/reserve/disabled"),
            volumes ? "" : "VolumeBinding");
  EXPECT_EQ(ArgsOf(back.document, c.want_plugin), c.want_args);
  EXPECT_NE(back.notes.find(c.want_note), std::string::npos) << back.notes;
  const ReadBack legacy = ConvertAndLoad(policy, true);
  EXPECT_EQ(PluginsAt(legacy.document, kFilter),
            FilterWith(c.want_legacy_plugins.empty() ? c.want_plugins : c.want_legacy_plugins));
}

PredicateCase Plain(const std::string& name, const std::string& want,
                    const std::string& note = "") {
  return {.name = name,
          .predicate = R"({"name":")" + name + R"("})",
          .want_plugins = want,
          .want_note = note};
}

INSTANTIATE_TEST_SUITE_P(
    Rows, PolicyPredicates,
    ::testing::Values(
        Plain("PodFitsHostPorts", "NodePorts"), Plain("PodFitsPorts", "NodePorts"),
        Plain("PodFitsResources", "NodeResourcesFit"), Plain("HostName", "NodeName"),
        Plain("MatchNodeSelector", "NodeAffinity"),
        Plain("GeneralPredicates", "NodeResourcesFit NodeName NodePorts NodeAffinity"),
        Plain("NoDiskConflict", "VolumeRestrictions"), Plain("NoVolumeZoneConflict", "VolumeZone"),
        Plain("MaxCSIVolumeCountPred", "NodeVolumeLimits"),
        Plain("MaxEBSVolumeCount", "NodeVolumeLimits", "through their CSI drivers"),
        Plain("MaxGCEPDVolumeCount", "NodeVolumeLimits", "through their CSI drivers"),
        Plain("MaxAzureDiskVolumeCount", "NodeVolumeLimits", "through their CSI drivers"),
        Plain("MaxCinderVolumeCount", "NodeVolumeLimits", "through their CSI drivers"),
        Plain("CheckVolumeBinding", "VolumeBinding"), Plain("PodToleratesNodeTaints", ""),
        Plain("PodToleratesNodeNoExecuteTaints", ""), Plain("CheckNodeUnschedulable", ""),
        Plain("CheckNodeCondition", ""), Plain("CheckNodeMemoryPressure", ""),
        Plain("CheckNodeDiskPressure", ""), Plain("CheckNodePIDPressure", ""),
        Plain("MatchInterPodAffinity", "InterPodAffinity"),
        Plain("EvenPodsSpread", "PodTopologySpread"),
        Plain("NoSuchPredicate", "", "predicates[0]: predicate \"NoSuchPredicate\" is unknown"),
        PredicateCase{
            .name = "labels_present",
            .predicate =
                R"({"name":"A","argument":{"labelsPresence":{"labels":["x","y"],"presence":true}}})",
            .want_plugins = "NodeAffinity",
            .want_plugin = "NodeAffinity",
            .want_args =
                R"({"addedAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"x","operator":"Exists"},{"key":"y","operator":"Exists"}]}]}}})",
            .want_note = "predicates[0]: A: became addedAffinity",
            .want_legacy_plugins = "NodeLabel"},
        PredicateCase{
            .name = "labels_absent",
            .predicate =
                R"({"name":"CheckNodeLabelPresence","argument":{"labelsPresence":{"labels":["x"],"presence":false}}})",
            .want_plugins = "NodeAffinity",
            .want_plugin = "NodeAffinity",
            .want_args =
                R"({"addedAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"x","operator":"DoesNotExist"}]}]}}})",
            .want_note = "became addedAffinity",
            .want_legacy_plugins = "NodeLabel"},
        PredicateCase{
            .name = "service_affinity",
            .predicate =
                R"({"name":"CheckServiceAffinity","argument":{"serviceAffinity":{"labels":["zone"]}}})",
            .want_plugins = "",
            .want_note = "CheckServiceAffinity: left out, there is no equal",
            .want_legacy_plugins = "ServiceAffinity"}),
    [](const auto& row) { return row.param.name; });

struct PriorityCase {
  std::string name;
  std::string priority;  // JSON
  std::string want_score;
  std::string want_pre_score;
  std::string want_plugin;
  std::string want_args;
  std::string want_note;
  std::string want_legacy_score;  // "": the same
};

class PolicyPriorities : public ::testing::TestWithParam<PriorityCase> {};

TEST_P(PolicyPriorities, BecomeScores) {
  const PriorityCase& c = GetParam();
  const std::string policy = Policy(R"("priorities":[)" + c.priority + "]");
  const ReadBack back = ConvertAndLoad(policy);
  EXPECT_EQ(PluginsAt(back.document, kScore), c.want_score);
  EXPECT_EQ(PluginsAt(back.document, "/profiles/0/plugins/preScore/enabled"), c.want_pre_score);
  EXPECT_EQ(PluginsAt(back.document, "/profiles/0/plugins/score/disabled"), "*");
  EXPECT_EQ(At(back.document, "/profiles/0/plugins/filter"), "") << "the default filters";
  EXPECT_EQ(ArgsOf(back.document, c.want_plugin), c.want_args);
  EXPECT_NE(back.notes.find(c.want_note), std::string::npos) << back.notes;
  const ReadBack legacy = ConvertAndLoad(policy, true);
  EXPECT_EQ(PluginsAt(legacy.document, kScore),
            c.want_legacy_score.empty() ? c.want_score : c.want_legacy_score);
}

PriorityCase Weight3(const std::string& name, const std::string& plugin, bool pre_score = true) {
  return {.name = name,
          .priority = R"({"name":")" + name + R"(","weight":3})",
          .want_score = plugin.empty() ? "" : plugin + ":3",
          .want_pre_score = pre_score ? plugin : ""};
}

PriorityCase With(PriorityCase c, const std::string& plugin, const std::string& args) {
  c.want_plugin = plugin;
  c.want_args = args;
  return c;
}

PriorityCase Noted(PriorityCase c, const std::string& note, const std::string& legacy) {
  c.want_note = note;
  c.want_legacy_score = legacy;
  return c;
}

constexpr const char* kLeast =
    R"({"scoringStrategy":{"resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}],"type":"LeastAllocated"}})";
constexpr const char* kMost =
    R"({"scoringStrategy":{"resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}],"type":"MostAllocated"}})";

INSTANTIATE_TEST_SUITE_P(
    Rows, PolicyPriorities,
    ::testing::Values(
        With(Weight3("LeastRequestedPriority", "NodeResourcesFit"), "NodeResourcesFit", kLeast),
        With(Weight3("MostRequestedPriority", "NodeResourcesFit"), "NodeResourcesFit", kMost),
        Weight3("BalancedResourceAllocation", "NodeResourcesBalancedAllocation"),
        Noted(Weight3("SelectorSpreadPriority", "PodTopologySpread"), "built-in constraints",
              "SelectorSpread:3"),
        Noted(Weight3("ServiceSpreadingPriority", "PodTopologySpread"), "built-in constraints",
              "SelectorSpread:3"),
        Weight3("EvenPodsSpreadPriority", "PodTopologySpread"),
        Weight3("InterPodAffinityPriority", "InterPodAffinity"),
        Weight3("NodeAffinityPriority", "NodeAffinity"),
        Weight3("TaintTolerationPriority", "TaintToleration"),
        Weight3("ImageLocalityPriority", "ImageLocality", false),
        Noted(Weight3("NodePreferAvoidPodsPriority", ""), "it was removed",
              "NodePreferAvoidPods:3"),
        Noted(Weight3("ResourceLimitsPriority", ""), "it was removed", ""),
        Weight3("EqualPriority", ""),
        Noted(Weight3("NoSuchPriority", ""), "priority \"NoSuchPriority\" is unknown", ""),
        PriorityCase{.name = "weight_zero",
                     .priority = R"({"name":"NodeAffinityPriority","weight":0})",
                     .want_note = "its weight is not positive"},
        PriorityCase{
            .name = "ratio",
            .priority =
                R"({"name":"RequestedToCapacityRatioPriority","weight":2,"argument":{"requestedToCapacityRatioArguments":{"shape":[{"utilization":0,"score":0},{"utilization":100,"score":10}],"resources":[{"name":"example.com/gpu","weight":5}]}}})",
            .want_score = "NodeResourcesFit:2",
            .want_pre_score = "NodeResourcesFit",
            .want_plugin = "NodeResourcesFit",
            .want_args =
                R"({"scoringStrategy":{"requestedToCapacityRatio":{"shape":[{"score":0,"utilization":0},{"score":10,"utilization":100}]},"resources":[{"name":"example.com/gpu","weight":5}],"type":"RequestedToCapacityRatio"}})"},
        PriorityCase{
            .name = "label_preference",
            .priority =
                R"({"name":"Ssd","weight":4,"argument":{"labelPreference":{"label":"ssd","presence":true}}})",
            .want_score = "NodeAffinity:4",
            .want_pre_score = "NodeAffinity",
            .want_plugin = "NodeAffinity",
            .want_args =
                R"({"addedAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"preference":{"matchExpressions":[{"key":"ssd","operator":"Exists"}]},"weight":4}]}})",
            .want_note = "became a preferred term",
            .want_legacy_score = "NodeLabel:4"},
        PriorityCase{
            .name = "service_anti_affinity",
            .priority =
                R"({"name":"Racks","weight":2,"argument":{"serviceAntiAffinity":{"label":"rack"}}})",
            .want_score = "PodTopologySpread:2",
            .want_pre_score = "PodTopologySpread",
            .want_plugin = "PodTopologySpread",
            .want_args =
                R"({"defaultConstraints":[{"maxSkew":1,"topologyKey":"rack","whenUnsatisfiable":"ScheduleAnyway"}],"defaultingType":"List"})",
            .want_note = "default constraint of PodTopologySpread",
            .want_legacy_score = "ServiceAffinity:2"}),
    [](const auto& row) { return row.param.name; });

TEST(ConvertPolicy, MissingListsAreTheDefaultsAndEmptyOnesNothing) {
  const ReadBack missing = ConvertAndLoad(Policy(""));
  EXPECT_EQ(missing.document.dump(),
            R"({"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",)"
            R"("profiles":[{"schedulerName":"default-scheduler"}]})");
  EXPECT_EQ(missing.notes, "");
  const ReadBack empty = ConvertAndLoad(Policy(R"("predicates":[],"priorities":[])"));
  EXPECT_EQ(PluginsAt(empty.document, kFilter), FilterWith(""));
  EXPECT_EQ(PluginsAt(empty.document, kScore), "");
  EXPECT_EQ(PluginsAt(empty.document, "/profiles/0/plugins/score/disabled"), "*");
}

TEST(ConvertPolicy, OneScoringStrategyStays) {
  const ReadBack back =
      ConvertAndLoad(Policy(R"("priorities":[{"name":"MostRequestedPriority","weight":2},)"
                            R"({"name":"LeastRequestedPriority","weight":1}])"));
  EXPECT_EQ(PluginsAt(back.document, kScore), "NodeResourcesFit:2");
  EXPECT_EQ(ArgsOf(back.document, "NodeResourcesFit"), kMost);
  EXPECT_NE(back.notes.find("priorities[1]: left out: a profile has one scoring strategy now"),
            std::string::npos)
      << back.notes;
}

TEST(ConvertPolicy, SpreadingBySelectorKeepsItsConstraintsBesideAList) {
  const ReadBack back = ConvertAndLoad(
      Policy(R"("priorities":[{"name":"SelectorSpreadPriority","weight":1},)"
             R"({"name":"R","weight":2,"argument":{"serviceAntiAffinity":{"label":"rack"}}}])"));
  EXPECT_EQ(PluginsAt(back.document, kScore), "PodTopologySpread:3");
  const auto args = nlohmann::json::parse(ArgsOf(back.document, "PodTopologySpread"));
  ASSERT_EQ(args["defaultConstraints"].size(), 3u);
  EXPECT_EQ(args["defaultConstraints"][1]["topologyKey"], "kubernetes.io/hostname");
  EXPECT_EQ(args["defaultConstraints"][2]["maxSkew"], 5);
}

TEST(ConvertPolicy, OtherFields) {
  const ReadBack back = ConvertAndLoad(Policy(
      R"("hardPodAffinitySymmetricWeight":10,"alwaysCheckAllPredicates":true,"colour":"blue",)"
      R"("extenders":[{"urlPrefix":"http://x","filterVerb":"f","prioritizeVerb":"p","weight":5,)"
      R"("enableHttps":true,"httpTimeout":1500000000,"nodeCacheCapable":true,"ignorable":true,)"
      R"("tlsConfig":{"insecure":true},"managedResources":[{"name":"example.com/a",)"
      R"("ignoredByScheduler":true}],"odd":1}])"));
  EXPECT_EQ(ArgsOf(back.document, "InterPodAffinity"), R"({"hardPodAffinityWeight":10})");
  EXPECT_EQ(At(back.document, "/extenders/0"),
            R"({"enableHTTPS":true,"filterVerb":"f","httpTimeout":"1.5s","ignorable":true,)"
            R"("managedResources":[{"ignoredByScheduler":true,"name":"example.com/a"}],)"
            R"("nodeCacheCapable":true,"prioritizeVerb":"p","tlsConfig":{"insecure":true},)"
            R"("urlPrefix":"http://x","weight":5})");
  EXPECT_EQ(back.notes,
            "extenders[0].odd: unknown, left out\n"
            "alwaysCheckAllPredicates: left out: filtering a node stops at the first plugin that "
            "refuses it\n"
            "colour: unknown, left out\n");
}

TEST(ConvertPolicy, YamlAndConfigMapsAreRead) {
  const std::string want = FilterWith("NodeName");
  EXPECT_EQ(
      PluginsAt(
          ConvertAndLoad("kind: Policy\napiVersion: v1\npredicates:\n- name: HostName\n").document,
          kFilter),
      want);
  EXPECT_EQ(PluginsAt(ConvertAndLoad("kind: ConfigMap\napiVersion: v1\ndata:\n  policy.cfg: |\n"
                                     "    {\"kind\": \"Policy\", \"predicates\": [{\"name\": "
                                     "\"HostName\"}]}\n")
                          .document,
                      kFilter),
            want);
}

TEST(ConvertPolicy, WrongTypesAreNamed) {
  for (const auto& [members, want] :
       {std::pair{R"("predicates":5)", "predicates: must be a list"},
        std::pair{R"("predicates":[{"name":5}])", "predicates[0].name: must be a string"},
        std::pair{R"("priorities":[{"name":"x","weight":"1"}])",
                  "priorities[0].weight: must be an integer"},
        std::pair{R"("alwaysCheckAllPredicates":1)",
                  "alwaysCheckAllPredicates: must be true or false"}}) {
    const auto converted = ConvertConfiguration(Policy(members), {});
    ASSERT_FALSE(converted.ok()) << members;
    EXPECT_EQ(converted.error().message, want);
  }
}

}  // namespace
}  // namespace ks::config
