// SPDX-License-Identifier: Apache-2.0
// Rows 22 to 37 of docs/spec/plugins-node.md 7.2 (ex22 to ex37), and traps 5 to 8 and 10.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/node_resources/balanced_allocation.h"
#include "plugins/node_resources/fit.h"
#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using testing::MakeNode;
using testing::MakePod;
using testing::NodeBuilder;
using testing::PodBuilder;
using testing::Resources;

NodeBuilder N4() {
  return MakeNode().Name("n4").Allocatable(
      {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}, {"ephemeral-storage", "10Gi"}});
}
// No pods in allocatable.
NodeBuilder OneCpu() { return MakeNode().Name("one").Allocatable({{"cpu", "1"}}); }

PodBuilder Asks(const Resources& requests) { return MakePod().Req(requests); }
PodBuilder Holds(const Resources& requests) { return MakePod().Name("held").Req(requests); }

struct FilterCase {
  std::string name;
  PodBuilder pod;
  std::string want;
  NodeBuilder node = N4();
  std::vector<PodBuilder> held = {};
  std::string args = "null";
  // By name and extended resource name.
  std::vector<std::pair<std::string, std::string>> device_classes = {};
};

class FitFilterTest : public ::testing::TestWithParam<FilterCase> {};

TEST_P(FitFilterTest, Filters) {
  const FilterCase& c = GetParam();
  PluginRig rig(NewNodeResourcesFit, c.args);
  std::vector<api::PodPtr> held;
  for (const PodBuilder& pod : c.held) held.push_back(pod.Obj());
  rig.AddNode(c.node, held);
  for (const auto& [name, resource] : c.device_classes) {
    rig.handle.fake_device_classes().Put(
        {.name = name, .creation_timestamp = {}, .extended_resource_name = resource});
  }
  EXPECT_EQ(rig.FilterAll(*c.pod.Obj()), std::vector<std::string>{c.want});
}

const FilterCase kCases[] = {
    {.name = "ex22",
     .pod = Asks({{"cpu", "5"},
                  {"memory", "9Gi"},
                  {"ephemeral-storage", "11Gi"},
                  {"example.com/gpu", "1"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient cpu, Insufficient memory, Insufficient "
             "ephemeral-storage, Insufficient example.com/gpu"},
    {.name = "ex23",
     .pod = Asks({{"cpu", "2"}}),
     .want = "Unschedulable: Insufficient cpu",
     .held = {Holds({{"cpu", "3"}})}},
    {.name = "ex24",
     .pod = Asks({{"cpu", "2"}, {"memory", "9Gi"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient cpu, Insufficient memory",
     .held = {Holds({{"cpu", "3"}})}},
    {.name = "ex25",
     .pod = Asks({}),
     .want = "Success",
     .held = {Holds({{"cpu", "30"}, {"memory", "100Gi"}})}},
    {.name = "ex26",
     .pod = Asks({{"memory", "1Gi"}}),
     .want = "Success",
     .held = {Holds({{"cpu", "30"}})}},
    {.name = "ex27", .pod = Asks({{"example.com/gpu", "0"}}), .want = "Success"},
    {.name = "ex28", .pod = Asks({{"foo", "10"}, {"storage", "1Gi"}}), .want = "Success"},
    {.name = "ex29_resource",
     .pod = Asks({{"example.com/gpu", "1"}}),
     .want = "Success",
     .args = R"({"ignoredResources": ["example.com/gpu"]})"},
    {.name = "ex29_group",
     .pod = Asks({{"example.com/gpu", "1"}}),
     .want = "Success",
     .args = R"({"ignoredResourceGroups": ["example.com"]})"},
    {.name = "ex30",
     .pod = Asks({{"hugepages-2Mi", "4Mi"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient hugepages-2Mi",
     .args = R"({"ignoredResources": ["hugepages-2Mi"]})"},
    {.name = "ex31",
     .pod = Asks({{"cpu", "2"}}),
     .want = "UnschedulableAndUnresolvable: Too many pods, Insufficient cpu",
     .node = OneCpu()},
    // Trap 5.
    {.name = "ex32", .pod = Asks({}), .want = "Unschedulable: Too many pods", .node = OneCpu()},
    {.name = "ex33",
     .pod = Asks({{"cpu", "5"}, {"ephemeral-storage", "11Gi"}})
                .PodLevel({{"cpu", "1"}, {"memory", "1Gi"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient ephemeral-storage"},
    {.name = "ex34_one_pod",
     .pod = MakePod().Req({{"cpu", "0.5m"}}).Req({{"cpu", "0.5m"}}),
     .want = "Success",
     .node = MakeNode().Allocatable({{"cpu", "1m"}, {"pods", "110"}})},
    {.name = "ex34_second_pod",
     .pod = Asks({{"cpu", "0.5m"}}),
     .want = "Unschedulable: Insufficient cpu",
     .node = MakeNode().Allocatable({{"cpu", "1m"}, {"pods", "110"}}),
     .held = {Holds({{"cpu", "0.5m"}})}},
    {.name = "ex35",
     .pod = Asks({{"dra.example.com/gpu", "1"}}),
     .want = "Success",
     .device_classes = {{"gpu", "dra.example.com/gpu"}}},
    {.name = "ex36",
     .pod = Asks({{"dra.example.com/gpu", "2"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient dra.example.com/gpu",
     .node = MakeNode().Allocatable({{"pods", "110"}, {"dra.example.com/gpu", "1"}}),
     .device_classes = {{"gpu", "dra.example.com/gpu"}}},
    {.name = "ex37",
     .pod = Asks({{"kubernetes.io/something", "1"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient kubernetes.io/something",
     .args = R"({"ignoredResourceGroups": ["kubernetes.io"]})"},

    {.name = "trap6_one_unresolvable_reason_is_enough",
     .pod = Asks({{"cpu", "2"}, {"example.com/gpu", "1"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient cpu, Insufficient example.com/gpu",
     .held = {Holds({{"cpu", "3"}})}},
    {.name = "trap8_overcommitted_resource_not_asked_for",
     .pod = Asks({{"cpu", "1"}, {"memory", "0"}}),
     .want = "Success",
     .held = {Holds({{"memory", "100Gi"}})}},
    {.name = "trap10_group_ends_at_the_first_slash",
     .pod = Asks({{"example.com/gpu", "1"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient example.com/gpu",
     .args = R"({"ignoredResourceGroups": ["example"]})"},
    {.name = "scalar_in_use",
     .pod = Asks({{"example.com/gpu", "2"}}),
     .want = "Unschedulable: Insufficient example.com/gpu",
     .node = MakeNode().Allocatable({{"pods", "110"}, {"example.com/gpu", "2"}}),
     .held = {Holds({{"example.com/gpu", "1"}})}},
    {.name = "scalar_free",
     .pod = Asks({{"example.com/gpu", "1"}}),
     .want = "Success",
     .node = MakeNode().Allocatable({{"pods", "110"}, {"example.com/gpu", "2"}}),
     .held = {Holds({{"example.com/gpu", "1"}})}},
    {.name = "scalar_free_but_no_cpu",
     .pod = Asks({{"cpu", "1"}, {"example.com/gpu", "1"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient cpu",
     .node = MakeNode().Allocatable({{"pods", "110"}, {"example.com/gpu", "2"}})},
    {.name = "one_of_two_scalars_unresolvable",
     .pod = Asks({{"example.com/a", "1"}, {"example.com/b", "2"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient example.com/b",
     .node =
         MakeNode().Allocatable({{"pods", "110"}, {"example.com/a", "2"}, {"example.com/b", "1"}})},
    {.name = "served_by_devices_under_the_implicit_name",
     .pod = Asks({{"deviceclass.resource.kubernetes.io/gpu", "1"}}),
     .want = "Success",
     .device_classes = {{"gpu", ""}}},
    {.name = "served_by_another_class_only",
     .pod = Asks({{"deviceclass.resource.kubernetes.io/nic", "1"}, {"dra.example.com/gpu", "1"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient deviceclass.resource.kubernetes.io/nic",
     .device_classes = {{"gpu", "dra.example.com/gpu"}}},
    {.name = "served_by_devices_where_the_node_has_a_zero",
     .pod = Asks({{"cpu", "5"}, {"dra.example.com/gpu", "1"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient cpu",
     .node = MakeNode().Allocatable({{"cpu", "4"}, {"pods", "110"}, {"dra.example.com/gpu", "0"}}),
     .device_classes = {{"gpu", "dra.example.com/gpu"}}},
    {.name = "hugepages_in_use",
     .pod = Asks({{"hugepages-2Mi", "4Mi"}}),
     .want = "Unschedulable: Insufficient hugepages-2Mi",
     .node = MakeNode().Allocatable({{"pods", "110"}, {"hugepages-2Mi", "6Mi"}}),
     .held = {Holds({{"hugepages-2Mi", "4Mi"}})}},
    {.name = "hugepages_of_the_pod_level",
     .pod = Asks({{"cpu", "1"}}).PodLevel({{"hugepages-2Mi", "8Mi"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient hugepages-2Mi",
     .node = MakeNode().Allocatable({{"cpu", "4"}, {"pods", "110"}, {"hugepages-2Mi", "6Mi"}})},
    {.name = "attachable_volumes_cannot_be_ignored",
     .pod = Asks({{"attachable-volumes-x", "1"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient attachable-volumes-x",
     .args = R"({"ignoredResources": ["attachable-volumes-x"]})"},
    {.name = "overhead_counts",
     .pod = Asks({{"cpu", "4"}}).Overhead({{"cpu", "1m"}}),
     .want = "UnschedulableAndUnresolvable: Insufficient cpu"},
    // 2.1: a quantity too large for 64 bits wraps, and so do sums of such.
    {.name = "sums_wrap",
     .pod = Asks({{"memory", "2"}}),
     .want = "Success",
     .node = MakeNode().Allocatable({{"pods", "9"}, {"memory", "9223372036854775808"}}),
     .held = {Holds({{"memory", "1"}})}},
    {.name = "exact_fit", .pod = Asks({{"cpu", "4"}, {"memory", "8Gi"}}), .want = "Success"},
    {.name = "last_pod_slot",
     .pod = Asks({}),
     .want = "Success",
     .node = MakeNode().Allocatable({{"pods", "2"}}),
     .held = {Holds({})}},
};

INSTANTIATE_TEST_SUITE_P(Rows, FitFilterTest, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

// Scalars have no defined order (trap 7).
TEST(FitFilterTest, AllMissingScalarsAreNamed) {
  PluginRig rig(NewNodeResourcesFit);
  rig.AddNode(N4());
  const api::PodPtr pod =
      Asks({{"cpu", "5"}, {"example.com/b", "1"}, {"example.com/a", "1"}}).Obj();
  ASSERT_TRUE(rig.PreFilter(*pod).status.ok());
  const framework::Status status =
      rig.As<framework::FilterPlugin>()->Filter(rig.state, *pod, *rig.nodes()[0]);
  std::vector<std::string> reasons = status.reasons();
  ASSERT_EQ(reasons.size(), 3U);
  EXPECT_EQ(reasons[0], "Insufficient cpu");
  std::sort(reasons.begin(), reasons.end());
  EXPECT_EQ(reasons, (std::vector<std::string>{"Insufficient cpu", "Insufficient example.com/a",
                                               "Insufficient example.com/b"}));
}

TEST(FitFilterTest, RejectionsAreShared) {
  PluginRig rig(NewNodeResourcesFit);
  rig.AddNode(N4());
  rig.AddNode(N4());
  for (const auto& pod : {Asks({{"cpu", "5"}}).Obj(), Asks({{"example.com/gpu", "1"}}).Obj()}) {
    ASSERT_TRUE(rig.PreFilter(*pod).status.ok());
    const auto* filter = rig.As<framework::FilterPlugin>();
    EXPECT_EQ(filter->Filter(rig.state, *pod, *rig.nodes()[0]).id(),
              filter->Filter(rig.state, *pod, *rig.nodes()[1]).id());
  }
}

TEST(FitFilterTest, RejectionsByTheSameScalarsAreShared) {
  PluginRig rig(NewNodeResourcesFit);
  const auto node = [&rig](const std::string& name, const testing::Resources& more) {
    testing::Resources room = {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "10"}};
    room.insert(room.end(), more.begin(), more.end());
    rig.AddNode(MakeNode().Name(name).Allocatable(room));
  };
  node("none", {});
  node("none-either", {});
  node("has-a", {{"example.com/a", "1"}});
  node("has-c", {{"example.com/c", "1"}});
  node("some-a", {{"example.com/a", "1"}, {"example.com/c", "1"}});
  const api::PodPtr pod =
      Asks({{"example.com/a", "1"}, {"example.com/b", "1"}, {"example.com/c", "1"}}).Obj();
  ASSERT_TRUE(rig.PreFilter(*pod).status.ok());
  std::vector<framework::Status> said;
  std::vector<std::string> reasons;
  for (const auto* each : rig.nodes()) {
    said.push_back(rig.As<framework::FilterPlugin>()->Filter(rig.state, *pod, *each));
    std::vector<std::string> sorted = said.back().reasons();
    std::sort(sorted.begin(), sorted.end());
    std::string text;
    for (const std::string& reason : sorted) text += reason.back();
    reasons.push_back(text);
  }
  EXPECT_EQ(reasons, (std::vector<std::string>{"abc", "abc", "bc", "ab", "b"}));
  EXPECT_EQ(said[0].id(), said[1].id());
  EXPECT_NE(said[1].id(), said[2].id());
}

// Trap 27: no PreFilter, no Filter.
TEST(FitFilterTest, NeedsItsPreFilter) {
  PluginRig rig(NewNodeResourcesFit);
  rig.AddNode(N4());
  const framework::Status status =
      rig.As<framework::FilterPlugin>()->Filter(rig.state, *Asks({}).Obj(), *rig.nodes()[0]);
  EXPECT_EQ(Describe(status),
            "Error: error reading \"PreFilterNodeResourcesFit\" from cycleState: not found");
}

TEST(FitFilterTest, AnotherPodOfTheSameTemplateIsDecidedAlike) {
  PluginRig rig(NewNodeResourcesFit);
  rig.AddNode(N4());
  const api::PodPtr first = Asks({{"cpu", "5"}}).Obj();
  auto second = std::make_shared<api::Pod>(*first);
  second->meta.name = "second";
  const api::PodPtr other = Asks({{"cpu", "1"}}).Obj();
  const std::string rejected = "UnschedulableAndUnresolvable: Insufficient cpu";
  EXPECT_EQ(rig.FilterAll(*first), std::vector<std::string>{rejected});
  EXPECT_EQ(rig.FilterAll(*other), std::vector<std::string>{"Success"});
  EXPECT_EQ(rig.FilterAll(*second), std::vector<std::string>{rejected});
}

// The classes may change between two pods of one template.
TEST(FitFilterTest, DeviceClassesAreLookedUpAnew) {
  PluginRig rig(NewNodeResourcesFit);
  rig.AddNode(N4());
  const api::PodPtr pod = Asks({{"dra.example.com/gpu", "1"}}).Obj();
  const std::string rejected = "UnschedulableAndUnresolvable: Insufficient dra.example.com/gpu";
  framework::DeviceClassTable& classes = rig.handle.fake_device_classes();
  EXPECT_EQ(rig.FilterAll(*pod), std::vector<std::string>{rejected});
  const uint64_t before = rig.As<framework::NodeLocalPlugin>()->OutsideVersion();
  classes.Put(
      {.name = "gpu", .creation_timestamp = {}, .extended_resource_name = "dra.example.com/gpu"});
  EXPECT_NE(rig.As<framework::NodeLocalPlugin>()->OutsideVersion(), before);
  EXPECT_EQ(rig.FilterAll(*pod), std::vector<std::string>{"Success"});
  classes.Remove(
      {.name = "gpu", .creation_timestamp = {}, .extended_resource_name = "dra.example.com/gpu"});
  EXPECT_EQ(rig.FilterAll(*pod), std::vector<std::string>{rejected});
}

TEST(FitFilterTest, NothingIsServedByDevicesWithoutTheGate) {
  PluginRig rig(NewNodeResourcesFit);
  rig.handle.fake_gates().Set(config::Gate::kDRAExtendedResource, false);
  rig.AddNode(N4());
  rig.handle.fake_device_classes().Put(
      {.name = "gpu", .creation_timestamp = {}, .extended_resource_name = "dra.example.com/gpu"});
  EXPECT_EQ(
      rig.FilterAll(*Asks({{"dra.example.com/gpu", "1"}}).Obj()),
      std::vector<std::string>{"UnschedulableAndUnresolvable: Insufficient dra.example.com/gpu"});
}

TEST(FitFilterTest, Events) {
  PluginRig rig(NewNodeResourcesFit);
  EXPECT_EQ(rig.Events(), (std::vector<std::string>{"AssignedPod/2", "Node/5",
                                                    "resource.k8s.io/DeviceClass/32765",
                                                    "AssignedPod/1024", "TargetPod/1024"}));
}

TEST(FitFilterTest, SignatureIsTheRequestVector) {
  PluginRig rig(NewNodeResourcesFit);
  const auto sign = [&rig](const PodBuilder& pod) { return rig.Signature(*pod.Obj()); };
  EXPECT_EQ(sign(Asks({{"cpu", "1"}, {"memory", "1Ki"}})),
            (std::vector<std::string>{"v1.Pod.Spec.ContainerRequestsAndOverheads()="
                                      R"({"cpu":1000,"ephemeral-storage":0,"memory":1024,)"
                                      R"("scalars":{}})"}));
  EXPECT_EQ(sign(Asks({{"cpu", "1"}})),
            sign(MakePod().Req({{"cpu", "500m"}}).Req({{"cpu", "500m"}})));
  EXPECT_NE(sign(Asks({{"cpu", "1"}})), sign(Asks({{"cpu", "1"}, {"example.com/gpu", "0"}})));
}

// Section 5; the balanced scorer shares the fragment.
TEST(FitFilterTest, NoSignatureWhereDevicesServe) {
  struct Case {
    std::string name;
    PodBuilder pod;
    bool want;
  };
  const Case cases[] = {
      {"served", Asks({{"example.com/gpu", "1"}}), false},
      {"implicit name", Asks({{"deviceclass.resource.kubernetes.io/gpu", "1"}}), false},
      {"asks for none", Asks({{"example.com/gpu", "0"}}), true},
      {"another resource", Asks({{"example.com/nic", "1"}}), true},
  };
  for (const auto factory : {NewNodeResourcesFit, NewNodeResourcesBalancedAllocation}) {
    PluginRig rig(factory);
    rig.handle.fake_device_classes().Put(
        {.name = "gpu", .creation_timestamp = {}, .extended_resource_name = "example.com/gpu"});
    for (const Case& c : cases) {
      SCOPED_TRACE(c.name);
      std::vector<framework::SignFragment> fragments;
      const framework::Status status =
          rig.As<framework::SignPlugin>()->Sign(*c.pod.Obj(), &fragments);
      EXPECT_EQ(Describe(status),
                c.want ? "Success"
                       : "Unschedulable: signature disabled when dra extended resources are used "
                         "in the cluster");
      EXPECT_EQ(fragments.size(), c.want ? 1U : 0U);
    }
  }
}

}  // namespace
}  // namespace ks::plugins
