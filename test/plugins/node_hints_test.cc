// SPDX-License-Identifier: Apache-2.0
// The queueing hints of the plugins that look at single nodes: docs/spec/queue.md 10.3 to 10.7,
// 10.15, 10.16.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/default_preemption/default_preemption.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources/fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/plugin_rig.h"
#include "plugins/taint_toleration/taint_toleration.h"

namespace ks::plugins {
namespace {

using framework::EventObject;
using framework::EventResource;
using testing::MakeNode;
using testing::MakePod;
using testing::NodeBuilder;
using testing::PodBuilder;

constexpr std::string_view kQueue = "Queue";
constexpr std::string_view kSkip = "Skip";

struct Case {
  const char* name;
  framework::PluginFactory factory;
  framework::ClusterEvent event;
  PodBuilder pod;
  EventObject old_object;
  EventObject new_object;
  std::string_view want;  // or the error
  std::string args = "null";
};

constexpr framework::ClusterEvent kNodeAdd{EventResource::kNode, framework::kActionAdd, {}};
constexpr framework::ClusterEvent NodeUpdate(uint32_t action) {
  return {EventResource::kNode, action, {}};
}
constexpr framework::ClusterEvent kTaint = NodeUpdate(framework::kActionUpdateNodeTaint);
constexpr framework::ClusterEvent kLabel = NodeUpdate(framework::kActionUpdateNodeLabel);
constexpr framework::ClusterEvent kAllocatable =
    NodeUpdate(framework::kActionUpdateNodeAllocatable);
constexpr framework::ClusterEvent kFeature =
    NodeUpdate(framework::kActionUpdateNodeDeclaredFeature);
constexpr framework::ClusterEvent kPodDelete{
    EventResource::kAssignedPod, framework::kActionDelete, {}};
constexpr framework::ClusterEvent kScaleDown{
    EventResource::kAssignedPod, framework::kActionUpdatePodScaleDown, {}};
constexpr framework::ClusterEvent kTolerations{
    EventResource::kTargetPod, framework::kActionUpdatePodToleration, {}};
constexpr framework::ClusterEvent kOwnUpdate{
    EventResource::kTargetPod, framework::kActionUpdate, {}};

const EventObject kNone;
EventObject Of(const NodeBuilder& node) { return node.Obj(); }
EventObject Of(const PodBuilder& pod) { return pod.Obj(); }

NodeBuilder Tainted(const char* key, const char* effect = "NoSchedule") {
  return MakeNode().Taint(key, "", effect);
}
NodeBuilder Room(const char* cpu, const char* memory = "8Gi", const char* pods = "10") {
  return MakeNode().Allocatable({{"cpu", cpu}, {"memory", memory}, {"pods", pods}});
}
NodeBuilder Devices(const char* count) {
  return MakeNode().Allocatable({{"cpu", "4"}, {"pods", "10"}, {"example.com/gpu", count}});
}
PodBuilder Cpu(const char* cpu) { return MakePod().Req({{"cpu", cpu}}); }
PodBuilder Tolerating(const char* key) { return MakePod().Toleration(key, "Exists", "", ""); }
PodBuilder Selecting(const char* value) { return MakePod().NodeSelector({{"disk", value}}); }
NodeBuilder Disk(const char* value) { return MakeNode().Label("disk", value); }
PodBuilder Port(int32_t port, const char* ip = "") { return MakePod().HostPort(port, "", ip); }

api::NodePtr WithFeatures(std::vector<std::string> features) {
  auto node = std::make_shared<api::Node>(*MakeNode().Obj());
  node->declared_features = std::move(features);
  return node;
}
EventObject HostNetworkPod(bool user_namespace) {
  auto pod = std::make_shared<api::Pod>(*MakePod().Obj());
  auto spec = std::make_shared<api::PodSpec>(*pod->spec);
  spec->host_network = true;
  if (user_namespace) spec->host_users = false;
  pod->spec = spec;
  return api::PodPtr(pod);
}

const PodBuilder kPlain = MakePod();
const PodBuilder kInvalid = MakePod().RequiredTerm({{"disk", "Gt", {"ten"}}});

const Case kCases[] = {
    {"unschedulable_added_open", NewNodeUnschedulable, kNodeAdd, kPlain, kNone, Of(MakeNode()),
     kQueue},
    {"unschedulable_added_cordoned", NewNodeUnschedulable, kNodeAdd, kPlain, kNone,
     Of(MakeNode().Unschedulable()), kSkip},
    {"unschedulable_uncordoned", NewNodeUnschedulable, kTaint, kPlain,
     Of(MakeNode().Unschedulable()), Of(MakeNode()), kQueue},
    {"unschedulable_was_open", NewNodeUnschedulable, kTaint, kPlain, Of(MakeNode()),
     Of(Tainted("x")), kSkip},
    {"unschedulable_cordoned", NewNodeUnschedulable, kTaint, kPlain, Of(MakeNode()),
     Of(MakeNode().Unschedulable()), kSkip},
    {"unschedulable_now_tolerated", NewNodeUnschedulable, kTolerations, kPlain, Of(kPlain),
     Of(Tolerating("node.kubernetes.io/unschedulable")), kQueue},
    {"unschedulable_other_toleration", NewNodeUnschedulable, kTolerations, kPlain, Of(kPlain),
     Of(Tolerating("x")), kSkip},

    {"taint_added_without", NewTaintToleration, kNodeAdd, kPlain, kNone, Of(MakeNode()), kQueue},
    {"taint_added_with", NewTaintToleration, kNodeAdd, kPlain, kNone, Of(Tainted("x")), kSkip},
    {"taint_added_tolerated", NewTaintToleration, kNodeAdd, Tolerating("x"), kNone,
     Of(Tainted("x")), kQueue},
    {"taint_added_soft", NewTaintToleration, kNodeAdd, kPlain, kNone,
     Of(Tainted("x", "PreferNoSchedule")), kQueue},
    {"taint_removed", NewTaintToleration, kTaint, kPlain, Of(Tainted("x", "NoExecute")),
     Of(MakeNode()), kQueue},
    {"taint_removed_was_tolerated", NewTaintToleration, kTaint, Tolerating("x"), Of(Tainted("x")),
     Of(MakeNode()), kSkip},
    {"taint_exchanged", NewTaintToleration, kTaint, kPlain, Of(Tainted("x")), Of(Tainted("y")),
     kSkip},
    {"taint_exchanged_for_a_tolerated_one", NewTaintToleration, kTaint, Tolerating("y"),
     Of(Tainted("x")), Of(Tainted("y")), kQueue},

    {"affinity_added_match", NewNodeAffinity, kNodeAdd, Selecting("ssd"), kNone, Of(Disk("ssd")),
     kQueue},
    {"affinity_added_no_match", NewNodeAffinity, kNodeAdd, Selecting("ssd"), kNone, Of(Disk("hdd")),
     kSkip},
    {"affinity_relabeled", NewNodeAffinity, kLabel, Selecting("ssd"), Of(Disk("hdd")),
     Of(Disk("ssd")), kQueue},
    {"affinity_matched_before", NewNodeAffinity, kLabel, Selecting("ssd"),
     Of(Disk("ssd").Label("x", "1")), Of(Disk("ssd")), kSkip},
    {"affinity_no_match_any_more", NewNodeAffinity, kLabel, Selecting("ssd"), Of(Disk("ssd")),
     Of(Disk("hdd")), kSkip},
    {"affinity_term", NewNodeAffinity, kLabel, MakePod().RequiredTerm({{"disk", "NotIn", {"hdd"}}}),
     Of(Disk("hdd")), Of(MakeNode()), kQueue},
    {"affinity_invalid", NewNodeAffinity, kLabel, kInvalid, Of(Disk("hdd")), Of(Disk("ssd")),
     "nodeSelectorTerms[0].matchExpressions[0].values[0]"},
    {"affinity_enforced_no_match", NewNodeAffinity, kNodeAdd, Selecting("ssd"), kNone,
     Of(Disk("ssd")), kSkip,
     R"({"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
        [{"matchExpressions": [{"key": "pool", "operator": "Exists"}]}]}}})"},
    {"affinity_enforced_is_not_asked_before", NewNodeAffinity, kLabel, Selecting("ssd"),
     Of(Disk("ssd")), Of(Disk("ssd").Label("pool", "")), kSkip,
     R"({"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
        [{"matchExpressions": [{"key": "pool", "operator": "Exists"}]}]}}})"},

    {"ports_freed", NewNodePorts, kPodDelete, Port(80), Of(Port(80).Node("n")), kNone, kQueue},
    {"ports_freed_nominated", NewNodePorts, kPodDelete, Port(80), Of(Port(80).NominatedNode("n")),
     kNone, kQueue},
    {"ports_freed_nowhere", NewNodePorts, kPodDelete, Port(80), Of(Port(80)), kNone, kSkip},
    {"ports_others_freed", NewNodePorts, kPodDelete, Port(80), Of(Port(81).Node("n")), kNone,
     kSkip},
    {"ports_none_freed", NewNodePorts, kPodDelete, Port(80), Of(MakePod().Node("n")), kNone, kSkip},
    {"ports_of_any_address", NewNodePorts, kPodDelete, Port(80), Of(Port(80, "10.0.0.1").Node("n")),
     kNone, kQueue},
    {"ports_of_another_address", NewNodePorts, kPodDelete, Port(80, "10.0.0.2"),
     Of(Port(80, "10.0.0.1").Node("n")), kNone, kSkip},

    {"fit_deleted", NewNodeResourcesFit, kPodDelete, Cpu("1"), Of(MakePod().Node("n")), kNone,
     kQueue},
    {"fit_deleted_nominated", NewNodeResourcesFit, kPodDelete, Cpu("1"),
     Of(MakePod().NominatedNode("n")), kNone, kQueue},
    {"fit_deleted_nowhere", NewNodeResourcesFit, kPodDelete, Cpu("1"), Of(MakePod()), kNone, kSkip},
    {"fit_added", NewNodeResourcesFit, kNodeAdd, Cpu("4"), kNone, Of(Room("4")), kQueue},
    {"fit_added_small", NewNodeResourcesFit, kNodeAdd, Cpu("4"), kNone, Of(Room("3999m")), kSkip},
    {"fit_added_no_pods", NewNodeResourcesFit, kNodeAdd, Cpu("4"), kNone, Of(Room("4", "8Gi", "0")),
     kSkip},
    {"fit_added_device", NewNodeResourcesFit, kNodeAdd, MakePod().Req({{"example.com/gpu", "2"}}),
     kNone, Of(Devices("2")), kQueue},
    {"fit_added_too_few_devices", NewNodeResourcesFit, kNodeAdd,
     MakePod().Req({{"example.com/gpu", "2"}}), kNone, Of(Devices("1")), kSkip},
    {"fit_ignored_resources_do_not_count", NewNodeResourcesFit, kNodeAdd,
     MakePod().Req({{"example.com/gpu", "2"}}), kNone, Of(Room("4")), kQueue,
     R"({"ignoredResources": ["example.com/gpu"]})"},
    {"fit_others_than_ignored_resources_count", NewNodeResourcesFit, kNodeAdd,
     MakePod().Req({{"example.com/gpu", "2"}}), kNone, Of(Room("4")), kSkip,
     R"({"ignoredResources": ["example.com/other"]})"},
    {"fit_grew", NewNodeResourcesFit, kAllocatable, Cpu("4"), Of(Room("3")), Of(Room("4")), kQueue},
    {"fit_grew_too_little", NewNodeResourcesFit, kAllocatable, Cpu("4"), Of(Room("2")),
     Of(Room("3")), kSkip},
    {"fit_shrank", NewNodeResourcesFit, kAllocatable, Cpu("4"), Of(Room("8")), Of(Room("7")),
     kSkip},
    {"fit_other_resource_grew", NewNodeResourcesFit, kAllocatable, Cpu("4"), Of(Room("8")),
     Of(Room("8", "16Gi")), kSkip},
    {"fit_more_pods", NewNodeResourcesFit, kAllocatable, Cpu("4"), Of(Room("8")),
     Of(Room("8", "8Gi", "11")), kQueue},
    {"fit_without_requests_only_by_pods", NewNodeResourcesFit, kAllocatable, kPlain, Of(Room("8")),
     Of(Room("16", "16Gi")), kSkip},
    {"fit_more_devices", NewNodeResourcesFit, kAllocatable,
     MakePod().Req({{"example.com/gpu", "2"}}), Of(Devices("1")), Of(Devices("2")), kQueue},
    {"fit_scaled_down", NewNodeResourcesFit, kScaleDown, Cpu("1"), Of(Cpu("4").Node("n")),
     Of(Cpu("3").Node("n")), kQueue},
    {"fit_scaled_down_another_resource", NewNodeResourcesFit, kScaleDown,
     MakePod().Req({{"memory", "1Gi"}}), Of(Cpu("4").Node("n")), Of(Cpu("3").Node("n")), kSkip},
    {"fit_scaled_down_nowhere", NewNodeResourcesFit, kScaleDown, Cpu("1"), Of(Cpu("4")),
     Of(Cpu("3")), kSkip},

    {"preemption_never", NewDefaultPreemption, kPodDelete, kPlain, Of(MakePod().Node("n")), kNone,
     kSkip},

    {"features_added", NewNodeDeclaredFeatures, kNodeAdd, kPlain, kNone, Of(MakeNode()), kQueue},
    {"features_differ", NewNodeDeclaredFeatures, kFeature, kPlain, Of(MakeNode()),
     api::NodePtr(WithFeatures({"X"})), kQueue},
    {"features_same", NewNodeDeclaredFeatures, kFeature, kPlain, api::NodePtr(WithFeatures({"X"})),
     api::NodePtr(WithFeatures({"X"})), kSkip},
    {"features_own_change", NewNodeDeclaredFeatures, kOwnUpdate, kPlain, HostNetworkPod(false),
     HostNetworkPod(true), kQueue},
    {"features_other_change", NewNodeDeclaredFeatures, kOwnUpdate, kPlain, Of(kPlain),
     Of(MakePod().Labels({{"a", "b"}})), kSkip},
};

class NodeHintTest : public ::testing::TestWithParam<Case> {};

TEST_P(NodeHintTest, Says) {
  const Case& c = GetParam();
  PluginRig rig(c.factory, c.args);
  int matching = 0;
  for (const auto& registration : rig.As<framework::EnqueueExtensions>()->EventsToRegister()) {
    if (!registration.event.Matches(c.event)) continue;
    ++matching;
    ASSERT_TRUE(registration.hint);
    const auto answer = registration.hint(*c.pod.Obj(), c.old_object, c.new_object);
    if (answer.ok()) {
      EXPECT_EQ(*answer == framework::QueueingHint::kQueue ? kQueue : kSkip, c.want);
    } else {
      EXPECT_NE(answer.error().message.find(c.want), std::string::npos) << answer.error().message;
    }
  }
  EXPECT_EQ(matching, 1);
}

INSTANTIATE_TEST_SUITE_P(Plugins, NodeHintTest, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<Case>& row) {
                           return std::string(row.param.name);
                         });

// Answers for a whole spec must not depend on anything else.
TEST(NodeHintScopeTest, DeclaredForEventsOfNodes) {
  for (const framework::PluginFactory& factory :
       {NewNodeUnschedulable, NewTaintToleration, NewNodeAffinity, NewNodeResourcesFit}) {
    PluginRig rig(factory);
    for (const auto& registration : rig.As<framework::EnqueueExtensions>()->EventsToRegister()) {
      if (registration.event.resource != EventResource::kNode) continue;
      EXPECT_EQ(registration.scope, framework::HintScope::kSpec) << rig.plugin().Name();
    }
  }
}

}  // namespace
}  // namespace ks::plugins
