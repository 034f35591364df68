// SPDX-License-Identifier: Apache-2.0
// Records of groups: the examples of docs/spec/cache.md 18.7 under their numbers; the trees; and
// what a group attempt changes of the snapshot, which is to be as before when it is taken back.
#include "cache/pod_groups.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "cache/cache.h"
#include "cache/group_stores.h"
#include "testing/builders.h"
#include "testing/deltas.h"

namespace ks::cache {
namespace {

using framework::MemberState;
using framework::PodGroupKey;
using framework::PodGroupState;
using testing::MakeNode;
using testing::MakePod;

api::PodPtr Member(const std::string& name, const std::string& node = "",
                   const std::string& group = "g") {
  auto pod = MakePod().Name(name).Node(node).Req({{"cpu", "1"}});
  pod.spec().scheduling_group = group;
  return pod.Obj();
}

template <class T>
std::shared_ptr<const T> MakeGroup(const std::string& name, const std::string& parent = "",
                                   int created = 0) {
  auto group = std::make_shared<T>();
  group->meta.ns = Symbol("ns");
  group->meta.name = name;
  group->meta.uid = "uid-" + name;
  group->meta.creation_timestamp = TimePoint(std::chrono::seconds(created));
  group->spec.parent_composite_pod_group_name = parent;
  return group;
}

// "U:p1 p2 A:p3 S:p4": unscheduled, assumed, assigned; "-": no record.
std::string Shown(const PodGroups& groups, const std::string& name = "g") {
  const PodGroupState* state = groups.Find(Symbol("ns"), name);
  if (state == nullptr) return "-";
  std::string text;
  for (const auto& [wanted, letter] :
       {std::pair(MemberState::kUnscheduled, 'U'), std::pair(MemberState::kAssumed, 'A'),
        std::pair(MemberState::kAssigned, 'S')}) {
    text += text.empty() ? "" : " ";
    text += letter;
    text += ':';
    for (const auto& [uid, member] : state->members()) {
      if (member.state == wanted) text += member.pod->meta.name + ",";
    }
  }
  return text;
}

class PodGroupsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"n1", "n2"}) {
      cache.AddNode(MakeNode().Name(name).Allocatable({{"cpu", "8"}, {"pods", "10"}}).Obj());
    }
  }
  template <class T>
  void Show(const std::shared_ptr<const T>& group) {
    objects.Apply(GroupDeltas(std::vector<api::Delta<T>>{testing::Upsert(group)}), {});
    if constexpr (std::is_same_v<T, api::PodGroup>) groups.SetGroup(group);
  }
  void Pending(const api::PodPtr& pod) { groups.AddMember(pod); }
  void Assume(const std::string& name, const std::string& node) {
    ASSERT_TRUE(cache.AssumePod(Member(name, node)).ok());
  }

  GroupStores objects;
  PodGroups groups{objects, true};
  Cache cache{&groups};
};

TEST_F(PodGroupsTest, G1MembersWithoutAnObject) {
  Pending(Member("p1"));
  Pending(Member("p2"));
  EXPECT_EQ(Shown(groups), "U:p1,p2, A: S:");
  EXPECT_EQ(groups.Find(Symbol("ns"), "g")->object, nullptr);
}

TEST_F(PodGroupsTest, G2AssumeG3Forget) {
  Pending(Member("p1"));
  Pending(Member("p2"));
  Assume("p1", "n1");
  EXPECT_EQ(Shown(groups), "U:p2, A:p1, S:");
  EXPECT_EQ(groups.Find(Symbol("ns"), "g")->scheduled(), 1U);
  ASSERT_TRUE(cache.ForgetPod(*Member("p1", "n1")).ok());
  EXPECT_EQ(Shown(groups), "U:p1,p2, A: S:");
}

TEST_F(PodGroupsTest, G4SeenBoundG6Deleted) {
  Pending(Member("p1"));
  Pending(Member("p2"));
  Assume("p1", "n1");
  ASSERT_TRUE(cache.AddPod(Member("p1", "n1")).ok());
  EXPECT_EQ(Shown(groups), "U:p2, A: S:p1,");
  ASSERT_TRUE(cache.RemovePod(*Member("p1", "n1")).ok());
  groups.RemoveMember(*Member("p2"));
  EXPECT_EQ(Shown(groups), "-");
}

TEST_F(PodGroupsTest, G5DeletedOnItsWay) {
  Pending(Member("p1"));
  Pending(Member("p2"));
  Assume("p1", "n1");
  ASSERT_TRUE(cache.RemoveAssumedPod(*Member("p1", "n1")).ok());
  EXPECT_EQ(Shown(groups), "U:p2, A: S:");
}

TEST_F(PodGroupsTest, G7AnObjectAlone) {
  const auto group = MakeGroup<api::PodGroup>("g");
  Show(group);
  EXPECT_EQ(Shown(groups), "U: A: S:");
  groups.RemoveGroup(*group);
  EXPECT_EQ(Shown(groups), "-");
}

TEST_F(PodGroupsTest, G8BoundBySomebodyElse) {
  ASSERT_TRUE(cache.AddPod(Member("p1", "n2")).ok());
  groups.Assume(Member("p1", "n1"));
  EXPECT_EQ(Shown(groups), "U: A: S:p1,");
  groups.Forget(*Member("p1", "n1"));
  EXPECT_EQ(Shown(groups), "U: A: S:p1,");
}

TEST_F(PodGroupsTest, G9ParentUnknownG10Root) {
  const PodGroupKey key{Symbol("ns"), "g", false};
  EXPECT_FALSE(groups.RootOf(key).has_value());
  Show(MakeGroup<api::PodGroup>("g", "c"));
  EXPECT_FALSE(groups.RootOf(key).has_value());
  Show(MakeGroup<api::CompositePodGroup>("c"));
  ASSERT_TRUE(groups.RootOf(key).has_value());
  EXPECT_EQ(groups.RootOf(key)->Text(), "compositepodgroup/ns/c");
}

TEST_F(PodGroupsTest, ChildrenByCreationThenName) {
  Show(MakeGroup<api::PodGroup>("b", "c", 2));
  Show(MakeGroup<api::PodGroup>("a", "c", 2));
  Show(MakeGroup<api::PodGroup>("z", "c", 1));
  std::string names;
  for (const PodGroupKey& child : groups.ChildrenOf({Symbol("ns"), "c", true})) {
    names += child.name;
  }
  EXPECT_EQ(names, "zab");
}

TEST_F(PodGroupsTest, ACircleHasNoRoot) {
  Show(MakeGroup<api::CompositePodGroup>("c", "d"));
  Show(MakeGroup<api::CompositePodGroup>("d", "c"));
  Show(MakeGroup<api::PodGroup>("g", "c"));
  EXPECT_FALSE(groups.RootOf({Symbol("ns"), "g", false}).has_value());
}

TEST_F(PodGroupsTest, WithoutTreesAGroupIsItsOwnRoot) {
  PodGroups flat(objects, false);
  flat.SetGroup(MakeGroup<api::PodGroup>("g", "c"));
  const PodGroupKey key{Symbol("ns"), "g", false};
  EXPECT_EQ(flat.RootOf(key), key);
}

TEST_F(PodGroupsTest, AnAssumedMemberThatIsSeenPendingStaysAssumed) {
  Pending(Member("p1"));
  Assume("p1", "n1");
  groups.UpdateMember(Member("p1"));
  EXPECT_EQ(Shown(groups), "U: A:p1, S:");
  groups.UpdateMember(Member("p9"));
  EXPECT_EQ(Shown(groups), "U: A:p1, S:");
}

// ---- changes of the snapshot ----

std::string Shown(const framework::NodeInfo& node) {
  std::string text = node.name() + " " + std::to_string(node.requested().milli_cpu) + " " +
                     std::to_string(node.generation()) + ":";
  for (const framework::PodInfoPtr& pod : node.pods()) text += " " + pod->pod().meta.name;
  return text;
}
std::string Shown(const Cache& cache, const PodGroups& groups) {
  std::string text;
  for (const framework::NodeInfo* node : cache.nodes()) text += Shown(*node) + "\n";
  text += std::to_string(cache.nodes_with_affinity().size());
  text += std::to_string(cache.nodes_with_required_anti_affinity().size());
  return text + "\n" + Shown(groups);
}

TEST_F(PodGroupsTest, TryingAMemberLeavesNoTrace) {
  Pending(Member("p1"));
  Pending(Member("p2"));
  ASSERT_TRUE(cache.AddPod(MakePod().Name("old").Node("n1").Req({{"cpu", "1"}}).Obj()).ok());
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  const std::string before = Shown(cache, groups);
  framework::MutableSnapshot& trial = cache.mutable_snapshot();
  trial.AssumePod(Member("p1", "n1"));
  trial.AssumePod(Member("p2", "n1"));
  EXPECT_EQ(cache.Find("n1")->requested().milli_cpu, 3000);
  EXPECT_EQ(Shown(groups), "U: A:p1,p2, S:");
  EXPECT_EQ(trial.ForgetPod(*Member("p1", "n1")).error().message,
            "assumed pod \"uid-p1\" not found in the snapshot");
  ASSERT_TRUE(trial.ForgetPod(*Member("p2", "n1")).ok());
  ASSERT_TRUE(trial.ForgetPod(*Member("p1", "n1")).ok());
  EXPECT_EQ(Shown(cache, groups), before);
}

TEST_F(PodGroupsTest, MutationsAreRefusedOutsideTheirScope) {
  framework::MutableSnapshot& trial = cache.mutable_snapshot();
  EXPECT_EQ(trial.AddPod(Member("p", "n1")).error().message,
            "AddPod() called outside of mutation session");
  EXPECT_EQ(trial.RemovePod(*Member("p", "n1")).error().message,
            "RemovePod() called outside of mutation session");
  EXPECT_EQ(trial.EndMutations().error().message, "no mutation session started");
  ASSERT_TRUE(trial.StartMutations().ok());
  EXPECT_EQ(trial.StartMutations().error().message, "cannot stack mutations");
  EXPECT_EQ(trial.RemovePod(*Member("p", "n9")).error().message,
            "node \"n9\" not found in the snapshot");
  ASSERT_TRUE(trial.EndMutations().ok());
}

// Random removals and returns, of members and others: what was is again, in its order.
TEST_F(PodGroupsTest, AMutationScopePutsEverythingBack) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    GroupStores none;
    PodGroups records(none, true);
    Cache state(&records);
    for (const char* name : {"n1", "n2", "n3"}) {
      state.AddNode(MakeNode().Name(name).Allocatable({{"cpu", "80"}, {"pods", "99"}}).Obj());
    }
    std::vector<api::PodPtr> pods;
    for (int i = 0; i < 12; ++i) {
      const std::string node = "n" + std::to_string(random.Below(3) + 1);
      const std::string group = random.Below(2) == 0 ? "g" : "h";
      pods.push_back(Member("p" + std::to_string(i), node, group));
      const bool assumed = random.Below(3) == 0;
      ASSERT_TRUE((assumed ? state.AssumePod(pods.back()) : state.AddPod(pods.back())).ok());
    }
    ASSERT_TRUE(state.RefreshSnapshot().ok());
    const std::string before = Shown(state, records) + Shown(records, "h");
    framework::MutableSnapshot& trial = state.mutable_snapshot();
    ASSERT_TRUE(trial.StartMutations().ok());
    std::vector<bool> gone(pods.size());
    for (int step = 0; step < 30; ++step) {
      const size_t at = random.Below(pods.size());
      const Result<void> done = gone[at] ? trial.AddPod(pods[at]) : trial.RemovePod(*pods[at]);
      ASSERT_TRUE(done.ok()) << done.error().message;
      gone[at] = !gone[at];
    }
    ASSERT_TRUE(trial.EndMutations().ok());
    ASSERT_EQ(Shown(state, records) + Shown(records, "h"), before);
  }
}

}  // namespace
}  // namespace ks::cache
