// SPDX-License-Identifier: Apache-2.0
// Groups of pods from arrival to binding: the examples of docs/spec/cycle.md 25.12 under their
// numbers, and what happens to members that fail, wait, come late or go.
#include "scheduler/group_cycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "config/gates/feature_gates.h"
#include "scheduler/rig.h"
#include "testing/deltas.h"
#include "testing/no_objects.h"
#include "testing/storage_builders.h"

namespace ks::scheduler {
namespace {

using testing::MakeNode;
using testing::MakePod;
using namespace std::chrono_literals;

config::FeatureGates Gates(const std::string& more = "") {
  return config::FeatureGates::Make({.feature_gates = {"GenericWorkload=true" + more}}, nullptr)
      .value();
}

class GroupCycleTest : public ::testing::Test {
 protected:
  // Which further gates are on: ",TopologyAwareWorkloadScheduling=true".
  void Start(const std::vector<api::NodePtr>& nodes, const std::string& gates = "") {
    gates_ = std::make_unique<config::FeatureGates>(Gates(gates));
    Rig::Options options;
    options.configuration = config::DefaultConfiguration(*gates_);
    options.gates = gates_.get();
    rig = std::make_unique<Rig>(std::move(options));
    testing::PostNoGroups(*rig->scheduler);
    rig->Sync(nodes);
    rig->Settle();
  }
  template <class T>
  void Show(const std::shared_ptr<const T>& group) {
    rig->scheduler->Post(GroupDeltas(std::vector<api::Delta<T>>{testing::Upsert<T>(group)}));
    rig->Settle();
  }

  static api::NodePtr Node(const std::string& name, const std::string& cpu = "2",
                           const std::string& rack = "") {
    auto node = MakeNode().Name(name).Allocatable({{"cpu", cpu}, {"pods", "110"}});
    if (!rack.empty()) node.Label("rack", rack);
    return node.Obj();
  }
  // Without a number: policy basic.
  static std::shared_ptr<api::PodGroup> Group(std::optional<int32_t> min_count,
                                              const std::string& name = "g") {
    auto group = std::make_shared<api::PodGroup>();
    group->meta.ns = Symbol("ns");
    group->meta.name = name;
    group->meta.uid = "pg-" + name;
    group->meta.resource_version = std::to_string(++version_);
    group->min_count = min_count;
    return group;
  }
  static testing::PodBuilder Pod(const std::string& name, const std::string& cpu,
                                 const std::string& group = "g") {
    auto pod = MakePod().Name(name).Req({{"cpu", cpu}});
    pod.spec().scheduling_group = group;
    return pod;
  }
  void Add(const std::string& name, const std::string& cpu, const std::string& group = "g") {
    rig->UpsertPod(Pod(name, cpu, group).Obj());
  }
  // "a→n1 b→n2", of the Bind calls so far.
  std::string Bound() const {
    std::string text;
    for (const auto& [pod, node] : rig->Bound()) {
      text += (text.empty() ? "" : " ") + pod + "→" + node;
    }
    return text;
  }
  // "False Unschedulable: text", of the last patch of the group.
  std::string Condition(const std::string& name = "g") const {
    std::string text;
    for (const auto& [group, condition] : rig->api.group_patches) {
      if (group->meta.name == name) {
        text = condition.status + " " + condition.reason + ": " + condition.message;
      }
    }
    return text;
  }

  std::unique_ptr<Rig> rig;

 private:
  static inline int version_ = 0;
  std::unique_ptr<config::FeatureGates> gates_;
};

TEST_F(GroupCycleTest, G1AGangIsBoundTogether) {
  Start({Node("n1"), Node("n2")});
  Show<api::PodGroup>(Group(2));
  Add("a", "1");
  rig->Settle();
  EXPECT_EQ(Bound(), "");
  EXPECT_EQ(Condition(), "");
  Add("b", "2");
  rig->Settle();
  EXPECT_EQ(Bound(), "a→n1 b→n2");
  EXPECT_EQ(Condition(), "True Scheduled: ");
  rig->Bind();
  EXPECT_EQ(rig->scheduler->context().stats.bound, 2U);
}

TEST_F(GroupCycleTest, G2OneFitsAndTheOtherDoesNot) {
  Start({Node("n1")});
  Show<api::PodGroup>(Group(2));
  Add("a", "2");
  Add("b", "2");
  rig->Settle();
  EXPECT_EQ(Bound(), "");
  const std::string text =
      "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining, pod group preemption: No "
      "preemption victims found for incoming preemptor";
  EXPECT_EQ(Condition(), "False Unschedulable: " + text);
  EXPECT_EQ(rig->LastMessage("a"), "pod group is unschedulable, " + text);
  EXPECT_EQ(rig->LastMessage("b"), "0/1 nodes are available: 1 Insufficient cpu.");
  // Nothing of the attempt stays.
  EXPECT_EQ(rig->scheduler->context().cluster.cache.counts().assumed_pods, 0U);
  EXPECT_EQ(rig->scheduler->context().cluster.cache.Find("n1")->requested().milli_cpu, 0);
}

TEST_F(GroupCycleTest, G3ABasicGroupTakesWhatThereIs) {
  Start({Node("n1")});
  Show<api::PodGroup>(Group(std::nullopt));
  Add("a", "2");
  Add("b", "2");
  rig->Settle();
  EXPECT_EQ(Bound(), "a→n1");
  ASSERT_FALSE(rig->api.group_patches.empty());
  EXPECT_EQ(rig->api.group_patches.front().second.status, "True");
  EXPECT_EQ(rig->LastMessage("b"), "0/1 nodes are available: 1 Insufficient cpu.");
  // Seen as scheduled, it is so for good.
  const auto scheduled = Group(std::nullopt);
  scheduled->conditions = {rig->api.group_patches.front().second};
  Show<api::PodGroup>(scheduled);
  rig->Bind();
  const size_t patches = rig->api.group_patches.size();
  rig->Advance(20s);
  EXPECT_EQ(rig->api.group_patches.size(), patches);
}

// A patch whose answer was an error may have been written: no later one takes it back.
TEST_F(GroupCycleTest, AGroupThatWasScheduledStaysSoWhenThePatchFails) {
  Start({Node("n1")});
  Show<api::PodGroup>(Group(std::nullopt));
  rig->api.fail_group_patches = true;
  Add("a", "2");
  Add("b", "2");
  rig->Settle();
  EXPECT_EQ(Bound(), "a→n1");
  EXPECT_EQ(Condition(), "True Scheduled: ");
  rig->Bind();
  rig->api.fail_group_patches = false;
  const size_t patches = rig->api.group_patches.size();
  Add("c", "2");
  rig->Advance(20s);
  EXPECT_EQ(rig->api.group_patches.size(), patches + 1);
  EXPECT_EQ(Condition(), "True Scheduled: ") << "said again, whatever became of the others";
}

TEST_F(GroupCycleTest, G4NobodyIsTriedOnceTheQuorumIsOutOfReach) {
  Start({Node("n1")});
  Show<api::PodGroup>(Group(2));
  Add("a", "3");
  Add("b", "3");
  Add("c", "1");
  rig->Settle();
  EXPECT_EQ(Bound(), "");
  EXPECT_EQ(rig->LastMessage("a"), "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_THAT(rig->LastMessage("c"),
              ::testing::StartsWith("minCount (2) cannot be satisfied: 0 scheduled, 1 remaining"));
}

TEST_F(GroupCycleTest, G7NoNodes) {
  Start({});
  Show<api::PodGroup>(Group(2));
  Add("a", "1");
  Add("b", "1");
  rig->Settle();
  const std::string text = "error in \"DynamicResources\" PodGroupPostFilter plugins: not found";
  EXPECT_EQ(Condition(), "False SchedulerError: " + text);
  EXPECT_EQ(rig->LastMessage("a"), text);
}

TEST_F(GroupCycleTest, G8NoRackHasRoom) {
  Start({Node("n1", "2", "r1"), Node("n2", "2", "r2"), Node("n3", "2", "r3")},
        ",TopologyAwareWorkloadScheduling=true");
  const auto group = Group(2);
  group->spec.topology_keys = {Symbol("rack")};
  Show<api::PodGroup>(group);
  Add("a", "2");
  Add("b", "2");
  rig->Settle();
  EXPECT_EQ(Bound(), "");
  const std::string text =
      "pod group is unschedulable, 0/3 placements are available, first placement status: minCount "
      "(2) cannot be satisfied: 1 scheduled, 0 remaining, pod group preemption: No preemption "
      "victims found for incoming preemptor";
  EXPECT_EQ(Condition(), "False Unschedulable: " + text);
  EXPECT_EQ(rig->LastMessage("a"), "pod group is unschedulable, " + text);
  EXPECT_EQ(rig->LastMessage("b"), "0/1 nodes are available: 1 Insufficient cpu.");
}

TEST_F(GroupCycleTest, G9NoNodeHasTheLabel) {
  Start({Node("n1")}, ",TopologyAwareWorkloadScheduling=true");
  const auto group = Group(1);
  group->spec.topology_keys = {Symbol("rack")};
  Show<api::PodGroup>(group);
  Add("a", "1");
  rig->Settle();
  EXPECT_THAT(rig->LastMessage("a"), ::testing::StartsWith("no feasible placements found"));
}

TEST_F(GroupCycleTest, G10APriorityOfItsOwn) {
  Start({Node("n1")});
  const auto group = Group(1);
  group->spec.priority = 10;
  Show<api::PodGroup>(group);
  rig->UpsertPod(Pod("a", "1").Priority(5).Obj());
  rig->Settle();
  const std::string text =
      "all pods in a single pod group should have the same priority as the pod group's priority, "
      "got 5 and 10";
  EXPECT_EQ(Condition(), "False SchedulerError: " + text);
  EXPECT_EQ(rig->LastMessage("a"), text);
  EXPECT_EQ(Bound(), "");
}

TEST_F(GroupCycleTest, G11TooFewMembersWaitUnheard) {
  Start({Node("n1")});
  Show<api::PodGroup>(Group(3));
  Add("a", "100m");
  Add("b", "100m");
  rig->Settle();
  EXPECT_EQ(rig->scheduler->context().stats.attempts, 0U);
  EXPECT_TRUE(rig->api.events.empty());
  // Fewer are wanted.
  Show<api::PodGroup>(Group(2));
  EXPECT_EQ(Bound(), "a→n1 b→n1");
}

TEST_F(GroupCycleTest, G12TheOnlyRackWithRoom) {
  Start({Node("n1", "2", "r1"), Node("n2", "2", "r2"), Node("n3", "2", "r2")},
        ",TopologyAwareWorkloadScheduling=true");
  const auto group = Group(2);
  group->spec.topology_keys = {Symbol("rack")};
  Show<api::PodGroup>(group);
  Add("a", "2");
  Add("b", "2");
  rig->Settle();
  EXPECT_EQ(Bound(), "a→n2 b→n3");
}

TEST_F(GroupCycleTest, ADeletedMemberThatWaitsFreesItsNode) {
  Start({Node("n1")});
  Show<api::PodGroup>(Group(1));
  Add("a", "2");
  rig->Settle();
  ASSERT_EQ(Bound(), "a→n1");
  rig->Bind();
  // Beyond the quorum: a cycle of its own, and the quorum is there at once.
  Add("b", "100m", "h");
  Show<api::PodGroup>(Group(1, "h"));
  rig->Settle();
  EXPECT_EQ(Condition("h").substr(0, 5), "False");
}

TEST_F(GroupCycleTest, AGangThatDoesNotFitIsTriedAgainAfterItsBackoffOnly) {
  Start({Node("n1")});
  Show<api::PodGroup>(Group(2));
  Add("a", "2");
  Add("b", "2");
  rig->Settle();
  const uint64_t attempts = rig->scheduler->context().stats.attempts;
  rig->Settle();
  EXPECT_EQ(rig->scheduler->context().stats.attempts, attempts);
  rig->UpsertNode(Node("n2"));
  rig->Advance(20s);
  EXPECT_EQ(Bound(), "a→n1 b→n2");
}

TEST_F(GroupCycleTest, LateMembersAreTakenWhenTheQuorumRuns) {
  Start({Node("n1", "8")});
  Show<api::PodGroup>(Group(2));
  Add("a", "1");
  Add("b", "1");
  rig->Settle();
  rig->Bind();
  Add("c", "1");
  rig->Settle();
  EXPECT_EQ(Bound(), "a→n1 b→n1 c→n1");
}

TEST_F(GroupCycleTest, PodsBeforeTheirGroup) {
  Start({Node("n1", "8")});
  Add("a", "1");
  Add("b", "1");
  rig->Settle();
  EXPECT_EQ(Bound(), "");
  Show<api::PodGroup>(Group(2));
  EXPECT_EQ(Bound(), "a→n1 b→n1");
}

// Two gangs that could each take half of the nodes: one runs, the other waits with nothing.
TEST_F(GroupCycleTest, TwoGangsNeverHoldHalfEach) {
  Start({Node("n1"), Node("n2")});
  Show<api::PodGroup>(Group(2, "g"));
  Show<api::PodGroup>(Group(2, "h"));
  Add("a1", "2", "g");
  Add("b1", "2", "h");
  Add("a2", "2", "g");
  Add("b2", "2", "h");
  rig->Settle();
  EXPECT_EQ(Bound(), "a1→n1 a2→n2");
  EXPECT_EQ(rig->scheduler->context().cluster.cache.counts().assumed_pods, 2U);
}

TEST_F(GroupCycleTest, AMemberThatFailsToBindComesBackAlone) {
  Start({Node("n1", "8")});
  Show<api::PodGroup>(Group(2));
  Add("a", "1");
  Add("b", "1");
  rig->Settle();
  ASSERT_EQ(rig->api.binds.size(), 2U);
  const auto done = std::exchange(rig->api.binds[0].done, nullptr);
  done(api::ApiError{.message = "no"});
  rig->Advance(20s);
  EXPECT_EQ(rig->api.binds.size(), 3U);
}

// What was chosen for a member outlives the search, which reserves its node and gives it back.
TEST_F(GroupCycleTest, AMemberIsNotBoundBeforeItsVolumesAre) {
  const auto node = [](const char* name) {
    return MakeNode().Name(name).Label("h", name).Allocatable({{"pods", "10"}}).Obj();
  };
  Start({node("n1"), node("n2")});
  rig->Show<api::StorageClass>(testing::Class());
  rig->Show<api::PersistentVolume>(testing::VolumeOn("pv1", "10Gi", "n1"));
  rig->Show<api::PersistentVolumeClaim>(testing::Claim("x"));
  Show<api::PodGroup>(Group(1));
  auto pod = testing::PodWith({"x"});
  pod.spec().scheduling_group = "g";
  rig->UpsertPod(pod.Obj());
  rig->Settle();
  ASSERT_EQ(rig->api.writes.size(), 1u);
  EXPECT_EQ(rig->api.writes[0].volume->meta.name, "pv1");
  EXPECT_TRUE(rig->api.binds.empty()) << "not before the claim is bound";
}

TEST_F(GroupCycleTest, ATreeIsPlacedAsAWhole) {
  Start({Node("n1"), Node("n2"), Node("n3")},
        ",TopologyAwareWorkloadScheduling=true,CompositePodGroup=true");
  auto top = std::make_shared<api::CompositePodGroup>();
  top->meta.ns = Symbol("ns");
  top->meta.name = "top";
  top->meta.resource_version = "t1";
  top->min_group_count = 2;
  Show<api::CompositePodGroup>(top);
  for (const char* name : {"g", "h"}) {
    const auto group = Group(2, name);
    group->spec.parent_composite_pod_group_name = "top";
    Show<api::PodGroup>(group);
  }
  Add("a1", "1", "g");
  Add("a2", "1", "g");
  Add("b1", "1", "h");
  rig->Settle();
  EXPECT_EQ(Bound(), "");
  Add("b2", "1", "h");
  rig->Settle();
  EXPECT_EQ(rig->Bound().size(), 4U) << Bound();
}

// Its children are enough, but no attempt brings anything new: it has to wait between two of them.
TEST_F(GroupCycleTest, ATreeWhoseQueuedGroupFailsBacksOff) {
  Start({Node("n1"), Node("n2")}, ",TopologyAwareWorkloadScheduling=true,CompositePodGroup=true");
  auto top = std::make_shared<api::CompositePodGroup>();
  top->meta.ns = Symbol("ns");
  top->meta.name = "top";
  top->meta.resource_version = "t1";
  Show<api::CompositePodGroup>(top);
  for (const char* name : {"g", "h"}) {
    const auto group = Group(name == std::string("g") ? 1 : 2, name);
    group->spec.parent_composite_pod_group_name = "top";
    Show<api::PodGroup>(group);
  }
  Add("a1", "1", "g");
  rig->Settle();
  EXPECT_EQ(rig->Bound().size(), 1U) << Bound();
  Add("b1", "1", "h");
  Add("b2", "64", "h");
  rig->Settle();
  rig->Advance(1min);
  EXPECT_EQ(rig->Bound().size(), 1U) << Bound();
  EXPECT_LT(rig->scheduler->context().stats.attempts, 60U);
}

}  // namespace
}  // namespace ks::scheduler
