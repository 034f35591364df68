// SPDX-License-Identifier: Apache-2.0
// docs/spec/framework.md section 10 and example 21, docs/spec/cycle.md section 14 and trap 23.
#include "framework/runtime/waiting_pods.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/status.h"
#include "testing/builders.h"
#include "testing/fake_clock.h"

namespace ks::framework {
namespace {

using ks::testing::FakeClock;
using ks::testing::MakePod;
using std::chrono::milliseconds;
using std::chrono::seconds;

using Texts = std::vector<std::string>;
using Timeouts = std::map<std::string, Duration>;

Status Rejection(const std::string& plugin, const std::string& reason) {
  return Status(Code::kUnschedulable, {reason}, plugin);
}

class WaitingPodsTest : public ::testing::Test {
 protected:
  // Holds a pod whose verdict is appended to `verdicts_`.
  void Add(const std::string& name, const Timeouts& timeouts) {
    pods_.Add(MakePod().Name(name).Obj(), timeouts);
    EXPECT_TRUE(pods_.Listen("uid-" + name, Receiver()));
  }
  // The same without anybody who listens.
  void AddUnheard(const std::string& name, const Timeouts& timeouts) {
    pods_.Add(MakePod().Name(name).Obj(), timeouts);
  }
  WaitingPods::Verdict Receiver() {
    return [this](Status status) { verdicts_.push_back(std::move(status)); };
  }
  WaitingPod* Get(const std::string& name) { return pods_.GetWaitingPod("uid-" + name); }

  FakeClock clock_;
  WaitingPods pods_{clock_};
  std::vector<Status> verdicts_;
};

TEST_F(WaitingPodsTest, Ex21RejectTwice) {
  Add("p", {{"P", seconds(10)}});
  WaitingPod* const waiting = Get("p");
  ASSERT_NE(waiting, nullptr);
  EXPECT_TRUE(waiting->Reject("R", "no"));
  EXPECT_FALSE(waiting->Reject("R2", "again"));
  waiting->Allow("P");
  EXPECT_EQ(verdicts_, std::vector<Status>{Rejection("R", "no")});
  EXPECT_EQ(Get("p"), nullptr);
  EXPECT_EQ(pods_.size(), 0U);
}

TEST_F(WaitingPodsTest, Ex21Preempt) {
  Add("p", {{"P", seconds(10)}});
  EXPECT_TRUE(Get("p")->Preempt("R", "gone"));
  EXPECT_EQ(verdicts_, std::vector<Status>{Status::Error("gone").WithPlugin("R")});
}

TEST_F(WaitingPodsTest, Ex21AllowOfANameThatIsNotPending) {
  Add("p", {{"P", seconds(10)}});
  WaitingPod* const waiting = Get("p");
  waiting->Allow("Q");
  EXPECT_TRUE(verdicts_.empty());
  EXPECT_TRUE(waiting->Reject("R", "no"));
  EXPECT_EQ(verdicts_, std::vector<Status>{Rejection("R", "no")});
}

TEST_F(WaitingPodsTest, Ex21AllowThenReject) {
  Add("p", {{"P", seconds(10)}});
  WaitingPod* const waiting = Get("p");
  waiting->Allow("P");
  EXPECT_FALSE(waiting->Reject("R", "no"));
  EXPECT_EQ(verdicts_, std::vector<Status>{Status()});
}

TEST_F(WaitingPodsTest, EveryPluginMustAllow) {
  Add("p", {{"A", seconds(10)}, {"B", seconds(5)}});
  EXPECT_EQ(Get("p")->PendingPlugins(), (Texts{"A", "B"}));
  EXPECT_EQ(Get("p")->pod()->meta.name, "p");
  Get("p")->Allow("B");
  EXPECT_EQ(Get("p")->PendingPlugins(), Texts{"A"});
  EXPECT_EQ(pods_.NextDeadline(), clock_.Now() + seconds(10)) << "B's timer has stopped";
  Get("p")->Allow("A");
  EXPECT_EQ(verdicts_, std::vector<Status>{Status()});
  EXPECT_EQ(pods_.NextDeadline(), std::nullopt);
}

TEST_F(WaitingPodsTest, TheShortestTimerDecides) {
  Add("p", {{"A", seconds(90)}, {"B", milliseconds(1500)}});
  EXPECT_EQ(pods_.NextDeadline(), clock_.Now() + milliseconds(1500));
  clock_.Advance(milliseconds(1499));
  pods_.Expire();
  EXPECT_TRUE(verdicts_.empty());
  clock_.Advance(milliseconds(1));
  pods_.Expire();
  EXPECT_EQ(verdicts_, std::vector<Status>{Rejection(
                           "B", "rejected due to timeout after waiting 1.5s at plugin B")});
  EXPECT_EQ(pods_.size(), 0U);
}

TEST_F(WaitingPodsTest, TimeoutTexts) {
  const struct {
    Duration wait;
    const char* want;
  } cases[] = {
      {std::chrono::minutes(15), "15m0s"},
      {seconds(10), "10s"},
      {milliseconds(250), "250ms"},
      {seconds(0), "0s"},
      {seconds(-1), "0s"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.want);
    verdicts_.clear();
    Add("p", {{"P", test.wait}});
    EXPECT_TRUE(verdicts_.empty()) << "never from inside Add";
    EXPECT_EQ(*pods_.NextDeadline() <= clock_.Now(), test.wait <= Duration::zero());
    clock_.Advance(std::max(test.wait, Duration::zero()));
    pods_.Expire();
    ASSERT_EQ(verdicts_.size(), 1U);
    EXPECT_EQ(verdicts_[0].Message(),
              std::string("rejected due to timeout after waiting ") + test.want + " at plugin P");
  }
}

TEST_F(WaitingPodsTest, SeveralPodsExpireInTheOrderOfTheirTimers) {
  Add("a", {{"A", seconds(3)}});
  Add("b", {{"B", seconds(1)}});
  Add("c", {{"C", seconds(2)}});
  Add("d", {{"D", seconds(60)}});
  clock_.Advance(seconds(5));
  pods_.Expire();
  Texts plugins;
  for (const Status& verdict : verdicts_) plugins.emplace_back(verdict.plugin());
  EXPECT_EQ(plugins, (Texts{"B", "C", "A"}));
  EXPECT_EQ(pods_.size(), 1U);
}

TEST_F(WaitingPodsTest, RejectedByUid) {
  Add("p", {{"P", seconds(10)}});
  EXPECT_FALSE(pods_.RejectWaitingPod("uid-unknown"));
  EXPECT_TRUE(pods_.RejectWaitingPod("uid-p"));
  EXPECT_EQ(verdicts_, std::vector<Status>{Rejection("", "removed")});
  EXPECT_FALSE(pods_.RejectWaitingPod("uid-p"));
}

TEST_F(WaitingPodsTest, RemoveDropsWithoutVerdict) {
  Add("p", {{"P", seconds(10)}});
  WaitingPod* const waiting = Get("p");
  pods_.Remove("uid-p");
  pods_.Remove("uid-p");
  waiting->Reject("R", "no");
  EXPECT_TRUE(verdicts_.empty());
}

TEST_F(WaitingPodsTest, AddReplacesAndStartsNewTimers) {
  Add("p", {{"P", seconds(1)}});
  clock_.Advance(seconds(5));
  Add("p", {{"Q", seconds(2)}});
  EXPECT_EQ(pods_.size(), 1U);
  pods_.Expire();
  EXPECT_TRUE(verdicts_.empty());
  EXPECT_EQ(Get("p")->PendingPlugins(), Texts{"Q"});
}

TEST_F(WaitingPodsTest, VisitorsMayDecideAndRemove) {
  for (const char* name : {"a", "b", "c"}) Add(name, {{"P", seconds(10)}});
  Texts visited;
  pods_.ForEachWaitingPod([&](WaitingPod& waiting) {
    visited.push_back(waiting.pod()->meta.name);
    if (visited.size() > 1) return;
    waiting.Allow("P");
    pods_.Remove("uid-b");
  });
  EXPECT_EQ(visited, (Texts{"a", "c"}));
  EXPECT_EQ(verdicts_, std::vector<Status>{Status()});
  EXPECT_EQ(pods_.size(), 1U);
}

TEST_F(WaitingPodsTest, AVerdictMayHoldThePodAgain) {
  pods_.Add(MakePod().Name("p").Obj(), {{"P", seconds(1)}});
  EXPECT_TRUE(pods_.Listen("uid-p", [this](Status status) {
    verdicts_.push_back(std::move(status));
    Add("p", {{"Q", seconds(1)}});
  }));
  clock_.Advance(seconds(1));
  pods_.Expire();
  ASSERT_EQ(verdicts_.size(), 1U);
  EXPECT_EQ(pods_.size(), 1U);
  clock_.Advance(seconds(1));
  pods_.Expire();
  EXPECT_EQ(verdicts_.size(), 2U);
  EXPECT_EQ(pods_.size(), 0U);
}

TEST_F(WaitingPodsTest, T23ALaterAttemptFindsAnEntryThatWasLeftBehind) {
  AddUnheard("p", {{"P", seconds(10)}});
  EXPECT_NE(Get("p"), nullptr);
  ASSERT_TRUE(pods_.Listen("uid-p", Receiver()));
  Get("p")->Allow("P");
  EXPECT_EQ(verdicts_, std::vector<Status>{Status()});
  EXPECT_FALSE(pods_.Listen("uid-p", Receiver())) << "without an entry the pod does not wait";
}

TEST_F(WaitingPodsTest, T23ALaterAttemptThatIsToldToWaitReplacesTheEntry) {
  AddUnheard("p", {{"P", seconds(1)}});
  clock_.Advance(seconds(1));
  pods_.Expire();
  Add("p", {{"Q", seconds(10)}});
  pods_.Expire();
  EXPECT_TRUE(verdicts_.empty());
  EXPECT_EQ(Get("p")->PendingPlugins(), Texts{"Q"});
}

TEST_F(WaitingPodsTest, EntriesOfDeletedPodsGoUnlessSomebodyListens) {
  AddUnheard("left", {{"P", seconds(1)}});
  Add("waiting", {{"P", seconds(1)}});
  for (const char* uid : {"uid-left", "uid-waiting", "uid-unknown"}) pods_.RemoveUnheard(uid);
  EXPECT_EQ(Get("left"), nullptr);
  EXPECT_NE(Get("waiting"), nullptr);
}

TEST_F(WaitingPodsTest, T23AKeptVerdictIsToldToTheLaterAttempt) {
  AddUnheard("p", {{"P", seconds(10)}});
  clock_.Advance(seconds(10));
  pods_.Expire();
  EXPECT_TRUE(verdicts_.empty());
  EXPECT_EQ(pods_.NextDeadline(), std::nullopt);
  ASSERT_TRUE(pods_.Listen("uid-p", Receiver()));
  EXPECT_TRUE(verdicts_.empty()) << "never from inside Listen";
  EXPECT_EQ(pods_.NextDeadline(), clock_.Now());
  pods_.Expire();
  EXPECT_EQ(verdicts_, std::vector<Status>{Rejection(
                           "P", "rejected due to timeout after waiting 10s at plugin P")});
  EXPECT_EQ(pods_.size(), 0U);
}

}  // namespace
}  // namespace ks::framework
