// SPDX-License-Identifier: Apache-2.0
// What the allocator does with feature gates that are off by default (docs/spec/plugins-dra.md
// section 6).

#include <string>

#include <gtest/gtest.h>

#include "plugins/dynamic_resources/allocator_example.h"
#include "plugins/dynamic_resources/compare/subject.h"

namespace ks::plugins {
namespace {

constexpr AllocatorFeatures kOperations{.optional_node_operations = true};
constexpr std::string_view kSkips = "{'skipNodeOperations':['NodePrepareResources']}";
constexpr std::string_view kDeclares =
    "{'status':{'declaredFeatures':['DRAOptionalNodeOperations']}}";

constexpr AllocatorFeatures kLists{.list_attributes = true};
constexpr std::string_view kMatch = "[{'matchAttribute':'drv.example/a'}]";
constexpr std::string_view kDistinct = "[{'distinctAttribute':'drv.example/a'}]";

struct GatedExample {
  AllocatorFeatures features;
  Example example;
};

const GatedExample kOperationExamples[] = {
    {{},
     {.name = "off",
      .devices = "[{'name':'d0'}]",
      .requests = ONE("'count':1"),
      .slice = kSkips,
      .wanted = "r=d0"}},
    {kOperations,
     {.name = "node without",
      .devices = "[{'name':'d0'}]",
      .requests = ONE("'count':1"),
      .slice = kSkips,
      .wanted = kNoSolution}},
    {kOperations,
     {.name = "node declares",
      .devices = "[{'name':'d0'}]",
      .requests = ONE("'count':1"),
      .slice = kSkips,
      .node = kDeclares,
      .wanted = "r=d0(skips NodePrepareResources)"}},
    {kOperations,
     {.name = "all, node without",
      .devices = "[{'name':'d0'}]",
      .requests = ALL(),
      .slice = kSkips,
      .wanted = kNoSolution}},
    {kOperations,
     {.name = "not asked for",
      .devices = "[{'name':'d0'}]",
      .requests = ONE("'count':1"),
      .wanted = "r=d0"}},
};

constexpr AllocatorFeatures kNoPartitions{.partitions = false};
constexpr std::string_view kUnknownSet =
    "[{'name':'d0','consumesCounters':[{'counterSet':'Z','counters':{'c':{'value':'1'}}}]},"
    "{'name':'d1'}]";

const GatedExample kPartitionExamples[] = {
    {{},
     {.name = "an unknown set of counters",
      .devices = kUnknownSet,
      .requests = ONE("'count':1"),
      .wanted = "invalid resource pools were encountered"}},
    {kNoPartitions,
     {.name = "off: nobody asks for the set",
      .devices = kUnknownSet,
      .requests = ONE("'count':1"),
      .wanted = "r=d1"}},
    {kNoPartitions,
     {.name = "off: a part of a device is not given",
      .devices = kUnknownSet,
      .requests = ONE("'count':2"),
      .wanted = kNoSolution}},
    {kNoPartitions,
     {.name = "off: sets of another slice",
      .devices = "[{'name':'d0'}]",
      .requests = ONE("'count':1"),
      .slice = "{'pool':{'name':'p','generation':1,'resourceSliceCount':2}}",
      .more = "[{'metadata':{'name':'t'},'spec':{'driver':'drv.example','nodeName':'n2','pool':{"
              "'name':'p','generation':1,'resourceSliceCount':2},'sharedCounters':[{'name':'A'},"
              "{'name':'A'}]}}]",
      .wanted = "r=d0"}},
};

constexpr AllocatorFeatures kNoCapacity{.consumable_capacity = false};
constexpr std::string_view kCapacityLast =
    "[{'name':'r','firstAvailable':[{'name':'a','deviceClassName':'none','allocationMode':"
    "'ExactCount','count':1},{'name':'b','deviceClassName':'gpu','allocationMode':'ExactCount',"
    "'count':1,'capacity':{'requests':{'mem':'1'}}}]}]";

const GatedExample kCapacityExamples[] = {
    {{},
     {.name = "the first alternative that cannot be",
      .devices = "[{'name':'d0'}]",
      .requests = kCapacityLast,
      .wanted = "claim ns/x, request a: could not retrieve device class none: "
                "deviceclass.resource.k8s.io \"none\" not found"}},
    {kNoCapacity,
     {.name = "off: amounts in any alternative come before",
      .devices = "[{'name':'d0'}]",
      .requests = kCapacityLast,
      .wanted = "claim ns/x, subrequest b: has capacity requests, but the DRAConsumableCapacity "
                "feature is disabled"}},
};

#define A(name, value) "{'name':'" name "','attributes':{'a':{" value "}}}"

const GatedExample kListExamples[] = {
    {{},
     {.name = "off: a list after something is never distinct",
      .devices = "[" A("d0", "'int':1") "," A("d1", "'ints':[2]") "]",
      .requests = ONE("'count':2"),
      .constraints = kDistinct,
      .wanted = kNoSolution}},
    {{},
     {.name = "off: what is no list is distinct from one",
      .devices = "[" A("d0", "'ints':[1]") "," A("d1", "'int':1") "]",
      .requests = ONE("'count':2"),
      .constraints = kDistinct,
      .wanted = "r=d0 r=d1"}},
    {{},
     {.name = "off: a list is equal to none",
      .devices = "[" A("d0", "'ints':[1]") "," A("d1", "'ints':[1]") "]",
      .requests = ONE("'count':2"),
      .constraints = kMatch,
      .wanted = kNoSolution}},
    {{},
     {.name = "off: the first device",
      .devices = "[" A("d0", "'ints':[]") "]",
      .requests = ONE("'count':1"),
      .constraints = kMatch,
      .wanted = "r=d0"}},
    {kLists,
     {.name = "match: what all have in common",
      .devices = "[" A("d0", "'ints':[1,2]") "," A("d1", "'ints':[2,3]") "," A(
          "d2", "'ints':[1,3]") "," A("d3", "'int':2") "]",
      .requests = ONE("'count':3"),
      .constraints = kMatch,
      .wanted = "r=d0 r=d1 r=d3"}},
    {kLists,
     {.name = "match: types differ",
      .devices =
          "[" A("d0", "'ints':[1]") "," A("d1", "'strings':['1']") "," A("d2", "'string':'1'") "]",
      .requests = ONE("'count':2"),
      .constraints = kMatch,
      .wanted = "r=d1 r=d2"}},
    {kLists,
     {.name = "match: an empty list is as none",
      .devices = "[" A("d0", "'bools':[]") "," A("d1", "'bools':[true]") "]",
      .requests = ONE("'count':1"),
      .constraints = kMatch,
      .wanted = "r=d1"}},
    {kLists,
     {.name = "match: versions",
      .devices = "[" A("d0", "'version':'1.0.0'") "," A("d1", "'versions':['2.0.0','1.0.0']") "]",
      .requests = ONE("'count':2"),
      .constraints = kMatch,
      .wanted = "r=d0 r=d1"}},
    {kLists,
     {.name = "distinct: nothing in common",
      .devices =
          "[" A("d0", "'ints':[1,2]") "," A("d1", "'ints':[2,3]") "," A("d2", "'ints':[3]") "]",
      .requests = ONE("'count':2"),
      .constraints = kDistinct,
      .wanted = "r=d0 r=d2"}},
    {kLists,
     {.name = "distinct: all pairs",
      .devices =
          "[" A("d0", "'ints':[1]") "," A("d1", "'ints':[2]") "," A("d2", "'ints':[1,3]") "]",
      .requests = ONE("'count':3"),
      .constraints = kDistinct,
      .wanted = kNoSolution}},
    {kLists,
     {.name = "All against a list",
      .devices = "[" A("d0", "'ints':[1]") "," A("d1", "'ints':[2]") "]",
      .requests = ALL(),
      .constraints = kMatch,
      .wanted = "claim ns/x, request r: cannot add device drv.example/p/d1 because a claim "
                "constraint would not be satisfied"}},
    {kLists,
     {.name = "operations of drivers, that gate off",
      .devices = "[{'name':'d0'}]",
      .requests = ONE("'count':1"),
      .slice = kSkips,
      .node = kDeclares,
      .wanted = kNoSolution}},
};

#define GROUPS(name, set, groups)                              \
  "{'name':'" name "','consumesCounters':[{'counterSet':'" set \
  "','counters':{'x':{'value':'1'}},'compatibilityGroups':[" groups "]}]}"

constexpr AllocatorFeatures kGroups{.compatibility_groups = true};
constexpr std::string_view kTwoSlices =
    "{'pool':{'name':'p','generation':1,'resourceSliceCount':2}}";
constexpr std::string_view kCounters =
    "[{'metadata':{'name':'t'},'spec':{'driver':'drv.example','nodeName':'n1','pool':{'name':'p','"
    "generation':1,'resourceSliceCount':2},'sharedCounters':[{'name':'A','counters':{'x':{'value':'"
    "10'}}},{'name':'B','counters':{'x':{'value':'2'}}}]}}]";

const GatedExample kGroupExamples[] = {
    {{},
     {.name = "off: the slice counts as absent",
      .devices = "[" GROUPS("d0", "A", "'g'") "]",
      .requests = ONE("'count':1"),
      .slice = kTwoSlices,
      .more = kCounters,
      .wanted = kNoSolution}},
    {kGroups,
     {.name = "a group in common",
      .devices = "[" GROUPS("d0", "A", "'g','h'") "," GROUPS("d1", "A", "'i'") "," GROUPS(
          "d2", "A", "'h','i'") "]",
      .requests = ONE("'count':2"),
      .slice = kTwoSlices,
      .more = kCounters,
      .wanted = "r=d0 r=d2"}},
    {kGroups,
     {.name = "in common to all",
      .devices = "[" GROUPS("d0", "A", "'g','h'") "," GROUPS("d1", "A", "'h','i'") "," GROUPS(
          "d2", "A", "'i','g'") "]",
      .requests = ONE("'count':3"),
      .slice = kTwoSlices,
      .more = kCounters,
      .wanted = kNoSolution}},
    {kGroups,
     {.name = "with groups and without",
      .devices = "[" GROUPS("d0", "A", "'g'") "," GROUPS("d1", "A", "") "]",
      .requests = ONE("'count':2"),
      .slice = kTwoSlices,
      .more = kCounters,
      .wanted = kNoSolution}},
    {kGroups,
     {.name = "without groups",
      .devices = "[" GROUPS("d0", "A", "") "," GROUPS("d1", "A", "") "]",
      .requests = ONE("'count':2"),
      .slice = kTwoSlices,
      .more = kCounters,
      .wanted = "r=d0 r=d1"}},
    {kGroups,
     {.name = "other counter sets",
      .devices = "[" GROUPS("d0", "A", "'g'") "," GROUPS("d1", "B", "'h'") "]",
      .requests = ONE("'count':2"),
      .slice = kTwoSlices,
      .more = kCounters,
      .wanted = "r=d0 r=d1"}},
    {kGroups,
     {.name = "allocated devices count",
      .devices = "[" GROUPS("d0", "A", "'g'") "," GROUPS("d1", "A", "'h'") "," GROUPS("d2", "A",
                                                                                      "'g'") "]",
      .requests = ONE("'count':1"),
      .state = "{'dedicated':[['drv.example','p','d1']]}",
      .slice = kTwoSlices,
      .more = kCounters,
      .wanted = kNoSolution}},
    {kGroups,
     {.name = "allocated without regard to groups: the first one says",
      .devices = "[" GROUPS("d0", "A", "'g'") "," GROUPS("d1", "A", "") "," GROUPS(
          "d2", "A", "") "," GROUPS("d3", "A", "'g'") "]",
      .requests = ONE("'count':1"),
      .state = "{'dedicated':[['drv.example','p','d0'],['drv.example','p','d1']]}",
      .slice = kTwoSlices,
      .more = kCounters,
      .wanted = "r=d3"}},
    {kGroups,
     {.name = "what is taken back leaves no groups",
      .devices = "[" GROUPS("d0", "B", "'g'") "," GROUPS("d1", "B", "'h'") "," GROUPS("d2", "B",
                                                                                      "'h'") "]",
      .requests = ONE("'count':2"),
      .slice = kTwoSlices,
      .more = kCounters,
      .wanted = "r=d1 r=d2"}},
    {kGroups,
     {.name = "All against groups",
      .devices = "[" GROUPS("d0", "A", "'g'") "," GROUPS("d1", "A", "'h'") "]",
      .requests = ALL(),
      .slice = kTwoSlices,
      .more = kCounters,
      .wanted = kNoSolution}},
    {kGroups,
     {.name = "a share is not asked again",
      .devices = "[{'name':'d0','allowMultipleAllocations':true,'consumesCounters':[{'counterSet':'"
                 "A','counters':{'x':{'value':'1'}},'compatibilityGroups':['g']}]}," GROUPS(
                     "d1", "A", "'h'") "]",
      .requests = ONE("'count':1"),
      .state = "{'shared':[['drv.example','p','d0','u']],'dedicated':[['drv.example','p','d1']]}",
      .slice = kTwoSlices,
      .more = kCounters,
      .wanted = "r=d0"}},
};

#define CPU(policy)                                                                                \
  "[{'name':'d0','allowMultipleAllocations':true,'capacity':{'cpu':{'value':'4','requestPolicy':{" \
  "'default':'500m','validRange':{" policy "}}}}}]"
#define ASKS(amount) ONE("'count':1,'capacity':{'requests':{'cpu':'" amount "'}}")

constexpr AllocatorFeatures kFractions{.fractional_ranges = true};
constexpr std::string_view kQuarters = CPU("'min':'500m','step':'250m','max':'2'");

const GatedExample kFractionExamples[] = {
    {{},
     {.name = "off: whole units",
      .devices = kQuarters,
      .requests = ASKS("600m"),
      .wanted = "r=d0(cpu 1)"}},
    {kFractions,
     {.name = "up to the next step",
      .devices = kQuarters,
      .requests = ASKS("600m"),
      .wanted = "r=d0(cpu 750m)"}},
    {kFractions,
     {.name = "on a step",
      .devices = kQuarters,
      .requests = ASKS("1250m"),
      .wanted = "r=d0(cpu 1250m)"}},
    {kFractions,
     {.name = "a whole number",
      .devices = kQuarters,
      .requests = ASKS("1900m"),
      .wanted = "r=d0(cpu 2)"}},
    {kFractions,
     {.name = "below the minimum",
      .devices = kQuarters,
      .requests = ASKS("100m"),
      .wanted = "r=d0(cpu 500m)"}},
    {kFractions,
     {.name = "above the maximum",
      .devices = kQuarters,
      .requests = ASKS("2100m"),
      .wanted = kNoSolution}},
    {kFractions,
     {.name = "finer than thousandths",
      .devices = kQuarters,
      .requests = ASKS("600100u"),
      .wanted = "claim ns/x, request r: checking capacity for device drv.example/p/d0: capacity "
                "\"cpu\": capacity request cannot be represented in the device's range arithmetic: "
                "request 600100u is not a representable milli value"}},
    {kFractions,
     {.name = "too large",
      .devices = kQuarters,
      .requests = ASKS("9223372036854775807m"),
      .wanted =
          "claim ns/x, request r: checking capacity for device drv.example/p/d0: capacity \"cpu\": "
          "capacity request cannot be represented in the device's range arithmetic: rounding "
          "request 9223372036854775807m up to the next step passes the milli-value range"}},
    {kFractions,
     {.name = "a range finer than thousandths steps in whole units",
      .devices = CPU("'min':'1','step':'1500u'"),
      .requests = ASKS("1200m"),
      .wanted = "r=d0(cpu 2)"}},
    {kFractions,
     {.name = "exponents",
      .devices = CPU("'min':'5e-1','step':'1e-1'"),
      .requests = ASKS("620m"),
      .wanted = "r=d0(cpu 700e-3)"}},
};

#define DERIVED(count, expression)                                                               \
  ONE("'count':" count ",'derivedAttributes':[{'name':'drv.example/a','expression':'" expression \
      "'}]")

constexpr AllocatorFeatures kDerived{.derived_attributes = true};
constexpr AllocatorFeatures kDerivedLists{.derived_attributes = true, .list_attributes = true};
constexpr std::string_view kOneTwoThree =
    "[" A("d0", "'int':1") "," A("d1", "'int':2") "," A("d2", "'int':3") "]";

const GatedExample kDerivedExamples[] = {
    {{},
     {.name = "off",
      .devices = kOneTwoThree,
      .requests = DERIVED("1", "1"),
      .wanted = "claim ns/x, request r: cannot handle request with derived attributes, the feature "
                "is disabled"}},
    {kDerived,
     {.name = "takes precedence",
      .devices = kOneTwoThree,
      .requests = DERIVED("2", "device.attributes[device.driver].a % 2"),
      .constraints = kMatch,
      .wanted = "r=d0 r=d2"}},
    {kDerived,
     {.name = "distinct",
      .devices = kOneTwoThree,
      .requests = DERIVED("2", "device.attributes[device.driver].a % 2"),
      .constraints = kDistinct,
      .wanted = "r=d0 r=d1"}},
    {kDerived,
     {.name = "nobody asks for it",
      .devices = kOneTwoThree,
      .requests = DERIVED("1", "foo"),
      .wanted = "r=d0"}},
    {kDerived,
     {.name = "does not compile",
      .devices = kOneTwoThree,
      .requests = DERIVED("1", "1.5"),
      .constraints = kMatch,
      .wanted =
          "compile derived attribute drv.example/a failed: must evaluate to a primitive scalar "
          "(string, integer, boolean, semver) or a list of these scalars, not double"}},
    {kDerived,
     {.name = "fails on a device",
      .devices = kOneTwoThree,
      .requests = DERIVED("2", "device.attributes[device.driver].b"),
      .constraints = kMatch,
      .wanted = "evaluate derived attribute drv.example/a on device drv.example/p/d0 failed: no "
                "such key: b"}},
    {kDerived,
     {.name = "fails on the second device only",
      .devices = kOneTwoThree,
      .requests = DERIVED("2", "6 / (2 - device.attributes[device.driver].a)"),
      .constraints = kMatch,
      .wanted = "evaluate derived attribute drv.example/a on device drv.example/p/d1 failed: "
                "division by zero"}},
    {kDerived,
     {.name = "a list, that gate off",
      .devices = kOneTwoThree,
      .requests = DERIVED("2", "[1, 2]"),
      .constraints = kMatch,
      .wanted = kNoSolution}},
    {kDerivedLists,
     {.name = "a list",
      .devices = kOneTwoThree,
      .requests = DERIVED("3", "[device.attributes[device.driver].a, dyn(9)]"),
      .constraints = kMatch,
      .wanted = "r=d0 r=d1 r=d2"}},
    {kDerived,
     {.name = "a version",
      .devices = "[" A("d0", "'version':'1.0.0-a.1+b'") "," A("d1", "'string':'1.0.0'") "]",
      .requests =
          "[{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'ExactCount','count':1}"
          "},"
          "{'name':'s','exactly':{'deviceClassName':'gpu','allocationMode':'ExactCount','count':1,"
          "'derivedAttributes':[{'name':'drv.example/"
          "a','expression':'semver(\\\"1.0.0-a.1+b\\\")'}]}}]",
      .constraints = kMatch,
      .wanted = "r=d0 s=d1"}},
    {kDerived,
     {.name = "the last of a name counts",
      .devices = kOneTwoThree,
      .requests = ONE("'count':2,'derivedAttributes':[{'name':'drv.example/"
                      "a','expression':'1'},{'name':'drv.example/"
                      "a','expression':'device.attributes[device.driver].a'}]"),
      .constraints = kMatch,
      .wanted = kNoSolution}},
};

template <class Examples>
void ExpectAll(const Examples& examples) {
  for (const GatedExample& each : examples) {
    SCOPED_TRACE(each.example.name);
    dra_compare::Subject subject(each.features);
    EXPECT_EQ(Shown(subject.Answer(Request(each.example))), each.example.wanted);
  }
}

TEST(GatedAllocatorTest, PartitionableDevices) { ExpectAll(kPartitionExamples); }

TEST(GatedAllocatorTest, ConsumableCapacity) { ExpectAll(kCapacityExamples); }

TEST(GatedAllocatorTest, OptionalNodeOperations) { ExpectAll(kOperationExamples); }

TEST(GatedAllocatorTest, DerivedAttributes) { ExpectAll(kDerivedExamples); }

TEST(GatedAllocatorTest, DeviceCompatibilityGroups) { ExpectAll(kGroupExamples); }

TEST(GatedAllocatorTest, FractionalCapacityRange) { ExpectAll(kFractionExamples); }

TEST(GatedAllocatorTest, ListTypeAttributes) { ExpectAll(kListExamples); }

}  // namespace
}  // namespace ks::plugins
