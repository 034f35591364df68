// SPDX-License-Identifier: Apache-2.0
// Preemption where pods belong to groups, through a whole scheduler: for groups the examples of
// docs/spec/preemption.md 18.6 under their numbers, of groups P31 to P34 of section 17.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/gates/feature_gates.h"
#include "scheduler/preemption_rig.h"
#include "testing/affinity_builders.h"
#include "testing/deltas.h"
#include "testing/no_objects.h"

namespace ks::scheduler {
namespace {

using ks::testing::AffinePod;
using ks::testing::MakeBudget;
using ks::testing::NodeBuilder;
using ks::testing::PodBuilder;
using ks::testing::Term;
using namespace std::chrono_literals;

class GroupPreemptionTest : public ::testing::Test {
 protected:
  // Which further gates are on: ",CompositePodGroup=true".
  void Start(const std::vector<NodeBuilder>& nodes, const std::vector<PodBuilder>& pods,
             const std::string& gates = "", uint64_t seed = 1) {
    gates_ = std::make_unique<config::FeatureGates>(
        config::FeatureGates::Make({.feature_gates = {"GenericWorkload=true" + gates}}, nullptr)
            .value());
    Rig::Options options;
    options.configuration = config::DefaultConfiguration(*gates_);
    options.gates = gates_.get();
    options.seed = seed;
    rig = std::make_unique<PreemptionRig>(std::move(options));
    testing::PostNoGroups(*rig->scheduler);
    std::vector<api::NodePtr> node_objects;
    for (const NodeBuilder& node : nodes) node_objects.push_back(node.Obj());
    std::vector<api::PodPtr> pod_objects;
    for (const PodBuilder& pod : pods) pod_objects.push_back(pod.Obj());
    rig->Sync(std::move(node_objects), std::move(pod_objects));
    rig->Settle();
  }
  template <class T>
  void ShowGroup(const std::shared_ptr<const T>& group) {
    rig->scheduler->Post(GroupDeltas(std::vector<api::Delta<T>>{testing::Upsert<T>(group)}));
    rig->Settle();
  }

  static std::shared_ptr<api::PodGroup> Group(const std::string& name, int32_t priority,
                                              std::optional<int32_t> min_count = std::nullopt) {
    auto group = std::make_shared<api::PodGroup>();
    group->meta.ns = Symbol("ns");
    group->meta.name = name;
    group->meta.uid = "pg-" + name;
    group->meta.resource_version = "1";
    group->min_count = min_count;
    group->spec.priority = priority;
    return group;
  }
  static std::shared_ptr<api::PodGroup> Whole(const std::string& name, int32_t priority) {
    auto group = Group(name, priority);
    group->spec.disruption_mode = api::DisruptionMode::kAll;
    return group;
  }
  // A tree "top" of priority 10 with the gang g below it.
  void ShowTree(int32_t min_count) {
    auto top = std::make_shared<api::CompositePodGroup>();
    top->meta.ns = Symbol("ns");
    top->meta.name = "top";
    top->meta.uid = "cpg-top";
    top->meta.resource_version = "1";
    top->spec.priority = 10;
    ShowGroup<api::CompositePodGroup>(top);
    const auto group = Group("g", 10, min_count);
    group->spec.parent_composite_pod_group_name = "top";
    ShowGroup<api::PodGroup>(group);
  }
  static PodBuilder In(const std::string& group, PodBuilder pod) {
    pod.spec().scheduling_group = group;
    return pod;
  }
  static PodBuilder On(const std::string& node, const std::string& name, int32_t priority,
                       const std::string& cpu) {
    return CpuPod(name, priority, cpu).Node(node);
  }
  static PodBuilder Started(PodBuilder pod, int seconds) {
    pod.pod().status.start_time = TimePoint(std::chrono::seconds(seconds));
    return pod;
  }
  static NodeBuilder ZoneNode(const std::string& name, const std::string& cpu,
                              const std::string& zone) {
    return CpuNode(name, cpu).Label("zone", zone);
  }

  // A gang g of priority 10 with these members arrives.
  void Arrive(const std::vector<PodBuilder>& members) {
    ShowGroup<api::PodGroup>(Group("g", 10, static_cast<int32_t>(members.size())));
    for (const PodBuilder& member : members) rig->UpsertPod(In("g", member).Obj());
    rig->Settle();
  }
  // A single pod p of priority 10 arrives.
  void ArriveSingle(const std::string& cpu) {
    rig->UpsertPod(CpuPod("p", 10, cpu).Obj());
    rig->Settle();
  }

  // The group's last condition.
  std::string Message() const {
    const auto& patches = rig->api.group_patches;
    return patches.empty() ? std::string() : patches.back().second.message;
  }
  std::string Preemption() const {
    const std::string message = Message();
    const size_t at = message.find("pod group preemption: ");
    return at == std::string::npos ? message : message.substr(at);
  }
  static std::string Found(int victims) {
    return "pod group preemption: found a placement for podgroup, preempting " +
           std::to_string(victims) + " victims";
  }
  std::string Bound() const {
    std::string text;
    for (const auto& [pod, node] : rig->Bound()) {
      text += (text.empty() ? "" : " ") + pod + "→" + node;
    }
    return text;
  }
  // All evictions, in their order.
  PreemptionTexts Evicted() {
    rig->AnswerAll();
    return rig->Victims();
  }
  void ExpectMetrics(const std::vector<std::string>& lines) const {
    const std::string text = rig->metrics_registry.Text();
    for (const std::string& line : lines) {
      EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << line;
    }
  }

  std::unique_ptr<PreemptionRig> rig;

 private:
  std::unique_ptr<config::FeatureGates> gates_;
};

// ---- for a group

// Which of the two empty nodes the first member gets is drawn; with n2 the small pod there may
// stay.
TEST_F(GroupPreemptionTest, W1BothNodesAreCleared) {
  bool seen = false;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Start({CpuNode("n1", "2"), CpuNode("n2", "2")},
          {On("n1", "v1", 0, "2"), On("n2", "v2", 0, "500m")}, "", seed);
    Arrive({CpuPod("a", 10, "1"), CpuPod("b", 10, "2")});
    const bool on_n1 = rig->Nomination("a") == "n1";
    EXPECT_EQ(rig->Nomination("b"), on_n1 ? "n2" : "n1");
    EXPECT_EQ(Message(), "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining, " +
                             Found(on_n1 ? 2 : 1));
    EXPECT_EQ(Evicted().size(), on_n1 ? 2U : 1U);
    EXPECT_EQ(rig->api.evictions.front().condition.message,
              "default-scheduler: preempting to accommodate a higher priority podgroup");
    EXPECT_THAT(rig->PreemptedEvents(),
                ::testing::Contains("v1: Preempted by podgroup pg-g on node cluster"));
    for (const framework::PodEvent& event : rig->api.events) {
      if (event.reason == "Preempted") {
        EXPECT_EQ(api::MetaOf(event.related)->name, "g");
      }
    }
    rig->Advance(20s);
    EXPECT_EQ(rig->Bound().size(), 2U) << Bound();
    seen |= on_n1;
  }
  EXPECT_TRUE(seen);
}

TEST_F(GroupPreemptionTest, W2TheMostImportantStays) {
  Start({CpuNode("n1", "3")},
        {On("n1", "v1", 1, "1"), On("n1", "v2", 2, "1"), On("n1", "v3", 3, "1")});
  Arrive({CpuPod("a", 10, "1"), CpuPod("b", 10, "1")});
  EXPECT_EQ(Preemption(), Found(2));
  EXPECT_EQ(rig->Nomination("a"), "n1");
  EXPECT_EQ(rig->Nomination("b"), "n1");
  EXPECT_EQ(Evicted(), (PreemptionTexts{"v2", "v1"}));
  rig->Advance(20s);
  EXPECT_EQ(Bound(), "a→n1 b→n1");
  ExpectMetrics({"scheduler_workload_preemption_attempts_total{result=\"Success\"} 1",
                 "scheduler_workload_preemption_victims_sum 2",
                 "scheduler_preemption_attempts_total 0",
                 "scheduler_preemption_evaluation_duration_seconds_count{preemptor=\"podgroup\","
                 "result=\"Success\"} 1",
                 "scheduler_preemption_execution_duration_seconds_count{preemptor=\"podgroup\","
                 "result=\"success\"} 1"});
  EXPECT_EQ(rig->metrics_registry.Text().find("workload_disruptions_"), std::string::npos);
}

TEST_F(GroupPreemptionTest, W3NobodyOfLowerPriority) {
  Start({CpuNode("n1", "2")}, {On("n1", "v1", 10, "2")});
  Arrive({CpuPod("a", 10, "1"), CpuPod("b", 10, "1")});
  EXPECT_EQ(Preemption(),
            "pod group preemption: No preemption victims found for incoming preemptor");
  EXPECT_EQ(rig->Nomination("a"), "-");
  EXPECT_TRUE(rig->Victims().empty());
  ExpectMetrics(
      {"scheduler_workload_preemption_attempts_total{result="
       "\"UnschedulableAndUnresolvable\"} 1"});
}

TEST_F(GroupPreemptionTest, W4TooBigAnyway) {
  Start({CpuNode("n1", "2")}, {On("n1", "v1", 0, "1")});
  Arrive({CpuPod("a", 10, "2"), CpuPod("b", 10, "2")});
  EXPECT_EQ(
      Message(),
      "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining, deallocation and deletion "
      "of ResourceClaims completed, pod group preemption: minCount (2) cannot be satisfied: 1 "
      "scheduled, 0 remaining");
  EXPECT_TRUE(rig->Victims().empty());
  // What was tried is taken back.
  const framework::NodeInfo* node = rig->scheduler->context().cluster.cache.Find("n1");
  EXPECT_EQ(node->requested().milli_cpu, 1000);
  EXPECT_EQ(node->pods().size(), 1U);
}

TEST_F(GroupPreemptionTest, W5VictimsAreLeavingAlready) {
  PodBuilder v1 = On("n1", "v1", 0, "1");
  PodBuilder v2 = On("n1", "v2", 0, "1");
  Start({CpuNode("n1", "2")}, {Preempted(v1), Preempted(v2)});
  Arrive({CpuPod("a", 10, "1").NominatedNode("n1"), CpuPod("b", 10, "1").NominatedNode("n1")});
  EXPECT_EQ(Message(),
            "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining, pod group preemption: "
            "ongoing preemption on nominated nodes");
  EXPECT_THAT(rig->Nomination("a"), ::testing::AnyOf("-", "n1"));
  EXPECT_THAT(rig->Nomination("b"), ::testing::AnyOf("-", "n1"));
  EXPECT_TRUE(rig->Victims().empty());
}

// Nobody has seen that the members are nominated, and the room of one is there.
TEST_F(GroupPreemptionTest, AMemberThatFitsStaysNominated) {
  PodBuilder v1 = On("n1", "v1", 0, "1");
  PodBuilder v2 = On("n1", "v2", 0, "1");
  Start({CpuNode("n1", "2")}, {v1, v2});
  Arrive({CpuPod("a", 10, "1"), CpuPod("b", 10, "1")});
  rig->UpsertPod(Preempted(v1).ResourceVersion("2").Obj());
  rig->UpsertPod(Preempted(v2).ResourceVersion("2").Obj());
  rig->AnswerOne(framework::EvictionOutcome::kEvicted, /*leaves=*/false);
  rig->AnswerOne(framework::EvictionOutcome::kEvicted, /*leaves=*/false);
  const uint64_t attempts = rig->scheduler->context().stats.attempts;
  rig->DeletePod(v1.Obj());
  rig->Advance(20s);
  EXPECT_GT(rig->scheduler->context().stats.attempts, attempts);
  EXPECT_EQ(Preemption(), "pod group preemption: ongoing preemption on nominated nodes");
  const framework::Nominator& nominator = rig->scheduler->context().nominator;
  EXPECT_EQ(nominator.NodeOf("uid-a"), "n1");
  EXPECT_EQ(nominator.NodeOf("uid-b"), "n1");
  EXPECT_EQ(rig->Victims().size(), 2U);
  rig->DeletePod(v2.Obj());
  rig->Advance(20s);
  EXPECT_EQ(Bound(), "a→n1 b→n1");
}

TEST_F(GroupPreemptionTest, W6Never) {
  Start({CpuNode("n1", "2")}, {On("n1", "v1", 0, "2")});
  Arrive({CpuPod("a", 10, "1").PreemptionPolicy("Never"),
          CpuPod("b", 10, "1").PreemptionPolicy("Never")});
  EXPECT_EQ(Message(),
            "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining, deallocation and deletion "
            "of ResourceClaims completed, pod group preemption: not eligible due to "
            "preemptionPolicy=Never.");
  EXPECT_TRUE(rig->Victims().empty());
}

TEST_F(GroupPreemptionTest, W7TheVictimIsTerminating) {
  Start({CpuNode("n1", "2")}, {On("n1", "v1", 0, "2").Terminating()});
  Arrive({CpuPod("a", 10, "1"), CpuPod("b", 10, "1")});
  EXPECT_EQ(Preemption(), Found(1));
  EXPECT_EQ(rig->Nomination("a"), "n1");
  EXPECT_EQ(rig->Nomination("b"), "n1");
  EXPECT_TRUE(rig->Victims().empty());
}

TEST_F(GroupPreemptionTest, MembersAreHeldWhileVictimsAreEvicted) {
  Start({CpuNode("n1", "2")}, {On("n1", "v1", 1, "1"), On("n1", "v2", 2, "1")});
  Arrive({CpuPod("a", 10, "1"), CpuPod("b", 10, "1")});
  ASSERT_EQ(rig->Victims(), PreemptionTexts{"v2"});
  const uint64_t attempts = rig->scheduler->context().stats.attempts;
  rig->UpsertNode(CpuNode("n2", "4").Obj());
  rig->Advance(20s);
  EXPECT_EQ(rig->scheduler->context().stats.attempts, attempts);
  rig->AnswerAll();
  rig->Advance(20s);
  EXPECT_EQ(rig->Bound().size(), 2U) << Bound();
}

TEST_F(GroupPreemptionTest, AFailedEvictionBringsTheGroupBack) {
  Start({CpuNode("n1", "2")}, {On("n1", "v1", 1, "1"), On("n1", "v2", 2, "1")});
  Arrive({CpuPod("a", 10, "1"), CpuPod("b", 10, "1")});
  const uint64_t attempts = rig->scheduler->context().stats.attempts;
  rig->AnswerOne(framework::EvictionOutcome::kFailed);
  EXPECT_GT(rig->scheduler->context().stats.attempts, attempts);
}

TEST_F(GroupPreemptionTest, ATree) {
  Start({CpuNode("n1", "2")}, {On("n1", "v1", 0, "2")},
        ",TopologyAwareWorkloadScheduling=true,CompositePodGroup=true");
  ShowTree(2);
  rig->UpsertPod(In("g", CpuPod("a", 10, "1")).Obj());
  rig->UpsertPod(In("g", CpuPod("b", 10, "1")).Obj());
  rig->Settle();
  ASSERT_EQ(rig->Victims(), PreemptionTexts{"v1"});
  EXPECT_EQ(rig->api.evictions.front().condition.message,
            "default-scheduler: preempting to accommodate a higher priority compositepodgroup");
  rig->AnswerAll();
  EXPECT_EQ(rig->PreemptedEvents(),
            PreemptionTexts{"v1: Preempted by compositepodgroup cpg-top on node cluster"});
  rig->Advance(20s);
  EXPECT_EQ(Bound(), "a→n1 b→n1");
}

// It has its tree's failure instead of one of its own, so no plugin but DefaultPreemption holds it
// (docs/spec/queue.md 10.15). Upstream parks it for the five minutes of the flush.
TEST_F(GroupPreemptionTest, WhatIsLeftOfATreeComesBackWhenItsVictimsHaveLeft) {
  Start({CpuNode("n1", "4"), CpuNode("n2", "1")}, {On("n1", "v1", 0, "4")},
        ",TopologyAwareWorkloadScheduling=true,CompositePodGroup=true");
  ShowTree(1);
  rig->UpsertPod(In("g", CpuPod("a", 10, "1")).Obj());
  rig->Settle();
  ASSERT_EQ(Bound(), "a→n2");
  rig->UpsertPod(In("g", CpuPod("b", 10, "2")).Obj());
  rig->Settle();
  ASSERT_EQ(rig->Victims(), PreemptionTexts{"v1"});
  const uint64_t attempts = rig->scheduler->context().stats.attempts;
  rig->Advance(20s);
  EXPECT_EQ(rig->scheduler->context().stats.attempts, attempts);
  rig->AnswerAll();
  rig->Advance(20s);
  EXPECT_EQ(Bound(), "a→n2 b→n1");
}

// ---- what a member's state knew stays as it was, whoever came after it

TEST_F(GroupPreemptionTest, MembersThatKeepApartEvictNoMoreThanNeeded) {
  for (const std::string key : {"zone", "kubernetes.io/hostname"}) {
    SCOPED_TRACE(key);
    Start({ZoneNode("n1", "3", "z1").Label("kubernetes.io/hostname", "n1"),
           ZoneNode("n2", "3", "z2").Label("kubernetes.io/hostname", "n2")},
          {On("n1", "v1", 0, "2"), On("n1", "w1", 1, "1"), On("n2", "v2", 0, "2"),
           On("n2", "w2", 1, "1")});
    std::vector<PodBuilder> members;
    for (const char* name : {"a", "b"}) {
      members.push_back(
          AffinePod(CpuPod(name, 10, "2").Labels({{"app", "x"}})).Far(Term(key).App("x")));
    }
    Arrive(members);
    EXPECT_EQ(Preemption(), Found(2));
    EXPECT_THAT(Evicted(), ::testing::UnorderedElementsAre("v1", "v2"));
    rig->Advance(20s);
    EXPECT_EQ(rig->Bound().size(), 2U) << Bound();
  }
}

TEST_F(GroupPreemptionTest, MembersThatSpreadEvictNoMoreThanNeeded) {
  Start({ZoneNode("n1", "3", "z1"), ZoneNode("n2", "3", "z2")},
        {On("n1", "v1", 0, "2"), On("n1", "w1", 1, "1"), On("n2", "v2", 0, "2"),
         On("n2", "w2", 1, "1")});
  std::vector<PodBuilder> members;
  for (const char* name : {"a", "b"}) {
    PodBuilder member = CpuPod(name, 10, "2").Labels({{"app", "x"}});
    member.spec().topology_spread_constraints.push_back(
        {.max_skew = 1,
         .topology_key = Symbol("zone"),
         .when_unsatisfiable = "DoNotSchedule",
         .label_selector = testing::Selector({{"app", "x"}})});
    members.push_back(member);
  }
  Arrive(members);
  EXPECT_EQ(Preemption(), Found(2));
  EXPECT_THAT(Evicted(), ::testing::UnorderedElementsAre("v1", "v2"));
}

// Members that want to be together: the first one found nobody, and is let in by itself.
TEST_F(GroupPreemptionTest, MembersThatStayTogetherEvictNoMoreThanNeeded) {
  Start({ZoneNode("n1", "4", "z1")}, {On("n1", "v1", 0, "3"), On("n1", "w1", 1, "1")});
  std::vector<PodBuilder> members;
  for (const char* name : {"a", "b", "c"}) {
    members.push_back(
        AffinePod(CpuPod(name, 10, "1").Labels({{"app", "x"}})).Near(Term("zone").App("x")));
  }
  Arrive(members);
  EXPECT_EQ(Preemption(), Found(1));
  EXPECT_EQ(Evicted(), PreemptionTexts{"v1"});
}

// Each of the two groups would leave room for one of the members.
TEST_F(GroupPreemptionTest, MembersOnAllNodesOfAGroupAreAsked) {
  Start({CpuNode("n1", "4"), CpuNode("n2", "4")},
        {In("low", On("n1", "a", 0, "2")), In("low", On("n2", "b", 0, "500m")),
         In("too", On("n1", "c", 0, "500m")), In("too", On("n2", "d", 0, "2"))});
  ShowGroup<api::PodGroup>(Whole("low", 0));
  ShowGroup<api::PodGroup>(Whole("too", 0));
  Arrive({CpuPod("m1", 10, "3"), CpuPod("m2", 10, "3")});
  EXPECT_EQ(Preemption(), Found(4));
}

TEST_F(GroupPreemptionTest, AllMembersOnANodeAreAsked) {
  Start({CpuNode("n1", "4")}, {On("n1", "a", 0, "2")});
  Arrive({CpuPod("m1", 10, "1500m"), CpuPod("m2", 10, "1500m")});
  EXPECT_EQ(Evicted(), PreemptionTexts{"a"});
}

// v3 repels the member from its whole zone. (A member without terms of its own would not notice:
// its PreFilter finds nobody who repels it while all of them are away, and the plugin is skipped.)
TEST_F(GroupPreemptionTest, HooksTellMembersOfPodsElsewhere) {
  Start({ZoneNode("n1", "2", "z1"), ZoneNode("n3", "2", "z1")},
        {On("n1", "v1", 0, "2"), AffinePod(On("n3", "v3", 0, "1")).Far(Term("zone").App("x")),
         On("n3", "v4", 0, "1")});
  Arrive({AffinePod(CpuPod("a", 10, "2").Labels({{"app", "x"}})).Far(Term("zone").App("other"))});
  EXPECT_EQ(Preemption(), Found(2));
  const PreemptionTexts victims = Evicted();
  EXPECT_THAT(victims, ::testing::Contains("v3"));
  EXPECT_EQ(victims.size(), 2U);
}

// Skew that a pod of lower priority causes: back in its zone it would leave a member no place.
TEST_F(GroupPreemptionTest, APodThatCountsForSpreadingLeaves) {
  Start({ZoneNode("n1", "2", "z1"), ZoneNode("n2", "1", "z2")},
        {On("n1", "s1", 1, "500m").Labels({{"app", "x"}}),
         On("n1", "w1", 1, "500m").Labels({{"app", "y"}}), On("n2", "o2", 20, "1")});
  PodBuilder member = CpuPod("a", 10, "1").Labels({{"app", "x"}});
  member.spec().topology_spread_constraints.push_back(
      {.max_skew = 1,
       .topology_key = Symbol("zone"),
       .when_unsatisfiable = "DoNotSchedule",
       .label_selector = testing::Selector({{"app", "x"}})});
  Arrive({member});
  EXPECT_EQ(Preemption(), Found(1));
  EXPECT_EQ(Evicted(), PreemptionTexts{"s1"});
  rig->Advance(20s);
  EXPECT_EQ(Bound(), "a→n1");
}

// ---- groups as victims

TEST_F(GroupPreemptionTest, AGroupEvictsAGroupAsAWhole) {
  Start({CpuNode("n1", "2"), CpuNode("n2", "1")},
        {In("vg", On("n1", "x", 0, "2")), In("vg", On("n2", "y", 0, "1")),
         In("lone", On("n1", "z", 0, "0"))});
  ShowGroup<api::PodGroup>(Whole("vg", 0));
  Arrive({CpuPod("a", 10, "1"), CpuPod("b", 10, "1")});
  EXPECT_EQ(Preemption(), Found(2));
  EXPECT_THAT(Evicted(), ::testing::UnorderedElementsAre("x", "y"));
  ExpectMetrics({"scheduler_preemption_workload_disruptions_sum{preemptor=\"podgroup\"} 1",
                 "scheduler_workload_preemption_victims_sum 2"});
}

TEST_F(GroupPreemptionTest, P31ADisruptedGroupGoesAsAWhole) {
  Start({CpuNode("n1", "2"), CpuNode("n2", "2")},
        {In("vg", On("n1", "a", 5, "2")), In("vg", On("n2", "b", 5, "2"))});
  ShowGroup<api::PodGroup>(Whole("vg", 5));
  ArriveSingle("2");
  EXPECT_THAT(rig->LastMessage("p"), ::testing::EndsWith("preempting 2 victims"));
  EXPECT_THAT(Evicted(), ::testing::UnorderedElementsAre("a", "b"));
  EXPECT_EQ(rig->metrics_registry.Text().find("workload_disruptions_"), std::string::npos);
  rig->Advance(20s);
  EXPECT_EQ(rig->Bound().size(), 1U);
}

TEST_F(GroupPreemptionTest, P32MembersGoAlone) {
  Start({CpuNode("n1", "2"), CpuNode("n2", "2")},
        {In("vg", On("n1", "a", 5, "2")), In("vg", On("n2", "b", 5, "2"))});
  ShowGroup<api::PodGroup>(Group("vg", 5));
  ArriveSingle("2");
  EXPECT_THAT(rig->LastMessage("p"), ::testing::EndsWith("preempting 1 victims"));
  EXPECT_EQ(Evicted().size(), 1U);
}

TEST_F(GroupPreemptionTest, P33ThePriorityIsTheGroups) {
  Start({CpuNode("n1", "2")}, {In("vg", On("n1", "a", 5, "2"))});
  ShowGroup<api::PodGroup>(Group("vg", 20));
  ArriveSingle("2");
  EXPECT_THAT(rig->LastMessage("p"),
              ::testing::EndsWith("preemption: 0/1 nodes are available: 1 No preemption victims "
                                  "found for incoming pod."));
}

TEST_F(GroupPreemptionTest, ALowerGroupMakesAHighPodAVictim) {
  Start({CpuNode("n1", "2")}, {In("vg", On("n1", "a", 20, "2"))});
  ShowGroup<api::PodGroup>(Group("vg", 5));
  ArriveSingle("2");
  EXPECT_EQ(Evicted(), PreemptionTexts{"a"});
}

TEST_F(GroupPreemptionTest, P34MembersRankAbovePlainPods) {
  Start({CpuNode("n1", "2")},
        {Started(In("vg", On("n1", "a", 5, "1")), 2000), Started(On("n1", "s", 5, "1"), 1000)});
  ShowGroup<api::PodGroup>(Group("vg", 5));
  ArriveSingle("1");
  EXPECT_EQ(Evicted(), PreemptionTexts{"s"});
}

// Of a unit every pod counts: s is protected and so tried first, and then the group does not fit.
TEST_F(GroupPreemptionTest, BudgetsCountByUnit) {
  Start({CpuNode("n1", "2")},
        {In("vg", On("n1", "a", 5, "500m")), In("vg", On("n1", "b", 5, "500m")),
         On("n1", "s", 5, "1").Labels({{"x", "yes"}})});
  ShowGroup<api::PodGroup>(Whole("vg", 5));
  rig->SetBudgets({MakeBudget("ns", "b", testing::Selector({{"x", "yes"}}), 0)});
  ArriveSingle("1");
  EXPECT_THAT(Evicted(), ::testing::UnorderedElementsAre("a", "b"));
}

TEST_F(GroupPreemptionTest, ViolationsAreCountedByPod) {
  Start({CpuNode("n1", "2")}, {In("vg", On("n1", "a", 5, "1").Labels({{"x", "yes"}})),
                               In("vg", On("n1", "b", 5, "1").Labels({{"x", "yes"}}))});
  ShowGroup<api::PodGroup>(Whole("vg", 5));
  rig->SetBudgets({MakeBudget("ns", "b", testing::Selector({{"x", "yes"}}), 1)});
  ArriveSingle("1");
  EXPECT_EQ(Evicted().size(), 2U);
  ExpectMetrics({"scheduler_preemption_pdb_violations_total{preemptor=\"pod\"} 1"});
}

}  // namespace
}  // namespace ks::scheduler
