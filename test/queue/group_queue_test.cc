// SPDX-License-Identifier: Apache-2.0
// Pod groups as entities: docs/spec/queue.md section 18, row by row.

#include "queue/group_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "group_fixture.h"

namespace ks::queue::testing {
namespace {

using framework::QueuedPodGroupPtr;
using framework::QueuedPodPtr;
using ks::testing::MakePod;

using GroupQueueTest = GroupFixture;

// 18.1, 18.3 row 1.

TEST_F(GroupQueueTest, WithoutTheGateAMemberIsAPod) {
  SchedulingQueue& queue = Make();
  EXPECT_EQ(queue.groups(), nullptr);
  queue.Add(MemberOf("g", "a").Obj());
  EXPECT_EQ(PopNamed("a")->attempts, 1);
  EXPECT_EQ(queue.pending().Summary(), "activeQ:0; backoffQ:0; unschedulableEntities:0");
}

TEST_F(GroupQueueTest, APodWithANodeIsNoMember) {
  SchedulingQueue& queue = MakeWithGroups();
  queue.Add(MemberOf("g", "a").Node("n").Obj());
  PopNamed("a");
}

TEST_F(GroupQueueTest, WithoutRootAMemberIsIncomplete) {
  struct Case {
    const char* name;
    std::vector<std::pair<PodGroupKey, std::string>> objects;  // with their parents
    const char* want;
  } cases[] = {
      {"no object", {}, "incomplete[a]"},
      {"no parent", {{Leaf("g"), "c"}}, "incomplete[a]"},
      {"no grandparent", {{Leaf("g"), "c"}, {Composite("c"), "d"}}, "incomplete[a]"},
      {"a circle",
       {{Leaf("g"), "c"}, {Composite("c"), "d"}, {Composite("d"), "c"}},
       "incomplete[a]"},
      {"only the parent", {{Composite("c"), ""}}, "incomplete[a]"},
      {"a root", {{Leaf("g"), ""}}, "active g[a]"},
      {"a tree", {{Leaf("g"), "c"}, {Composite("c"), "d"}, {Composite("d"), ""}}, "active d[a]"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    for (const bool objects_first : {true, false}) {
      forest_ = FakeForest();
      MakeWithGroups();
      if (!objects_first) AddMember("g", "a");
      for (const auto& [key, parent] : c.objects) AddGroup(key, parent);
      if (objects_first) AddMember("g", "a");
      EXPECT_EQ(Stored(), c.want);
      EXPECT_EQ(queue_->pending().incomplete, std::string(c.want) == "incomplete[a]" ? 1U : 0U);
    }
  }
}

// 18.3.

TEST_F(GroupQueueTest, TheFirstMemberMakesTheEntity) {
  MakeWithGroups();
  forest_.Put(Leaf("g"), "", 7);
  At(3);
  AddMember("g", "a");
  At(5);
  AddMember("g", "b");
  const framework::QueuedPodGroup& group = Entity("g");
  EXPECT_EQ(group.Key(), "podgroup/ns/g");
  EXPECT_EQ(group.Priority(), 7);
  EXPECT_EQ(group.PodCount(), 2U);
  EXPECT_DOUBLE_EQ(Seconds(group.timestamp), 3);
  EXPECT_DOUBLE_EQ(Seconds(*group.initial_attempt_timestamp), 3);
  EXPECT_DOUBLE_EQ(Seconds(*queue_->stores().FindPod("ns/b")->initial_attempt_timestamp), 5);
  EXPECT_EQ(Stored(), "active g[a b]");
}

TEST_F(GroupQueueTest, AnAdditionPlacesAgainByTheStore) {
  struct Case {
    const char* name;
    bool failed;       // the group backs off
    bool first_gated;  // its first member is, so the group is parked
    bool newcomer_gated;
    const char* want;
    const char* want_active;  // queue_incoming_pods_total by UnscheduledPodAdd
    const char* want_groups;  // queue_incoming_entities_total
  } cases[] = {
      {"active", false, false, false, "active g[a b]", "UnscheduledPodAdd=3",
       "UnscheduledPodAdd=1"},
      {"active, gated newcomer", false, false, true, "gated g[a b]", "UnscheduledPodAdd=1",
       "UnscheduledPodAdd=1"},
      {"backoff", true, false, false, "error g[a b]", "UnscheduledPodAdd=1", "UnscheduledPodAdd=1"},
      {"backoff, gated newcomer", true, false, true, "gated g[a b]", "UnscheduledPodAdd=1",
       "UnscheduledPodAdd=1"},
      {"parked", false, true, false, "gated g[a b]", "", ""},
      {"parked, gated newcomer", false, true, true, "gated g[a b]", "", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    MakeWithGroups();
    forest_.Put(Leaf("g"));
    AddMember("g", "a", c.first_gated ? std::vector<std::string>{"x"} : std::vector<std::string>());
    if (c.failed) PopAndReturn(ReturnStatus::kRejected);
    AddMember("g", "b",
              c.newcomer_gated ? std::vector<std::string>{"x"} : std::vector<std::string>());
    EXPECT_EQ(Stored(), c.want);
    EXPECT_EQ(Counts(queue_->stats().active.pods), c.want_active);
    EXPECT_EQ(Counts(queue_->stats().active.groups), c.want_groups);
    EXPECT_EQ(Counts(queue_->stats().active.entities), "");
  }
}

TEST_F(GroupQueueTest, AnAdditionToAParkedGroupRunsNoPreEnqueue) {
  MakeWithGroups();
  forest_.Put(Leaf("g"));
  AddMember("g", "a", {"x"});
  int runs = 0;
  gate_ = [&runs](const api::Pod&) {
    ++runs;
    return framework::Status();
  };
  AddMember("g", "b");
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(Stored(), "gated g[a b]");
  EXPECT_EQ(queue_->pending().gated, 2U);
  EXPECT_EQ(queue_->pending().groups.gated, 1U);
}

TEST_F(GroupQueueTest, AGroupThatGrowsInBackoffKeepsItsEnd) {
  MakeWithGroups();
  forest_.Put(Leaf("g"));
  AddMember("g", "a");
  for (int i = 0; i < 6; ++i) {
    At(100 * i);
    queue_->FlushBackoffCompleted();
    PopAndReturn(ReturnStatus::kRejected);
  }
  EXPECT_DOUBLE_EQ(Seconds(*groups().Find(Leaf("g"))->group->backoff_expiration), 510);
  for (const char* name : {"b", "c", "d"}) AddMember("g", name);
  EXPECT_DOUBLE_EQ(Seconds(*groups().Find(Leaf("g"))->group->backoff_expiration), 510);
  At(510.9);
  queue_->FlushBackoffCompleted();
  EXPECT_EQ(Stored(), "error g[a b c d]");
  At(511);
  queue_->FlushBackoffCompleted();
  EXPECT_EQ(Stored(), "active g[a b c d]");
  PopAndReturn(ReturnStatus::kRejected);
  EXPECT_DOUBLE_EQ(Seconds(*groups().Find(Leaf("g"))->group->backoff_expiration), 531)
      << "10 s times the root of 4";
}

TEST_F(GroupQueueTest, WhileItsGroupIsTheLastPoppedAMemberIsPending) {
  MakeWithGroups();
  forest_.Put(Leaf("g"));
  forest_.Put(Leaf("h"));
  AddMember("g", "a");
  const QueuedPodGroupPtr group = PopGroup();
  AddMember("g", "b");
  AddMember("h", "other");
  EXPECT_EQ(Stored(), "active h[other]; pending[b]");
  EXPECT_EQ(queue_->pending().pending, 1U);
  EXPECT_EQ(queue_->pending().Summary(),
            "activeQ:1; backoffQ:0; unschedulableEntities:0; pendingPodGroupMemberPods:1; "
            "incompletePodGroupPods:0");
  ASSERT_TRUE(groups().Return(group, ReturnStatus::kSuccess).ok());
  EXPECT_EQ(Stored(), "active g[b]; active h[other]");
}

TEST_F(GroupQueueTest, LastPoppedIsForgotten) {
  struct Case {
    const char* name;
    const char* event;
    bool want_pending;
  } cases[] = {{"nothing happened", "", true},
               {"a pod was returned", "return pod", false},
               {"a member was returned", "return member", true},
               {"a pod was popped", "pop", false},
               {"the group was returned", "return group", false}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    forest_ = FakeForest();
    SchedulingQueue& queue = MakeWithGroups();
    queue.Add(MakePod().Name("p").Namespace("ns").Priority(9).Obj());
    const QueuedPodPtr pod = PopNamed("p");
    for (const char* group : {"g", "h"}) forest_.Put(Leaf(group));
    forest_.Put(Leaf("h"), "", 5);
    AddMember("h", "m");
    const QueuedPodGroupPtr other = PopGroup();
    ASSERT_TRUE(groups().Return(other, ReturnStatus::kSuccess).ok());
    AddMember("g", "a");
    const QueuedPodGroupPtr group = PopGroup();
    const std::string event = c.event;
    if (event == "return pod") Fail(pod, {"X"});
    if (event == "return member") Fail(other->leaves[0].members[0], {"X"});
    if (event == "return group") {
      ASSERT_TRUE(groups().Return(group, ReturnStatus::kSuccess).ok());
    }
    if (event == "pop") {
      queue.Add(MakePod().Name("q").Namespace("ns").Obj());
      PopNamed("q");
    }
    AddMember("g", "b");
    EXPECT_EQ(Stored().find("pending[b]") != std::string::npos, c.want_pending) << Stored();
  }
}

TEST_F(GroupQueueTest, AReturningMemberIsCountedAndDone) {
  SchedulingQueue& queue = MakeWithGroups();
  forest_.Put(Leaf("g"));
  AddMember("g", "a");
  AddMember("g", "b");
  const QueuedPodGroupPtr group = PopGroup();
  At(4);
  Fail(group->leaves[0].members[0], {"X", "Y"});
  Fail(group->leaves[0].members[1], {});
  EXPECT_EQ(Rejections(), "X=1 Y=1");
  EXPECT_FALSE(queue.IsInFlight("uid-a"));
  EXPECT_EQ(Stored(), "pending[a b]");
  const framework::QueuedPod& a = *queue.stores().FindPod("ns/a");
  EXPECT_EQ(a.unschedulable_count, 1);
  EXPECT_DOUBLE_EQ(Seconds(a.timestamp), 4);
  EXPECT_EQ(queue.stores().FindPod("ns/b")->consecutive_errors_count, 1);
  EXPECT_FALSE(queue.AddUnschedulableIfNotPresent(group->leaves[0].members[0]).ok())
      << "it is there already";
  queue.Delete(*a.pod());
  EXPECT_EQ(Rejections(), "");
  EXPECT_EQ(Stored(), "pending[b]");
}

TEST_F(GroupQueueTest, AMemberThatComesBackAfterItsGroupStartsAnew) {
  MakeWithGroups();
  forest_.Put(Leaf("g"));
  AddMember("g", "a");
  const QueuedPodGroupPtr group = PopGroup();
  ASSERT_TRUE(groups().Return(group, ReturnStatus::kSuccess).ok());
  EXPECT_EQ(Stored(), "") << "a waits at Permit";
  At(20);
  Fail(group->leaves[0].members[0], {});
  EXPECT_EQ(Stored(), "active g[a]");
  EXPECT_EQ(Entity("g").attempts, 0);
  EXPECT_DOUBLE_EQ(Seconds(Entity("g").timestamp), 20);
}

// 18.4.

TEST_F(GroupQueueTest, ReturnOfTheGroup) {
  struct Case {
    const char* name;
    ReturnStatus status;
    bool member_returns;
    bool newcomer;
    const char* want;
    int64_t want_unschedulable;
    int64_t want_errors;
    double want_timestamp;
  } cases[] = {
      {"success, all bound", ReturnStatus::kSuccess, false, false, "", 0, 0, 0},
      {"success, one left", ReturnStatus::kSuccess, true, false, "active g[a]", 0, 0, 50},
      {"success, newcomer", ReturnStatus::kSuccess, false, true, "active g[n]", 0, 0, 62},
      {"success, both", ReturnStatus::kSuccess, true, true, "active g[a n]", 0, 0, 50},
      {"rejected, one left", ReturnStatus::kRejected, true, false, "error g[a]", 2, 0, 62},
      {"rejected, newcomer", ReturnStatus::kRejected, false, true, "error g[n]", 2, 0, 62},
      {"rejected, all gone", ReturnStatus::kRejected, false, false, "", 0, 0, 0},
      {"error, one left", ReturnStatus::kError, true, false, "error g[a]", 1, 1, 62},
      {"error, both", ReturnStatus::kError, true, true, "error g[a n]", 1, 1, 62},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    MakeWithGroups();
    forest_.Put(Leaf("g"));
    start_ = clock_.Now();
    AddMember("g", "a");
    const TimePoint added = clock_.Now();
    At(50);
    PopAndReturn(ReturnStatus::kRejected);
    At(60);
    queue_->FlushBackoffCompleted();
    const QueuedPodGroupPtr group = PopGroup();
    At(62);
    if (c.newcomer) AddMember("g", "n");
    if (c.member_returns) Fail(group->leaves[0].members[0], {"X"});
    ASSERT_TRUE(groups().Return(group, c.status).ok());
    EXPECT_EQ(Stored(), c.want);
    if (std::string(c.want).empty()) continue;
    const framework::QueuedPodGroup& next = Entity("g");
    EXPECT_EQ(next.unschedulable_count, c.want_unschedulable);
    EXPECT_EQ(next.consecutive_errors_count, c.want_errors);
    EXPECT_DOUBLE_EQ(Seconds(next.timestamp), c.want_timestamp);
    EXPECT_EQ(next.attempts, 2);
    EXPECT_EQ(*next.initial_attempt_timestamp, added);
    EXPECT_FALSE(next.HasRejectingPlugins());
    const bool active = c.status == ReturnStatus::kSuccess;
    const StoreArrivals& arrivals = active ? queue_->stats().active : queue_->stats().backoff;
    EXPECT_EQ(arrivals.groups.at("ScheduleAttemptFailure"), active ? 1 : 2)
        << "a return counts in any case";
  }
}

TEST_F(GroupQueueTest, AReturnedGroupIsGatedByPreEnqueue) {
  MakeWithGroups();
  forest_.Put(Leaf("g"));
  AddMember("g", "a");
  const QueuedPodGroupPtr group = PopGroup();
  AddMember("g", "b", {"x"});
  FailMembers(*group, {"X"});
  ASSERT_TRUE(groups().Return(group, ReturnStatus::kRejected).ok());
  EXPECT_EQ(Stored(), "gated g[a b]");
  EXPECT_EQ(Counts(queue_->stats().unschedulable.pods), "ScheduleAttemptFailure=2");
}

TEST_F(GroupQueueTest, AGroupInBackoffIsNeverPoppedEarlyNorWoken) {
  SchedulingQueue& queue = MakeWithGroups();
  forest_.Put(Leaf("g"));
  AddMember("g", "a");
  PopAndReturn(ReturnStatus::kRejected, {"X"});
  EXPECT_EQ(Stored(), "error g[a]");
  EXPECT_FALSE(queue.Pop());
  Send(kNodeAdd);
  queue.LookAgain(MemberOf("g", "a").Obj(), "Label");
  EXPECT_EQ(Stored(), "error g[a]");
  EXPECT_FALSE(queue.Pop());
  At(2);
  queue.FlushBackoffCompleted();
  EXPECT_EQ(Stored(), "active g[a]");
  EXPECT_EQ(Counts(queue.stats().active.groups), "BackoffComplete=1 UnscheduledPodAdd=1");
}

TEST_F(GroupQueueTest, EventsInFlightPlayNoRole) {
  MakeWithGroups();
  forest_.Put(Leaf("g"));
  AddMember("g", "a");
  const QueuedPodGroupPtr group = PopGroup();
  Send(kNodeAdd);
  queue_->Activate({group->leaves[0].members[0]->pod()});
  FailMembers(*group, {"Skipper"});
  ASSERT_TRUE(groups().Return(group, ReturnStatus::kRejected).ok());
  EXPECT_EQ(Stored(), "error g[a]");
  EXPECT_EQ(Logged(), "");
}

TEST_F(GroupQueueTest, AReturnFindsASecondEntityInTheWay) {
  SchedulingQueue& queue = MakeWithGroups();
  queue.Add(MakePod().Name("p").Namespace("ns").Obj());
  const QueuedPodPtr pod = PopNamed("p");
  forest_.Put(Leaf("g"));
  AddMember("g", "a");
  AddMember("g", "b");
  const QueuedPodGroupPtr group = PopGroup();
  Fail(group->leaves[0].members[0], {"X"});
  Fail(pod, {"X"});  // its binding failed
  const api::PodPtr late = AddMember("g", "late");
  EXPECT_EQ(Stored(), "active g[late]; parked[p]; pending[a]");
  const Result<void> returned = groups().Return(group, ReturnStatus::kRejected);
  ASSERT_FALSE(returned.ok());
  EXPECT_EQ(returned.error().message, "pod group ns/g is already present in the active queue");
  EXPECT_EQ(Stored(), "active g[late]; parked[p]; pending[a]");
  // The second entity's return takes the rest along; so does its end.
  queue.Delete(*late);
  EXPECT_EQ(Stored(), "active g[a]; parked[p]");
}

TEST_F(GroupQueueTest, TheSecondEntityTakesTheRestAlong) {
  SchedulingQueue& queue = MakeWithGroups();
  queue.Add(MakePod().Name("p").Namespace("ns").Obj());
  const QueuedPodPtr pod = PopNamed("p");
  forest_.Put(Leaf("g"));
  AddMember("g", "a");
  const QueuedPodGroupPtr group = PopGroup();
  FailMembers(*group, {"X"});
  Fail(pod, {"X"});
  AddMember("g", "late");
  EXPECT_FALSE(groups().Return(group, ReturnStatus::kError).ok());
  PopAndReturn(ReturnStatus::kRejected);
  EXPECT_EQ(Stored(), "error g[a late]; parked[p]");
}

// 18.5.

TEST_F(GroupQueueTest, AGroupThatAppearsTakesItsMembersInOneByOne) {
  MakeWithGroups();
  for (const char* name : {"b", "a", "c"}) AddMember("g", name);
  EXPECT_EQ(Stored(), "incomplete[a b c]");
  AddGroup(Leaf("g"));
  EXPECT_EQ(Stored(), "active g[a b c]");
  EXPECT_EQ(Counts(queue_->stats().active.pods), "UnscheduledPodAdd=6");
  EXPECT_EQ(Entity("g").timestamp, queue_->stores().FindPod("ns/b")->timestamp) << "the first";
}

TEST_F(GroupQueueTest, GroupObjects) {
  struct Case {
    const char* name;
    const char* gates_of;  // members with a gate
    const char* event;     // "-g": the object is gone; "+g": it is there again
    bool popped;
    const char* want;
  } cases[] = {
      {"leaf of a tree gone", "", "-g", false, "active r[h1]; incomplete[g1 g2]"},
      {"parked tree loses its gated leaf, stays gated", "g1", "-g", false,
       "gated r[h1]; incomplete[g1 g2]"},
      {"the only leaf with members gone", "", "-g-h", false, "incomplete[g1 g2 h1]"},
      {"back again", "", "-g+g", false, "active r[g1 g2 h1]"},
      {"inner group gone", "", "-m", false, "active r[h1]; incomplete[g1 g2]"},
      {"root gone", "", "-r", false, "incomplete[g1 g2 h1]"},
      {"root gone and back", "", "-r+r", false, "active r[g1 g2 h1]"},
      {"popped, leaf gone", "", "-g", true, "incomplete[g1 g2]; pending[h1]"},
      {"popped, inner group gone", "", "-m", true, "incomplete[g1 g2]; pending[h1]"},
      {"popped, root gone", "", "-r", true, "incomplete[g1 g2 h1]"},
      {"popped, leaf gone and back", "", "-g+g", true, "pending[g1 g2 h1]"},
  };
  const std::map<char, std::pair<PodGroupKey, std::string>> objects = {{'r', {Composite("r"), ""}},
                                                                       {'m', {Composite("m"), "r"}},
                                                                       {'g', {Leaf("g"), "m"}},
                                                                       {'h', {Leaf("h"), "r"}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    forest_ = FakeForest();
    MakeWithGroups();
    for (const auto& [id, object] : objects) AddGroup(object.first, object.second);
    if (c.popped) {
      AddMember("h", "first");
      PopGroup();
    }
    for (const std::string name : {"g1", "g2", "h1"}) {
      AddMember(name.substr(0, 1), name,
                name == c.gates_of ? std::vector<std::string>{"x"} : std::vector<std::string>());
    }
    for (const char* at = c.event; *at != 0; at += 2) {
      const auto& [key, parent] = objects.at(at[1]);
      *at == '-' ? RemoveGroup(key) : AddGroup(key, parent);
    }
    EXPECT_EQ(Stored(), c.want);
  }
}

TEST_F(GroupQueueTest, WhatADeletedGroupLeavesIsPlacedAgain) {
  MakeWithGroups();
  AddGroup(Composite("r"));
  AddGroup(Leaf("g"), "r");
  AddGroup(Leaf("h"), "r");
  AddMember("g", "g1", {"x"});
  AddMember("h", "h1");
  EXPECT_EQ(Stored(), "gated r[g1 h1]");
  RemoveGroup(Leaf("h"));
  EXPECT_EQ(Stored(), "gated r[g1]; incomplete[h1]");
  EXPECT_EQ(queue_->stats().unschedulable.pods.at("UnscheduledPodUpdate"), 1);
  EXPECT_EQ(queue_->pending().gated, 1U);
}

TEST_F(GroupQueueTest, AnUpdatedGroupHasItsNewPriority) {
  MakeWithGroups();
  forest_.Put(Leaf("g"));
  forest_.Put(Leaf("h"));
  AddMember("g", "a");
  AddMember("h", "b");
  forest_.Put(Leaf("h"), "", 5);
  groups().OnGroupUpdate(Leaf("h"));
  EXPECT_EQ(Names(*PopGroup()), "b");
}

TEST_F(GroupQueueTest, AnObjectOfTheSameNameInAnotherTreeTakesItsMembersAlong) {
  MakeWithGroups();
  AddGroup(Composite("r"));
  AddGroup(Composite("s"));
  AddGroup(Leaf("g"), "r");
  AddGroup(Leaf("h"), "r");
  AddMember("g", "a");
  AddMember("h", "b");
  forest_.Put(Leaf("g"), "s");  // deleted and created again, unseen
  groups().OnGroupUpdate(Leaf("g"));
  EXPECT_EQ(Stored(), "active r[b]; active s[a]");
}

TEST_F(GroupQueueTest, RootsOfBothKindsShareTheirNames) {
  MakeWithGroups();
  AddGroup(Composite("g"));
  AddGroup(Leaf("leaf"), "g");
  AddGroup(Leaf("g"));
  AddMember("leaf", "a");
  AddMember("g", "b");
  EXPECT_EQ(Stored(), "active g[a b]");
  EXPECT_EQ(Names(*PopGroup()), "a | b");
}

// 18.6.

TEST_F(GroupQueueTest, UpdateOfAMember) {
  struct Case {
    const char* name;
    const char* state;
    const char* want;
  } cases[] = {{"incomplete", "incomplete", "incomplete[a]"},
               {"active", "active", "active g[a b]"},
               {"backoff", "backoff", "error g[a b]"},
               {"parked", "parked", "gated g[a b]"},
               {"pending", "pending", "pending[a]"},
               {"in flight", "flight", "pending[b]"},
               {"unknown", "unknown", "active g[a]"},
               {"unknown, popped", "unknown popped", "pending[a]"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    forest_ = FakeForest();
    SchedulingQueue& queue = MakeWithGroups();
    const std::string state = c.state;
    if (state != "incomplete") forest_.Put(Leaf("g"));
    const api::PodPtr a = MemberOf("g", "a").Obj();
    if (state == "pending" || state == "unknown popped") {
      AddMember("g", "z");
      PopGroup();
    }
    if (state.find("unknown") == std::string::npos) queue.Add(a);
    if (state == "flight") PopGroup();
    if (state == "backoff") PopAndReturn(ReturnStatus::kError, {});
    const bool with_b = state == "active" || state == "backoff" || state == "parked";
    if (with_b || state == "flight") {
      AddMember("g", "b",
                state == "parked" ? std::vector<std::string>{"x"} : std::vector<std::string>());
    }
    const api::PodPtr changed = MemberOf("g", "a").NominatedNode("n").Obj();
    queue.Update(a, changed);
    EXPECT_EQ(Stored(), c.want);
    if (state == "flight") {
      EXPECT_EQ(Logged(), "PodPopped TargetPodUpdate");
      continue;
    }
    EXPECT_EQ(queue.stores().FindPod("ns/a")->pod(), changed);
    ASSERT_EQ(queue.nominator().NominatedPodsForNode("n").size(), 1U);
    EXPECT_EQ(queue.nominator().NominatedPodsForNode("n")[0]->ptr(), changed)
        << "the nominator finds members";
  }
}

TEST_F(GroupQueueTest, AMemberWhoseGatesGoOpensTheGroup) {
  SchedulingQueue& queue = MakeWithGroups();
  forest_.Put(Leaf("g"));
  const api::PodPtr a = AddMember("g", "a", {"x"});
  const api::PodPtr b = AddMember("g", "b", {"x"});
  queue.Update(a, MemberOf("g", "a").Obj());
  EXPECT_EQ(Stored(), "gated g[a b]") << "b is gated still";
  queue.Update(b, MemberOf("g", "b").Obj());
  EXPECT_EQ(Stored(), "active g[a b]");
}

TEST_F(GroupQueueTest, AMemberCreatedAgainIsANewOne) {
  SchedulingQueue& queue = MakeWithGroups();
  forest_.Put(Leaf("g"));
  forest_.Put(Leaf("h"));
  const api::PodPtr a = AddMember("g", "a");
  queue.Update(a, MemberOf("g", "a").Uid("other").Obj());
  EXPECT_EQ(Stored(), "active g[a]");
  queue.Update(MemberOf("g", "a").Uid("other").Obj(), MemberOf("h", "a").Uid("third").Obj());
  EXPECT_EQ(Stored(), "active h[a]");
  queue.Update(MemberOf("h", "a").Uid("third").Obj(),
               MakePod().Name("a").Namespace("ns").Uid("fourth").Obj());
  EXPECT_EQ(Stored(), "active[a]");
  queue.Add(MemberOf("g", "a").Uid("fifth").Obj());
  EXPECT_EQ(Stored(), "active g[a]") << "a stray Add replaces";
}

TEST_F(GroupQueueTest, DeleteOfAMember) {
  struct Case {
    const char* name;
    const char* state;
    const char* gone;
    const char* want;
    int64_t want_arrivals;  // by UnscheduledPodAdd, all stores
  } cases[] = {
      {"incomplete", "incomplete", "a", "incomplete[b]", 0},
      {"pending", "pending", "a", "pending[b]", 1},
      {"active", "active", "a", "active g[b]", 4},
      {"backoff", "backoff", "a", "error g[b]", 4},
      {"the gated one", "parked", "b", "gated g[a]", 4},
      {"the last one", "alone", "a", "", 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    forest_ = FakeForest();
    SchedulingQueue& queue = MakeWithGroups();
    const std::string state = c.state;
    if (state != "incomplete") forest_.Put(Leaf("g"));
    if (state == "pending") {
      AddMember("g", "z");
      PopGroup();
    }
    std::map<std::string, api::PodPtr> pods;
    pods["a"] = AddMember("g", "a");
    if (state != "alone") {
      pods["b"] = AddMember(
          "g", "b", state == "parked" ? std::vector<std::string>{"x"} : std::vector<std::string>());
    }
    if (state == "backoff") PopAndReturn(ReturnStatus::kError, {});
    queue.Delete(*pods.at(c.gone));
    EXPECT_EQ(Stored(), c.want);
    int64_t arrivals = 0;
    for (const StoreArrivals* of :
         {&queue.stats().active, &queue.stats().backoff, &queue.stats().unschedulable}) {
      const auto found = of->pods.find("UnscheduledPodAdd");
      if (found != of->pods.end()) arrivals += found->second;
    }
    EXPECT_EQ(arrivals, c.want_arrivals);
    EXPECT_EQ(Rejections(), "");
  }
}

// 18.7.

TEST_F(GroupQueueTest, PopTakesAllMembersInTheirOrder) {
  SchedulingQueue& queue = MakeWithGroups();
  AddGroup(Composite("r"), "", 3);
  AddGroup(Leaf("late"), "r");
  AddGroup(Composite("m"), "r");
  AddGroup(Leaf("deep"), "m");
  AddGroup(Leaf("last"), "r");
  queue.Add(MakePod().Name("p").Namespace("ns").Priority(2).Obj());
  queue.Add(MemberOf("last", "w").Obj());
  queue.Add(MemberOf("deep", "x").Obj());
  queue.Add(MemberOf("late", "b").Priority(1).Obj());
  queue.Add(MemberOf("late", "a").Obj());
  queue.Add(MemberOf("late", "c").Priority(1).Obj());
  const QueuedPodGroupPtr group = PopGroup();
  EXPECT_EQ(Names(*group), "b c a | x | w");
  EXPECT_EQ(group->leaves[1].group, Leaf("deep"));
  EXPECT_EQ(group->root(), Composite("r"));
  EXPECT_EQ(group->PodCount(), 5U);
  EXPECT_EQ(group->attempts, 1);
  EXPECT_EQ(queue.scheduling_cycle(), 1);
  EXPECT_EQ(queue.in_flight().pod_count(), 5U);
  for (const auto& leaf : group->leaves) {
    for (const QueuedPodPtr& pod : leaf.members) EXPECT_EQ(pod->attempts, 1);
  }
  EXPECT_EQ(Stored(), "active[p]");
  EXPECT_EQ(groups().last_popped(), Composite("r"));
}

TEST_F(GroupQueueTest, MembersThatWereTriedMoreOftenGoFirst) {
  MakeWithGroups();
  forest_.Put(Leaf("g"));
  AddMember("g", "z");
  const QueuedPodGroupPtr group = PopGroup();
  At(1);
  AddMember("g", "a");
  AddMember("g", "b");
  At(2);
  FailMembers(*group, {"X"});
  ASSERT_TRUE(groups().Return(group, ReturnStatus::kSuccess).ok());
  EXPECT_EQ(Names(*PopGroup()), "z a b");
}

TEST_F(GroupQueueTest, GroupsAndPodsAreOrderedAlike) {
  SchedulingQueue& queue = MakeWithGroups();
  forest_.Put(Leaf("low"), "", -1);
  forest_.Put(Leaf("high"), "", 5);
  AddMember("low", "l");
  queue.Add(MakePod().Name("p").Namespace("ns").Obj());
  AddMember("high", "h");
  EXPECT_EQ(Names(*PopGroup()), "h");
  PopNamed("p");
  EXPECT_EQ(Names(*PopGroup()), "l");
  EXPECT_FALSE(queue.Pop());
}

TEST_F(GroupQueueTest, MembersInFlightAlreadyAreDropped) {
  SchedulingQueue& queue = MakeWithGroups();
  forest_.Put(Leaf("g"));
  AddMember("g", "a");
  const QueuedPodGroupPtr first = PopGroup();
  ASSERT_TRUE(groups().Return(first, ReturnStatus::kSuccess).ok());
  AddMember("g", "a");  // a stray one
  AddMember("g", "b");
  const QueuedPodGroupPtr second = PopGroup();
  EXPECT_EQ(Names(*second), "b");
  EXPECT_EQ(second->PodCount(), 1U);
  ASSERT_TRUE(groups().Return(second, ReturnStatus::kSuccess).ok());
  AddMember("g", "a");
  AddMember("g", "b");
  queue.Add(MakePod().Name("p").Namespace("ns").Priority(-1).Obj());
  PopNamed("p");
  EXPECT_EQ(queue.scheduling_cycle(), 3);
  EXPECT_EQ(Stored(), "") << "the whole group is discarded";
}

TEST_F(GroupQueueTest, ActivationOfAMemberActivatesItsGroup) {
  struct Case {
    const char* name;
    const char* state;
    const char* want;
  } cases[] = {{"parked, open now", "open", "active g[a b]"},
               {"parked, gated", "gated", "gated g[a b]"},
               {"backoff", "backoff", "active g[a b]"},
               {"active", "active", "active g[a b]"},
               {"pending", "pending", "pending[a b]"},
               {"incomplete", "incomplete", "incomplete[a b]"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    forest_ = FakeForest();
    gate_ = {};
    SchedulingQueue& queue = MakeWithGroups();
    const std::string state = c.state;
    if (state != "incomplete") forest_.Put(Leaf("g"));
    if (state == "pending") {
      AddMember("g", "z");
      PopGroup();
    }
    const bool closed = state == "open" || state == "gated";
    gate_ = [&closed](const api::Pod&) {
      return closed ? framework::Status(framework::Code::kUnschedulableAndUnresolvable, {"closed"},
                                        "Gate")
                    : framework::Status();
    };
    AddMember("g", "a");
    const api::PodPtr b = AddMember("g", "b");
    if (state == "backoff") PopAndReturn(ReturnStatus::kError, {});
    gate_ = [&state](const api::Pod&) {
      return state == "gated" ? framework::Status(framework::Code::kUnschedulableAndUnresolvable,
                                                  {"closed"}, "Gate")
                              : framework::Status();
    };
    queue.Activate({b});
    EXPECT_EQ(Stored(), c.want);
    const bool moved = state == "open" || state == "backoff";
    EXPECT_EQ(queue.stats().active.pods.contains("ForceActivate"), moved);
    if (moved) EXPECT_EQ(queue.stats().active.pods.at("ForceActivate"), 2);
  }
}

TEST_F(GroupQueueTest, WithoutPoppingFromBackoffPreEnqueueRunsAtTheFlush) {
  SchedulingQueue& queue = MakeWithGroups(
      DefaultRegistrations(), [](SchedulingQueueOptions& o) { o.pop_from_backoff = false; });
  forest_.Put(Leaf("g"));
  AddMember("g", "a");
  const QueuedPodGroupPtr group = PopGroup();
  AddMember("g", "b", {"x"});
  FailMembers(*group, {"X"});
  ASSERT_TRUE(groups().Return(group, ReturnStatus::kRejected).ok());
  EXPECT_EQ(Stored(), "error g[a b]");
  At(3);
  queue.FlushBackoffCompleted();
  EXPECT_EQ(Stored(), "gated g[a b]");
}

TEST_F(GroupQueueTest, BackoffOfGroupsGrowsWithTheirSize) {
  MakeWithGroups();
  forest_.Put(Leaf("g"));
  for (const char* name : {"a", "b", "c"}) AddMember("g", name);
  const double want_s[] = {1, 2, 4, 8, 16, 17.320508075, 17.320508075};
  for (int i = 0; i < 7; ++i) {
    At(100 * (i + 1));
    queue_->FlushBackoffCompleted();
    PopAndReturn(ReturnStatus::kRejected);
    const double end = 100 * (i + 1) + want_s[i];
    EXPECT_DOUBLE_EQ(Seconds(*Entity("g").backoff_expiration), std::floor(end + 55) - 55);
  }
}

TEST_F(GroupQueueTest, AReconfigurationKeepsTheGroups) {
  SchedulingQueue& queue = MakeWithGroups();
  for (const char* name : {"active", "backoff", "parked", "popped"}) forest_.Put(Leaf(name));
  AddMember("backoff", "b");
  PopAndReturn(ReturnStatus::kError, {});
  AddMember("active", "a1");
  AddMember("active", "a2");
  AddMember("parked", "p", {"x"});
  AddMember("none", "i");
  queue.Add(MakePod().Name("q").Namespace("ns").Priority(-1).Obj());
  forest_.Put(Leaf("popped"), "", 9);
  AddMember("popped", "x");
  const QueuedPodGroupPtr group = PopGroup();
  AddMember("popped", "y");
  const std::string before = Stored();
  EXPECT_EQ(before,
            "active[q]; active active[a1 a2]; error backoff[b]; gated parked[p]; incomplete[i]; "
            "pending[y]");
  queue.Reconfigure({.profiles = profiles_, .backoff_initial = std::chrono::seconds(3)});
  EXPECT_EQ(Stored(), before);
  EXPECT_DOUBLE_EQ(Seconds(*Entity("backoff").backoff_expiration), 3);
  FailMembers(*group, {"X"});
  ASSERT_TRUE(groups().Return(group, ReturnStatus::kSuccess).ok());
  EXPECT_EQ(Names(*PopGroup()), "x y");
  EXPECT_EQ(Names(*PopGroup()), "a1 a2");
}

// docs/spec/queue.md section 20, example 20.
TEST_F(GroupQueueTest, Example20) {
  SchedulingQueue& queue = MakeWithGroups();
  AddMember("g", "a");
  EXPECT_EQ(Stored(), "incomplete[a]");
  AddGroup(Leaf("g"));
  EXPECT_EQ(Stored(), "active g[a]");
  AddMember("g", "b");
  EXPECT_EQ(Stored(), "active g[a b]");
  EXPECT_EQ(queue.stats().active.pods.at("UnscheduledPodAdd"), 3);
  QueuedPodGroupPtr group = PopGroup();
  EXPECT_EQ(group->PodCount(), 2U);
  AddMember("g", "c");
  EXPECT_EQ(Stored(), "pending[c]");
  At(12);
  FailMembers(*group, {"X"});
  ASSERT_TRUE(groups().Return(group, ReturnStatus::kRejected).ok());
  EXPECT_EQ(Stored(), "error g[a b c]");
  EXPECT_EQ(Entity("g").unschedulable_count, 1);
  EXPECT_DOUBLE_EQ(Seconds(Entity("g").timestamp), 12);
  EXPECT_DOUBLE_EQ(Seconds(*Entity("g").backoff_expiration), 13);

  At(14);
  queue.FlushBackoffCompleted();
  group = PopGroup();
  for (const QueuedPodPtr& pod : group->leaves[0].members) {
    if (pod->pod()->meta.name == "a") {
      Fail(pod, {"X"});
    } else {
      queue.Done(pod->pod()->meta.uid);
    }
  }
  ASSERT_TRUE(groups().Return(group, ReturnStatus::kSuccess).ok());
  EXPECT_EQ(Stored(), "active g[a]");
  EXPECT_EQ(Entity("g").unschedulable_count, 0);
  EXPECT_DOUBLE_EQ(Seconds(Entity("g").timestamp), 12);
  const api::PodPtr d = AddMember("g", "d", {"x"});
  EXPECT_EQ(Stored(), "gated g[a d]");
  queue.Delete(*d);
  EXPECT_EQ(Stored(), "gated g[a]");
  queue.Activate({MemberOf("g", "a").Obj()});
  EXPECT_EQ(Stored(), "active g[a]");
  RemoveGroup(Leaf("g"));
  EXPECT_EQ(Stored(), "incomplete[a]");
}

}  // namespace
}  // namespace ks::queue::testing
