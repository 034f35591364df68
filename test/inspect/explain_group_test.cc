// SPDX-License-Identifier: Apache-2.0
#include "inspect/explain_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "inspect/group_rig.h"
#include "inspect/live_explain.h"

namespace ks::scheduler {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTopology = ",TopologyAwareWorkloadScheduling=true";
const framework::PodGroupKey kG{Symbol("ns"), "g", false};

// With the copy that it reads.
struct Asked {
  explicit Asked(GroupRig& rig)
      : copy(std::get<inspect::ClusterCopy>(inspect::CopyCluster(rig.scheduler()))), groups(copy) {}

  const inspect::GroupExplanation& Of(const framework::PodGroupKey& group) {
    answer = groups.Explain(group);
    EXPECT_TRUE(std::holds_alternative<const inspect::GroupExplanation*>(answer));
    return *std::get<const inspect::GroupExplanation*>(answer);
  }

  inspect::ClusterCopy copy;
  inspect::GroupExplainer groups;
  std::variant<const inspect::GroupExplanation*, inspect::Refusal> answer;
};

TEST(ExplainGroup, TheFirstMemberThatDoesNotFit) {
  GroupRig rig({GroupRig::Node("n1", "3")});
  rig.ShowGroup("g", 5);
  for (const char* name : {"a", "b", "c", "d", "e"}) rig.Add(name, "1");
  rig.Settle();
  Asked asked(rig);
  const inspect::GroupExplanation& group = asked.Of(kG);
  EXPECT_EQ(group.result, inspect::Verdict::kUnschedulable);
  // The condition's text, without what PostFilter adds.
  EXPECT_EQ(group.message, "minCount (5) cannot be satisfied: 3 scheduled, 1 remaining");
  ASSERT_EQ(rig.rig().api.group_patches.size(), 1U);
  EXPECT_TRUE(rig.rig().api.group_patches[0].second.message.starts_with(group.message));
  EXPECT_EQ(group.summary,
            "3 of 5 members fit; member 4 (ns/d) does not: 0/1 nodes are available: 1 "
            "Insufficient cpu.");
  ASSERT_EQ(group.groups.size(), 1U);
  EXPECT_EQ(group.groups[0].wanted, 5);
  EXPECT_EQ(group.groups[0].fit, 3U);
  ASSERT_EQ(group.members.size(), 5U);
  EXPECT_EQ(group.members[3].message, "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(group.members[3].unschedulable_plugins, (std::vector<std::string>{"NodeResourcesFit"}));
  EXPECT_EQ(group.members[4].message, group.message);  // it was not tried
  EXPECT_TRUE(group.placements.empty());
}

// The scheduler's attempt ends with b: two are left, and three are wanted.
TEST(ExplainGroup, MembersBehindTheEndOfTheAttemptCount) {
  GroupRig rig({GroupRig::Node("n1", "3")});
  rig.ShowGroup("g", 4);
  rig.Add("a", "1");
  rig.Add("b", "64");
  rig.Add("c", "2");
  rig.Add("d", "1");
  rig.Settle();
  Asked asked(rig);
  const inspect::GroupExplanation& group = asked.Of(kG);
  EXPECT_EQ(group.message, "minCount (4) cannot be satisfied: 1 scheduled, 2 remaining");
  EXPECT_EQ(group.summary,
            "2 of 4 members fit; member 2 (ns/b) does not: 0/1 nodes are available: 1 "
            "Insufficient cpu.");
  EXPECT_EQ(group.groups[0].fit, 2U);  // d finds a and c on the node
  EXPECT_EQ(group.members[3].message, group.message);
  EXPECT_TRUE(group.members[3].unschedulable_plugins.empty());
}

TEST(ExplainGroup, MembersBehindTheEndOfATreesAttemptCount) {
  GroupRig rig({GroupRig::Node("a1", "3", "a"), GroupRig::Node("b1", "9", "b")},
               std::string(kTopology) + ",CompositePodGroup=true");
  rig.ShowComposite("tree", 2, "rack");
  rig.ShowGroup("g", 2, "", "tree");
  rig.ShowGroup("h", 2, "", "tree");
  rig.Add("g1", "1", "g");
  rig.Add("g2", "64", "g");
  for (const char* name : {"h1", "h2"}) rig.Add(name, "2", "h");
  rig.Settle();
  Asked asked(rig);
  const inspect::GroupExplanation& tree = asked.Of(kG);
  ASSERT_EQ(tree.placements.size(), 2U);
  EXPECT_EQ(tree.placements[0].tally.fit, 2U);
  EXPECT_EQ(tree.placements[1].tally.fit, 3U);
  EXPECT_EQ(tree.placements[1].tally.tried, 2U);
  ASSERT_EQ(tree.placements[1].inside.size(), 2U);
  EXPECT_EQ(tree.placements[1].inside[1].tally.fit, 2U);
  EXPECT_THAT(tree.summary, HasSubstr("2 of 4 members fit in a; member 2 (ns/g2) does not: "));
  EXPECT_THAT(tree.summary, HasSubstr("; the most fit in b: 3"));
}

TEST(ExplainGroup, EveryPlacementAndTheBest) {
  GroupRig rig({GroupRig::Node("a1", "1", "a"), GroupRig::Node("b1", "1", "b"),
                GroupRig::Node("b2", "1", "b"), GroupRig::Node("none", "9")},
               kTopology);
  rig.ShowGroup("g", 3, "rack");
  for (const char* name : {"x", "y", "z"}) rig.Add(name, "1");
  rig.Settle();
  Asked asked(rig);
  const inspect::GroupExplanation& group = asked.Of(kG);
  EXPECT_EQ(group.result, inspect::Verdict::kUnschedulable);
  ASSERT_EQ(group.placements.size(), 2U);
  EXPECT_EQ(group.placements[0].name, "a");
  EXPECT_EQ(group.placements[0].tally.fit, 1U);
  EXPECT_EQ(group.placements[1].name, "b");
  EXPECT_EQ(group.placements[1].nodes, 2U);
  EXPECT_EQ(group.placements[1].tally.fit, 2U);
  ASSERT_TRUE(group.placements[1].tally.first_failure.has_value());
  EXPECT_EQ(group.placements[1].tally.first_failure->pod, "ns/z");
  EXPECT_EQ(group.placements[1].tally.first_failure->number, 3U);
  EXPECT_THAT(group.summary, HasSubstr("1 of 3 members fit in a; member 2 (ns/y) does not: "));
  EXPECT_THAT(group.summary, HasSubstr("; the most fit in b: 2"));
  const std::string json = inspect::GroupExplanationJson(group);
  EXPECT_THAT(json, HasSubstr(R"({"podGroup":"podgroup/ns/g","profile":"default-scheduler",)"
                              R"("result":"Unschedulable","message":"pod group is )"
                              R"(unschedulable, 0/2 placements are available, )"));
  EXPECT_THAT(json, HasSubstr(R"("placement":"b","nodes":2,"result":"Unschedulable",)"
                              R"("message":")"));
  EXPECT_THAT(json, HasSubstr(R"("members":3,"tried":3,"fit":2,"firstFailure":{"pod":"ns/z",)"
                              R"("number":3,)"));
}

TEST(ExplainGroup, ATreeWithItsChildren) {
  GroupRig rig({GroupRig::Node("a1", "2", "a"), GroupRig::Node("b1", "3", "b")},
               std::string(kTopology) + ",CompositePodGroup=true");
  rig.ShowComposite("tree", 2, "rack");
  rig.ShowGroup("g", 2, "", "tree");
  rig.ShowGroup("h", 2, "", "tree");
  for (const char* name : {"g1", "g2"}) rig.Add(name, "1", "g");
  for (const char* name : {"h1", "h2"}) rig.Add(name, "1", "h");
  rig.Settle();
  Asked asked(rig);
  const inspect::GroupExplanation& tree = asked.Of(kG);
  EXPECT_EQ(tree.group, "compositepodgroup/ns/tree");
  EXPECT_EQ(tree.result, inspect::Verdict::kUnschedulable);
  ASSERT_EQ(tree.groups.size(), 3U);
  EXPECT_EQ(tree.groups[1].group, "podgroup/ns/g");
  ASSERT_EQ(tree.placements.size(), 2U);
  EXPECT_EQ(tree.placements[0].name, "a");
  EXPECT_EQ(tree.placements[0].tally.members, 4U);
  EXPECT_EQ(tree.placements[0].tally.fit, 2U);
  EXPECT_EQ(tree.placements[1].tally.fit, 3U);
  ASSERT_EQ(tree.placements[1].inside.size(), 2U);
  EXPECT_EQ(tree.placements[1].inside[0].result, inspect::Verdict::kSchedulable);
  EXPECT_EQ(tree.placements[1].inside[1].group, "podgroup/ns/h");
  EXPECT_EQ(tree.placements[1].inside[1].tally.fit, 1U);
}

TEST(ExplainGroup, GroupsThatWait) {
  GroupRig rig({GroupRig::Node("n1", "8")});
  rig.ShowGroup("g", 3);
  rig.Add("a", "1");
  rig.Add("lost", "1", "nobody");
  rig.Settle();
  Asked asked(rig);
  EXPECT_EQ(asked.Of(kG).result, inspect::Verdict::kGated);
  EXPECT_EQ(asked.Of(kG).summary, "");
  const inspect::GroupExplanation& lost = asked.Of({Symbol("ns"), "nobody", false});
  EXPECT_EQ(lost.result, inspect::Verdict::kGated);
  EXPECT_EQ(lost.message,
            "waiting for pod group ns/nobody, or a group above it, to appear: it is not known");
  std::vector<std::string> roots;
  for (const auto& root : asked.groups.WaitingRoots()) roots.push_back(root.Text());
  EXPECT_EQ(roots, (std::vector<std::string>{"podgroup/ns/g", "podgroup/ns/nobody"}));
  const auto unknown = asked.groups.Explain({Symbol("ns"), "never", false});
  ASSERT_TRUE(std::holds_alternative<inspect::Refusal>(unknown));
  EXPECT_EQ(std::get<inspect::Refusal>(unknown).status, 404);
}

TEST(ExplainGroup, NobodyWaitsAnyMore) {
  GroupRig rig({GroupRig::Node("n1", "8")});
  rig.ShowGroup("g", 2);
  rig.Add("a", "1");
  rig.Add("b", "1");
  rig.Settle();
  rig.rig().Bind();
  Asked asked(rig);
  const inspect::GroupExplanation& group = asked.Of(kG);
  EXPECT_EQ(group.result, inspect::Verdict::kSchedulable);
  EXPECT_EQ(group.notes, (std::vector<std::string>{"no member waits for a node; 2 are on nodes"}));
}

// The member alone would fit; the group is what does not.
TEST(ExplainGroup, AMemberIsToldOfItsGroup) {
  GroupRig rig({GroupRig::Node("n1", "1")});
  rig.ShowGroup("g", 2);
  rig.Add("a", "1");
  rig.Add("b", "1");
  rig.Settle();
  auto answer = inspect::ExplainLive(rig.scheduler(), {.pod = "ns/a"});
  ASSERT_TRUE(std::holds_alternative<inspect::LiveExplanation>(answer));
  auto& live = std::get<inspect::LiveExplanation>(answer);
  inspect::ExplainGroupOf(&live);
  EXPECT_EQ(live.explanation.result, inspect::Verdict::kSchedulable);
  ASSERT_TRUE(live.explanation.group.has_value());
  EXPECT_EQ(live.explanation.group->group, "podgroup/ns/g");
  EXPECT_EQ(live.explanation.group->result, inspect::Verdict::kUnschedulable);
  EXPECT_EQ(live.explanation.group->member_message,
            "pod group is unschedulable, minCount (2) cannot be satisfied: 1 scheduled, 0 "
            "remaining");
  const std::string json = inspect::LiveExplanationJson(live, {});
  EXPECT_THAT(json, HasSubstr(R"("podGroup":{"podGroup":"podgroup/ns/g","result":)"
                              R"("Unschedulable","message":"minCount (2))"));
  EXPECT_THAT(json, HasSubstr(R"("summary":"1 of 2 members fit; member 2 (ns/b) does not: )"));
}

// Nothing of the question stays with the scheduler.
TEST(ExplainGroup, LeavesNothingBehind) {
  GroupRig rig({GroupRig::Node("n1", "1")});
  rig.ShowGroup("g", 2);
  rig.Add("a", "1");
  rig.Add("b", "1");
  rig.Settle();
  const std::string metrics = rig.rig().metrics_registry.Text();
  const size_t patches = rig.rig().api.group_patches.size();
  const framework::QueuedPod before = *rig.scheduler().context().queue.stores().FindPod("ns/a");
  const auto json = inspect::LiveGroupJson(
      std::get<inspect::ClusterCopy>(inspect::CopyCluster(rig.scheduler())), kG,
      {.standby = true, .identity = "me"}, inspect::ExplainPreemption::kYes);
  ASSERT_TRUE(std::holds_alternative<std::string>(json));
  EXPECT_THAT(std::get<std::string>(json),
              HasSubstr(R"("preemption":{"code":"UnschedulableAndUnresolvable","message":"pod )"
                        R"(group preemption: No preemption victims found for incoming preemptor",)"
                        R"("nominated":[],"victims":[],"violations":0,"disruptions":0})"));
  EXPECT_THAT(std::get<std::string>(json), HasSubstr(R"("standby":true,"identity":"me")"));
  rig.Settle();
  EXPECT_EQ(rig.rig().metrics_registry.Text(), metrics);
  EXPECT_EQ(rig.rig().api.group_patches.size(), patches);
  EXPECT_EQ(rig.scheduler().context().queue.stores().FindPod("ns/a")->attempts, before.attempts);
  EXPECT_EQ(rig.scheduler().context().cluster.cache.Find("n1")->requested().milli_cpu, 0);
}

TEST(ExplainGroup, Names) {
  EXPECT_EQ(inspect::ParseGroupName("podgroup/g")->Text(), "podgroup/default/g");
  EXPECT_EQ(inspect::ParseGroupName("podgroup/ns/g")->Text(), "podgroup/ns/g");
  EXPECT_EQ(inspect::ParseGroupName("compositepodgroup/ns/g")->Text(), "compositepodgroup/ns/g");
  EXPECT_FALSE(inspect::ParseGroupName("ns/g").has_value());
  EXPECT_FALSE(inspect::ParseGroupName("web").has_value());
}

}  // namespace
}  // namespace ks::scheduler
