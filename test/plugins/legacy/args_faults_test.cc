// SPDX-License-Identifier: Apache-2.0
// The registry tells every fault in a legacy plugin's arguments, each at its own place.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/registry.h"

namespace ks::plugins {
namespace {

struct FaultsCase {
  std::string name;
  std::string plugin;
  std::string args;
  std::vector<std::string> want{};  // "path | message"
};

class ArgsFaultsTest : public ::testing::TestWithParam<FaultsCase> {};

TEST_P(ArgsFaultsTest, AllAtOnce) {
  const framework::Registry registry = InTreeRegistry();
  const framework::PluginEntry* entry = registry.Find(GetParam().plugin);
  ASSERT_NE(entry, nullptr);
  ASSERT_NE(entry->args_faults, nullptr);
  std::vector<std::string> told;
  for (const config::Finding& fault : entry->args_faults(config::RawArgs{GetParam().args})) {
    told.push_back(fault.path + " | " + fault.message);
  }
  EXPECT_EQ(told, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Plugins, ArgsFaultsTest,
    ::testing::Values(
        FaultsCase{"NodeLabelFine", "NodeLabel", R"({"presentLabels":["a"]})"},
        FaultsCase{
            "NodeLabelBothLists",
            "NodeLabel",
            R"({"presentLabels":["x","b","a"],"absentLabels":["a","c","b"],"presentLabel":1})",
            {"presentLabel | unknown field \"presentLabel\"; did you mean \"presentLabels\"?",
             "absentLabels[0] | presentLabels and absentLabels both list \"a\": remove it from one "
             "of them",
             "absentLabels[2] | presentLabels and absentLabels both list \"b\": remove it from one "
             "of them"}},
        // What is no text is told once, not as a label key besides.
        FaultsCase{"NodeLabelTypes",
                   "NodeLabel",
                   R"({"presentLabels":[1,"a"],"absentLabels":"b"})",
                   {"presentLabels[0] | presentLabels[0]: expected a string, got number",
                    "absentLabels | absentLabels: expected a list, got string"}},
        FaultsCase{"NoObject", "NodeLabel", "[]", {" | args: expected an object, got array"}},
        FaultsCase{"ServiceAffinity",
                   "ServiceAffinity",
                   R"({"affinityLabels":{},"antiAffinityLabelsPreference":[2,3]})",
                   {"affinityLabels | affinityLabels: expected a list, got object",
                    "antiAffinityLabelsPreference[0] | antiAffinityLabelsPreference[0]: expected a "
                    "string, got number",
                    "antiAffinityLabelsPreference[1] | antiAffinityLabelsPreference[1]: expected a "
                    "string, got number"}},
        FaultsCase{"Resources",
                   "NodeResourcesLeastAllocated",
                   R"({"shape":[],"resources":[{"name":7,"weight":"1"},{"weight":101}]})",
                   {"shape | unknown field \"shape\"; the fields here are resources",
                    "resources[0].name | resources[0].name: expected a string, got number",
                    "resources[0].weight | resources[0].weight: expected a whole number, got "
                    "string",
                    "resources[1].name | resources[1].name: is missing; give a resource, such as "
                    "cpu",
                    "resources[1].weight | resources[1].weight: 101 is not in the range 1 to "
                    "100"}},
        FaultsCase{"MostAllocatedToo",
                   "NodeResourcesMostAllocated",
                   R"({"shape":[]})",
                   {"shape | unknown field \"shape\"; the fields here are resources"}},
        FaultsCase{
            "Shape",
            "RequestedToCapacityRatio",
            R"({"shape":[{"utilization":101,"score":11},{"utilization":"x","score":99999999999}]})",
            {"shape[0].utilization | shape[0].utilization: 101 is not in the range 0 to 100",
             "shape[0].score | shape[0].score: 11 is not in the range 0 to 10",
             "shape[1].utilization | shape[1].utilization: expected a whole number, got "
             "string",
             "shape[1].score | shape[1].score: number 99999999999 is out of range"}},
        FaultsCase{"ShapeThatIsNoList",
                   "RequestedToCapacityRatio",
                   R"({"shape":1})",
                   {"shape | shape: expected a list, got number"}},
        FaultsCase{"NoArguments",
                   "SelectorSpread",
                   R"({"a":1,"b":2})",
                   {"a | unknown field \"a\"; this plugin has no arguments: remove them",
                    "b | unknown field \"b\"; this plugin has no arguments: remove them"}},
        FaultsCase{"NoArgumentsEither",
                   "NodePreferAvoidPods",
                   R"({"a":1})",
                   {"a | unknown field \"a\"; this plugin has no arguments: remove them"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ks::plugins
