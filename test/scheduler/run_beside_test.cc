// SPDX-License-Identifier: Apache-2.0
// Rounds on another thread than that of Run: who takes what, and that nothing sleeps on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "scheduler/rig.h"
#include "testing/deltas.h"

namespace ks::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::MakeNode;
using testing::MakePod;
using ::testing::Pair;

api::NodePtr Node(const std::string& name) {
  return MakeNode().Name(name).Allocatable({{"cpu", "64"}, {"pods", "200"}}).Obj();
}
api::PodPtr Pod(const std::string& name, const char* cpu = "1") {
  return MakePod().Name(name).Req({{"cpu", cpu}}).Obj();
}

// Whether the thread of Run, if there was one, would not sleep now.
bool IsAwake(Rig& rig) { return rig.scheduler->Step(); }

TEST(RunBeside, BindsWhatComesAlone) {
  Rig rig;
  rig.Sync({Node("n1")});
  rig.Settle();
  rig.UpsertPod(Pod("p"));
  rig.scheduler->RunBeside();
  EXPECT_THAT(rig.Bound(), ElementsAre(Pair("p", "n1")));
  EXPECT_FALSE(IsAwake(rig)) << "nothing is left for Run";
}

TEST(RunBeside, LeavesToRunWhatIsMuch) {
  Rig rig;
  rig.Sync({Node("n1")});
  rig.Settle();
  for (int i = 0; i < 9; ++i) rig.UpsertPod(Pod("p" + std::to_string(i)));
  rig.scheduler->RunBeside();
  EXPECT_THAT(rig.Bound(), IsEmpty()) << "nine messages";
  rig.Settle();
  EXPECT_EQ(rig.Bound().size(), 9U);

  std::vector<api::PodPtr> many;
  for (int i = 0; i < 9; ++i) many.push_back(Pod("q" + std::to_string(i)));
  rig.scheduler->Post(PodDeltas{testing::Replace<api::Pod>(many)});
  rig.scheduler->RunBeside();
  EXPECT_EQ(rig.Bound().size(), 9U) << "one message with nine pods";
}

TEST(RunBeside, LeavesToRunWhatTakesManyRounds) {
  Rig rig;
  rig.Sync({Node("n1")});
  rig.Settle();
  for (int i = 0; i < 8; ++i) rig.UpsertPod(Pod("p" + std::to_string(i)));
  rig.scheduler->RunBeside();
  EXPECT_EQ(rig.Bound().size(), 8U);
  rig.Bind();
  // Their room is free again for nine that were parked.
  for (int i = 0; i < 9; ++i) rig.UpsertPod(Pod("big" + std::to_string(i), "60"));
  rig.Settle();
  rig.UpsertNode(MakeNode().Name("n2").Allocatable({{"cpu", "640"}, {"pods", "200"}}).Obj());
  rig.clock.Advance(std::chrono::seconds(20));
  rig.scheduler->RunBeside();
  const size_t bound = rig.Bound().size();
  EXPECT_GT(bound, 8U);
  EXPECT_LT(bound, 17U) << "eight rounds";
  EXPECT_TRUE(IsAwake(rig));
}

// A pod of thousands of terms, say: meanwhile nothing would be read.
TEST(RunBeside, LeavesToRunWhatTakesLong) {
  using std::chrono::milliseconds;
  Rig rig;
  rig.Sync({Node("n1")});
  rig.Settle();
  const auto takes = [&rig](Duration time) {
    rig.scheduler->Post(Task([&rig, time] { rig.clock.Advance(time); }));
    rig.scheduler->RunBeside();
  };
  takes(milliseconds(2));
  rig.UpsertPod(Pod("p"));
  rig.scheduler->RunBeside();
  EXPECT_EQ(rig.Bound().size(), 1U);

  takes(milliseconds(5));
  rig.UpsertPod(Pod("q"));
  rig.scheduler->RunBeside();
  EXPECT_EQ(rig.Bound().size(), 1U);
  rig.clock.Advance(milliseconds(94));
  rig.scheduler->RunBeside();
  EXPECT_EQ(rig.Bound().size(), 1U);
  EXPECT_TRUE(IsAwake(rig));
  rig.Settle();
  EXPECT_EQ(rig.Bound().size(), 2U);

  rig.clock.Advance(milliseconds(1));
  rig.UpsertPod(Pod("r"));
  rig.scheduler->RunBeside();
  EXPECT_EQ(rig.Bound().size(), 3U) << "100 ms later";
}

TEST(RunBeside, NotBeforeTheFirstFullState) {
  Rig rig;
  rig.Sync({Node("n1")}, {Pod("p")});
  rig.scheduler->RunBeside();
  EXPECT_THAT(rig.Bound(), IsEmpty());
  rig.Settle();
  EXPECT_EQ(rig.Bound().size(), 1U);
}

// Run sleeps until somebody posts whom nobody attends, or RunBeside leaves something to it.
TEST(RunBeside, WhatTheAttendantPostsWakesNobody) {
  Inbox inbox;
  inbox.Attend(std::this_thread::get_id());
  EXPECT_EQ(inbox.Waiting(), 0U);
  inbox.Post(Task([] {}));
  inbox.PostTask([] {});
  inbox.Post(NodeDeltas{testing::Replace<api::Node>({Node("n1"), Node("n2")})});
  EXPECT_EQ(inbox.Waiting(), 5U);
  std::vector<Message> batch;
  inbox.Drain(&batch);
  EXPECT_EQ(batch.size(), 3U);
  inbox.Wake();
  inbox.Wait(std::nullopt);  // ends at once, and only once
  inbox.Wait(Duration(1000));
  EXPECT_EQ(inbox.Waiting(), 0U);
}

// Both threads at once, with a third that posts: each task runs once, and all of them.
TEST(RunBeside, NothingIsLostBetweenBoth) {
  Rig rig;
  rig.Sync({Node("n1")});
  rig.Settle();
  std::atomic<int> ran{0};
  int alone = 0;  // only the holder of the turn may touch it
  const auto task = [&] {
    ++alone;
    ++ran;
  };
  constexpr int kTasks = 2000;
  std::thread run([&rig] { rig.scheduler->Run(); });
  std::thread attendant([&] {
    for (int i = 0; i < kTasks; ++i) {
      rig.scheduler->Post(Task(task));
      if (i % 3 == 0) rig.scheduler->Post(Task(task));
      rig.scheduler->RunBeside();
    }
  });
  std::thread other([&] {
    for (int i = 0; i < kTasks; ++i) rig.scheduler->Post(Task(task));
  });
  attendant.join();
  other.join();
  constexpr int kAll = 2 * kTasks + (kTasks + 2) / 3;
  while (ran.load() < kAll) std::this_thread::yield();
  rig.scheduler->Stop();
  run.join();
  EXPECT_EQ(alone, kAll);
}

}  // namespace
}  // namespace ks::scheduler
