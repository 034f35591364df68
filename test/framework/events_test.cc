// SPDX-License-Identifier: Apache-2.0
#include "framework/events.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "testing/builders.h"

namespace ks::framework {
namespace {

using ks::testing::MakeLabels;
using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::MakeResources;
using ks::testing::NodeBuilder;
using ks::testing::PodBuilder;

struct MatchCase {
  const char* name;
  ClusterEvent registered;
  ClusterEvent incoming;
  bool want;
};

class MatchTest : public ::testing::TestWithParam<MatchCase> {};

TEST_P(MatchTest, Matches) {
  EXPECT_EQ(GetParam().registered.Matches(GetParam().incoming), GetParam().want);
}

using R = EventResource;

// The table of docs/spec/queue.md 9.3, then its rules one by one.
INSTANTIATE_TEST_SUITE_P(
    Queue93, MatchTest,
    ::testing::Values(
        MatchCase{"NodeLabelAgainstTaint",
                  {.resource = R::kNode, .actions = kActionAdd | kActionUpdateNodeLabel},
                  {.resource = R::kNode, .actions = kActionUpdateNodeTaint},
                  false},
        MatchCase{"NodeTaint",
                  {.resource = R::kNode, .actions = kActionAdd | kActionUpdateNodeTaint},
                  {.resource = R::kNode, .actions = kActionUpdateNodeTaint},
                  true},
        MatchCase{"SingleUpdateAgainstGenericUpdate",
                  {.resource = R::kTargetPod, .actions = kActionUpdatePodLabel},
                  {.resource = R::kTargetPod, .actions = kActionUpdate},
                  false},
        MatchCase{"GenericUpdateAgainstSingleUpdate",
                  {.resource = R::kTargetPod, .actions = kActionUpdate},
                  {.resource = R::kTargetPod, .actions = kActionUpdatePodLabel},
                  true},
        MatchCase{"PodStandsForAssignedPod",
                  {.resource = R::kPod, .actions = kActionDelete},
                  {.resource = R::kAssignedPod, .actions = kActionDelete},
                  true},
        MatchCase{"AnyResourceAdd",
                  {.resource = R::kWildcard, .actions = kActionAdd},
                  {.resource = R::kNode, .actions = kActionAdd},
                  true},
        MatchCase{"NodeAddAgainstWildcard",
                  {.resource = R::kNode, .actions = kActionAdd},
                  {.custom_label = kLabelUnschedulableTimeout},
                  false},
        MatchCase{
            "WildcardMatchesAll", {}, {.resource = R::kCsiNode, .actions = kActionUpdate}, true},
        MatchCase{"WildcardMatchesWildcard", {}, {.custom_label = kLabelForceActivate}, true},
        MatchCase{"PodDoesNotStandForNode",
                  {.resource = R::kPod, .actions = kActionAll},
                  {.resource = R::kNode, .actions = kActionAdd},
                  false},
        MatchCase{"AllMatchesGenericUpdate",
                  {.resource = R::kNode, .actions = kActionAll},
                  {.resource = R::kNode, .actions = kActionUpdate},
                  true},
        MatchCase{"OverlapButLargerNumber",
                  {.resource = R::kNode, .actions = kActionAdd | kActionUpdateNodeAllocatable},
                  {.resource = R::kNode, .actions = kActionUpdate},
                  false}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ClusterEventTest, Labels) {
  const struct {
    ClusterEvent event;
    const char* want;
  } cases[] = {
      {{.resource = R::kNode, .actions = kActionUpdateNodeTaint}, "NodeUpdateNodeTaint"},
      {{.resource = R::kTargetPod, .actions = kActionUpdate}, "TargetPodUpdate"},
      {{.resource = R::kAssignedPod, .actions = kActionDelete}, "AssignedPodDelete"},
      {{.resource = R::kCsiNode, .actions = kActionAdd}, "storage.k8s.io/CSINodeAdd"},
      {{.resource = R::kCsiDriver, .actions = kActionUpdate}, "storage.k8s.io/CSIDriverUpdate"},
      {{.resource = R::kResourceClaim, .actions = kActionAdd}, "resource.k8s.io/ResourceClaimAdd"},
      {{.resource = R::kPodGroup, .actions = kActionDelete}, "scheduling.k8s.io/PodGroupDelete"},
      {{.custom_label = kLabelForceActivate}, "ForceActivate"},
      {{.resource = R::kNode, .actions = kActionAdd | kActionDelete}, "Node"},
      {{}, "*All"},
  };
  for (const auto& c : cases) EXPECT_EQ(c.event.Label(), c.want);
}

TEST(ClusterEventTest, ActionNumbers) {
  EXPECT_EQ(static_cast<uint32_t>(kActionUpdatePodGeneratedResourceClaim), 16384U);
  EXPECT_EQ(static_cast<uint32_t>(kActionUpdate), kActionAll - kActionAdd - kActionDelete);
}

TEST(DefaultEventRegistrationsTest, TwelveKindsWithoutSlicesAndAttachments) {
  const std::vector<EventRegistration> registrations = DefaultEventRegistrations();
  EXPECT_EQ(registrations.size(), 12U);
  for (const EventRegistration& registration : registrations) {
    EXPECT_EQ(registration.event.actions, static_cast<uint32_t>(kActionAll));
    EXPECT_FALSE(registration.hint);
    EXPECT_NE(registration.event.resource, R::kResourceSlice);
    EXPECT_NE(registration.event.resource, R::kVolumeAttachment);
    EXPECT_NE(registration.event.resource, R::kPodGroup);
  }
}

std::vector<std::string> Labels(const std::vector<ClusterEvent>& events) {
  std::vector<std::string> labels;
  for (const ClusterEvent& event : events) labels.push_back(event.Label());
  return labels;
}

struct NodeCase {
  const char* name;
  std::function<void(NodeBuilder&)> old_node;
  std::function<void(NodeBuilder&)> new_node;
  std::vector<std::string> want;
};

const NodeCase kNodeCases[] = {
    {"no change", [](NodeBuilder&) {}, [](NodeBuilder&) {}, {}},
    {"Q16 uncordon: event order and a duplicate",
     [](NodeBuilder& n) {
       n.Unschedulable().Label("a", "1").Taint("node.kubernetes.io/unschedulable", "",
                                               "NoSchedule");
     },
     [](NodeBuilder& n) { n.Label("a", "2"); },
     {"NodeUpdateNodeTaint", "NodeUpdateNodeLabel", "NodeUpdateNodeTaint"}},
    {"ex33 unschedulable off and taint removed",
     [](NodeBuilder& n) {
       n.Unschedulable().Taint("node.kubernetes.io/unschedulable", "", "NoSchedule");
     },
     [](NodeBuilder&) {},
     {"NodeUpdateNodeTaint", "NodeUpdateNodeTaint"}},
    {"cordon by the flag alone",
     [](NodeBuilder&) {},
     [](NodeBuilder& n) { n.Unschedulable(); },
     {}},
    {"allocatable by value",
     [](NodeBuilder& n) {
       n.Allocatable({{"cpu", "1"}});
     },
     [](NodeBuilder& n) {
       n.Allocatable({{"cpu", "1000m"}});
     },
     {}},
    {"allocatable",
     [](NodeBuilder& n) {
       n.Allocatable({{"cpu", "1"}});
     },
     [](NodeBuilder& n) {
       n.Allocatable({{"cpu", "2"}});
     },
     {"NodeUpdateNodeAllocatable"}},
    {"order of taints counts",
     [](NodeBuilder& n) { n.Taint("a", "", "NoSchedule").Taint("b", "", "NoSchedule"); },
     [](NodeBuilder& n) { n.Taint("b", "", "NoSchedule").Taint("a", "", "NoSchedule"); },
     {"NodeUpdateNodeTaint"}},
    {"order of conditions does not count",
     [](NodeBuilder& n) {
       n.node().conditions = {{Symbol("Ready"), Symbol("True")}, {Symbol("X"), Symbol("False")}};
     },
     [](NodeBuilder& n) {
       n.node().conditions = {{Symbol("X"), Symbol("False")}, {Symbol("Ready"), Symbol("True")}};
     },
     {}},
    {"the rest, in order",
     [](NodeBuilder&) {},
     [](NodeBuilder& n) {
       n.node().conditions = {{Symbol("Ready"), Symbol("True")}};
       n.node().meta.annotations.Set(Symbol("k"), "v");
       n.node().pod_preemption_policy_present = true;
       n.node().declared_features = {"VolumeBindMountOptions"};
     },
     {"NodeUpdateNodeCondition", "NodeUpdateNodeAnnotation", "NodeUpdateNodePreemptionPolicy",
      "NodeUpdateNodeDeclaredFeature"}},
    {"ex32 images alone give nothing",
     [](NodeBuilder&) {},
     [](NodeBuilder& n) { n.Image({"x:1"}, 5); },
     {}},
};

TEST(NodeUpdateEventsTest, Table) {
  for (const NodeCase& c : kNodeCases) {
    SCOPED_TRACE(c.name);
    NodeBuilder old_node = MakeNode();
    NodeBuilder new_node = MakeNode();
    c.old_node(old_node.Name("n"));
    c.new_node(new_node.Name("n"));
    EXPECT_EQ(Labels(NodeUpdateEvents(*old_node.Obj(), *new_node.Obj())), c.want);
  }
}

struct PodCase {
  const char* name;
  std::function<void(PodBuilder&)> old_pod;
  std::function<void(PodBuilder&)> new_pod;
  EventResource resource;
  std::vector<std::string> want;
};

void SetStatusRequests(PodBuilder& pod, const ks::testing::Resources& resources) {
  pod.pod().status.resources.Mutable().containers = {
      {.name = "c0",
       .allocated_resources = MakeResources(resources),
       .resources_requests = MakeResources(resources)}};
  pod.spec().containers.at(0).name = "c0";
}

const PodCase kPodCases[] = {
    {"nothing relevant: the generic update",
     [](PodBuilder&) {},
     [](PodBuilder&) {},
     R::kTargetPod,
     {"TargetPodUpdate"}},
    {"Q17 resize of a pending pod",
     [](PodBuilder& p) {
       p.Req({{"cpu", "1"}, {"memory", "1Gi"}});
     },
     [](PodBuilder& p) {
       p.Req({{"cpu", "2"}, {"memory", "512Mi"}}).Labels({{"a", "1"}});
     },
     R::kTargetPod,
     {"TargetPodUpdatePodLabel", "TargetPodUpdatePodScaleDown", "TargetPodUpdatePodScaleUp"}},
    {"a bound pod is an AssignedPod",
     [](PodBuilder& p) {
       p.Node("n").Labels({{"a", "1"}});
     },
     [](PodBuilder& p) { p.Node("n"); },
     R::kTargetPod,
     {"AssignedPodUpdatePodLabel"}},
    {"one of two gates removed",
     [](PodBuilder& p) {
       p.Gates({"x", "y"});
     },
     [](PodBuilder& p) { p.Gates({"y"}); },
     R::kTargetPod,
     {"TargetPodUpdate"}},
    {"the last gate removed",
     [](PodBuilder& p) { p.Gates({"y"}); },
     [](PodBuilder&) {},
     R::kTargetPod,
     {"TargetPodUpdatePodSchedulingGatesEliminated"}},
    {"number of tolerations",
     [](PodBuilder&) {},
     [](PodBuilder& p) { p.Toleration("k", "Exists", "", ""); },
     R::kUnscheduledPod,
     {"UnscheduledPodUpdatePodToleration"}},
    {"generated claim",
     [](PodBuilder&) {},
     [](PodBuilder& p) {
       p.pod().status.claims.Mutable().resource_claims = {
           {.name = "c", .resource_claim_name = "c-x"}};
     },
     R::kTargetPod,
     {"TargetPodUpdatePodGeneratedResourceClaim"}},
    {"extended resource claim",
     [](PodBuilder&) {},
     [](PodBuilder& p) { p.pod().status.claims.Mutable().extended_resource_claim_name = "e"; },
     R::kTargetPod,
     {"TargetPodUpdatePodGeneratedResourceClaim"}},
    {"a request vanished",
     [](PodBuilder& p) {
       p.Req({{"cpu", "1"}});
     },
     [](PodBuilder& p) { p.Req({}); },
     R::kTargetPod,
     {"TargetPodUpdatePodScaleDown"}},
    {"in-place resize not yet actuated: the larger one counts",
     [](PodBuilder& p) {
       p.Node("n").Req({{"cpu", "2"}});
       SetStatusRequests(p, {{"cpu", "2"}});
     },
     [](PodBuilder& p) {
       p.Node("n").Req({{"cpu", "1"}});
       SetStatusRequests(p, {{"cpu", "2"}});
     },
     R::kTargetPod,
     {"AssignedPodUpdate"}},
    {"in-place resize actuated",
     [](PodBuilder& p) {
       p.Node("n").Req({{"cpu", "1"}});
       SetStatusRequests(p, {{"cpu", "2"}});
     },
     [](PodBuilder& p) {
       p.Node("n").Req({{"cpu", "1"}});
       SetStatusRequests(p, {{"cpu", "1"}});
     },
     R::kTargetPod,
     {"AssignedPodUpdatePodScaleDown"}},
};

TEST(PodUpdateEventsTest, Table) {
  for (const PodCase& c : kPodCases) {
    SCOPED_TRACE(c.name);
    PodBuilder old_pod = MakePod();
    PodBuilder new_pod = MakePod();
    c.old_pod(old_pod.Name("p"));
    c.new_pod(new_pod.Name("p"));
    EXPECT_EQ(Labels(PodUpdateEvents(*old_pod.Obj(), *new_pod.Obj(), c.resource)), c.want);
  }
}

TEST(PodUpdateEventsTest, SharedSpecNeedsNoArithmetic) {
  PodBuilder builder = MakePod().Name("p").Req({{"cpu", "1"}});
  const api::PodPtr old_pod = builder.Obj();
  auto new_pod = std::make_shared<api::Pod>(*old_pod);
  new_pod->meta.labels = MakeLabels({{"a", "1"}});
  EXPECT_EQ(Labels(PodUpdateEvents(*old_pod, *new_pod, R::kTargetPod)),
            std::vector<std::string>{"TargetPodUpdatePodLabel"});
}

}  // namespace
}  // namespace ks::framework
