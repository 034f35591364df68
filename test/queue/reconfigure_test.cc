// SPDX-License-Identifier: Apache-2.0
// A new configuration for a queue that holds pods in every store (decision 0018).

#include <string>

#include "queue_fixture.h"

namespace ks::queue::testing {
namespace {

using ks::testing::MakePod;

class ReconfigureTest : public QueueTest {
 protected:
  // a: active; b: backing off; p: parked, rejected by X.
  void Fill() {
    Make();
    for (const char* name : {"p", "b"}) queue_->Add(MakePod().Name(name).Namespace("ns").Obj());
    PopAndFail("p", {"X"});
    PopAndFail("b", {});
    queue_->Add(MakePod().Name("a").Namespace("ns").Obj());
    ASSERT_EQ(StoreOf("p"), Store::kUnschedulable);
    ASSERT_EQ(StoreOf("b"), Store::kErrorBackoff);
    ASSERT_EQ(StoreOf("a"), Store::kActive);
  }
  SchedulingQueue::Settings Settings() {
    SchedulingQueue::Settings settings;
    ProfileHooks hooks;
    hooks.less = PriorityLess;
    hooks.pre_enqueue = [this](const api::Pod& pod, std::string_view) {
      return new_gate_ ? new_gate_(pod) : framework::Status();
    };
    hooks.registrations = DefaultRegistrations();
    settings.profiles.emplace("default-scheduler", std::move(hooks));
    return settings;
  }
  std::function<framework::Status(const api::Pod&)> new_gate_;
};

TEST_F(ReconfigureTest, KeepsEveryPodAndLooksAtParkedOnesAgain) {
  Fill();
  queue_->Reconfigure(Settings());
  EXPECT_EQ(StoreOf("a"), Store::kActive);
  EXPECT_EQ(StoreOf("b"), Store::kErrorBackoff);
  EXPECT_EQ(StoreOf("p"), Store::kBackoff) << "its backoff of one second still runs";
  EXPECT_EQ(queue_->stores().Pods().size(), 3U);
  EXPECT_EQ(Rejections(), "X=1") << "what is counted stays counted";
  PopNamed("a");
}

TEST_F(ReconfigureTest, NewBackoffTimesCountAtOnce) {
  Fill();
  At(2);
  SchedulingQueue::Settings settings = Settings();
  settings.backoff_initial = std::chrono::seconds(30);
  settings.backoff_max = std::chrono::seconds(60);
  queue_->Reconfigure(std::move(settings));
  queue_->FlushBackoffCompleted();
  EXPECT_EQ(StoreOf("p"), Store::kBackoff);
  EXPECT_EQ(StoreOf("b"), Store::kErrorBackoff);
  At(33);
  queue_->FlushBackoffCompleted();
  EXPECT_EQ(StoreOf("p"), Store::kActive);
  EXPECT_EQ(StoreOf("b"), Store::kActive);
}

TEST_F(ReconfigureTest, ANewGateHoldsActivePods) {
  Fill();
  new_gate_ = [](const api::Pod&) {
    return framework::Status(framework::Code::kUnschedulable, {"not now"}, "Gate");
  };
  queue_->Reconfigure(Settings());
  for (const char* name : {"a", "b", "p"}) EXPECT_EQ(StoreOf(name), Store::kUnschedulable) << name;
  EXPECT_EQ(queue_->pending().gated, 3U);
  new_gate_ = nullptr;
  queue_->Reconfigure(Settings());
  EXPECT_EQ(queue_->pending().gated, 0U);
  EXPECT_EQ(StoreOf("a"), Store::kActive);
}

TEST_F(ReconfigureTest, APodInFlightComesBackWhenItFails) {
  Make();
  queue_->Add(MakePod().Name("f").Namespace("ns").Obj());
  const framework::QueuedPodPtr pod = PopNamed("f");
  queue_->Reconfigure(Settings());
  Fail(pod, {"PluginThatIsGone"});
  EXPECT_EQ(StoreOf("f"), Store::kBackoff) << "parked, nothing would wake it";
}

}  // namespace
}  // namespace ks::queue::testing
