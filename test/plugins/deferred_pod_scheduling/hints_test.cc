// SPDX-License-Identifier: Apache-2.0
// docs/spec/queue.md section 17: which events wake a deferred pod, and none but such a pod.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/deferred_pod_scheduling/deferred_pod_scheduling.h"
#include "plugins/node_resources/fit.h"
#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using framework::ClusterEvent;
using framework::EventObject;
using framework::EventResource;
using testing::MakeNode;
using testing::MakePod;
using testing::NodeBuilder;
using testing::PodBuilder;

constexpr ClusterEvent kPolicy{
    EventResource::kNode, framework::kActionUpdateNodePreemptionPolicy, {}};
constexpr ClusterEvent kAdded{EventResource::kNode, framework::kActionAdd, {}};
constexpr ClusterEvent kGrown{EventResource::kNode, framework::kActionUpdateNodeAllocatable, {}};
constexpr ClusterEvent kCame{EventResource::kAssignedPod, framework::kActionAdd, {}};
constexpr ClusterEvent kGone{EventResource::kAssignedPod, framework::kActionDelete, {}};
constexpr ClusterEvent kDown{EventResource::kAssignedPod, framework::kActionUpdatePodScaleDown, {}};
constexpr ClusterEvent kUp{EventResource::kAssignedPod, framework::kActionUpdatePodScaleUp, {}};
constexpr ClusterEvent kOwnUp{EventResource::kTargetPod, framework::kActionUpdatePodScaleUp, {}};

PodBuilder Plain() { return MakePod().Node("own").Req({{"cpu", "2"}}); }
PodBuilder Deferred() {
  PodBuilder pod = Plain();
  api::Condition condition;
  condition.type = "PodResizePending";
  condition.reason = "Deferred";
  return pod.Condition(condition);
}
PodBuilder Other(std::string_view node, const char* cpu = "1") {
  return MakePod().Name("other").Node(node).Req({{"cpu", cpu}});
}
NodeBuilder Node(std::string_view name, const char* cpu = "4") {
  return MakeNode().Name(name).Allocatable({{"cpu", cpu}, {"pods", "10"}});
}
NodeBuilder Closed(std::string_view name) {
  NodeBuilder node = Node(name);
  node.node().disable_resize_preemption = "Always";
  return node;
}
const EventObject kNone;
EventObject Of(const NodeBuilder& node) { return node.Obj(); }
EventObject Of(const PodBuilder& pod) { return pod.Obj(); }

struct Case {
  std::string name;
  framework::PluginFactory factory;
  ClusterEvent event;
  EventObject before;
  EventObject after;
  bool want_deferred;
  bool want_plain;  // of a pod that is not deferred
};

const auto kFit = NewNodeResourcesFit;
const auto kOwn = NewDeferredPodScheduling;
const Case kCases[] = {
    {"policy_opened", kOwn, kPolicy, Of(Closed("own")), Of(Node("own")), true, false},
    {"policy_opened_elsewhere", kOwn, kPolicy, Of(Closed("n")), Of(Node("n")), false, false},
    {"policy_closed", kOwn, kPolicy, Of(Node("own")), Of(Closed("own")), false, false},
    {"policy_stays_open", kOwn, kPolicy, Of(Node("own")), Of(Node("own")), false, false},
    {"node_added", kOwn, kAdded, kNone, Of(Node("own")), true, false},
    {"closed_node_added", kOwn, kAdded, kNone, Of(Closed("own")), false, false},
    {"other_node_added", kOwn, kAdded, kNone, Of(Node("n")), false, false},
    {"pod_came", kOwn, kCame, kNone, Of(Other("own")), true, false},
    {"pod_came_elsewhere", kOwn, kCame, kNone, Of(Other("n")), false, false},
    {"pod_took_more", kOwn, kUp, Of(Other("own")), Of(Other("own", "2")), true, false},
    {"pod_took_more_elsewhere", kOwn, kUp, Of(Other("n")), Of(Other("n", "2")), false, false},
    {"pod_gave_room", kOwn, kDown, Of(Other("own", "2")), Of(Other("own")), false, false},
    {"pod_grew", kFit, kUp, Of(Other("own")), Of(Other("own", "2")), true, false},
    {"pod_grew_elsewhere", kFit, kUp, Of(Other("n")), Of(Other("n", "2")), false, false},
    {"grew_itself", kFit, kOwnUp, Of(Plain()), Of(Deferred()), true, false},
    {"fit_node_added", kFit, kAdded, kNone, Of(Node("own")), true, true},
    {"fit_small_node_added", kFit, kAdded, kNone, Of(Node("own", "1")), false, false},
    {"fit_other_node_added", kFit, kAdded, kNone, Of(Node("n")), false, true},
    {"fit_node_grew", kFit, kGrown, Of(Node("own", "3")), Of(Node("own")), true, true},
    {"fit_other_node_grew", kFit, kGrown, Of(Node("n", "3")), Of(Node("n")), false, true},
    {"fit_pod_gone", kFit, kGone, Of(Other("own")), kNone, true, true},
    {"fit_pod_gone_elsewhere", kFit, kGone, Of(Other("n")), kNone, false, true},
    {"fit_nomination_gone", kFit, kGone, Of(Other("").NominatedNode("own")), kNone, true, true},
    {"fit_nomination_gone_elsewhere", kFit, kGone, Of(Other("").NominatedNode("n")), kNone, false,
     true},
    {"fit_pod_shrank", kFit, kDown, Of(Other("own", "2")), Of(Other("own")), true, true},
    {"fit_pod_shrank_elsewhere", kFit, kDown, Of(Other("n", "2")), Of(Other("n")), false, true},
};

// The answer under the gate; no registration counts as none.
bool Wakes(PluginRig& rig, const Case& c, const api::PodPtr& pod) {
  bool wakes = false;
  for (const auto& registration : rig.As<framework::EnqueueExtensions>()->EventsToRegister()) {
    if (!registration.event.Matches(c.event)) continue;
    EXPECT_EQ(registration.scope, framework::HintScope::kPod) << "the pod's node counts";
    const auto answer = registration.hint(*pod, c.before, c.after);
    wakes = wakes || (answer.ok() && *answer == framework::QueueingHint::kQueue);
  }
  return wakes;
}

class DeferredHintTest : public ::testing::TestWithParam<Case> {};

TEST_P(DeferredHintTest, Says) {
  const Case& c = GetParam();
  PluginRig rig(c.factory, "null", {config::Gate::kInPlacePodVerticalScalingSchedulerPreemption});
  EXPECT_EQ(Wakes(rig, c, Deferred().Obj()), c.want_deferred);
  EXPECT_EQ(Wakes(rig, c, Plain().Obj()), c.want_plain);
}

INSTANTIATE_TEST_SUITE_P(Rows, DeferredHintTest, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ks::plugins
