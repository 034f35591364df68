// SPDX-License-Identifier: Apache-2.0
// docs/spec/framework.md 3.9, docs/spec/cycle.md section 15 (steps 5 and 6).
#include "framework/runtime/prebind_runner.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/metrics/framework_metrics.h"
#include "testing/builders.h"
#include "testing/fake_api_writer.h"
#include "testing/fake_clock.h"
#include "testing/test_plugins.h"

namespace ks::framework {
namespace {

using ks::testing::FakeApiWriter;
using ks::testing::FakeClock;
using ks::testing::MakePod;
using ks::testing::TestPlugin;
using std::chrono::seconds;

using Texts = std::vector<std::string>;
using Names = std::vector<std::string_view>;

// A sequence that takes the given steps, then ends with the outcome of the last one.
class StepSequence final : public PreBindSequence {
 public:
  StepSequence(std::string name, std::deque<PreBindStep> steps, Texts* log)
      : name_(std::move(name)), steps_(std::move(steps)), log_(*log) {}

  PreBindStep Next(const Status& previous) override {
    log_.push_back(name_ + " after " +
                   (previous.ok() ? std::string("success") : previous.Message()));
    if (!previous.ok() || steps_.empty()) {
      PreBindStep end;
      end.finished = true;
      end.status = previous;
      return end;
    }
    PreBindStep step = std::move(steps_.front());
    steps_.pop_front();
    return step;
  }
  void Cancel(std::string_view cause) override {
    log_.push_back(name_ + " canceled: " + std::string(cause));
  }

 private:
  const std::string name_;
  std::deque<PreBindStep> steps_;
  Texts& log_;
};

class PreBindRunnerTest : public ::testing::Test {
 protected:
  PreBindRunnerTest() {
    environment_.api = &api_;
    environment_.post_to_scheduling_thread = [this](auto task) {
      inbox_.push_back(std::move(task));
    };
    environment_.run_blocking = [this](auto task) { blocking_.push_back(std::move(task)); };
  }

  // Steps. A condition reads `verdicts_[name]`.
  PreBindStep Waits(const std::string& name, std::optional<TimePoint> deadline = std::nullopt) {
    PreBindStep step;
    step.condition = [this, name]() -> std::optional<Status> {
      const auto found = verdicts_.find(name);
      if (found == verdicts_.end()) return std::nullopt;
      return found->second;
    };
    step.deadline = deadline;
    step.timeout_status = Status(Code::kUnschedulable, {"timed out"});
    return step;
  }
  static PreBindStep Calls(size_t count) {
    PreBindStep step;
    for (size_t i = 0; i < count; ++i) {
      step.calls.push_back([](ApiWriter& api, ApiWriter::Done done) {
        api.Bind(MakePod().Name("call").Obj(), "n1", std::move(done));
      });
    }
    return step;
  }
  static PreBindStep Blocks(Status status) {
    PreBindStep step;
    step.blocking = [status] { return status; };
    return step;
  }
  static PreBindStep Ends(Status status) {
    PreBindStep step;
    step.finished = true;
    step.status = std::move(status);
    return step;
  }

  using Plan = std::vector<std::pair<std::string, std::deque<PreBindStep>>>;  // one group
  void MakeRunner(const std::vector<Plan>& groups) {
    std::vector<std::vector<BindingPoints::PreBindMember>> members;
    for (const Plan& group : groups) {
      members.emplace_back();
      for (const auto& [name, steps] : group) {
        plugins_.push_back(std::make_unique<TestPlugin<ks::testing::PreBinds>>(
            ks::testing::PluginScript{.name = name, .pre_bind = [this, name = name, steps = steps] {
                                        return std::make_unique<StepSequence>(name, steps, &log_);
                                      }}));
        members.back().push_back({plugins_.back()->Name(), plugins_.back().get()});
      }
    }
    runner_ = std::make_unique<PreBindRunner>(
        std::move(members),
        PreBindRequest{.state = &state_,
                       .pod = MakePod().Name("p").Obj(),
                       .node_name = "n1",
                       .observer = observer_,
                       .wait_changed = [this] { ++wait_changes_; }},
        environment_, [this](Status status) { results_.push_back(std::move(status)); });
  }
  void RunInbox() {
    while (!inbox_.empty()) {
      const auto task = std::move(inbox_.front());
      inbox_.pop_front();
      task();
    }
  }
  // Answers the oldest unanswered call.
  void AnswerOne(std::optional<api::ApiError> error = std::nullopt) {
    for (auto& call : api_.binds) {
      if (!call.done) continue;
      std::exchange(call.done, nullptr)(std::move(error));
      return;
    }
    FAIL() << "no call to answer";
  }
  static api::ApiError ApiFailure(const std::string& message) {
    api::ApiError error;
    error.message = message;
    return error;
  }

  FakeClock clock_;
  FakeApiWriter api_;
  std::deque<std::function<void()>> inbox_;
  std::deque<std::function<void()>> blocking_;
  PreBindEnvironment environment_;
  CycleState state_;
  std::map<std::string, Status> verdicts_;
  Texts log_;
  std::vector<std::unique_ptr<TestPlugin<ks::testing::PreBinds>>> plugins_;
  std::vector<Status> results_;
  int wait_changes_ = 0;
  PointObserver* observer_ = nullptr;
  std::unique_ptr<PreBindRunner> runner_;
};

// Notes what it hears.
class Hears final : public PointObserver {
 public:
  explicit Hears(const FakeClock& clock) : clock_(clock) {}

  TimePoint Now() const override { return clock_.Now(); }
  void PointRan(MetricPoint, Code, TimePoint) override { notes.push_back("a point ran"); }
  void PluginsRan(std::string_view plugin, MetricPoint point, TimePoint start,
                  Duration took) override {
    notes.push_back(std::string(plugin) + " of " + std::string(MetricPointText(point)) +
                    ", ended " + FormatDuration(clock_.Now() - start) + " after its begin, took " +
                    FormatDuration(took));
  }
  void Within(const std::function<void()>& calls) override {
    within = true;
    calls();
    within = false;
  }

  Texts notes;
  bool within = false;

 private:
  const FakeClock& clock_;
};

TEST_F(PreBindRunnerTest, AnObserverHearsOfEachPluginAndMakesTheCalls) {
  Hears hears(clock_);
  observer_ = &hears;
  PreBindStep call;
  call.calls.push_back([&hears](ApiWriter& api, ApiWriter::Done done) {
    EXPECT_TRUE(hears.within);
    api.Bind(MakePod().Name("call").Obj(), "n1", std::move(done));
  });
  MakeRunner({{{"A", {Waits("w"), call}}, {"B", {}}}, {{"C", {}}}});
  EXPECT_EQ(runner_->Start(), std::nullopt);
  EXPECT_EQ(hears.notes, (Texts{"B of PreBind, ended 0s after its begin, took 0s"}));
  clock_.Advance(seconds(3));
  verdicts_["w"] = Status();
  runner_->Poll(clock_.Now());
  ASSERT_EQ(api_.binds.size(), 1U);
  EXPECT_FALSE(hears.within);
  clock_.Advance(seconds(2));
  AnswerOne();
  RunInbox();
  EXPECT_EQ(results_, (std::vector<Status>{Status()}));
  EXPECT_EQ(hears.notes, (Texts{"B of PreBind, ended 0s after its begin, took 0s",
                                "A of PreBind, ended 5s after its begin, took 5s",
                                "C of PreBind, ended 0s after its begin, took 0s"}));
}

TEST_F(PreBindRunnerTest, NothingToDoAndNothingToWaitForEndAtOnce) {
  MakeRunner({});
  EXPECT_EQ(runner_->Start(), Status());
  EXPECT_TRUE(runner_->finished());

  MakeRunner({{{"A", {}}, {"B", {}}}, {{"C", {}}}});
  EXPECT_EQ(runner_->Start(), Status());
  EXPECT_EQ(log_, (Texts{"A after success", "B after success", "C after success"}));
  EXPECT_FALSE(runner_->Cancel("late"));
  RunInbox();
  EXPECT_TRUE(results_.empty()) << "a result of Start is not told again";
}

TEST_F(PreBindRunnerTest, FailuresAreWorded) {
  const struct {
    Status end;
    Status want;
  } cases[] = {
      {Status::Error("boom"), Status::Error("running PreBind plugin \"A\": boom")},
      {Status(Code::kUnschedulable, {"u"}), Status(Code::kUnschedulable, {"u"}, "A")},
      {Status(Code::kSkip, {}), Status::Error("running PreBind plugin \"A\": %!w(<nil>)")},
  };
  for (const auto& test : cases) {
    MakeRunner({{{"A", {Ends(test.end)}}}, {{"B", {}}}});
    EXPECT_EQ(runner_->Start(), test.want);
    EXPECT_EQ(log_.back(), "A after success") << "no later group runs";
  }
}

TEST_F(PreBindRunnerTest, CallsThenConditionThenTheNextStep) {
  PreBindStep step = Calls(2);
  step.condition = Waits("A").condition;
  MakeRunner({{{"A", {step, Waits("A2")}}}});
  EXPECT_EQ(runner_->Start(), std::nullopt);
  EXPECT_EQ(api_.binds.size(), 2U);
  AnswerOne();
  RunInbox();
  verdicts_["A"] = Status();
  runner_->Poll(clock_.Now());
  EXPECT_EQ(log_.size(), 1U) << "one call is still under way";
  AnswerOne();
  EXPECT_EQ(log_.size(), 1U) << "results go through the inbox";
  RunInbox();
  EXPECT_EQ(log_.size(), 2U) << "the condition is asked right after the calls";
  EXPECT_TRUE(results_.empty());
  verdicts_["A2"] = Status();
  runner_->Poll(clock_.Now());
  EXPECT_EQ(results_, std::vector<Status>{Status()});
  EXPECT_EQ(log_, (Texts{"A after success", "A after success", "A after success"}));
}

TEST_F(PreBindRunnerTest, TheFirstFailedCallIsHandedOver) {
  PreBindStep step = Calls(3);
  step.condition = Waits("never").condition;
  MakeRunner({{{"A", {step}}}});
  (void)runner_->Start();
  AnswerOne();
  AnswerOne(ApiFailure("first"));
  AnswerOne(ApiFailure("second"));
  RunInbox();
  EXPECT_EQ(log_, (Texts{"A after success", "A after first"}));
  EXPECT_EQ(results_, std::vector<Status>{Status::Error("running PreBind plugin \"A\": first")});
}

TEST_F(PreBindRunnerTest, AVerdictMayBeAFailure) {
  MakeRunner({{{"A", {Waits("A")}}}});
  (void)runner_->Start();
  verdicts_["A"] = Status(Code::kUnschedulable, {"pv is gone"});
  runner_->Poll(clock_.Now());
  EXPECT_EQ(results_, std::vector<Status>{Status(Code::kUnschedulable, {"pv is gone"}, "A")});
}

TEST_F(PreBindRunnerTest, Deadlines) {
  const TimePoint deadline = clock_.Now() + seconds(10);
  MakeRunner({{{"A", {Waits("A", deadline)}}, {"B", {Waits("B", deadline - seconds(1))}}}});
  (void)runner_->Start();
  EXPECT_EQ(runner_->Wait().deadline, deadline - seconds(1));
  verdicts_["B"] = Status();
  clock_.Advance(seconds(9));
  runner_->Poll(clock_.Now());
  EXPECT_EQ(runner_->Wait().deadline, deadline) << "a verdict comes before the deadline";
  EXPECT_TRUE(results_.empty());
  clock_.Advance(seconds(1));
  runner_->Poll(clock_.Now());
  EXPECT_EQ(results_, std::vector<Status>{Status(Code::kUnschedulable, {"timed out"}, "A")});
  EXPECT_EQ(runner_->Wait().deadline, std::nullopt);
}

TEST_F(PreBindRunnerTest, WaitTellsWhatConcernsTheConditions) {
  const std::vector<ObjectChange> objects = {{OptionalKind::kPersistentVolume, "pv"}};
  PreBindStep knows = Waits("A");
  knows.concerned_by = [objects] { return objects; };
  PreBindStep calls = Calls(1);
  calls.condition = Waits("C").condition;
  MakeRunner({{{"A", {knows}}, {"B", {Waits("B")}}, {"C", {calls}}}});
  EXPECT_EQ(runner_->Start(), std::nullopt);
  EXPECT_EQ(runner_->Wait().objects, objects);
  EXPECT_TRUE(runner_->Wait().for_any_change) << "B does not say";
  verdicts_["B"] = Status();
  runner_->Poll(clock_.Now());
  EXPECT_FALSE(runner_->Wait().for_any_change) << "C waits for its call first";
  AnswerOne();
  EXPECT_EQ(wait_changes_, 0);
  RunInbox();
  EXPECT_EQ(wait_changes_, 1);
  EXPECT_TRUE(runner_->Wait().for_any_change) << "C does not say either";
  EXPECT_TRUE(runner_->Cancel("enough"));
  EXPECT_TRUE(runner_->Wait().objects.empty());
  EXPECT_FALSE(runner_->Wait().for_any_change);
}

TEST_F(PreBindRunnerTest, BlockingRunsElsewhere) {
  MakeRunner({{{"A", {Blocks(Status())}}}, {{"B", {Blocks(Status::Error("bad"))}}}});
  EXPECT_EQ(runner_->Start(), std::nullopt);
  ASSERT_EQ(blocking_.size(), 1U);
  blocking_[0]();
  RunInbox();
  ASSERT_EQ(blocking_.size(), 2U) << "the next group begins after the first";
  blocking_[1]();
  RunInbox();
  EXPECT_EQ(results_, std::vector<Status>{Status::Error("running PreBind plugin \"B\": bad")});
}

TEST_F(PreBindRunnerTest, GroupsOneAfterTheOtherMembersAtTheSameTime) {
  MakeRunner({{{"A", {Waits("A")}}}, {{"B", {Waits("B")}}, {"C", {Calls(1)}}}, {{"D", {}}}});
  EXPECT_EQ(runner_->Start(), std::nullopt);
  EXPECT_EQ(runner_->Unfinished(), Names{"A"});
  EXPECT_TRUE(api_.binds.empty());
  verdicts_["A"] = Status();
  runner_->Poll(clock_.Now());
  EXPECT_EQ(runner_->Unfinished(), (Names{"B", "C"}));
  EXPECT_EQ(api_.binds.size(), 1U);
  AnswerOne();
  RunInbox();
  EXPECT_EQ(runner_->Unfinished(), Names{"B"});
  verdicts_["B"] = Status();
  runner_->Poll(clock_.Now());
  EXPECT_EQ(results_, std::vector<Status>{Status()});
  EXPECT_EQ(log_.back(), "D after success");
}

TEST_F(PreBindRunnerTest, TheFirstFailureCancelsTheOthersAndWaitsForWhatIsUnderWay) {
  MakeRunner({{{"A", {Waits("A")}}, {"B", {Calls(1)}}, {"C", {Waits("C")}}, {"D", {Waits("D")}}},
              {{"E", {}}}});
  (void)runner_->Start();
  verdicts_["C"] = Status::Error("c failed");
  verdicts_["D"] = Status::Error("d failed");
  runner_->Poll(clock_.Now());
  EXPECT_EQ(log_, (Texts{"A after success", "B after success", "C after success", "D after success",
                         "C after c failed", "A canceled: some other PreBind operation failed",
                         "B canceled: some other PreBind operation failed",
                         "D canceled: some other PreBind operation failed"}));
  EXPECT_TRUE(results_.empty()) << "B's call has not reported";
  EXPECT_EQ(runner_->Wait().deadline, std::nullopt);
  EXPECT_FALSE(runner_->Cancel("late"));
  verdicts_["A"] = Status();
  runner_->Poll(clock_.Now());
  EXPECT_TRUE(results_.empty());
  AnswerOne(ApiFailure("too late"));
  RunInbox();
  EXPECT_EQ(results_, std::vector<Status>{Status::Error("running PreBind plugin \"C\": c failed")});
  EXPECT_EQ(log_.size(), 8U) << "nothing new is started";
}

TEST_F(PreBindRunnerTest, AFailureAtTheStartOfAGroupKeepsLaterMembersFromStarting) {
  MakeRunner({{{"A", {Ends(Status::Error("x"))}}, {"B", {Calls(1)}}}});
  EXPECT_EQ(runner_->Start(), Status::Error("running PreBind plugin \"A\": x"));
  EXPECT_TRUE(api_.binds.empty());
}

TEST_F(PreBindRunnerTest, CancelFromOutside) {
  MakeRunner({{{"A", {}}, {"B", {Waits("B")}}, {"C", {Waits("C")}}}});
  (void)runner_->Start();
  EXPECT_TRUE(runner_->Cancel("preempted by DefaultPreemption"));
  EXPECT_FALSE(runner_->Cancel("again"));
  EXPECT_TRUE(results_.empty()) << "never from inside Cancel";
  RunInbox();
  EXPECT_EQ(results_, std::vector<Status>{Status::Error(
                          "running PreBind plugin \"B\": preempted by DefaultPreemption")});
  EXPECT_EQ(log_.back(), "C canceled: preempted by DefaultPreemption");
  EXPECT_TRUE(runner_->finished());
}

// docs/spec/preemption.md: a plugin that obeys the cancellation, and one that ignores it.
TEST_F(PreBindRunnerTest, CancelWaitsForABlockingFunctionAndItsAnswerDecides) {
  const struct {
    const char* name;
    Status answer;
    Status want;
  } cases[] = {
      {"Ignored", Status(), Status::Error("gone")},
      {"Obeyed", Status::Error("context canceled"),
       Status::Error("running PreBind plugin \"A\": gone")},
      {"FailedByItself", Status::Error("boom"),
       Status::Error("running PreBind plugin \"A\": boom")},
      {"Rejected", Status(Code::kUnschedulable, {"context canceled"}),
       Status(Code::kUnschedulable, {"context canceled"}, "A")},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    results_.clear();
    blocking_.clear();
    MakeRunner({{{"A", {Blocks(test.answer), Waits("never asked")}}}});
    (void)runner_->Start();
    EXPECT_TRUE(runner_->Cancel("gone"));
    RunInbox();
    EXPECT_TRUE(results_.empty());
    EXPECT_FALSE(runner_->finished());
    blocking_[0]();
    RunInbox();
    EXPECT_EQ(results_, std::vector<Status>{test.want});
  }
}

TEST_F(PreBindRunnerTest, AMemberThatWaitsObeysAtOnceBesideABlockingOne) {
  MakeRunner({{{"A", {Blocks(Status::Error("late"))}}, {"B", {Waits("B")}}}});
  (void)runner_->Start();
  EXPECT_TRUE(runner_->Cancel("gone"));
  RunInbox();
  EXPECT_TRUE(results_.empty()) << "the blocking function is under way";
  blocking_[0]();
  RunInbox();
  EXPECT_EQ(results_, std::vector<Status>{Status::Error("running PreBind plugin \"B\": gone")});
}

// A plugin that has its own pod canceled, from inside a step.
TEST_F(PreBindRunnerTest, CancelFromInsideAStep) {
  class SelfCanceling final : public PreBindSequence {
   public:
    explicit SelfCanceling(std::unique_ptr<PreBindRunner>& runner) : runner_(runner) {}
    PreBindStep Next(const Status& /*previous*/) override {
      EXPECT_TRUE(runner_->Cancel("self"));
      return Ends(Status::Error("not shown"));
    }

   private:
    std::unique_ptr<PreBindRunner>& runner_;
  };
  plugins_.push_back(std::make_unique<TestPlugin<ks::testing::PreBinds>>(ks::testing::PluginScript{
      .name = "A", .pre_bind = [this] { return std::make_unique<SelfCanceling>(runner_); }}));
  runner_ = std::make_unique<PreBindRunner>(
      std::vector<std::vector<BindingPoints::PreBindMember>>{{{"A", plugins_.back().get()}}},
      PreBindRequest{.state = &state_, .pod = MakePod().Name("p").Obj(), .node_name = "n1"},
      environment_, [this](Status status) { results_.push_back(std::move(status)); });
  EXPECT_EQ(runner_->Start(), Status::Error("running PreBind plugin \"A\": self"));
  RunInbox();
  EXPECT_TRUE(results_.empty()) << "told once";
}

TEST_F(PreBindRunnerTest, MayBeDestroyedAtAnyTime) {
  MakeRunner({{{"A", {Calls(1)}}}});
  (void)runner_->Start();
  runner_.reset();
  AnswerOne();
  RunInbox();
  EXPECT_TRUE(results_.empty());

  // From inside the result.
  plugins_.push_back(std::make_unique<TestPlugin<ks::testing::PreBinds>>(ks::testing::PluginScript{
      .name = "B", .pre_bind = [this] {
        return std::make_unique<StepSequence>("B", std::deque<PreBindStep>{Waits("B")}, &log_);
      }}));
  runner_ = std::make_unique<PreBindRunner>(
      std::vector<std::vector<BindingPoints::PreBindMember>>{{{"B", plugins_.back().get()}}},
      PreBindRequest{.state = &state_, .pod = MakePod().Name("p").Obj(), .node_name = "n1"},
      environment_, [this](Status status) {
        results_.push_back(std::move(status));
        runner_.reset();
      });
  (void)runner_->Start();
  verdicts_["B"] = Status();
  runner_->Poll(clock_.Now());
  EXPECT_EQ(results_, std::vector<Status>{Status()});
  EXPECT_EQ(runner_, nullptr);
}

}  // namespace
}  // namespace ks::framework
