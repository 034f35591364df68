// SPDX-License-Identifier: Apache-2.0
// Expected texts are kube-scheduler's: docs/spec/config.md 4.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/read/defaults.h"
#include "config/validate/validate.h"

namespace ks::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kNameRule[] =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr char kKeyRule[] =
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
    "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS "
    "subdomain prefix and '/' (e.g. 'example.com/MyName')";
constexpr char kValueRule[] =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr char kPrefixRule[] =
    "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
    "'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

FeatureGates AllOn() {
  FeatureGates gates;
  for (const Gate gate : {Gate::kStorageCapacityScoring, Gate::kDRASchedulerFilterTimeout,
                          Gate::kDRADeviceBindingConditions, Gate::kDRAResourceClaimDeviceStatus}) {
    gates.Set(gate, true);
  }
  return gates;
}

std::vector<Finding> FindingsOf(const PluginArgs& args, const FeatureGates& gates) {
  Configuration configuration;
  configuration.profiles = {{.scheduler_name = "a", .plugin_config = {{"P", args}}}};
  SetDefaults(&configuration, gates);
  std::optional<Faults> faults = Validate(configuration, gates);
  return faults ? std::move(faults->findings) : std::vector<Finding>();
}

constexpr char kPath[] = "profiles[0].pluginConfig[0].args.";

struct Row {
  const char* name;
  PluginArgs args;
  std::vector<std::string> errors;  // without kPath
  FeatureGates gates = AllOn();
};

class ValidateArgsTest : public ::testing::TestWithParam<Row> {};

TEST_P(ValidateArgsTest, GivesUpstreamsTexts) {
  std::vector<std::string> errors;
  for (const Finding& finding : FindingsOf(GetParam().args, GetParam().gates)) {
    ASSERT_EQ(finding.message.rfind(kPath, 0), 0U) << finding.message;
    errors.push_back(finding.message.substr(std::string(kPath).size()));
  }
  EXPECT_EQ(errors, GetParam().errors);
}

FeatureGates Without(Gate gate) {
  FeatureGates gates = AllOn();
  gates.Set(gate, false);
  return gates;
}

std::vector<Row> SimpleRows() {
  return {
      {"Preemption", DefaultPreemptionArgs{0, 1}, {}},
      {"PreemptionHigh",
       DefaultPreemptionArgs{101, 0},
       {"minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"}},
      {"PreemptionLow",
       DefaultPreemptionArgs{-1, -1},
       {"minCandidateNodesPercentage: Invalid value: -1: not in valid range [0, 100]",
        "minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)"}},
      {"PreemptionZeroes",
       DefaultPreemptionArgs{0, 0},
       {"minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
        "minCandidateNodesAbsolute",
        "minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as "
        "minCandidateNodesPercentage"}},
      {"InterPod", InterPodAffinityArgs{100}, {}},
      {"InterPodHigh",
       InterPodAffinityArgs{101},
       {"hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"}},
      {"Balanced",
       NodeResourcesBalancedAllocationArgs{{{"cpu", 0}, {"cpu", 2}, {"", -1}}},
       {"resources[1].name: Duplicate value: \"cpu\"",
        "resources[1].weight: Invalid value: 2: must be 1",
        "resources[2].weight: Invalid value: -1: must be 1"}},
      // Trap T7.
      {"FitIsCheckedLater", NodeResourcesFitArgs{.ignored_resources = {"a b"}}, {}},
      {"Dynamic", DynamicResourcesArgs{seconds(0), seconds(1)}, {}},
      {"DynamicLow",
       DynamicResourcesArgs{-seconds(1), milliseconds(999)},
       {"filterTimeout: Invalid value: \"-1s\": must be zero or positive",
        "bindingTimeout: Invalid value: \"999ms\": must be at least 1 second"}},
      {"DynamicFilterGate",
       DynamicResourcesArgs{-seconds(1), std::nullopt},
       {"filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is disabled"},
       Without(Gate::kDRASchedulerFilterTimeout)},
      {"DynamicBindingGate",
       DynamicResourcesArgs{std::nullopt, seconds(5)},
       {"bindingTimeout: Forbidden: DRADeviceBindingConditions or DRAResourceClaimDeviceStatus "
        "feature gate is disabled"},
       Without(Gate::kDRADeviceBindingConditions)},
      {"Volume",
       VolumeBindingArgs{-1, {{{50, 11}, {50, -1}, {40, 0}, {101, 0}}}},
       {"bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a "
        "negative value",
        "shape[1].utilization: Invalid value: 50: values must be sorted in increasing order",
        "shape[0].score: Invalid value: 11: not in valid range [0, 10]",
        "shape[1].score: Invalid value: -1: not in valid range [0, 10]",
        "shape[3].utilization: Invalid value: 101: not in valid range [0, 100]"}},
      {"VolumeEmptyShape", VolumeBindingArgs{0, std::vector<UtilizationShapePoint>()}, {}},
      {"VolumeNoShapeGate", VolumeBindingArgs{}, {}, Without(Gate::kStorageCapacityScoring)},
      {"VolumeShapeGate",
       VolumeBindingArgs{600, {{{0, 1}}}},
       {"shape: Invalid value: [{\"Utilization\":0,\"Score\":1}]: unexpected field `shape`, remove "
        "it or turn on the feature gate StorageCapacityScoring"},
       Without(Gate::kStorageCapacityScoring)},
      {"VolumeEmptyShapeGate",
       VolumeBindingArgs{600, std::vector<UtilizationShapePoint>()},
       {"shape: Invalid value: []: unexpected field `shape`, remove it or turn on the feature gate "
        "StorageCapacityScoring"},
       Without(Gate::kStorageCapacityScoring)},
      {"SpreadType",
       PodTopologySpreadArgs{.defaulting_type = "Foo"},
       {"defaultingType: Unsupported value: \"Foo\": supported values: \"System\", \"List\""}},
      {"SpreadSystem",
       PodTopologySpreadArgs{.default_constraints = {{1, "zone", "ScheduleAnyway"}}},
       {"defaultingType: Invalid value: \"System\": when .defaultConstraints are not empty"}},
      {"SpreadConstraints",
       PodTopologySpreadArgs{.default_constraints = {{},
                                                     {-1, "a b", "Foo", true},
                                                     {1, "z", "DoNotSchedule"},
                                                     {1, "z", "ScheduleAnyway"},
                                                     {1, "z", "DoNotSchedule"},
                                                     {1, "a/b/c", "ScheduleAnyway"}},
                             .defaulting_type = "List"},
       {"defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)",
        "defaultConstraints[0].topologyKey: Required value: can not be empty",
        "defaultConstraints[0].whenUnsatisfiable: Required value: can not be empty",
        "defaultConstraints[1].maxSkew: Invalid value: -1: not in valid range (0, inf)",
        std::string("defaultConstraints[1].topologyKey: Invalid value: \"a b\": ") + kNameRule,
        "defaultConstraints[1].whenUnsatisfiable: Unsupported value: \"Foo\": supported values: "
        "\"DoNotSchedule\", \"ScheduleAnyway\"",
        "defaultConstraints[1].labelSelector: Forbidden: constraint must not define a selector, as "
        "they deduced for each pod",
        "defaultConstraints[4]: Duplicate value: \"{z, DoNotSchedule}\"",
        std::string("defaultConstraints[5].topologyKey: Invalid value: \"a/b/c\": ") + kKeyRule}},
  };
}

using Values = std::optional<std::vector<std::string>>;

PluginArgs Required(std::vector<NodeSelectorRequirement> expressions,
                    std::vector<NodeSelectorRequirement> fields = {}) {
  return NodeAffinityArgs{NodeAffinity{
      .required = NodeSelector{{{{std::move(expressions), std::move(fields)}}}}, .preferred = {}}};
}

Row Expression(const char* name, NodeSelectorRequirement requirement,
               std::vector<std::string> errors) {
  for (std::string& error : errors) {
    error.insert(0,
                 "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
                 ".matchExpressions[0].");
  }
  return {name, Required({std::move(requirement)}), std::move(errors)};
}

Row Field(const char* name, NodeSelectorRequirement requirement, std::vector<std::string> errors) {
  for (std::string& error : errors) {
    error.insert(0,
                 "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
                 ".matchFields[0].");
  }
  return {name, Required({}, {std::move(requirement)}), std::move(errors)};
}

std::vector<Row> AffinityRows() {
  const std::string value_rule = kValueRule;
  return {
      {"NoAffinity", NodeAffinityArgs{}, {}},
      {"NoTerms", NodeAffinityArgs{NodeAffinity{.required = NodeSelector{}, .preferred = {}}}, {}},
      {"EmptyTerm", Required({}), {}},
      Expression("Operator", {"a b", "Foo", {{"a b"}}},
                 {"operator: Unsupported value: \"Foo\": supported values: \"In\", \"NotIn\", "
                  "\"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\""}),
      Expression(
          "KeyAndValues", {"/a b", "In", std::nullopt},
          {std::string("key: Invalid value: \"/a b\": prefix part must be non-empty; ") + kNameRule,
           "values: Invalid value: null: for 'in', 'notin' operators, values set can't be "
           "empty"}),
      Expression("EmptyValues", {"a", "NotIn", {std::vector<std::string>()}},
                 {"values: Invalid value: []: for 'in', 'notin' operators, values set can't be "
                  "empty"}),
      Expression("Exists", {"a", "Exists", std::nullopt}, {}),
      Expression("ExistsWithValues", {"a", "Exists", {{"<"}}},
                 {"values: Invalid value: [\"\\u003c\"]: values set must be empty for exists and "
                  "does not exist",
                  "values[0][a]: Invalid value: \"<\": " + value_rule}),
      Expression("GtTwoValues", {"a", "Gt", {{"a b", "c"}}},
                 {"values: Invalid value: [\"a b\",\"c\"]: for 'Gt', 'Lt' operators, exactly one "
                  "value is required",
                  "values[0]: Invalid value: \"a b\": for 'Gt', 'Lt' operators, the value must be "
                  "an integer",
                  "values[1]: Invalid value: \"c\": for 'Gt', 'Lt' operators, the value must be an "
                  "integer",
                  "values[0][a]: Invalid value: \"a b\": " + value_rule}),
      Expression("GtNoValue", {"a", "Gt", std::nullopt},
                 {"values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is "
                  "required"}),
      Expression("GtNegative", {"a", "Gt", {{"-5"}}},
                 {"values[0][a]: Invalid value: \"-5\": " + value_rule}),
      Expression("GtPlus", {"a", "Gt", {{"+5"}}},
                 {"values[0][a]: Invalid value: \"+5\": " + value_rule}),
      Expression("GtUnderscore", {"a", "Lt", {{"1_0"}}},
                 {"values[0]: Invalid value: \"1_0\": for 'Gt', 'Lt' operators, the value must be "
                  "an integer"}),
      Expression("GtTooLarge", {"a", "Lt", {{"99999999999999999999"}}},
                 {"values[0]: Invalid value: \"99999999999999999999\": for 'Gt', 'Lt' operators, "
                  "the value must be an integer"}),
      Expression("GtEmpty", {"a", "Lt", {{""}}},
                 {"values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an "
                  "integer"}),
      Expression("GtZeroes", {"a", "Lt", {{"00"}}}, {}),
      Expression("InValues", {"a", "In", {{"a b", "ok", "b c"}}},
                 {"values[0][a]: Invalid value: \"a b\": " + value_rule,
                  "values[2][a]: Invalid value: \"b c\": " + value_rule}),
      Field("FieldOperator", {"x", "Exists", {{"a"}}},
            {"operator: Unsupported value: \"Exists\": supported values: \"In\", \"NotIn\""}),
      Field("FieldOperatorFirst", {"metadata.name", "Foo", {std::vector<std::string>()}},
            {"operator: Unsupported value: \"Foo\": supported values: \"In\", \"NotIn\""}),
      Field("FieldValues", {"x", "In", {{"a", "b"}}},
            {"values: Invalid value: [\"a\",\"b\"]: must have one element"}),
      Field("FieldNoValues", {"", "NotIn", std::nullopt},
            {"values: Invalid value: null: must have one element"}),
      Field("FieldIsNoLabel", {"metadata.name", "In", {{"a b"}}}, {}),
      {"Preferred",
       NodeAffinityArgs{
           NodeAffinity{.required = std::nullopt,
                        .preferred = {{0, {.match_fields = {{"", "In", std::nullopt}}}},
                                      {-1, {.match_fields = {{"", "In", std::nullopt}}}}}}},
       {"addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].matchFields[0].values: "
        "Invalid value: null: must have one element"}},
  };
}

const auto kRowName = [](const auto& row) { return std::string(row.param.name); };
INSTANTIATE_TEST_SUITE_P(Simple, ValidateArgsTest, ::testing::ValuesIn(SimpleRows()), kRowName);
INSTANTIATE_TEST_SUITE_P(Affinity, ValidateArgsTest, ::testing::ValuesIn(AffinityRows()), kRowName);

// Upstream's texts leave parts of the path out or add the key to it.
TEST(ValidateArgs, PathsAreThoseOfTheFile) {
  const PluginArgs args = NodeAffinityArgs{
      NodeAffinity{.required = std::nullopt,
                   .preferred = {{1, {.match_expressions = {{"a", "In", {{"a b"}}}}}}}}};
  const std::vector<Finding> findings = FindingsOf(args, AllOn());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].path,
            "profiles[0].pluginConfig[0].args.addedAffinity."
            "preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0]."
            "values[0]");
}

struct FitRow {
  const char* name;
  NodeResourcesFitArgs args;
  std::string text;
};

class ValidateFitTest : public ::testing::TestWithParam<FitRow> {};

TEST_P(ValidateFitTest, GivesUpstreamsText) {
  EXPECT_EQ(Aggregate(ValidateNodeResourcesFitArgs(GetParam().args)), GetParam().text);
}

std::vector<FitRow> FitRows() {
  const std::string name_rule = kNameRule;
  return {
      {"Defaults", std::get<NodeResourcesFitArgs>(DefaultArgs("NodeResourcesFit", FeatureGates())),
       ""},
      {"Ignored",
       {.ignored_resources = {"a b", "", "a/b/c", "A/b c", "example.com/ok"},
        .scoring_strategy = ScoringStrategy{.type = "LeastAllocated"}},
       "[ignoredResources[0]: Invalid value: \"a b\": " + name_rule +
           ", ignoredResources[1]: Invalid value: \"\": name part must be non-empty, "
           "ignoredResources[1]: Invalid value: \"\": " +
           name_rule + ", ignoredResources[2]: Invalid value: \"a/b/c\": " + kKeyRule +
           ", ignoredResources[3]: Invalid value: \"A/b c\": " + kPrefixRule +
           ", ignoredResources[3]: Invalid value: \"A/b c\": " + name_rule + "]"},
      {"Groups",
       {.ignored_resource_groups = {"a/b", "a b"},
        .scoring_strategy = ScoringStrategy{.type = "LeastAllocated"}},
       "[ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/', "
       "ignoredResourceGroups[1]: Invalid value: \"a b\": " +
           name_rule + "]"},
      // Only of arguments that were not defaulted.
      {"StrategyMissing", {}, "scoringStrategy: Required value: ScoringStrategy field is required"},
      {"Type",
       {.scoring_strategy = ScoringStrategy{.type = "Foo"}},
       "scoringStrategy.type: Unsupported value: \"Foo\": supported values: \"LeastAllocated\", "
       "\"MostAllocated\", \"RequestedToCapacityRatio\""},
      {"Weights",
       {.scoring_strategy = ScoringStrategy{.type = "MostAllocated",
                                            .resources = {{"cpu", 101}, {"cpu", -1}, {"x", 100}}}},
       "[scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in "
       "valid range (0, 100], scoringStrategy.resources[1].weight: Invalid value: -1: resource "
       "weight of cpu not in valid range (0, 100]]"},
      {"RatioMissing",
       {.scoring_strategy = ScoringStrategy{.type = "RequestedToCapacityRatio"}},
       "scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is "
       "RequestedToCapacityRatio"},
      {"RatioForbidden",
       {.scoring_strategy = ScoringStrategy{.type = "LeastAllocated", .ratio_shape = {{{3, 11}}}}},
       "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not "
       "RequestedToCapacityRatio"},
      {"RatioEmpty",
       {.scoring_strategy = ScoringStrategy{.type = "RequestedToCapacityRatio",
                                            .ratio_shape = std::vector<UtilizationShapePoint>()}},
       "scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point must be "
       "specified"},
      {"RatioShape",
       {.scoring_strategy = ScoringStrategy{.type = "RequestedToCapacityRatio",
                                            .ratio_shape = {{{3, 11}, {2, 1}}}}},
       "[scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 2: values "
       "must be sorted in increasing order, "
       "scoringStrategy.requestedToCapacityRatio.shape[0].score: Invalid value: 11: not in valid "
       "range [0, 10]]"},
  };
}

INSTANTIATE_TEST_SUITE_P(Spec, ValidateFitTest, ::testing::ValuesIn(FitRows()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace ks::config
