// SPDX-License-Identifier: Apache-2.0
// Permit waits, PreBind with its cancellation, pods to activate and metrics through a whole
// scheduler: docs/spec/cycle.md 14, 15 and trap 23, docs/spec/framework.md 4, 8, 10 and 12.
#include "scheduler/binding_cycle.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/rig.h"
#include "testing/deltas.h"
#include "testing/test_plugins.h"

namespace ks::scheduler {
namespace {

using framework::Code;
using framework::CycleState;
using framework::PermitResult;
using framework::PreBindPreFlightResult;
using framework::PreBindStep;
using framework::Status;
using ks::testing::Binds;
using ks::testing::Closes;
using ks::testing::Events;
using ks::testing::Filters;
using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Permits;
using ks::testing::PluginScript;
using ks::testing::PostBinds;
using ks::testing::PreBinds;
using ks::testing::Reserves;
using ks::testing::Says;
using ks::testing::TestProfile;
using std::chrono::seconds;

using Texts = std::vector<std::string>;

// What the claim "ns/x" concerns.
std::vector<framework::ObjectChange> ClaimX() {
  return {{framework::OptionalKind::kPersistentVolumeClaim, "ns/x"}};
}

// A PreBind that waits until `*verdict` is there, then ends with it. `asked` counts.
class WaitsFor final : public framework::PreBindSequence {
 public:
  WaitsFor(const std::optional<Status>* verdict, bool for_claim, int* asked)
      : verdict_(verdict), for_claim_(for_claim), times_(*asked) {}
  PreBindStep Next(const Status& previous) override {
    PreBindStep step;
    step.finished = std::exchange(asked_, true);
    step.status = previous;
    step.condition = [this] {
      ++times_;
      return *verdict_;
    };
    if (for_claim_) step.concerned_by = ClaimX;
    return step;
  }

 private:
  const std::optional<Status>* verdict_;
  const bool for_claim_;
  int& times_;
  bool asked_ = false;
};

// One node and a profile of test plugins whose Bind succeeds when AnswerBind is called.
class BindingCycleTest : public ::testing::Test {
 public:
  BindingCycleTest() {
    PluginScript binder{.name = "B", .log = &log_};
    binder.bind = [this](framework::BindPlugin::Done done) {
      binds_.push_back(std::move(done));
      return Status();
    };
    binder.with_state = [this](CycleState& state) {
      if (on_bind_) on_bind_(state);
    };
    profile_.WithoutBind().Add<Binds>(std::move(binder));
  }
  void Start(std::vector<api::PodPtr> pods) {
    Rig::Options options;
    options.registry = profile_.registry().registry();
    options.configuration.profiles = {profile_.profile()};
    options.gates = &gates_;
    rig_ = std::make_unique<Rig>(std::move(options));
    ASSERT_NE(rig_->scheduler, nullptr);
    rig_->Sync({MakeNode().Name("n1").Allocatable({{"cpu", "4"}, {"pods", "110"}}).Obj()},
               std::move(pods));
    rig_->Settle();
  }
  void AnswerBind(const Status& status) {
    ASSERT_FALSE(binds_.empty());
    const auto done = std::move(binds_.front());
    binds_.erase(binds_.begin());
    done(status);
    rig_->Settle();
  }
  framework::Framework& Profile() {
    return *rig_->scheduler->context().profiles.at("default-scheduler");
  }
  framework::WaitingPod* Waiting() {
    return Profile().handle().waiting_pods().GetWaitingPod("uid-p");
  }
  // Lines of the exposition text with this beginning, without it.
  std::string Metric(const std::string& series) {
    const std::string text = "\n" + rig_->metrics_registry.Text();
    const size_t line = text.find("\n" + series + " ");
    if (line == std::string::npos) return "";
    const size_t begin = line + series.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  }
  std::string PointCount(const std::string& point, const std::string& status) {
    return Metric("scheduler_framework_extension_point_duration_seconds_count{extension_point=\"" +
                  point + "\",profile=\"default-scheduler\",status=\"" + status + "\"}");
  }
  std::string PermitWaits(const std::string& result, const std::string& what = "count") {
    return Metric("scheduler_permit_wait_duration_seconds_" + what + "{result=\"" + result + "\"}");
  }

  const api::PodPtr pod_ = MakePod().Name("p").Obj();
  Texts log_;
  config::FeatureGates gates_;
  TestProfile profile_;
  std::function<void(CycleState&)> on_bind_;
  std::vector<framework::BindPlugin::Done> binds_;
  std::unique_ptr<Rig> rig_;
};

PermitResult Wait(Duration timeout) { return {Status(Code::kWait, {"m"}), timeout}; }

// ---- Permit

TEST_F(BindingCycleTest, AnAllowedPodIsBound) {
  profile_.Add<Permits>({.name = "P", .permit = Says(Wait(seconds(10)))});
  Start({pod_});
  ASSERT_NE(Waiting(), nullptr);
  EXPECT_TRUE(binds_.empty());
  ASSERT_EQ(rig_->api.patches.size(), 1U) << "others see where the waiting pod is heading";
  EXPECT_EQ(rig_->api.patches[0].change.nominated_node_name, "n1");
  rig_->Advance(seconds(3));
  Waiting()->Allow("P");
  EXPECT_TRUE(binds_.empty()) << "the cycle goes on from the loop";
  rig_->Settle();
  AnswerBind(Status());
  EXPECT_EQ(rig_->scheduler->context().stats.bound, 1U);
  EXPECT_EQ(PermitWaits("Success", "sum"), "3");
}

TEST_F(BindingCycleTest, VerdictsThatEndTheAttempt) {
  const struct {
    const char* name;
    std::function<void(BindingCycleTest&)> decide;
    const char* want_message;
    const char* want_reason;
    const char* want_result;
  } cases[] = {
      {"Rejected", [](BindingCycleTest& t) { t.Waiting()->Reject("P", "no"); },
       "0/1 nodes are available: 1 no.", "Unschedulable", "Unschedulable"},
      {"TimedOut", [](BindingCycleTest& t) { t.rig_->Advance(seconds(10)); },
       "0/1 nodes are available: 1 rejected due to timeout after waiting 10s at plugin P.",
       "Unschedulable", "Unschedulable"},
      {"Preempted", [](BindingCycleTest& t) { t.Waiting()->Preempt("P", "preempted"); },
       "waiting on permit for pod: preempted", "SchedulerError", "Error"},
  };
  profile_.Add<Permits>({.name = "P", .permit = Says(Wait(seconds(10)))})
      .Add<Reserves>({.name = "R", .log = &log_});
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    log_.clear();
    Start({pod_});
    test.decide(*this);
    rig_->Settle();
    EXPECT_EQ(rig_->LastMessage("p"), test.want_message);
    EXPECT_EQ(rig_->api.patches.back().change.condition->reason, test.want_reason);
    EXPECT_EQ(log_, (Texts{"Reserve R", "Unreserve R"}));
    EXPECT_EQ(PermitWaits(test.want_result), "1");
    EXPECT_TRUE(binds_.empty());
  }
}

TEST_F(BindingCycleTest, PodsThatDoNotWaitShowNoPermitWait) {
  profile_.Add<Permits>({.name = "P"});
  Start({pod_});
  AnswerBind(Status());
  EXPECT_EQ(rig_->metrics_registry.Text().find("scheduler_permit_wait"), std::string::npos);
}

// Trap 23: the pre-flight fails, the entry stays; a later attempt that is not told to wait finds
// it.
class LeftBehindTest : public BindingCycleTest {
 protected:
  LeftBehindTest() {
    profile_
        .Add<Permits>(
            {.name = "P",
             .permit = [this] { return attempts_++ == 0 ? Wait(seconds(60)) : PermitResult(); }})
        .Add<PreBinds>({.name = "F", .log = &log_, .pre_flight = [this] {
                          return PreBindPreFlightResult{
                              attempts_ == 1 ? Status::Error("boom") : Status(), false};
                        }});
  }
  int attempts_ = 0;
};

TEST_F(LeftBehindTest, T23TheNextAttemptWaitsForTheOldEntry) {
  Start({pod_});
  EXPECT_EQ(rig_->LastMessage("p"), "running PreBindPreFlight \"F\": boom");
  EXPECT_NE(Waiting(), nullptr) << "nobody removed it";
  rig_->Advance(seconds(2));
  ASSERT_EQ(attempts_, 2);
  EXPECT_TRUE(binds_.empty()) << "it waits although Permit did not say so";
  ASSERT_NE(Waiting(), nullptr);
  Waiting()->Allow("P");
  rig_->Settle();
  AnswerBind(Status());
  EXPECT_EQ(Waiting(), nullptr);
  EXPECT_EQ(rig_->scheduler->context().stats.bound, 1U);
}

TEST_F(LeftBehindTest, T23AVerdictThatFellInBetweenEndsTheNextAttempt) {
  Start({pod_});
  Waiting()->Reject("P", "too late");
  rig_->Advance(seconds(2));
  ASSERT_EQ(attempts_, 2);
  EXPECT_EQ(rig_->LastMessage("p"), "0/1 nodes are available: 1 too late.");
  EXPECT_EQ(Waiting(), nullptr);
}

TEST_F(LeftBehindTest, T23ADeletedPodLeavesNothing) {
  Start({pod_});
  EXPECT_NE(Waiting(), nullptr);
  rig_->DeletePod(pod_);
  rig_->Settle();
  EXPECT_EQ(Waiting(), nullptr);
}

// ---- PreBind

class PreBindWaitTest : public BindingCycleTest {
 protected:
  PreBindWaitTest() {
    profile_.Add<PreBinds>(
        {.name = "WP",
         .log = &log_,
         .pre_flight =
             [this] {
               return PreBindPreFlightResult{flight_, false};
             },
         .pre_bind =
             [this] { return std::make_unique<WaitsFor>(&verdict_, for_claim_, &asked_); }});
  }
  framework::PodInPreBind* InPreBind() {
    return Profile().handle().pods_in_pre_bind().GetPodInPreBind("uid-p");
  }
  // Gives conditions a chance, as any change of state does.
  void Poke() {
    rig_->UpsertNode(MakeNode().Name("n1").Allocatable({{"cpu", "4"}, {"pods", "110"}}).Obj());
    rig_->Settle();
  }

  Status flight_;
  std::optional<Status> verdict_;
  bool for_claim_ = false;
  int asked_ = 0;
};

TEST_F(PreBindWaitTest, AskedAfterEachChangeOrOnlyAfterThoseThatConcernIt) {
  Start({pod_});
  int before = asked_;
  Poke();
  EXPECT_GT(asked_, before);
  ASSERT_TRUE(InPreBind()->Cancel("enough"));
  rig_->Settle();
  for_claim_ = true;
  rig_->Advance(seconds(2));
  ASSERT_NE(InPreBind(), nullptr);
  Poke();
  before = asked_;
  verdict_ = Status();
  Poke();
  EXPECT_EQ(asked_, before);
  auto claim = std::make_shared<api::PersistentVolumeClaim>();
  claim->meta.name = "x";
  claim->meta.ns = Symbol("ns");
  rig_->scheduler->Post(StorageDeltas(std::vector<api::Delta<api::PersistentVolumeClaim>>{
      testing::Upsert<api::PersistentVolumeClaim>(claim)}));
  rig_->Settle();
  EXPECT_EQ(asked_, before + 1);
  EXPECT_EQ(binds_.size(), 1U);
}

// docs/spec/preemption.md, example P22b.
TEST_F(PreBindWaitTest, CanceledFromOutside) {
  Start({pod_});
  ASSERT_NE(InPreBind(), nullptr);
  EXPECT_TRUE(InPreBind()->Cancel("preempted by DefaultPreemption"));
  EXPECT_TRUE(InPreBind()->Cancel("again"));
  rig_->Settle();
  EXPECT_EQ(rig_->LastMessage("p"),
            "running PreBind plugin \"WP\": preempted by DefaultPreemption");
  EXPECT_EQ(rig_->api.patches.back().change.condition->reason, "SchedulerError");
  EXPECT_EQ(InPreBind(), nullptr);
  EXPECT_EQ(PointCount("PreBind", "Error"), "1");
  EXPECT_TRUE(binds_.empty());
}

TEST_F(PreBindWaitTest, NobodyCancelsWhileBinding) {
  Start({pod_});
  verdict_ = Status();
  Poke();
  ASSERT_EQ(binds_.size(), 1U);
  ASSERT_NE(InPreBind(), nullptr) << "until the binding phase ends";
  EXPECT_FALSE(InPreBind()->Cancel("late"));
  AnswerBind(Status());
  EXPECT_EQ(InPreBind(), nullptr);
  EXPECT_EQ(rig_->scheduler->context().stats.bound, 1U);
  EXPECT_EQ(PointCount("PreBind", "Success"), "1");
}

TEST_F(PreBindWaitTest, WithoutWorkThePodIsNotRegistered) {
  flight_ = Status(Code::kSkip, {});
  Start({pod_});
  ASSERT_EQ(binds_.size(), 1U);
  EXPECT_EQ(InPreBind(), nullptr);
  EXPECT_TRUE(rig_->api.patches.empty()) << "nothing to do that others should know of";
  AnswerBind(Status());
  EXPECT_EQ(PointCount("PreBindPreFlight", "Skip"), "1");
  EXPECT_EQ(PointCount("PreBind", "Success"), "1") << "also without work";
}

// Trap 20: with the gate off every pod is registered, no pre-flight is asked and no plugin skipped.
TEST_F(PreBindWaitTest, WithoutTheGateThereIsNoPreFlight) {
  gates_.Set(config::Gate::kNominatedNodeNameForExpectation, false);
  flight_ = Status(Code::kSkip, {});
  Start({pod_});
  EXPECT_NE(InPreBind(), nullptr);
  EXPECT_EQ(log_, Texts{"PreBind WP"});
  EXPECT_TRUE(rig_->api.patches.empty());
  verdict_ = Status();
  Poke();
  AnswerBind(Status());
  EXPECT_EQ(rig_->scheduler->context().stats.bound, 1U);
  EXPECT_EQ(PointCount("PreBindPreFlight", "Skip"), "");
}

TEST_F(PreBindWaitTest, ARejectionCountsAsAnErrorForTheQueue) {
  Start({pod_});
  verdict_ = Status(Code::kUnschedulable, {"no"});
  Poke();
  EXPECT_EQ(rig_->LastMessage("p"), "no");
  EXPECT_EQ(rig_->api.patches.back().change.condition->reason, "Unschedulable");
  verdict_ = Status();
  rig_->Advance(seconds(2));
  EXPECT_EQ(binds_.size(), 1U) << "back after the backoff, without an event";
}

// ---- Pods to activate

class ActivateTest : public BindingCycleTest {
 protected:
  // `other_` is rejected by Filter at its first attempt; every Filter call is counted.
  void StartWith(PluginScript script) {
    script.name = "A";
    script.with_state = [this](CycleState& state) { state.pods_to_activate->Add(other_); };
    profile_.Add<Reserves, Permits, PostBinds>(std::move(script))
        .Add<Filters, Events>(
            {.name = "F", .filter = [this](const CycleState&, const framework::NodeInfo&) {
               ++filtered_;
               return filtered_ == 1 ? Status(Code::kUnschedulable, {"first"}) : Status();
             }});
    // The other pod comes first and is rejected; no event brings it back, only an activation.
    Start({other_});
    ASSERT_EQ(filtered_, 1);
    rig_->UpsertPod(pod_);
    rig_->Settle();
  }
  const api::PodPtr other_ = MakePod().Name("other").Obj();
  int filtered_ = 0;
};

TEST_F(ActivateTest, AtTheEndOfACycleThatPassedPermit) {
  StartWith({});
  EXPECT_EQ(filtered_, 3) << "p, then the activated one";
}

TEST_F(ActivateTest, AlsoWhenPermitSaidWait) {
  StartWith({.permit = Says(Wait(seconds(10)))});
  EXPECT_EQ(filtered_, 3);
}

TEST_F(ActivateTest, NotWhenPermitRejected) {
  StartWith({.permit = Says(PermitResult{Status(Code::kUnschedulable, {"no"}), {}})});
  EXPECT_EQ(filtered_, 2);
}

TEST_F(ActivateTest, AtTheEndOfASuccessfulBindingCycleOnly) {
  on_bind_ = [this](CycleState& state) { state.pods_to_activate->Add(other_); };
  profile_.Add<Filters, Events>(
      {.name = "F", .filter = [this](const CycleState&, const framework::NodeInfo&) {
         ++filtered_;
         return filtered_ == 1 ? Status(Code::kUnschedulable, {"first"}) : Status();
       }});
  Start({other_});
  rig_->UpsertPod(pod_);
  rig_->Settle();
  ASSERT_EQ(filtered_, 2);
  AnswerBind(Status::Error("boom"));
  EXPECT_EQ(filtered_, 2) << "not after a failure";
  rig_->DeletePod(pod_);
  rig_->UpsertPod(MakePod().Name("p2").Obj());
  rig_->Settle();
  ASSERT_EQ(filtered_, 3);
  AnswerBind(Status());
  EXPECT_EQ(filtered_, 4);
}

// ---- Metrics

// docs/spec/metrics.md, example 9.3.
TEST_F(BindingCycleTest, M93BindingFailsThreeTimesThenWorks) {
  profile_.Add<Reserves>({.name = "R"});
  Start({pod_});
  for (int i = 0; i < 3; ++i) {
    AnswerBind(Status::Error("boom"));
    rig_->Advance(seconds(10));
  }
  AnswerBind(Status());
  EXPECT_EQ(PointCount("Bind", "Error"), "3");
  EXPECT_EQ(PointCount("Bind", "Success"), "1");
  EXPECT_EQ(PointCount("Unreserve", "Success"), "3");
  EXPECT_EQ(PointCount("Reserve", "Success"), "4");
  EXPECT_EQ(PointCount("Permit", "Success"), "4") << "also without Permit plugins";
  EXPECT_EQ(PointCount("PostBind", "Success"), "1");
  EXPECT_EQ(PointCount("Filter", "Success"), "") << "no filter plugin exists";
}

// Exactly the drawn cycles are measured, with their binding phase.
TEST_F(BindingCycleTest, DrawnCyclesAreMeasuredToTheirEnd) {
  profile_.Add<Filters>({.name = "F"}).Add<Reserves>({.name = "R"}).Add<PostBinds>({.name = "PB"});
  std::vector<api::PodPtr> pods;
  for (int i = 0; i < 100; ++i) pods.push_back(MakePod().Name("p" + std::to_string(i)).Obj());
  Start(pods);
  ASSERT_EQ(binds_.size(), 100U);
  while (!binds_.empty()) AnswerBind(Status());
  Random draws(0);  // the seed of the rig's metrics
  int drawn = 0;
  for (int i = 0; i < 100; ++i) drawn += draws.Below(100) < 10 ? 1 : 0;
  ASSERT_GT(drawn, 0);
  const std::pair<const char*, const char*> calls[] = {
      {"F", "Filter"}, {"R", "Reserve"}, {"B", "Bind"}, {"PB", "PostBind"}};
  for (const auto& [plugin, point] : calls) {
    EXPECT_EQ(Metric("scheduler_plugin_execution_duration_seconds_count{extension_point=\"" +
                     std::string(point) + "\",plugin=\"" + plugin + "\",status=\"Success\"}"),
              std::to_string(drawn))
        << plugin;
  }
  EXPECT_EQ(PointCount("Filter", "Success"), "100");
  EXPECT_EQ(Metric("scheduler_plugin_evaluation_total{extension_point=\"Filter\",plugin=\"F\","
                   "profile=\"default-scheduler\"}"),
            "100");
}

TEST_F(BindingCycleTest, ANominatedNodeIsASearchOfItsOwn) {
  profile_.Add<Filters>({.name = "F"});
  Start({MakePod().Name("p").NominatedNode("n1").Obj()});
  ASSERT_EQ(binds_.size(), 1U);
  EXPECT_EQ(PointCount("Filter", "Success"), "1") << "the loop over all nodes was not needed";
}

TEST_F(BindingCycleTest, ARejectedNominatedNodeIsFollowedByTheLoop) {
  profile_.Add<Filters>({.name = "F", .filter = Says(Status(Code::kUnschedulable, {"no"}))});
  Start({MakePod().Name("p").NominatedNode("n1").Obj()});
  EXPECT_TRUE(binds_.empty());
  EXPECT_EQ(PointCount("Filter", "Success"), "2") << "rejections are no failures of the point";
}

// ---- Shutdown

TEST_F(BindingCycleTest, PluginsAreClosedOnceWhenTheSchedulerEnds) {
  profile_.Add<Filters, Closes>({.name = "X", .log = &log_})
      .Add<Filters>({.name = "WithoutClose", .log = &log_})
      .Add<Filters, Closes>({.name = "Y", .log = &log_});
  Start({});
  log_.clear();
  rig_.reset();
  EXPECT_EQ(log_, (Texts{"Close X", "Close Y"}));
}

// Uses all that a handle has when it is closed.
class LateUser final : public framework::Plugin,
                       public framework::FilterPlugin,
                       public framework::Closer {
 public:
  LateUser(framework::Handle& handle, std::vector<std::string>* log) : handle_(handle), log_(log) {}
  std::string_view Name() const override { return "LateUser"; }
  Status Filter(const framework::CycleState&, const api::Pod&,
                const framework::NodeInfo&) const override {
    return {};
  }
  Result<void> Close() override {
    handle_.activator().Activate({});
    log_->push_back(std::to_string(handle_.nominator().HasNominatedPods()));
    log_->push_back(handle_.pods().FindPod("ns/p")->meta.name);
    log_->push_back(handle_.nodes().FindNode("n1")->meta.name);
    log_->push_back(std::to_string(handle_.snapshot().nodes().size()));
    return {};
  }

 private:
  framework::Handle& handle_;
  std::vector<std::string>* log_;
};

TEST_F(BindingCycleTest, WhatAHandleGivesOutlivesThePlugins) {
  profile_.registry().AddFactory(
      "LateUser",
      [this](const config::PluginArgs&,
             framework::Handle& handle) -> Result<std::unique_ptr<framework::Plugin>> {
        return std::unique_ptr<framework::Plugin>(new LateUser(handle, &log_));
      });
  profile_.profile().plugins.multi_point.enabled.push_back({"LateUser"});
  Start({MakePod().Name("p").Obj()});
  log_.clear();
  rig_.reset();
  EXPECT_EQ(log_, (Texts{"0", "p", "n1", "1"}));
}

TEST_F(BindingCycleTest, FailuresToCloseAreJoined) {
  profile_
      .Add<Filters, Closes>(
          {.name = "X", .log = &log_, .close = [] { return Result<void>(Error{"stuck"}); }})
      .Add<Filters, Closes>({.name = "Y", .log = &log_})
      .Add<Filters, Closes>({.name = "Z", .close = [] { return Result<void>(Error{"busy"}); }});
  const auto framework = profile_.Build();
  const Result<void> closed = framework->Close();
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().message,
            "framework default-scheduler failed to close: X failed to close: stuck\n"
            "Z failed to close: busy");
  EXPECT_EQ(log_, (Texts{"Close X", "Close Y"}));
  EXPECT_TRUE(framework->Close().ok()) << "once";
  EXPECT_EQ(log_.size(), 2U);
}

}  // namespace
}  // namespace ks::scheduler
