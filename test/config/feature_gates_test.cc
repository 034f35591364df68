// SPDX-License-Identifier: Apache-2.0
#include "config/gates/feature_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "config/gates/feature_gate_table.h"

namespace ks::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Texts of docs/spec/config.md 9.1 and 9.3, each seen with kube-scheduler v1.37.1.
struct RefusedCase {
  std::string name;
  GateFlags flags;
  std::string want;
};

class RefusedGates : public ::testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedGates, HaveUpstreamsText) {
  const auto made = FeatureGates::Make(GetParam().flags, nullptr);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, GetParam().want);
}

GateFlags Gates(std::vector<std::string> gates) { return {.feature_gates = std::move(gates)}; }
GateFlags Emulating(std::string version, std::vector<std::string> gates = {}) {
  return {.feature_gates = std::move(gates), .emulated_version = {std::move(version)}};
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, RefusedGates,
    ::testing::Values(
        RefusedCase{"unknown", Gates({"Foo=true"}), "unrecognized feature gate: Foo"},
        RefusedCase{"case", Gates({"genericWorkload=true"}),
                    "unrecognized feature gate: genericWorkload"},
        RefusedCase{"removed", Gates({"SchedulerQueueingHints=true"}),
                    "unrecognized feature gate: SchedulerQueueingHints"},
        RefusedCase{"no_name", Gates({"=true"}), "unrecognized feature gate: "},
        RefusedCase{"no_value", Gates({"GenericWorkload"}),
                    "missing bool value for GenericWorkload"},
        RefusedCase{"bad_value", Gates({"GenericWorkload=maybe"}),
                    "invalid value of GenericWorkload=maybe, err: strconv.ParseBool: parsing "
                    "\"maybe\": invalid syntax"},
        RefusedCase{"quote_in_value", Gates({"GenericWorkload=false\""}),
                    "invalid value of GenericWorkload=false\", err: strconv.ParseBool: parsing "
                    "\"false\\\"\": invalid syntax"},
        RefusedCase{"two_equal_signs", Gates({"GenericWorkload=true=true"}),
                    "invalid value of GenericWorkload=true=true, err: strconv.ParseBool: parsing "
                    "\"true=true\": invalid syntax"},
        RefusedCase{"value_before_name", Gates({"Foo=true,GenericWorkload=maybe"}),
                    "invalid value of GenericWorkload=maybe, err: strconv.ParseBool: parsing "
                    "\"maybe\": invalid syntax"},
        RefusedCase{"component", Gates({"wardle:Foo=true"}), "component not registered: wardle"},
        RefusedCase{"component_before_value", Gates({"wardle:Foo=true,GenericWorkload=maybe"}),
                    "component not registered: wardle"},
        RefusedCase{"mixed", Gates({"A=true", "kube:B=true"}),
                    "set kube feature gates with default empty prefix or kube: prefix "
                    "consistently, do not mix use"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    States, RefusedGates,
    ::testing::Values(
        RefusedCase{"locked", Gates({"DynamicResourceAllocation=false"}),
                    "cannot set feature gate DynamicResourceAllocation to false, feature is locked "
                    "to true"},
        RefusedCase{"locked_and_unknown", Gates({"Foo=true,DynamicResourceAllocation=false"}),
                    "[cannot set feature gate DynamicResourceAllocation to false, feature is "
                    "locked to true, unrecognized feature gate: Foo]"},
        RefusedCase{"lock_before_needs",
                    Gates({"DynamicResourceAllocation=false,TopologyAwareWorkloadScheduling=true"}),
                    "cannot set feature gate DynamicResourceAllocation to false, feature is locked "
                    "to true"},
        RefusedCase{"needs", Gates({"TopologyAwareWorkloadScheduling=true"}),
                    "TopologyAwareWorkloadScheduling is enabled, but depends on features that are "
                    "disabled: [GenericWorkload]"},
        RefusedCase{"needs_two", Gates({"CompositePodGroup=true"}),
                    "CompositePodGroup is enabled, but depends on features that are disabled: "
                    "[GenericWorkload TopologyAwareWorkloadScheduling]"},
        RefusedCase{"last_one_wins",
                    Gates({"kube:GenericWorkload=true,kube:GenericWorkload=false,"
                           "kube:TopologyAwareWorkloadScheduling=true"}),
                    "TopologyAwareWorkloadScheduling is enabled, but depends on features that are "
                    "disabled: [GenericWorkload]"},
        RefusedCase{"needed_by_a_default", Gates({"DRADeviceTaints=false"}),
                    "DRADeviceTaintRules is enabled, but depends on features that are disabled: "
                    "[DRADeviceTaints]"},
        RefusedCase{"all_alpha", Gates({"AllAlpha=true"}),
                    "[CompositePodGroup is enabled, but depends on features that are disabled: "
                    "[GenericWorkload], PodGroupPreemptionPolicy is enabled, but depends on "
                    "features that are disabled: [GenericWorkload], "
                    "TopologyAwareWorkloadScheduling is enabled, but depends on features that are "
                    "disabled: [GenericWorkload], WorkloadWithJob is enabled, but depends on "
                    "features that are disabled: [GenericWorkload]]"}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Emulation, RefusedGates,
    ::testing::Values(
        RefusedCase{"newer_gate", Emulating("1.36", {"InterPodAffinityHostnameFastPath=true"}),
                    "cannot set feature gate InterPodAffinityHostnameFastPath to true, feature is "
                    "PreAlpha at emulated version 1.36, min compatibility version 1.35"},
        RefusedCase{"newer_gate_oldest", Emulating("1.34", {"GenericWorkload=true"}),
                    "cannot set feature gate GenericWorkload to true, feature is PreAlpha at "
                    "emulated version 1.34, min compatibility version 1.34"},
        RefusedCase{"newer_gate_off", Emulating("1.36", {"InterPodAffinityHostnameFastPath=false"}),
                    "cannot set feature gate InterPodAffinityHostnameFastPath to false, feature is "
                    "PreAlpha at emulated version 1.36, min compatibility version 1.35"},
        RefusedCase{"needs_a_newer_gate", Emulating("1.35", {"AllAlpha=true,AllBeta=true"}),
                    "EventedPLEG is enabled, but depends on features that are disabled: "
                    "[PLEGOnDemandRelist]"},
        RefusedCase{"too_new", Emulating("1.38"),
                    "emulation version 1.38 is not between [1.34, 1.37.0]"},
        RefusedCase{"too_old", Emulating("1.33"),
                    "[emulation version 1.33 is not between [1.34, 1.37.0], "
                    "minCompatibilityVersion version 1.34 is not between [1.34, 1.33]]"},
        RefusedCase{"gates_before_range", Emulating("1.38", {"Foo=true"}),
                    "unrecognized feature gate: Foo"},
        RefusedCase{"patch", Emulating("kube=1.36.1"),
                    "patch version not allowed, got: kube=1.36.1"},
        RefusedCase{"word", Emulating("foo"), "could not parse \"foo\" as version"},
        RefusedCase{"empty", Emulating("kube="), "could not parse \"\" as version"},
        RefusedCase{"major_only", Emulating("1"), "illegal version string \"1\""},
        RefusedCase{"zero", Emulating("01.36"),
                    "illegal zero-prefixed version component \"01\" in \"01.36\""},
        RefusedCase{"twice", GateFlags{.emulated_version = {"kube=1.36", "1.35"}},
                    "duplicate version flag, kube=1.36 and kube=1.35"},
        RefusedCase{"component", Emulating("wardle=1.2"), "component not registered: wardle"},
        RefusedCase{"version_before_gates", Emulating("foo", {"GenericWorkload=maybe"}),
                    "could not parse \"foo\" as version"},
        RefusedCase{"minimum_above",
                    GateFlags{.emulated_version = {"1.36"}, .min_compatibility_version = {"1.37"}},
                    "minCompatibilityVersion version 1.37 is not between [1.34, 1.36]"},
        RefusedCase{"minimum_below", GateFlags{.min_compatibility_version = {"1.33"}},
                    "minCompatibilityVersion version 1.33 is not between [1.34, 1.37]"}),
    [](const auto& row) { return row.param.name; });

TEST(FeatureGates, DefaultsAreThoseOfTheNewestVersion) {
  const FeatureGates gates;
  EXPECT_TRUE(gates.Enabled(Gate::kDynamicResourceAllocation));
  EXPECT_TRUE(gates.Enabled(Gate::kStorageCapacityScoring));
  EXPECT_TRUE(gates.Enabled(Gate::kVolumeLimitScaling));
  EXPECT_FALSE(gates.Enabled(Gate::kGenericWorkload));
  EXPECT_FALSE(gates.Enabled(Gate::kCompositePodGroup));
  EXPECT_FALSE(gates.Enabled(Gate::kDRAFractionalCapacityRange));
  EXPECT_THAT(gates.NotImplemented(), IsEmpty());
}

TEST(FeatureGates, BlanksAndEmptyItemsDoNotMatter) {
  for (const char* text : {" GenericWorkload = true ", "kube:GenericWorkload=true", " , ,",
                           " kube : GenericWorkload = 1", ":GenericWorkload=t", ""}) {
    const auto made = FeatureGates::Make(Gates({text}), nullptr);
    ASSERT_TRUE(made.ok()) << text << ": " << made.error().message;
    EXPECT_EQ(made.value().Enabled(Gate::kGenericWorkload),
              std::string_view(text).find("Work") != std::string_view::npos);
  }
}

TEST(FeatureGates, TheLastValueOfAGateWins) {
  const auto made =
      FeatureGates::Make(Gates({"GenericWorkload=true", "GenericWorkload=false"}), {});
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE(made.value().Enabled(Gate::kGenericWorkload));
}

TEST(FeatureGates, SettingAGaOrDeprecatedGateIsNoted) {
  std::vector<std::string> notes;
  ASSERT_TRUE(FeatureGates::Make(
                  Gates({"DynamicResourceAllocation=true,AllowDNSOnlyNodeCSR=false"}), &notes)
                  .ok());
  EXPECT_THAT(notes,
              ElementsAre("I\"Warning: setting GA feature gate. It will be removed in a future "
                          "release.\" featureGate=\"DynamicResourceAllocation\" value=true",
                          "I\"Warning: setting deprecated feature gate. It will be removed in a "
                          "future release.\" featureGate=\"AllowDNSOnlyNodeCSR\" value=false"));
}

TEST(FeatureGates, AlphaGatesThatAreOnAreNoted) {
  std::vector<std::string> notes;
  ASSERT_TRUE(FeatureGates::Make(Emulating("1.36", {"GenericWorkload=true"}), &notes).ok());
  EXPECT_THAT(notes, ElementsAre("Wcomponent has alpha features enabled in emulated version, this "
                                 "is unsupported: features=[GenericWorkload]"));
}

TEST(FeatureGates, LateFindingsDoNotFail) {
  std::vector<std::string> notes;
  LateGateFindings late;
  ASSERT_TRUE(
      FeatureGates::Make(Emulating("1.38", {"LoggingAlphaOptions=true"}), &notes, &late).ok());
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_THAT(late.errors, ElementsAre("emulation version 1.38 is not between [1.34, 1.37.0]"));
  EXPECT_THAT(late.warnings, ElementsAre(HasSubstr("features=[LoggingAlphaOptions]")));
}

TEST(FeatureGates, GroupsSetTheirStageButNotWhatIsNamed) {
  const auto made = FeatureGates::Make(
      Gates({"AllAlpha=true,AllBeta=true,InterPodAffinityHostnameFastPath=false"}), nullptr);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE(made.value().Enabled(Gate::kGenericWorkload));
  EXPECT_TRUE(made.value().Enabled(Gate::kCompositePodGroup));
  EXPECT_FALSE(made.value().Enabled(Gate::kInterPodAffinityHostnameFastPath));
  const auto off = FeatureGates::Make(Gates({"AllBeta=false"}), nullptr);
  ASSERT_TRUE(off.ok()) << off.error().message;
  EXPECT_FALSE(off.value().Enabled(Gate::kVolumeLimitScaling));
  EXPECT_TRUE(off.value().Enabled(Gate::kDynamicResourceAllocation));
}

TEST(FeatureGates, EmulationTakesTheDefaultsOfItsVersion) {
  const auto v35 = FeatureGates::Make(Emulating("v1.35"), nullptr);
  ASSERT_TRUE(v35.ok());
  EXPECT_FALSE(v35.value().Enabled(Gate::kNodeDeclaredFeatures));
  const auto v36 = FeatureGates::Make(Emulating("1.36"), nullptr);
  ASSERT_TRUE(v36.ok());
  EXPECT_TRUE(v36.value().Enabled(Gate::kNodeDeclaredFeatures));
  EXPECT_FALSE(v36.value().Enabled(Gate::kStorageCapacityScoring));
  const auto fractional = FeatureGates::Make({.min_compatibility_version = {"1.37"}}, nullptr);
  ASSERT_TRUE(fractional.ok());
  EXPECT_TRUE(fractional.value().Enabled(Gate::kDRAFractionalCapacityRange));
}

TEST(FeatureGates, WhatIsNotImplementedIsSaid) {
  for (const char* text : {"SchedulerPreQueueingHints=true", "DRANodeAllocatableResources=true"}) {
    const auto made = FeatureGates::Make(Gates({text}), nullptr);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_THAT(made.value().NotImplemented(),
                ::testing::Contains(HasSubstr("feature gate " + std::string(text) + " is not")));
  }
}

TEST(FeatureGates, TheGatesOfPodGroupsCanBeTurnedOn) {
  const std::string groups =
      "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true,"
      "PodGroupPreemptionPolicy=true,DRAWorkloadResourceClaims=true";
  const auto made = FeatureGates::Make(Gates({groups}), nullptr);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_THAT(made.value().NotImplemented(), ::testing::IsEmpty());
  const auto alone = FeatureGates::Make(Gates({"DRAWorkloadResourceClaims=true"}), nullptr);
  ASSERT_FALSE(alone.ok());
  EXPECT_THAT(alone.error().message, HasSubstr("GenericWorkload"));
}

TEST(FeatureGates, TheAllocatorsGatesCanBeTurnedOn) {
  const auto made = FeatureGates::Make(
      {.feature_gates = {"DRADerivedAttributes=true,DRADeviceCompatibilityGroups=true,"
                         "DRAFractionalCapacityRange=true,DRAListTypeAttributes=true,"
                         "DRAOptionalNodeOperations=true"},
       .emulated_version = {},
       .min_compatibility_version = {"1.37"}},
      nullptr);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_THAT(made.value().NotImplemented(), ::testing::IsEmpty());
}

TEST(FeatureGates, ADeviceAllocatorInRandomOrderIsNotImplemented) {
  for (const auto& [text, refused] : {std::pair("DRAConsumableCapacity=false", 0),
                                      std::pair("DRADeviceBindingConditions=false", 0),
                                      std::pair("DRAConsumableCapacity=false,"
                                                "DRADeviceBindingConditions=false",
                                                1),
                                      std::pair("DRAConsumableCapacity=false,"
                                                "DRADeviceBindingConditions=false,"
                                                "DRAListTypeAttributes=true",
                                                0)}) {
    const auto made = FeatureGates::Make(Gates({text}), nullptr);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(made.value().NotImplemented().size(), refused) << text;
  }
}

TEST(FeatureGates, SwitchableGates) {
  for (const char* flag :
       {"TaintTolerationComparisonOperators=true", "InPlacePodLevelResourcesVerticalScaling=false",
        "CoordinatedLeaderElection=true", "SchedulerAsyncAPICalls=true",
        "SchedulerPopFromBackoffQ=false", "NominatedNodeNameForExpectation=false",
        "OpportunisticBatching=false", "InPlacePodVerticalScalingSchedulerPreemption=true",
        // Needed by the three others.
        "PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false,"
        "PodLevelResourcesFixDefaulting=false,PodLevelResourcesFixKubeletQOSClass=false",
        // A gate of another component.
        "CRIListStreaming=true"}) {
    const auto made = FeatureGates::Make(Gates({flag}), nullptr);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_THAT(made.value().NotImplemented(), IsEmpty()) << flag;
  }
}

TEST(FeatureGates, TheTableIsSortedAndClosed) {
  std::set<std::string_view> names;
  std::string_view last;
  for (const GateRow& row : GateRows()) {
    EXPECT_LT(last, row.name);
    last = row.name;
    names.insert(row.name);
  }
  for (const GateRow& row : GateRows()) {
    if (row.needs.empty()) continue;
    EXPECT_TRUE(names.contains(row.needs.substr(0, row.needs.find(' ')))) << row.name;
  }
}

TEST(FeatureGates, HelpListsAlphaAndBetaOnly) {
  const std::vector<std::string> lines = FeatureGateHelp();
  EXPECT_THAT(lines, SizeIs(165));
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
  EXPECT_THAT(lines, ::testing::Contains(
                         "kube:DRAFractionalCapacityRange=true|false (BETA - default=false), or "
                         "DRAFractionalCapacityRange=true|false (BETA - default=true) if "
                         "--min-compatibility-version>=1.37"));
  EXPECT_EQ(lines.front(), "kube:APIResponseCompression=true|false (BETA - default=true)");
}

}  // namespace
}  // namespace ks::config
