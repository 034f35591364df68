// SPDX-License-Identifier: Apache-2.0
// Groups of pods in the simulation: what is said beforehand is what the scheduler does.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "inspect/group_rig.h"
#include "inspect/simulate.h"

namespace ks::scheduler {
namespace {

inspect::Simulation SimulatedGroups(GroupRig& rig, const std::string& manifests,
                                    std::string* json = nullptr) {
  const auto pods = inspect::ReadManifests(manifests);
  EXPECT_TRUE(pods.ok()) << (pods.ok() ? "" : pods.error().message);
  const auto copy = inspect::CopyCluster(rig.scheduler());
  EXPECT_TRUE(std::holds_alternative<inspect::ClusterCopy>(copy));
  const auto simulation = inspect::Simulate(std::get<inspect::ClusterCopy>(copy), *pods);
  EXPECT_TRUE(simulation.ok()) << (simulation.ok() ? "" : simulation.error().message);
  if (!simulation.ok()) return {};
  if (json != nullptr) *json = inspect::SimulationJson(*simulation, *pods, {});
  return *simulation;
}

// "a→n1 b→-", of a group's members.
std::string MembersOf(const inspect::GroupPlacement& group) {
  std::string text;
  for (const inspect::GroupPlacement::Member& member : group.members) {
    text += (text.empty() ? "" : " ") + member.queued->pod()->meta.name + "→" +
            (member.placement.node.empty() ? "-" : member.placement.node);
  }
  return text;
}

std::string PodGroupText(int min_count, const std::string& more = "") {
  return "kind: PodGroup\nmetadata: {name: g, namespace: ns}\nspec: {schedulingPolicy: {gang: "
         "{minCount: " +
         std::to_string(min_count) + "}}" + more + "}\n";
}

std::string JobText(int pods, const std::string& cpu, const std::string& group = "g") {
  return "---\nkind: Job\nmetadata: {name: w, namespace: ns}\nspec:\n  parallelism: " +
         std::to_string(pods) +
         "\n  template:\n    spec: {schedulingGroup: {podGroupName: " + group +
         "}, containers: [{name: c, resources: {requests: {cpu: \"" + cpu + "\"}}}]}\n";
}

TEST(SimulateGroups, AGangIsPlacedAsAWhole) {
  GroupRig rig({GroupRig::Node("n1", "2"), GroupRig::Node("n2", "2")});
  const inspect::Simulation simulation = SimulatedGroups(rig, PodGroupText(3) + JobText(3, "1"));
  ASSERT_EQ(simulation.groups.size(), 1U);
  EXPECT_EQ(simulation.groups[0].result, inspect::Verdict::kSchedulable);
  EXPECT_EQ(simulation.groups[0].root.Text(), "podgroup/ns/g");
  ASSERT_EQ(simulation.placements.size(), 3U);
  for (const inspect::SimulatedPlacement& placement : simulation.placements) {
    EXPECT_NE(placement.node, "");
  }
}

// Room for three of four: none is placed, and the pod behind them sees an empty cluster.
TEST(SimulateGroups, AGangThatDoesNotFitTakesNothing) {
  GroupRig rig({GroupRig::Node("n1", "3")});
  std::string json;
  const inspect::Simulation simulation = SimulatedGroups(
      rig,
      PodGroupText(4) + "---\nkind: Workload\nmetadata: {name: w, namespace: ns}\nspec: {}\n" +
          JobText(4, "1") +
          "---\nkind: Pod\nmetadata: {name: late, namespace: ns}\nspec: {containers: [{name: c, "
          "resources: {requests: {cpu: \"3\"}}}]}\n",
      &json);
  const std::string text = "minCount (4) cannot be satisfied: 3 scheduled, 0 remaining";
  ASSERT_EQ(simulation.groups.size(), 1U);
  EXPECT_EQ(simulation.groups[0].result, inspect::Verdict::kUnschedulable);
  EXPECT_EQ(simulation.groups[0].message, text);
  EXPECT_EQ(MembersOf(simulation.groups[0]), "w-0→- w-1→- w-2→- w-3→-");
  EXPECT_EQ(simulation.placements[0].message, "pod group is unschedulable, " + text);
  EXPECT_EQ(simulation.placements[3].message, "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(simulation.placements[4].node, "n1");
  EXPECT_NE(json.find(R"("podGroups":[{"podGroup":"podgroup/ns/g","result":"Unschedulable",)"
                      R"("message":")" +
                      text +
                      R"(","groups":[{"podGroup":"podgroup/ns/g","result":"Unschedulable",)"
                      R"("message":")" +
                      text +
                      R"(","wanted":4,"scheduled":0,"queued":4,"fit":3}],"members":[)"
                      R"({"pod":"ns/w-0","podGroup":"podgroup/ns/g","result":"Unschedulable",)"),
            std::string::npos)
      << json;
}

// What the cluster has of the group counts: members on nodes, and those that wait there.
TEST(SimulateGroups, MembersOfTheClusterAreDecidedTogetherWithTheNewOnes) {
  GroupRig rig({GroupRig::Node("n1", "8")});
  rig.ShowGroup("g", 4);
  rig.rig().UpsertPod([] {
    auto bound = std::make_shared<api::Pod>(*GroupRig::Pod("bound", "1", "g"));
    bound->node_name = Symbol("n1");
    return bound;
  }());
  rig.Add("waiting", "1");
  rig.Settle();
  const inspect::Simulation few = SimulatedGroups(rig, JobText(1, "1"));
  ASSERT_EQ(few.groups.size(), 1U);
  EXPECT_EQ(few.groups[0].result, inspect::Verdict::kGated);
  EXPECT_EQ(few.placements[0].result, inspect::Verdict::kGated);
  const inspect::Simulation enough = SimulatedGroups(rig, JobText(2, "1"));
  ASSERT_EQ(enough.groups.size(), 1U);
  EXPECT_EQ(enough.groups[0].result, inspect::Verdict::kSchedulable);
  EXPECT_EQ(enough.groups[0].groups[0].scheduled, 1U);
  EXPECT_EQ(MembersOf(enough.groups[0]), "w-0→n1 w-1→n1 waiting→n1");
  // Nothing of it stays.
  EXPECT_EQ(rig.scheduler().context().queue.pending().gated, 1U);
  EXPECT_EQ(rig.scheduler().context().cluster.cache.counts().pods, 1U);
}

std::string WorkloadText(const std::string& templates) {
  return "kind: Workload\nmetadata: {name: w, namespace: ns}\nspec: {" + templates + "}\n";
}

constexpr const char* kWorkersAndLeader =
    "podGroupTemplates: [{name: workers, schedulingPolicy: {gang: {minCount: 4}}}, {name: leader, "
    "schedulingPolicy: {basic: {}}}]";

// As the Job controller names them, and as the template is called.
TEST(SimulateGroups, AWorkloadsTemplatesMakeTheGroupsThatPodsName) {
  GroupRig rig({GroupRig::Node("n1", "3")});
  for (const char* name : {"w-workers-x7k2p", "w-workers", "workers"}) {
    const inspect::Simulation simulation =
        SimulatedGroups(rig, WorkloadText(kWorkersAndLeader) + JobText(4, "1", name));
    ASSERT_EQ(simulation.groups.size(), 1U) << name;
    EXPECT_EQ(simulation.groups[0].root.Text(), std::string("podgroup/ns/") + name);
    EXPECT_EQ(simulation.groups[0].message,
              "minCount (4) cannot be satisfied: 3 scheduled, 0 remaining");
  }
  const inspect::Simulation leader =
      SimulatedGroups(rig, WorkloadText(kWorkersAndLeader) + JobText(4, "1", "leader"));
  ASSERT_EQ(leader.groups.size(), 1U);
  EXPECT_EQ(leader.groups[0].result, inspect::Verdict::kSchedulable);
}

TEST(SimulateGroups, TheOnlyTemplateIsThatOfEveryGroup) {
  GroupRig rig({GroupRig::Node("n1", "3")});
  const inspect::Simulation simulation = SimulatedGroups(
      rig, WorkloadText("podGroupTemplates: [{name: t, schedulingPolicy: {gang: {minCount: 4}}}]") +
               JobText(4, "1", "anything"));
  ASSERT_EQ(simulation.groups.size(), 1U);
  EXPECT_EQ(simulation.groups[0].groups[0].wanted, 4);
}

TEST(SimulateGroups, ATemplateThatCannotBeTold) {
  GroupRig rig({GroupRig::Node("n1", "3")});
  const std::string unknown =
      "waiting for pod group ns/odd, or a group above it, to appear: it is not known; ";
  EXPECT_EQ(SimulatedGroups(rig, WorkloadText(kWorkersAndLeader) + JobText(1, "1", "odd"))
                .placements[0]
                .message,
            unknown +
                "its name does not tell which template of the Workloads it is made of: w/workers, "
                "w/leader; call it TEMPLATE or WORKLOAD-TEMPLATE-…, or add the PodGroup to the "
                "manifests");
  EXPECT_EQ(SimulatedGroups(rig, WorkloadText("") + JobText(1, "1", "odd")).placements[0].message,
            unknown + "no Workload of the manifests has podGroupTemplates for it");
  const auto nameless = inspect::ReadManifests(
      WorkloadText("podGroupTemplates: [{schedulingPolicy: {basic: {}}}]") + JobText(1, "1"));
  ASSERT_FALSE(nameless.ok());
  EXPECT_EQ(nameless.error().message, "Workload ns/w: spec.podGroupTemplates[0].name: is missing");
}

// What is there already counts before what would be made.
TEST(SimulateGroups, GroupsOfTheManifestsAndTheClusterComeBeforeTemplates) {
  GroupRig rig({GroupRig::Node("n1", "8")});
  rig.ShowGroup("workers", 2);
  const inspect::Simulation of_cluster =
      SimulatedGroups(rig, WorkloadText(kWorkersAndLeader) + JobText(2, "1", "workers"));
  EXPECT_EQ(of_cluster.groups[0].groups[0].wanted, 2);
  const inspect::Simulation of_text = SimulatedGroups(
      rig, WorkloadText("podGroupTemplates: [{name: g, schedulingPolicy: {gang: {minCount: 4}}}]") +
               "---\n" + PodGroupText(1) + JobText(1, "1"));
  EXPECT_EQ(of_text.groups[0].groups[0].wanted, 1);
}

TEST(SimulateGroups, ATreeOfTemplates) {
  GroupRig rig({GroupRig::Node("n1", "8")},
               ",TopologyAwareWorkloadScheduling=true,CompositePodGroup=true");
  const inspect::Simulation simulation = SimulatedGroups(
      rig, WorkloadText("compositePodGroupTemplates: [{name: all, schedulingPolicy: {gang: "
                        "{minGroupCount: 2}}, podGroupTemplates: [{name: a, schedulingPolicy: "
                        "{gang: {minCount: 1}}}, {name: b, schedulingPolicy: {basic: {}}}]}]") +
               JobText(1, "1", "a") +
               "---\nkind: Pod\nmetadata: {name: p, namespace: ns}\nspec: {schedulingGroup: "
               "{podGroupName: w-b-1}}\n");
  ASSERT_EQ(simulation.groups.size(), 1U);
  EXPECT_EQ(simulation.groups[0].root.Text(), "compositepodgroup/ns/w-all");
  EXPECT_EQ(simulation.groups[0].result, inspect::Verdict::kSchedulable);
  EXPECT_EQ(simulation.groups[0].groups.size(), 3U);
  EXPECT_EQ(simulation.groups[0].groups[0].wanted, 2);
}

TEST(SimulateGroups, OneRackForAll) {
  GroupRig rig({GroupRig::Node("a1", "1", "a"), GroupRig::Node("b1", "1", "b"),
                GroupRig::Node("b2", "1", "b")},
               ",TopologyAwareWorkloadScheduling=true");
  const inspect::Simulation simulation = SimulatedGroups(
      rig, PodGroupText(2, ", schedulingConstraints: {topology: [{key: rack}]}") + JobText(2, "1"));
  ASSERT_EQ(simulation.groups.size(), 1U);
  EXPECT_EQ(simulation.groups[0].result, inspect::Verdict::kSchedulable);
  std::map<std::string, int> nodes;
  for (const auto& placement : simulation.placements) ++nodes[placement.node];
  EXPECT_EQ(nodes, (std::map<std::string, int>{{"b1", 1}, {"b2", 1}}));
}

TEST(SimulateGroups, UnknownGroupsAndMembersThatDisagree) {
  GroupRig rig({GroupRig::Node("n1", "8")});
  const inspect::Simulation unknown = SimulatedGroups(rig, JobText(1, "1", "nobody"));
  EXPECT_TRUE(unknown.groups.empty());
  EXPECT_EQ(unknown.placements[0].result, inspect::Verdict::kGated);
  EXPECT_EQ(unknown.placements[0].message,
            "waiting for pod group ns/nobody, or a group above it, to appear: it is not known");
  const inspect::Simulation priorities = SimulatedGroups(
      rig, PodGroupText(2) + JobText(1, "1") +
               "---\nkind: Pod\nmetadata: {name: odd, namespace: ns}\nspec: {priority: 7, "
               "schedulingGroup: {podGroupName: g}}\n");
  ASSERT_EQ(priorities.groups.size(), 1U);
  EXPECT_EQ(priorities.groups[0].result, inspect::Verdict::kError);
  EXPECT_EQ(priorities.groups[0].message,
            "all pods in a single pod group should have the same priority as the pod group's "
            "priority, got 7 and 0");
}

// Without the gate, members are ordinary pods.
TEST(SimulateGroups, NothingOfThemWithoutTheGate) {
  Rig rig;
  rig.Sync({GroupRig::Node("n1", "1")});
  rig.Settle();
  const auto pods = inspect::ReadManifests(PodGroupText(2) + JobText(2, "1"));
  ASSERT_TRUE(pods.ok());
  const auto copy = inspect::CopyCluster(*rig.scheduler);
  const auto simulation = inspect::Simulate(std::get<inspect::ClusterCopy>(copy), *pods);
  ASSERT_TRUE(simulation.ok());
  EXPECT_TRUE(simulation->groups.empty());
  EXPECT_EQ(simulation->placements[0].node, "n1");
  EXPECT_EQ(simulation->placements[1].result, inspect::Verdict::kUnschedulable);
}

// The same cluster, asked beforehand and scheduled for real.
TEST(SimulateGroups, AgreesWithTheScheduler) {
  GroupRig rig({GroupRig::Node("n1", "2"), GroupRig::Node("n2", "3"), GroupRig::Node("n3", "4")},
               "", /*standby=*/true);
  rig.ShowGroup("g", 3);
  for (const char* name : {"a", "b", "c", "d"}) rig.Add(name, "2");
  rig.Settle();
  const auto copy = inspect::CopyCluster(rig.scheduler());
  auto trial = inspect::ClusterTrial::Make(std::get<inspect::ClusterCopy>(copy));
  ASSERT_TRUE(trial.ok());
  const inspect::GroupPlacement placement = (*trial)->PlaceGroup({Symbol("ns"), "g", false});
  EXPECT_EQ(placement.result, inspect::Verdict::kSchedulable);
  std::map<std::string, std::string> said;
  for (const auto& member : placement.members) {
    if (!member.placement.node.empty()) {
      said[member.queued->pod()->meta.name] = member.placement.node;
    }
  }
  rig.scheduler().Lead();
  rig.Settle();
  EXPECT_EQ(rig.rig().Bound(), said);
  EXPECT_EQ(said.size(), 4U);
}

}  // namespace
}  // namespace ks::scheduler
