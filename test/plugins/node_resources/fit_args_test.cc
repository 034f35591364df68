// SPDX-License-Identifier: Apache-2.0
// The argument table of docs/spec/plugins-node.md 4.8 and docs/spec/config.md 4.3 and 4.8.
#include <string>

#include <gtest/gtest.h>

#include "plugins/kit/resource_score/args.h"
#include "plugins/node_resources/fit.h"
#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

constexpr std::string_view kNamePart =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

struct ArgsCase {
  std::string name;
  std::string args;
  std::string want;  // empty: accepted
};

class FitArgsTest : public ::testing::TestWithParam<ArgsCase> {};

TEST_P(FitArgsTest, Reads) {
  EXPECT_EQ(PluginRig::FactoryError(NewNodeResourcesFit, GetParam().args), GetParam().want);
}

std::string Ratio(const std::string& shape) {
  return R"({"scoringStrategy": {"type": "RequestedToCapacityRatio",
             "requestedToCapacityRatio": {"shape": [)" +
         shape + "]}}}";
}
const std::string kShape = "scoringStrategy.requestedToCapacityRatio.shape";

const ArgsCase kCases[] = {
    {"absent", "null", ""},
    {"empty", "{}", ""},
    {"typed", R"({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "NodeResourcesFitArgs"})",
     ""},
    {"strategy_null", R"({"scoringStrategy": null})", ""},
    {"E46", R"({"scoringStrategy": {"type": "Foo"}})",
     "scoringStrategy.type: Unsupported value: \"Foo\": supported values: \"LeastAllocated\", "
     "\"MostAllocated\", \"RequestedToCapacityRatio\""},
    {"E47", R"({"scoringStrategy": {"resources": [{"name": "cpu", "weight": 2}]}})",
     "scoringStrategy.type: Unsupported value: \"\": supported values: \"LeastAllocated\", "
     "\"MostAllocated\", \"RequestedToCapacityRatio\""},
    {"E48", R"({"scoringStrategy": {"type": "RequestedToCapacityRatio"}})",
     "scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is "
     "RequestedToCapacityRatio"},
    {"ratio_of_other_type",
     R"({"scoringStrategy": {"type": "MostAllocated", "requestedToCapacityRatio": {}}})",
     "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not "
     "RequestedToCapacityRatio"},
    {"weight_above",
     R"({"scoringStrategy": {"type": "LeastAllocated",
         "resources": [{"name": "cpu", "weight": 101}]}})",
     "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid "
     "range (0, 100]"},
    {"weight_below",
     R"({"scoringStrategy": {"type": "LeastAllocated",
         "resources": [{"name": "cpu", "weight": 0}, {"name": "memory", "weight": -1}]}})",
     "scoringStrategy.resources[1].weight: Invalid value: -1: resource weight of memory not in "
     "valid range (0, 100]"},
    {"repeated_names",
     R"({"scoringStrategy": {"type": "LeastAllocated",
         "resources": [{"name": "cpu"}, {"name": "cpu"}]}})",
     ""},
    {"no_points", Ratio(""), kShape + ": Required value: at least one point must be specified"},
    {"unsorted", Ratio(R"({"utilization": 50, "score": 1}, {"utilization": 50, "score": 1},
              {"utilization": 40, "score": 1})"),
     kShape + "[1].utilization: Invalid value: 50: values must be sorted in increasing order"},
    {"out_of_range", Ratio(R"({"utilization": -1, "score": 11}, {"utilization": 101})"),
     "[" + kShape + "[0].utilization: Invalid value: -1: not in valid range [0, 100], " + kShape +
         "[0].score: Invalid value: 11: not in valid range [0, 10], " + kShape +
         "[1].utilization: Invalid value: 101: not in valid range [0, 100]]"},
    {"ignored_name", R"({"ignoredResources": ["example.com/ok", "a b"]})",
     "ignoredResources[1]: Invalid value: \"a b\": " + std::string(kNamePart)},
    {"ignored_group", R"({"ignoredResourceGroups": ["example.com/x"]})",
     "ignoredResourceGroups[0]: Invalid value: \"example.com/x\": resource group name can't "
     "contain '/'"},
    {"two_errors", R"({"ignoredResourceGroups": ["a/b"], "scoringStrategy": {"type": "Foo"}})",
     "[ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/', "
     "scoringStrategy.type: Unsupported value: \"Foo\": supported values: \"LeastAllocated\", "
     "\"MostAllocated\", \"RequestedToCapacityRatio\"]"},
};

INSTANTIATE_TEST_SUITE_P(Rows, FitArgsTest, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

TEST(FitArgsTest, Defaults) {
  const Result<FitArgs> args = FitArgsOf({});
  ASSERT_TRUE(args.ok());
  EXPECT_EQ(args->strategy, FitStrategy::kLeastAllocated);
  ASSERT_EQ(args->resources.size(), 2U);
  EXPECT_EQ(args->resources[0].name, "cpu");
  EXPECT_EQ(args->resources[0].weight, 1);
  EXPECT_EQ(args->resources[1].name, "memory");
}

}  // namespace
}  // namespace ks::plugins
