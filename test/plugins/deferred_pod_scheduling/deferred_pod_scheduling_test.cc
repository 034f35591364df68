// SPDX-License-Identifier: Apache-2.0
// docs/spec/plugins-node.md 4.12, and what the other node-level plugins do with deferred pods under
// the gate (4.4 to 4.8, 4.11).
#include "plugins/deferred_pod_scheduling/deferred_pod_scheduling.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources/fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/plugin_rig.h"
#include "plugins/taint_toleration/taint_toleration.h"

namespace ks::plugins {
namespace {

using testing::MakeNode;
using testing::MakePod;
using testing::NodeBuilder;
using testing::PodBuilder;
using testing::Resources;

const std::string kSuccess = "Success";
constexpr auto kGate = config::Gate::kInPlacePodVerticalScalingSchedulerPreemption;

PodBuilder Pending(PodBuilder pod, std::string_view reason) {
  api::Condition condition;
  condition.type = "PodResizePending";
  condition.status = "False";  // not looked at
  condition.reason = reason;
  return pod.Condition(condition);
}
PodBuilder Deferred(const PodBuilder& pod) { return Pending(pod, "Deferred"); }

TEST(DeferredPodSchedulingTest, Filters) {
  NodeBuilder disabled = MakeNode().Name("disabled");
  disabled.node().disable_resize_preemption = "Always";
  struct Case {
    std::string name;
    PodBuilder pod;
    std::vector<std::string> want;  // nodes "own" and "disabled"
  };
  const std::string other = "UnschedulableAndUnresolvable: pod assigned to different node";
  const std::string off = "UnschedulableAndUnresolvable: node had resize preemption disabled";
  const Case cases[] = {
      {"on its own node", Deferred(MakePod().Node("own")), {kSuccess, other}},
      {"where preemption is disabled", Deferred(MakePod().Node("disabled")), {other, off}},
      {"without a node", Deferred(MakePod()), {kSuccess, off}},
      {"not deferred", MakePod().Node("disabled"), {kSuccess, kSuccess}},
      {"infeasible", Pending(MakePod().Node("disabled"), "Infeasible"), {kSuccess, kSuccess}},
      {"only the first condition counts",
       Deferred(Pending(MakePod().Node("disabled"), "Infeasible")),
       {kSuccess, kSuccess}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PluginRig rig(NewDeferredPodScheduling, "null", {kGate});
    rig.AddNode(MakeNode().Name("own"));
    rig.AddNode(disabled);
    EXPECT_EQ(rig.FilterAll(*c.pod.Obj()), c.want);
  }
}

TEST(DeferredPodSchedulingTest, ParksAPodThatFits) {
  const api::PodPtr deferred = Deferred(MakePod().Node("own")).Obj();
  PluginRig on(NewDeferredPodScheduling, "null", {kGate});
  auto* permit = on.As<framework::PermitPlugin>();
  const framework::Status parked = permit->Permit(on.state, deferred, "own").status;
  EXPECT_EQ(Describe(parked),
            "UnschedulableAndUnresolvable: pod resize fits, waiting for Kubelet actuation");
  EXPECT_EQ(parked.plugin(), "DeferredPodScheduling");
  EXPECT_TRUE(permit->Permit(on.state, MakePod().Obj(), "own").status.ok());
}

TEST(DeferredPodSchedulingTest, DoesNothingWithoutTheGate) {
  const api::PodPtr deferred = Deferred(MakePod().Node("other")).Obj();
  PluginRig off(NewDeferredPodScheduling);
  off.AddNode(MakeNode().Name("own"));
  EXPECT_TRUE(off.PreFilter(*deferred).status.IsSkip());
  EXPECT_TRUE(
      off.As<framework::FilterPlugin>()->Filter(off.state, *deferred, *off.nodes()[0]).ok());
  EXPECT_TRUE(off.As<framework::PermitPlugin>()->Permit(off.state, deferred, "own").status.ok());
}

TEST(DeferredPodSchedulingTest, EventsAndNoSignature) {
  PluginRig rig(NewDeferredPodScheduling, "null", {kGate});
  EXPECT_EQ(rig.Events(), (std::vector<std::string>{"Node/256", "Node/1", "AssignedPod/2049"}));
  EXPECT_EQ(rig.As<framework::SignPlugin>(), nullptr);
}

// A pod that each of these plugins rejects on the only node.
struct ExemptionCase {
  std::string name;
  framework::PluginFactory factory;
  PodBuilder pod;
  bool want_exempt;
  bool want_filter_exempt;  // also where the profile disables the plugin at PreFilter
};

TEST(DeferredPodsTest, PassTheFiltersThatPlacedThem) {
  PodBuilder restarts = MakePod().Req({});
  restarts.spec().containers[0].restarts_all_containers = true;
  const ExemptionCase cases[] = {
      {"NodeName", NewNodeName, MakePod().Node("other"), false, false},
      {"NodeUnschedulable", NewNodeUnschedulable, MakePod(), true, true},
      {"TaintToleration", NewTaintToleration, MakePod(), true, false},
      {"NodeAffinity", NewNodeAffinity, MakePod().NodeSelector({{"zone", "a"}}), true, true},
      {"NodePorts", NewNodePorts, MakePod().HostPort(80), true, false},
      {"NodeResourcesFit", NewNodeResourcesFit, MakePod().Req({{"cpu", "1"}}), false, false},
      {"NodeDeclaredFeatures", NewNodeDeclaredFeatures, restarts, true, true},
  };
  for (const ExemptionCase& c : cases) {
    for (const bool gate : {false, true}) {
      SCOPED_TRACE(c.name + (gate ? " on" : " off"));
      PluginRig rig(c.factory, "null",
                    gate ? std::vector<config::Gate>{kGate} : std::vector<config::Gate>{});
      rig.AddNode(MakeNode().Unschedulable().Taint("a", "", "NoSchedule"),
                  {MakePod().HostPort(80).Obj()});
      const api::PodPtr pod = c.pod.Obj();
      EXPECT_NE(rig.FilterAll(*pod), std::vector<std::string>{kSuccess}) << "not deferred";
      const api::PodPtr deferred = Deferred(c.pod).Obj();
      EXPECT_EQ(rig.FilterAll(*deferred)[0] == kSuccess, gate && c.want_exempt);
      EXPECT_EQ(rig.PreFilter(*deferred).status.IsSkip(), gate && c.want_exempt);
      const framework::CycleState unprepared;
      EXPECT_EQ(
          rig.As<framework::FilterPlugin>()->Filter(unprepared, *deferred, *rig.nodes()[0]).ok(),
          gate && c.want_filter_exempt);
    }
  }
}

// 4.8: a deferred pod is compared with the room on its node less what it holds there already.
struct ResizeCase {
  std::string name;
  Resources wants;
  Resources holds;
  Resources others_hold;
  std::string want;
};

class DeferredFitTest : public ::testing::TestWithParam<ResizeCase> {};

TEST_P(DeferredFitTest, CountsWhatThePodHolds) {
  const ResizeCase& c = GetParam();
  PluginRig rig(NewNodeResourcesFit, "null", {kGate});
  const api::PodPtr held = MakePod().Name("p").Node("own").Req(c.holds).Obj();
  rig.AddNode(MakeNode().Name("own").Allocatable(
                  {{"cpu", "4"}, {"memory", "4Gi"}, {"pods", "3"}, {"example.com/gpu", "4"}}),
              {held, MakePod().Name("o").Req(c.others_hold).Obj()});
  const api::PodPtr pod = Deferred(MakePod().Name("p").Node("own").Req(c.wants)).Obj();
  EXPECT_EQ(rig.FilterAll(*pod), std::vector<std::string>{c.want});
}

const ResizeCase kResizes[] = {
    {"fits_into_the_rest", {{"cpu", "3"}}, {{"cpu", "2"}}, {{"cpu", "1"}}, kSuccess},
    {"rest_is_taken",
     {{"cpu", "3"}},
     {{"cpu", "1"}},
     {{"cpu", "2"}},
     "Unschedulable: Insufficient cpu"},
    {"other_resource_shrinks",
     {{"cpu", "3"}, {"memory", "1Gi"}},
     {{"cpu", "2"}, {"memory", "2Gi"}},
     {{"cpu", "1"}, {"memory", "2Gi"}},
     kSuccess},
    // Nothing more is asked for, but the node is overcommitted: 0 does not fit into less than 0.
    {"shrinks_on_an_overcommitted_node",
     {{"cpu", "1"}},
     {{"cpu", "2"}},
     {{"cpu", "3"}},
     "Unschedulable: Insufficient cpu"},
    // The full request decides whether preemption can help, for cpu …
    {"cpu_never_fits",
     {{"cpu", "5"}},
     {{"cpu", "2"}},
     {},
     "UnschedulableAndUnresolvable: Insufficient cpu"},
    // … and the reduced one for scalars.
    {"scalar_may_fit",
     {{"example.com/gpu", "5"}},
     {{"example.com/gpu", "2"}},
     {{"example.com/gpu", "1"}},
     "Unschedulable: Insufficient example.com/gpu"},
    {"scalar_never_fits",
     {{"example.com/gpu", "7"}},
     {{"example.com/gpu", "2"}},
     {},
     "UnschedulableAndUnresolvable: Insufficient example.com/gpu"},
    {"scalar_fits_into_the_rest",
     {{"example.com/gpu", "3"}},
     {{"example.com/gpu", "2"}},
     {{"example.com/gpu", "1"}},
     kSuccess},
    // A scalar of which nothing more is asked for is not looked at, unlike cpu.
    {"scalar_stays_on_an_overcommitted_node",
     {{"example.com/gpu", "2"}},
     {{"example.com/gpu", "2"}},
     {{"example.com/gpu", "3"}},
     kSuccess},
};

INSTANTIATE_TEST_SUITE_P(Rows, DeferredFitTest, ::testing::ValuesIn(kResizes),
                         [](const auto& row) { return row.param.name; });

TEST(DeferredFitTest, TheNumberOfPodsIsNotReduced) {
  PluginRig rig(NewNodeResourcesFit, "null", {kGate});
  rig.AddNode(MakeNode().Name("own").Allocatable({{"pods", "1"}, {"cpu", "4"}}),
              {MakePod().Name("p").Node("own").Req({{"cpu", "1"}}).Obj()});
  const PodBuilder pod = MakePod().Name("p").Node("own").Req({{"cpu", "4"}});
  EXPECT_EQ(rig.FilterAll(*Deferred(pod).Obj()),
            std::vector<std::string>{"Unschedulable: Too many pods"});
}

TEST(DeferredFitTest, OnlyTheSamePodOnItsOwnNodeUnderTheGate) {
  const auto filter = [](bool gate, const PodBuilder& pod) {
    PluginRig rig(NewNodeResourcesFit, "null",
                  gate ? std::vector<config::Gate>{kGate} : std::vector<config::Gate>{});
    rig.AddNode(MakeNode().Name("own").Allocatable({{"pods", "9"}, {"cpu", "4"}}),
                {MakePod().Name("p").Node("own").Req({{"cpu", "3"}}).Obj()});
    return rig.FilterAll(*pod.Obj())[0];
  };
  const auto wants = [](std::string_view name, std::string_view node) {
    return MakePod().Name(name).Node(node).Req({{"cpu", "4"}});
  };
  const std::string rejected = "Unschedulable: Insufficient cpu";
  EXPECT_EQ(filter(true, Deferred(wants("p", "own"))), kSuccess);
  EXPECT_EQ(filter(false, Deferred(wants("p", "own"))), rejected);
  EXPECT_EQ(filter(true, wants("p", "own")), rejected);
  EXPECT_EQ(filter(true, Deferred(wants("q", "own"))), rejected);
  EXPECT_EQ(filter(true, Deferred(wants("p", "other"))), rejected);
}

TEST(DeferredFitTest, WaitsForScaleUps) {
  const auto events = PluginRig(NewNodeResourcesFit, "null", {kGate}).Events();
  ASSERT_EQ(events.size(), 7U);
  EXPECT_EQ(events[5], "AssignedPod/2048");
  EXPECT_EQ(events[6], "TargetPod/2048");
}

}  // namespace
}  // namespace ks::plugins
