// SPDX-License-Identifier: Apache-2.0
#include "framework/status.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "framework/cycle_state.h"
#include "testing/builders.h"

namespace ks::framework {
namespace {

using Texts = std::vector<std::string>;

// The table of docs/spec/framework.md section 1.
TEST(StatusTest, Codes) {
  const struct {
    Code code;
    int number;
    const char* text;
    bool rejected;
    const char* error;  // of a status with the reason "r"
  } rows[] = {
      {Code::kSuccess, 0, "Success", false, "%!w(<nil>)"},
      {Code::kError, 1, "Error", false, "r"},
      {Code::kUnschedulable, 2, "Unschedulable", true, "r"},
      {Code::kUnschedulableAndUnresolvable, 3, "UnschedulableAndUnresolvable", true, "r"},
      {Code::kWait, 4, "Wait", false, "%!w(<nil>)"},
      {Code::kSkip, 5, "Skip", false, "%!w(<nil>)"},
      {Code::kPending, 6, "Pending", true, "r"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    const Status status = row.code == Code::kSuccess ? Status() : Status(row.code, Texts{"r"});
    EXPECT_EQ(static_cast<int>(row.code), row.number);
    EXPECT_EQ(CodeText(row.code), row.text);
    EXPECT_EQ(status.code(), row.code);
    EXPECT_EQ(status.ok(), row.code == Code::kSuccess);
    EXPECT_EQ(status.IsRejected(), row.rejected);
    EXPECT_EQ(status.ErrorText(), row.error);
  }
}

TEST(StatusTest, ErrorComesFirstAmongTheReasons) {
  const Status status = Status::WithError(Code::kUnschedulable, "e", {"a", "b"});
  EXPECT_EQ(status.reasons(), (Texts{"e", "a", "b"}));
  EXPECT_EQ(status.Message(), "e, a, b");
  EXPECT_EQ(status.ErrorText(), "e");
  EXPECT_EQ(Status(Code::kError, {"a", "b"}).ErrorText(), "a, b");
  EXPECT_EQ(Status().Message(), "");
  EXPECT_TRUE(Status().reasons().empty());
}

TEST(StatusTest, EqualByContent) {
  const Status status(Code::kUnschedulable, {"a"}, "P");
  EXPECT_EQ(status, Status(Code::kUnschedulable, {"a"}, "P"));
  EXPECT_EQ(Status(), Status(Code::kSuccess, {}));
  EXPECT_FALSE(status == Status());
  EXPECT_FALSE(status == Status(Code::kPending, {"a"}, "P"));
  EXPECT_FALSE(status == Status(Code::kUnschedulable, {"b"}, "P"));
  EXPECT_FALSE(status == Status(Code::kUnschedulable, {"a"}, "Q"));
  EXPECT_FALSE(Status::Error("a") == Status(Code::kError, {"a"}));
}

TEST(StatusTest, CopiesShareTheBodyAndStampingDoesNotChangeThem) {
  const Status status(Code::kUnschedulable, {"a"});
  const Status copy = status;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy.id(), status.id());
  const Status stamped = status.WithPlugin("P");
  EXPECT_EQ(stamped.plugin(), "P");
  EXPECT_EQ(stamped.reasons(), status.reasons());
  EXPECT_EQ(status.plugin(), "");
  EXPECT_EQ(stamped.WithPlugin("P").id(), stamped.id());
  EXPECT_EQ(Status::Error("e").WithPlugin("P").ErrorText(), "e");
  EXPECT_TRUE(Status().WithPlugin("P").ok());
}

struct Counter : StateData {
  int count = 0;
  std::shared_ptr<StateData> Clone(const std::shared_ptr<StateData>& /*self*/) const override {
    return std::make_shared<Counter>(*this);
  }
};
struct Shared : StateData {
  int count = 0;
};

// docs/spec/framework.md section 4.
TEST(CycleStateTest, CloneGoesByTheRuleOfEachDatum) {
  const StateSlot<Counter> counter(0);
  const StateSlot<Shared> shared(2);
  CycleState state;
  EXPECT_EQ(counter.Read(state), nullptr);
  counter.Write(state, std::make_shared<Counter>());
  shared.Write(state, std::make_shared<Shared>());
  state.skip_filter = 5;
  state.skip_score = 6;
  state.skip_pre_bind = 7;
  state.parallel_pre_bind = 8;
  state.record_plugin_metrics = true;
  state.skip_all_post_filter = true;
  state.pods_to_activate = std::make_shared<PodsToActivate>();

  CycleState clone = state.Clone();
  EXPECT_EQ(clone.skip_filter, 5U);
  EXPECT_EQ(clone.skip_score, 6U);
  EXPECT_EQ(clone.skip_pre_bind, 7U);
  EXPECT_EQ(clone.parallel_pre_bind, 8U);
  EXPECT_TRUE(clone.record_plugin_metrics);
  EXPECT_TRUE(clone.skip_all_post_filter);
  counter.Mutable(clone)->count = 1;
  shared.Mutable(clone)->count = 1;
  clone.pods_to_activate->Add(ks::testing::MakePod().Name("p").Obj());
  EXPECT_EQ(counter.Read(state)->count, 0);
  EXPECT_EQ(shared.Read(state)->count, 1);
  EXPECT_EQ(state.pods_to_activate->Take().size(), 1U);

  shared.Erase(clone);
  EXPECT_EQ(shared.Read(clone), nullptr);
  EXPECT_NE(shared.Read(state), nullptr);
}

TEST(PodsToActivateTest, OnePodPerKeyInTheirOrder) {
  PodsToActivate pods;
  const api::PodPtr first = ks::testing::MakePod().Name("b").Uid("1").Obj();
  const api::PodPtr second = ks::testing::MakePod().Name("b").Uid("2").Obj();
  const api::PodPtr a = ks::testing::MakePod().Name("a").Obj();
  for (const api::PodPtr& pod : {first, a, second}) pods.Add(pod);
  EXPECT_EQ(pods.Take(), (std::vector<api::PodPtr>{a, second}));
  EXPECT_TRUE(pods.Take().empty());
}

TEST(PodsToActivateTest, FilledByManyThreads) {
  PodsToActivate pods;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pods, t] {
      for (int i = 0; i < 100; ++i) {
        pods.Add(ks::testing::MakePod().Name(std::to_string(t * 100 + i)).Obj());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pods.Take().size(), 400U);
}

TEST(CycleStateTest, ResetIsAFreshState) {
  const StateSlot<Counter> counter(1);
  CycleState state;
  counter.Write(state, std::make_shared<Counter>());
  state.skip_filter = 1;
  state.skip_all_post_filter = true;
  state.pods_to_activate = std::make_shared<PodsToActivate>();
  state.Reset();
  EXPECT_EQ(counter.Read(state), nullptr);
  EXPECT_EQ(state.skip_filter, 0U);
  EXPECT_FALSE(state.skip_all_post_filter);
  EXPECT_EQ(state.pods_to_activate, nullptr);
}

}  // namespace
}  // namespace ks::framework
