// SPDX-License-Identifier: Apache-2.0
// What gates a pod group and what opens it: docs/spec/queue.md 18.2 and 18.8.

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "group_fixture.h"

namespace ks::queue::testing {
namespace {

using ks::testing::MakePod;

class GatedGroupTest : public GroupFixture {
 protected:
  // Gang holds the members of the groups in `closed`. Its hint: the same leaf, here.
  // `together`: the queue knows that members of a tree get the same answer.
  void MakeGated(bool together = false) {
    gate_ = [this](const api::Pod& pod) {
      ++gate_runs_;
      if (!closed_.contains(*pod.spec->scheduling_group)) return framework::Status();
      return framework::Status(framework::Code::kUnschedulableAndUnresolvable, {"too few"}, "Gang");
    };
    const auto hint = [this](const api::Pod& pod, const EventObject&,
                             const EventObject& added) -> Result<QueueingHint> {
      asked_ += pod.meta.name + ' ';
      std::string name;
      if (const auto* other = std::get_if<api::PodPtr>(&added)) {
        name = (*other)->spec->scheduling_group.value_or("");
      } else {
        name = std::get<api::PodGroupPtr>(added)->meta.name;
      }
      return name == *pod.spec->scheduling_group ? QueueingHint::kQueue : QueueingHint::kSkip;
    };
    MakeWithGroups({{"Gang",
                     {{kPodAdd, hint, framework::HintScope::kGroup},
                      {kGroupAdd, hint, framework::HintScope::kGroup}}},
                    {"X", {{kPodAdd, Says(QueueingHint::kQueue)}}}},
                   [together](SchedulingQueueOptions& options) {
                     options.profiles.begin()->second.gate_changes_alone =
                         [together](const api::Pod&) { return !together; };
                   });
  }
  void SendPodAdd(const api::PodPtr& pod) {
    asked_.clear();
    queue_->MoveAllToActiveOrBackoff(kPodAdd, {}, pod);
  }

  static constexpr ClusterEvent kGroupAdd{EventResource::kPodGroup, framework::kActionAdd, {}};
  std::set<std::string> closed_;
  std::string asked_;
  int gate_runs_ = 0;
};

TEST_F(GatedGroupTest, OneMemberAnswersForAll) {
  constexpr int kMembers = 100;
  closed_ = {"g"};
  MakeGated(true);
  AddGroup(Leaf("g"));
  for (int i = 0; i < kMembers; ++i) {
    SendPodAdd(AddMember("g", "m" + std::to_string(1000 + i)));
  }
  EXPECT_LE(gate_runs_, 3 * kMembers) << "the one that comes, and one of the others";
  EXPECT_EQ(asked_, "m1000 ");
  EXPECT_EQ(queue_->pending().gated, static_cast<size_t>(kMembers));
  closed_.clear();
  gate_runs_ = 0;
  SendPodAdd(MemberOf("g", "p").Obj());
  EXPECT_GE(gate_runs_, kMembers) << "its answer is another one now, so are theirs";
  EXPECT_EQ(queue_->pending().active, static_cast<size_t>(kMembers));
  // An active group is asked again when it grows.
  closed_ = {"g"};
  gate_runs_ = 0;
  AddMember("g", "late");
  EXPECT_EQ(queue_->pending().gated, static_cast<size_t>(kMembers) + 1);
}

TEST_F(GatedGroupTest, AnEventIsAskedOfItsGroupOnly) {
  closed_ = {"g", "h", "i"};
  MakeGated();
  AddGroup(Composite("r"));
  AddGroup(Leaf("g"), "r");
  AddGroup(Leaf("h"), "r");
  AddGroup(Leaf("i"));
  for (const char* name : {"g1", "g2", "h1", "i1", "i2", "i3"}) {
    AddMember(std::string(name, 1), name);
  }
  EXPECT_EQ(Stored(), "gated i[i1 i2 i3]; gated r[g1 g2 h1]");
  SendPodAdd(MakePod().Name("p").Namespace("ns").Obj());
  EXPECT_EQ(asked_, "") << "a pod of no group";
  SendPodAdd(MemberOf("none", "p").Obj());
  EXPECT_EQ(asked_, "") << "a pod of an unknown group";
  SendPodAdd(MemberOf("i", "p").Obj());
  EXPECT_EQ(asked_, "i1 ") << "one answer is enough";
  EXPECT_EQ(Stored(), "gated i[i1 i2 i3]; gated r[g1 g2 h1]") << "but the gate is closed";
  SendPodAdd(MemberOf("h", "p").Obj());
  EXPECT_EQ(asked_, "g1 g2 h1 ") << "the tree, until one says Queue";
  closed_.clear();
  auto object = std::make_shared<api::PodGroup>();
  object->meta.ns = Symbol("ns");
  object->meta.name = "g";
  asked_.clear();
  queue_->MoveAllToActiveOrBackoff(kGroupAdd, {}, api::PodGroupPtr(object));
  EXPECT_EQ(Stored(), "active r[g1 g2 h1]; gated i[i1 i2 i3]");
  EXPECT_EQ(queue_->stats().effects.at("scheduling.k8s.io/PodGroupAdd").woken, 3);
}

TEST_F(GatedGroupTest, AMemberWithoutRejectionWakesItsGroupAtAnyEventThatPassesTheGate) {
  closed_ = {"g"};
  MakeGated();
  AddGroup(Composite("r"));
  AddGroup(Leaf("g"), "r");
  AddGroup(Leaf("h"), "r");
  AddMember("g", "g1");
  AddMember("h", "h1");
  EXPECT_EQ(Stored(), "gated r[g1 h1]");
  closed_.clear();
  Send(kNodeAdd);
  EXPECT_EQ(Stored(), "gated r[g1 h1]") << "the gating plugin does not listen";
  SendPodAdd(MemberOf("none", "p").Obj());
  EXPECT_EQ(Stored(), "active r[g1 h1]");
}

TEST_F(GatedGroupTest, APreCheckPassesWithOneMember) {
  closed_ = {"g"};
  MakeGated();
  AddGroup(Leaf("g"));
  AddMember("g", "a");
  AddMember("g", "b");
  closed_.clear();
  const auto event = [&](const std::string& passing) {
    queue_->MoveAllToActiveOrBackoff(
        kPodAdd, {}, MemberOf("g", "p").Obj(),
        [&passing](const framework::QueuedPod& pod) { return pod.pod()->meta.name == passing; });
  };
  event("nobody");
  EXPECT_EQ(Stored(), "gated g[a b]");
  event("b");
  EXPECT_EQ(Stored(), "active g[a b]");
}

TEST_F(GatedGroupTest, AGateThatStaysCountsAgain) {
  closed_ = {"g"};
  MakeGated();
  AddGroup(Leaf("g"));
  const api::PodPtr a = AddMember("g", "a");
  AddMember("g", "b");
  EXPECT_EQ(Rejections(), "Gang=1") << "parked groups do not ask newcomers";
  SendPodAdd(a);
  EXPECT_EQ(Rejections(), "Gang=2");
  EXPECT_EQ(Counts(queue_->stats().unschedulable.pods), "UnscheduledPodAdd=5");
  SendPodAdd(a);
  EXPECT_EQ(Rejections(), "Gang=2");
  queue_->Delete(*a);
  EXPECT_EQ(Rejections(), "Gang=1");
  closed_.clear();
  queue_->Activate({MemberOf("g", "b").Obj()});
  PopGroup();
  EXPECT_EQ(Rejections(), "");
}

TEST_F(GatedGroupTest, LeftoverFlush) {
  closed_ = {"g"};
  MakeGated();
  AddGroup(Leaf("g"));
  AddMember("g", "a");
  At(200);
  AddMember("g", "b");
  At(301);
  queue_->FlushUnschedulableLeftover();
  EXPECT_EQ(Stored(), "gated g[a b]");
  EXPECT_FALSE(Entity("g").was_flushed_from_unschedulable);
  EXPECT_DOUBLE_EQ(Seconds(*Entity("g").flush_timestamp), 301);
  closed_.clear();
  At(600);
  queue_->FlushUnschedulableLeftover();
  EXPECT_EQ(Stored(), "gated g[a b]");
  At(602);
  queue_->FlushUnschedulableLeftover();
  EXPECT_EQ(Stored(), "active g[a b]");
  EXPECT_TRUE(Entity("g").was_flushed_from_unschedulable);
  EXPECT_EQ(Counts(queue_->stats().active.groups), "UnschedulableTimeout=1");
}

TEST_F(GatedGroupTest, LookingAgainAtAMemberLooksAtItsGroup) {
  closed_ = {"g"};
  MakeGated();
  AddGroup(Leaf("g"));
  AddMember("g", "a");
  const api::PodPtr b = AddMember("g", "b");
  closed_.clear();
  queue_->LookAgain(b, "Label");
  EXPECT_EQ(Stored(), "active g[a b]");
  EXPECT_EQ(queue_->stats().effects.at("Label").woken, 2);
}

}  // namespace
}  // namespace ks::queue::testing
