// SPDX-License-Identifier: Apache-2.0
// Pods that run and wait for room for their resize, under the gate
// InPlacePodVerticalScalingSchedulerPreemption: how they enter and leave the queue, and what an
// attempt does to them (docs/spec/queue.md section 17, docs/spec/cache.md 11.6, docs/spec/cycle.md
// section 21).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inspect/live_explain.h"
#include "scheduler/preemption_rig.h"
#include "testing/deltas.h"
#include "testing/fake_extenders.h"

namespace ks::scheduler {
namespace {

using ks::testing::PodBuilder;
using queue::Store;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Texts = PreemptionTexts;

constexpr std::string_view kPlugin = "DeferredPodScheduling";

const config::FeatureGates& GatesOn() {
  static const config::FeatureGates gates = [] {
    config::FeatureGates made;
    made.Set(config::Gate::kInPlacePodVerticalScalingSchedulerPreemption, true);
    return made;
  }();
  return gates;
}
Rig::Options GateOn() {
  Rig::Options options;
  options.configuration = config::DefaultConfiguration(GatesOn());
  options.gates = &GatesOn();
  return options;
}
Rig::Options StandbyWithGate() {
  Rig::Options options = GateOn();
  options.standby = true;
  return options;
}

PodBuilder Resizing(PodBuilder pod, std::string_view reason) {
  api::Condition condition;
  condition.type = "PodResizePending";
  condition.status = "True";
  condition.reason = reason;
  return pod.Condition(condition);
}
PodBuilder Deferred(PodBuilder pod) { return Resizing(std::move(pod), "Deferred"); }
// A later version of the pod.
api::PodPtr Version(PodBuilder pod, const std::string& version) {
  return pod.ResourceVersion(version).Obj();
}

const framework::QueuedPod* Queued(const Rig& rig, const std::string& name) {
  return rig.scheduler->context().queue.stores().FindPod("ns/" + name);
}
Store StoreOf(const Rig& rig, const std::string& name) {
  return rig.scheduler->context().queue.stores().StoreOf("ns/" + name);
}
int64_t CpuOn(const Rig& rig, const std::string& node) {
  EXPECT_TRUE(rig.scheduler->context().cluster.cache.RefreshSnapshot().ok());
  return rig.scheduler->context().cluster.cache.Find(node)->requested().milli_cpu;
}

// ---- into the queue and out of it

// What the pod informer delivers, one delta after the other, to a standby, which attempts nothing.
struct Transition {
  std::string name;
  std::vector<api::Delta<api::Pod>> deltas;
  Store want = Store::kNone;
  size_t want_cached = 1;
  std::string want_version;  // of the pod in the queue
  std::string want_uid = "uid-p";
  int64_t want_cpu_milli = 1000;  // of the pod, if it is cached
};

api::Delta<api::Pod> Shown(PodBuilder pod, const std::string& version) {
  return testing::Upsert<api::Pod>(Version(std::move(pod), version));
}
api::Delta<api::Pod> Gone(PodBuilder pod) { return testing::Delete<api::Pod>(Version(pod, "9")); }
api::Delta<api::Pod> Listed(const std::vector<api::PodPtr>& pods) {
  return testing::Replace<api::Pod>(pods);
}

std::vector<Transition> Transitions() {
  const PodBuilder pending = CpuPod("p", 5, "1");
  const PodBuilder plain = Running("p", 5, "1");
  const PodBuilder deferred = Deferred(plain);
  const PodBuilder infeasible = Resizing(plain, "Infeasible");
  PodBuilder foreign = deferred;
  foreign.SchedulerName("somebody-else");
  PodBuilder foreign_plain = plain;
  foreign_plain.SchedulerName("somebody-else");
  PodBuilder recreated = deferred;
  recreated.Uid("uid-other");
  return {
      {"added_deferred", {Shown(deferred, "1")}, Store::kActive, 1, "1"},
      {"added_plain", {Shown(plain, "1")}},
      {"added_infeasible", {Shown(infeasible, "1")}, Store::kNone, 1, "", "", 0},
      {"added_of_somebody_else", {Shown(foreign, "1")}},
      {"becomes_deferred", {Shown(plain, "1"), Shown(deferred, "2")}, Store::kActive, 1, "2"},
      {"becomes_deferred_of_somebody_else", {Shown(foreign_plain, "1"), Shown(foreign, "2")}},
      {"from_infeasible_to_deferred",
       {Shown(infeasible, "1"), Shown(deferred, "2")},
       Store::kActive,
       1,
       "2"},
      {"stays_deferred", {Shown(deferred, "1"), Shown(deferred, "2")}, Store::kActive, 1, "2"},
      {"is_resized", {Shown(deferred, "1"), Shown(plain, "2")}},
      {"becomes_infeasible",
       {Shown(deferred, "1"), Shown(infeasible, "2")},
       Store::kNone,
       1,
       "",
       "",
       0},
      {"deferred_again",
       {Shown(deferred, "1"), Shown(plain, "2"), Shown(deferred, "3")},
       Store::kActive,
       1,
       "3"},
      {"deleted", {Shown(deferred, "1"), Gone(deferred)}, Store::kNone, 0},
      {"deleted_as_it_was_resized", {Shown(deferred, "1"), Gone(plain)}, Store::kNone, 0},
      {"deleted_of_somebody_else", {Shown(foreign, "1"), Gone(foreign)}, Store::kNone, 0},
      {"in_the_first_list", {Listed({Version(deferred, "1")})}, Store::kActive, 1, "1"},
      {"missing_in_a_list", {Shown(deferred, "1"), Listed({})}, Store::kNone, 0},
      {"the_same_in_a_list",
       {Shown(deferred, "1"), Listed({Version(deferred, "1")})},
       Store::kActive,
       1,
       "1"},
      {"resized_in_a_list", {Shown(deferred, "1"), Listed({Version(plain, "2")})}},
      {"deferred_in_a_list",
       {Shown(plain, "1"), Listed({Version(deferred, "2")})},
       Store::kActive,
       1,
       "2"},
      {"bound_and_deferred_in_a_list",
       {Shown(pending, "1"), Listed({Version(deferred, "2")})},
       Store::kActive,
       1,
       "2"},
      {"bound", {Shown(pending, "1"), Shown(plain, "2")}},
      {"created_again_in_a_list",
       {Shown(deferred, "1"), Listed({Version(recreated, "2")})},
       Store::kActive,
       1,
       "2",
       "uid-other"},
      {"pending_again_in_a_list",
       {Shown(deferred, "1"), Listed({Version(pending, "2")})},
       Store::kActive,
       0,
       "2"},
  };
}

class ResizeTransition : public ::testing::TestWithParam<Transition> {};

TEST_P(ResizeTransition, EntersAndLeavesTheQueue) {
  const Transition& c = GetParam();
  Rig rig(StandbyWithGate());
  rig.Sync({CpuNode("n1", "4").Obj()});
  rig.Settle();
  for (const auto& delta : c.deltas) {
    rig.scheduler->Post(PodDeltas{delta});
    rig.Settle();
  }
  EXPECT_EQ(StoreOf(rig, "p"), c.want);
  EXPECT_EQ(rig.scheduler->context().queue.stores().Pods().size(),
            c.want == Store::kNone ? 0U : 1U);
  EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().pods, c.want_cached);
  EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().assumed_pods, 0U);
  EXPECT_EQ(CpuOn(rig, "n1"), c.want_cached == 0 ? 0 : c.want_cpu_milli);
  if (c.want == Store::kNone) return;
  EXPECT_EQ(Queued(rig, "p")->pod()->meta.resource_version, c.want_version);
  EXPECT_EQ(Queued(rig, "p")->pod()->meta.uid, c.want_uid);
}

INSTANTIATE_TEST_SUITE_P(Rows, ResizeTransition, ::testing::ValuesIn(Transitions()),
                         [](const auto& row) { return row.param.name; });

TEST(ResizeTest, WithoutTheGateNothingIsQueued) {
  for (const Transition& c : Transitions()) {
    SCOPED_TRACE(c.name);
    Rig rig(Rig::Options{.standby = true});
    rig.Sync({CpuNode("n1", "4").Obj()});
    for (const auto& delta : c.deltas) rig.scheduler->Post(PodDeltas{delta});
    rig.Settle();
    const bool pending = c.want_cached == 0 && c.want != Store::kNone;
    EXPECT_EQ(rig.scheduler->context().queue.stores().Pods().size(), pending ? 1U : 0U);
    EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().pods, c.want_cached);
  }
}

// An update of a queued pod keeps its record.
TEST(ResizeTest, AnUpdateKeepsItsPlace) {
  Rig rig(StandbyWithGate());
  const PodBuilder p = Deferred(Running("p", 5, "1"));
  rig.Sync({CpuNode("n1", "4").Obj()}, {Version(p, "1")});
  rig.Settle();
  const framework::QueuedPod* before = Queued(rig, "p");
  const TimePoint since = before->timestamp;
  rig.clock.Advance(seconds(5));
  rig.UpsertPod(Version(p, "2"));
  rig.Settle();
  EXPECT_EQ(Queued(rig, "p"), before);
  EXPECT_EQ(before->timestamp, since);
}

TEST(ResizeTest, AStandbyHasThemWhenItTakesOver) {
  PreemptionRig rig(StandbyWithGate());
  rig.Sync({CpuNode("n1", "2").Obj()},
           {Running("low", 0, "1").Obj(), Deferred(Running("p", 5, "2")).Obj()});
  rig.Settle();
  EXPECT_THAT(rig.Victims(), IsEmpty());
  rig.scheduler->Lead();
  rig.Settle();
  EXPECT_EQ(rig.Victims(), Texts{"low"});
}

// ---- an attempt

// Both nodes are overcommitted by a resize, and both have pods that may be preempted.
TEST(ResizeTest, PreemptsOnItsOwnNodeAndParks) {
  PreemptionRig rig(GateOn());
  const api::PodPtr p = Deferred(Running("p", 5, "3")).Obj();
  rig.Sync({CpuNode("n1", "4").Obj(), CpuNode("n2", "4").Obj(), CpuNode("n3", "64").Obj()},
           {Running("low", 0, "2").Obj(), Running("equal", 5, "1").Obj(),
            CpuPod("lowest", -5, "4").Node("n2").Obj(), p});
  rig.Settle();
  EXPECT_EQ(rig.Victims(), Texts{"low"});
  EXPECT_EQ(rig.PreemptedEvents(), Texts{}) << "no answer yet";
  EXPECT_EQ(CpuOn(rig, "n1"), 6000);
  rig.AnswerAll();
  EXPECT_EQ(rig.PreemptedEvents(), Texts{"low: Preempted by pod uid-p on node n1"});
  rig.Advance(seconds(10));
  EXPECT_EQ(StoreOf(rig, "p"), Store::kUnschedulable);
  EXPECT_EQ(Queued(rig, "p")->unschedulable_plugins, (std::set<std::string>{std::string(kPlugin)}));
  EXPECT_EQ(CpuOn(rig, "n1"), 4000);
  EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().pods, 3U);
  EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().assumed_pods, 0U);
  EXPECT_EQ(rig.Victims().size(), 1U);
  EXPECT_THAT(rig.Bound(), IsEmpty());
}

// The kubelet is the only one to say anything about a pod that runs.
TEST(ResizeTest, NothingIsWrittenAboutThePod) {
  PreemptionRig rig(GateOn());
  rig.Sync({CpuNode("n1", "4").Obj()},
           {Running("low", 0, "2").Obj(), Deferred(Running("p", 5, "3")).Obj()});
  rig.Settle();
  rig.AnswerAll();
  rig.Advance(std::chrono::minutes(10));
  EXPECT_GE(rig.scheduler->context().stats.attempts, 3U) << "preempted, fitted, flushed";
  EXPECT_THAT(rig.api.patches, IsEmpty());
  EXPECT_FALSE(rig.scheduler->context().queue.nominator().HasNominatedPods());
  for (const framework::PodEvent& event : rig.api.events) {
    EXPECT_EQ(event.regarding->meta.name, "low") << event.note;
  }
}

TEST(ResizeTest, IsParkedWhenItFitsAndLeavesWhenItIsResized) {
  Rig rig(GateOn());
  const PodBuilder p = Running("p", 5, "3");
  rig.Sync({CpuNode("n1", "4").Obj()}, {Deferred(p).Obj()});
  rig.Settle();
  EXPECT_EQ(rig.scheduler->context().stats.attempts, 1U);
  EXPECT_EQ(rig.scheduler->context().stats.scheduled, 0U);
  EXPECT_EQ(StoreOf(rig, "p"), Store::kUnschedulable);
  const std::vector<Decision> made = rig.scheduler->context().decisions.Newest(1);
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].result, DecisionResult::kUnschedulable);
  EXPECT_EQ(made[0].message,
            "0/1 nodes are available: 1 pod resize fits, waiting for Kubelet actuation.");
  rig.Advance(std::chrono::minutes(6));
  EXPECT_EQ(rig.scheduler->context().stats.attempts, 2U) << "the flush of what is left over";
  rig.UpsertPod(Version(p, "2"));
  rig.Settle();
  EXPECT_EQ(StoreOf(rig, "p"), Store::kNone);
  EXPECT_EQ(CpuOn(rig, "n1"), 3000);
}

struct NoHelp {
  std::string name;
  PodBuilder pod;
  std::string want;
};

class ResizeWithoutVictims : public ::testing::TestWithParam<NoHelp> {};

TEST_P(ResizeWithoutVictims, EvictsNobody) {
  PreemptionRig rig(GateOn());
  testing::NodeBuilder closed = CpuNode("n2", "4");
  closed.node().disable_resize_preemption = "Always";
  rig.Sync({CpuNode("n1", "4").Obj(), closed.Obj()},
           {Running("low", 0, "2").Obj(), CpuPod("low2", 0, "2").Node("n2").Obj(),
            GetParam().pod.Obj()});
  rig.Settle();
  EXPECT_THAT(rig.Victims(), IsEmpty());
  EXPECT_EQ(StoreOf(rig, "p"), Store::kUnschedulable);
  EXPECT_EQ(rig.scheduler->context().decisions.Newest(1).at(0).message, GetParam().want);
}

const char* const kNotHelpful =
    "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeName]. "
    "preemption: 0/2 nodes are available: ";
const NoHelp kNoHelp[] = {
    {"of_equal_priority", Deferred(Running("p", 0, "3")),
     std::string(kNotHelpful) +
         "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for "
         "scheduling."},
    {"that_never_preempts", Deferred(Running("p", 5, "3").PreemptionPolicy("Never")),
     "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeName]. "
     "preemption: not eligible due to preemptionPolicy=Never."},
    {"larger_than_its_node", Deferred(Running("p", 5, "5")),
     std::string(kNotHelpful) + "2 Preemption is not helpful for scheduling."},
    {"where_it_is_forbidden", Deferred(CpuPod("p", 5, "3").Node("n2")),
     "0/2 nodes are available: 1 node had resize preemption disabled, 1 node(s) didn't satisfy "
     "plugin(s) [NodeName]. preemption: 0/2 nodes are available: 2 Preemption is not helpful for "
     "scheduling."},
    {"on_a_node_that_is_gone", Deferred(CpuPod("p", 5, "3").Node("gone")),
     "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [NodeName]. preemption: 0/2 "
     "nodes are available: 2 Preemption is not helpful for scheduling."},
};
INSTANTIATE_TEST_SUITE_P(Rows, ResizeWithoutVictims, ::testing::ValuesIn(kNoHelp),
                         [](const auto& row) { return row.param.name; });

TEST(ResizeTest, WhatPlacedThePodIsNotAskedAgain) {
  Rig rig(GateOn());
  testing::NodeBuilder node = CpuNode("n1", "4");
  node.Unschedulable().Taint("a", "", "NoExecute");
  rig.Sync({node.Obj()},
           {Deferred(Running("p", 5, "1").HostPort(80).NodeSelector({{"zone", "x"}})).Obj()});
  rig.Settle();
  EXPECT_EQ(Queued(rig, "p")->unschedulable_plugins, (std::set<std::string>{std::string(kPlugin)}));
}

// What only concerns other nodes wakes nobody; the flush after five minutes does.
TEST(ResizeTest, IsWokenByItsOwnNode) {
  PreemptionRig rig(GateOn());
  testing::NodeBuilder closed = CpuNode("n1", "4");
  closed.node().disable_resize_preemption = "Always";
  const api::PodPtr other = CpuPod("other", 0, "2").Node("n2").Obj();
  const PodBuilder p = Deferred(Running("p", 5, "3"));
  rig.Sync({closed.Obj(), CpuNode("n2", "4").Obj()},
           {Running("low", 0, "2").Obj(), other, p.Obj()});
  rig.Settle();
  rig.clock.Advance(seconds(20));
  ASSERT_EQ(rig.scheduler->context().stats.attempts, 1U);
  rig.DeletePod(other);
  testing::NodeBuilder forbidding = CpuNode("n2", "4");
  forbidding.node().disable_resize_preemption = "Always";
  rig.UpsertNode(forbidding.Obj());
  rig.UpsertNode(CpuNode("n2", "64").Obj());
  rig.Settle();
  EXPECT_EQ(rig.scheduler->context().stats.attempts, 1U);
  rig.UpsertNode(CpuNode("n1", "4").Obj());
  rig.Settle();
  EXPECT_EQ(rig.scheduler->context().stats.attempts, 2U);
  EXPECT_EQ(rig.Victims(), Texts{"low"});
}

// Nobody can be preempted, until a pod beside it goes, shrinks, or the node grows.
TEST(ResizeTest, ComesBackWhenItsNodeHasRoom) {
  struct Case {
    const char* name;
    void (*change)(PreemptionRig& rig);
  };
  const Case cases[] = {
      {"a pod goes", [](PreemptionRig& rig) { rig.DeletePod(Running("high", 9, "2").Obj()); }},
      {"a pod shrinks",
       [](PreemptionRig& rig) { rig.UpsertPod(Version(Running("high", 9, "1"), "2")); }},
      {"the node grows", [](PreemptionRig& rig) { rig.UpsertNode(CpuNode("n1", "5").Obj()); }},
      {"the resize shrinks",
       [](PreemptionRig& rig) { rig.UpsertPod(Version(Deferred(Running("p", 5, "2")), "2")); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PreemptionRig rig(GateOn());
    rig.Sync({CpuNode("n1", "4").Obj()},
             {Running("high", 9, "2").Obj(), Deferred(Running("p", 5, "3")).Obj()});
    rig.Settle();
    ASSERT_TRUE(Queued(rig, "p")->unschedulable_plugins.contains("NodeResourcesFit"));
    rig.clock.Advance(seconds(20));
    c.change(rig);
    rig.Settle();
    EXPECT_TRUE(Queued(rig, "p")->unschedulable_plugins.contains(std::string(kPlugin)));
    EXPECT_EQ(rig.scheduler->context().stats.attempts, 2U);
  }
}

// A pod that grows beside a parked one takes the room that was found.
TEST(ResizeTest, ComesBackWhenAPodBesideItGrows) {
  PreemptionRig rig(GateOn());
  rig.Sync({CpuNode("n1", "4").Obj()},
           {Running("low", 0, "2").Obj(), Running("high", 9, "1").Obj(),
            Deferred(Running("p", 5, "3").PreemptionPolicy("Never")).Obj()});
  rig.Settle();
  rig.clock.Advance(seconds(20));
  ASSERT_EQ(rig.scheduler->context().stats.attempts, 1U);
  rig.UpsertPod(Version(Running("high", 9, "2"), "2"));
  rig.Settle();
  EXPECT_EQ(rig.scheduler->context().stats.attempts, 2U);
}

// It fitted, and fits no more before the kubelet has got round to it.
TEST(ResizeTest, AParkedPodPreemptsWhenItsRoomIsTaken) {
  struct Case {
    const char* name;
    api::PodPtr change;
  };
  const Case cases[] = {
      {"it asks for more", Version(Deferred(Running("p", 5, "4")), "2")},
      {"a pod beside it grows", Version(Running("high", 9, "3"), "2")},
      {"a pod comes past the scheduler", Running("static", 9, "1").Obj()},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PreemptionRig rig(GateOn());
    rig.Sync({CpuNode("n1", "6").Obj()},
             {Running("low", 0, "1").Obj(), Running("high", 9, "2").Obj(),
              Deferred(Running("p", 5, "3")).Obj()});
    rig.Settle();
    ASSERT_TRUE(Queued(rig, "p")->unschedulable_plugins.contains(std::string(kPlugin)));
    rig.clock.Advance(seconds(20));
    rig.UpsertPod(c.change);
    rig.Settle();
    EXPECT_EQ(rig.Victims(), Texts{"low"});
  }
}

TEST(ResizeTest, TheGateHoldsThePreemptor) {
  PreemptionRig rig(GateOn());
  const api::PodPtr a = Running("a", 0, "1").Obj();
  const api::PodPtr b = Running("b", 1, "1").Obj();
  rig.Sync({CpuNode("n1", "4").Obj()}, {a, b, Deferred(Running("p", 5, "4")).Obj()});
  rig.Settle();
  ASSERT_EQ(rig.Victims(), Texts{"b"});
  rig.DeletePod(b);
  rig.Advance(seconds(20));
  EXPECT_EQ(rig.scheduler->context().stats.attempts, 1U) << "no last victim yet";
  rig.AnswerOne(framework::EvictionOutcome::kEvicted, /*leaves=*/false);
  ASSERT_EQ(rig.Victims(), (Texts{"b", "a"}));
  rig.AnswerOne();
  rig.Advance(seconds(20));
  EXPECT_TRUE(Queued(rig, "p")->unschedulable_plugins.contains(std::string(kPlugin)));
}

TEST(ResizeTest, IsAVictimLikeAnyOther) {
  PreemptionRig rig(GateOn());
  rig.Sync({CpuNode("n1", "4").Obj()},
           {Deferred(Running("p", 5, "3")).Obj(), CpuPod("urgent", 9, "2").Obj()});
  rig.Settle();
  EXPECT_EQ(rig.Victims(), Texts{"p"});
  rig.AnswerAll();
  rig.Advance(seconds(10));
  EXPECT_EQ(rig.Bound(), (std::map<std::string, std::string>{{"urgent", "n1"}}));
  EXPECT_EQ(StoreOf(rig, "p"), Store::kNone);
}

// ---- never bound

TEST(ResizeTest, IsNotBoundByAProfileWithoutThePlugin) {
  for (const bool node_name_too : {false, true}) {
    Rig::Options options = GateOn();
    std::erase_if(options.configuration.profiles[0].plugins.multi_point.enabled,
                  [&](const config::PluginRef& ref) {
                    return ref.name == kPlugin || (node_name_too && ref.name == "NodeName");
                  });
    Rig rig(std::move(options));
    rig.Sync({CpuNode("n1", "4").Obj(), CpuNode("n2", "64").Obj()},
             {Deferred(Running("p", 5, "3")).Obj()});
    rig.Settle();
    EXPECT_EQ(rig.scheduler->context().stats.attempts, 1U);
    // Scoring the two nodes fails: PreFilter had nothing to say.
    EXPECT_EQ(StoreOf(rig, "p"), node_name_too ? Store::kErrorBackoff : Store::kUnschedulable);
    EXPECT_THAT(rig.Bound(), IsEmpty());
    EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().assumed_pods, 0U);
    EXPECT_EQ(CpuOn(rig, "n1"), 3000);
    EXPECT_EQ(CpuOn(rig, "n2"), 0);
  }
}

// The API server took the binding, and the kubelet has put the resize off, before the binding's
// answer is there.
TEST(ResizeTest, WaitsForTheAnswerOfItsOwnBinding) {
  PreemptionRig rig(GateOn());
  const PodBuilder p = CpuPod("p", 5, "2");
  PodBuilder running = p;
  running.Node("n1");
  rig.Sync({CpuNode("n1", "4").Obj()}, {p.Obj()});
  rig.Settle();
  ASSERT_EQ(rig.api.binds.size(), 1U);
  rig.UpsertPod(Version(running, "2"));
  rig.UpsertPod(Version(Deferred(running), "3"));
  rig.Advance(seconds(3));
  EXPECT_EQ(StoreOf(rig, "p"), Store::kErrorBackoff);
  rig.api.AnswerBinds();
  rig.Advance(seconds(20));
  EXPECT_EQ(StoreOf(rig, "p"), Store::kUnschedulable);
  EXPECT_EQ(rig.api.binds.size(), 1U);
  EXPECT_EQ(CpuOn(rig, "n1"), 2000);
}

// The same with a binding that the answer calls failed.
TEST(ResizeTest, OutlivesALostAnswerOfItsOwnBinding) {
  PreemptionRig rig(GateOn());
  const PodBuilder p = CpuPod("p", 5, "2");
  PodBuilder running = p;
  running.Node("n1");
  rig.Sync({CpuNode("n1", "4").Obj()}, {p.Obj()});
  rig.Settle();
  rig.UpsertPod(Version(running, "2"));
  rig.UpsertPod(Version(Deferred(running), "3"));
  rig.Settle();
  rig.api.AnswerBinds(api::ApiError{.code = 500, .message = "no"});
  rig.Advance(seconds(20));
  EXPECT_EQ(StoreOf(rig, "p"), Store::kUnschedulable);
  EXPECT_EQ(rig.api.binds.size(), 1U);
  EXPECT_EQ(CpuOn(rig, "n1"), 2000);
  EXPECT_THAT(rig.LastMessage("p"), "") << "the pod runs";
}

// ---- what surrounds the cycle

TEST(ResizeTest, AReloadTakesThemUpAndLetsThemGo) {
  const auto named = [](std::vector<std::string> names) {
    config::Configuration configuration = config::DefaultConfiguration(GatesOn());
    const config::Profile profile = configuration.profiles[0];
    configuration.profiles.clear();
    for (const std::string& name : names) {
      configuration.profiles.push_back(profile);
      configuration.profiles.back().scheduler_name = name;
    }
    return configuration;
  };
  Rig::Options options = GateOn();
  options.configuration = named({"default-scheduler", "old"});
  Rig rig(std::move(options));
  const auto running = [](const std::string& name, const std::string& scheduler) {
    return Running(name, 5, "1").SchedulerName(scheduler);
  };
  rig.Sync({CpuNode("n1", "4").Obj()},
           {Deferred(running("mine", "default-scheduler")).Obj(),
            Deferred(running("former", "old")).Obj(), Deferred(running("later", "new")).Obj(),
            running("plain", "new").Obj()});
  rig.Settle();
  EXPECT_EQ(rig.scheduler->context().queue.stores().Pods().size(), 2U);
  ASSERT_TRUE(rig.scheduler->Reload(named({"default-scheduler", "new"})).ok());
  rig.Settle();
  EXPECT_NE(StoreOf(rig, "mine"), Store::kNone);
  EXPECT_EQ(StoreOf(rig, "former"), Store::kNone);
  EXPECT_NE(StoreOf(rig, "later"), Store::kNone);
  EXPECT_EQ(StoreOf(rig, "plain"), Store::kNone);
  EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().pods, 4U);
}

TEST(ResizeTest, ExtendersAreAskedAboutItsNode) {
  auto fake = std::make_shared<testing::FakeExtenders>();
  config::Extender extender;
  extender.url_prefix = "http://h:1";
  extender.filter_verb = "filter";
  extender.node_cache_capable = true;
  Rig::Options options = GateOn();
  options.configuration.extenders = {extender};
  options.extender_transport = [&fake](const std::vector<config::Extender>&) {
    return Result<std::shared_ptr<framework::ExtenderTransport>>(fake);
  };
  Rig rig(std::move(options));
  EXPECT_EQ(rig.scheduler->in_force().NeededWholeObjects().pods, api::KeepRaw::kAll);
  PodBuilder p = Deferred(Running("p", 5, "1"));
  p.pod().raw = std::make_shared<const std::string>(R"({"metadata":{"name":"p"},"spec":{}})");
  rig.Sync({CpuNode("n1", "4").Obj(), CpuNode("n2", "4").Obj()}, {p.Obj()});
  rig.Settle();
  ASSERT_EQ(fake->asked.size(), 1U);
  EXPECT_THAT(fake->asked[0].request.body, HasSubstr(R"("NodeNames":["n1"])"));
  rig.UpsertPod(Version(p, "2"));
  rig.Settle();
  fake->Answer(0, R"({"NodeNames":["n1"]})");
  rig.Settle();
  EXPECT_EQ(Queued(rig, "p")->unschedulable_plugins, (std::set<std::string>{std::string(kPlugin)}));
  EXPECT_EQ(CpuOn(rig, "n1"), 1000);

  // Resized while they are asked again.
  rig.Advance(std::chrono::minutes(6));
  ASSERT_EQ(fake->asked.size(), 2U);
  PodBuilder resized = Running("p", 5, "1");
  rig.UpsertPod(Version(resized, "3"));
  rig.Settle();
  fake->Answer(1, R"({"NodeNames":["n1"]})");
  rig.Settle();
  EXPECT_EQ(StoreOf(rig, "p"), Store::kNone);
  EXPECT_FALSE(rig.scheduler->context().queue.IsInFlight("uid-p"));
  EXPECT_THAT(rig.api.events, IsEmpty());
}

TEST(ResizeTest, ExplainShowsTheNextAttempt) {
  Rig rig(GateOn());
  rig.Sync({CpuNode("n1", "4").Obj(), CpuNode("n2", "64").Obj()},
           {Running("high", 9, "2").Obj(), Deferred(Running("p", 5, "3")).Obj()});
  rig.Settle();
  auto answer = inspect::ExplainLive(*rig.scheduler, {.pod = "ns/p"});
  ASSERT_TRUE(std::holds_alternative<inspect::LiveExplanation>(answer));
  const auto& live = std::get<inspect::LiveExplanation>(answer);
  EXPECT_EQ(live.explanation.result, inspect::Verdict::kUnschedulable);
  EXPECT_EQ(live.explanation.message,
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) "
            "[NodeName].");
  ASSERT_TRUE(live.queue.has_value());
  EXPECT_EQ(live.queue->node, "n1");
  EXPECT_EQ(live.queue->part, inspect::QueuePart::kUnschedulable);
  ASSERT_EQ(live.shortages.size(), 1U);
  EXPECT_EQ(live.shortages[0].most.needed, 3000);
  EXPECT_EQ(live.shortages[0].most.free, 2000) << "what it holds is free for it";
  EXPECT_THAT(inspect::LiveExplanationJson(live, {}),
              HasSubstr(R"("notes":["the pod runs on node n1 and waits there for room)"));
}

}  // namespace
}  // namespace ks::scheduler
