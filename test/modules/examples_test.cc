// SPDX-License-Identifier: Apache-2.0
// The plugins of examples/plugins do what they say.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "framework/runtime/waiting_pods.h"
#include "modules/module_rig.h"
#include "testing/builders.h"

namespace ks::modules {
namespace {

using framework::CycleState;
using framework::NodeInfo;
using testing::MakeNode;
using testing::MakePod;

// ---- Allocatable ----

struct AllocatableCase {
  const char* name;
  const char* args;
  std::vector<int64_t> scores;  // of 1 CPU and 4 GiB, 2 and 8, 4 and 2
  const char* refusal = "";
};

TEST(AllocatableTest, RanksNodesBySize) {
  for (const AllocatableCase& test : {
           AllocatableCase{"default", "", {100, 0, 81}},
           AllocatableCase{"most cpu",
                           R"({"mode":"Most","resources":[{"name":"cpu","weight":1}]})",
                           {0, 33, 100}},
           AllocatableCase{"least memory",
                           R"({"mode":"Least","resources":[{"name":"memory","weight":5}]})",
                           {66, 0, 100}},
           AllocatableCase{"nothing there",
                           R"({"resources":[{"name":"example.com/gpu","weight":1}]})",
                           {0, 0, 0}},
           AllocatableCase{"mode", R"({"mode":"Some"})", {}, "mode must be Least or Most"},
           AllocatableCase{"weight",
                           R"({"resources":[{"name":"cpu","weight":0}]})",
                           {},
                           "resources: at most 16, with weights above 0"},
           AllocatableCase{"name",
                           R"({"resources":[{"weight":1}]})",
                           {},
                           "each of resources must be {name: TEXT, weight: NUMBER}"},
           AllocatableCase{"none", R"({"resources":[]})", {}, "resources must not be empty"},
       }) {
    SCOPED_TRACE(test.name);
    ModuleRig rig("allocatable");
    auto& snapshot = rig.handle().fake_snapshot();
    snapshot.Add(MakeNode().Name("a").Allocatable({{"cpu", "1"}, {"memory", "4Gi"}}).Obj());
    snapshot.Add(MakeNode().Name("b").Allocatable({{"cpu", "2"}, {"memory", "8Gi"}}).Obj());
    snapshot.Add(MakeNode().Name("c").Allocatable({{"cpu", "4"}, {"memory", "2Gi"}}).Obj());
    const auto plugin = rig.Make(test.args);
    ASSERT_EQ(plugin.ok() ? "" : plugin.error().message, test.refusal);
    if (!plugin.ok()) continue;
    const CycleState state;
    const api::PodPtr pod = MakePod().Obj();
    std::vector<int64_t> scores(3);
    for (size_t i = 0; i < scores.size(); ++i) {
      const auto& point = At<framework::ScorePlugin>(**plugin);
      EXPECT_TRUE(point.Score(state, *pod, *snapshot.nodes()[i], &scores[i]).ok());
    }
    const auto& normalizer = At<framework::ScoreNormalizer>(**plugin);
    EXPECT_TRUE(normalizer.NormalizeScore(state, *pod, snapshot.nodes(), scores).ok());
    EXPECT_EQ(scores, test.scores);
    EXPECT_NE(framework::InterfaceOf<framework::NodeLocalPlugin>(**plugin), nullptr);
    EXPECT_EQ(framework::InterfaceOf<framework::FilterPlugin>(**plugin), nullptr);
  }
}

// ---- TimeWindow ----

// Takes what other threads post, for the test to run.
class Tasks final : public framework::TaskInbox {
 public:
  void PostTask(std::function<void()> task) override {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_all();
  }
  // False: none came.
  bool RunOne(std::chrono::seconds patience) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, patience, [&] { return !tasks_.empty(); })) return false;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.erase(tasks_.begin());
    lock.unlock();
    task();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> tasks_;
};

// A clock that other threads may read while it is set.
class SharedClock final : public Clock {
 public:
  TimePoint Now() const override { return TimePoint(Duration(now_.load())); }
  TimePoint WallNow() const override { return Now(); }
  void Set(int hour, int minute) {
    now_ = Duration(std::chrono::hours(24 * 20000 + hour) + std::chrono::minutes(minute)).count();
  }

 private:
  std::atomic<int64_t> now_{0};
};

class TimeWindowTest : public ::testing::Test {
 protected:
  TimeWindowTest() {
    clock_.Set(12, 0);
    auto loaded =
        PluginLibraries::Load({CopyOf(folder_, "time_window", "a.so")}, &metrics_, &registry_);
    KS_CHECK(loaded.ok(), loaded.error().message);
    libraries_ = std::move(loaded).value();
  }
  Result<std::unique_ptr<framework::Plugin>> Make(const std::string& args) {
    return registry_.Find("TimeWindow")->source->Make(config::RawArgs{args}, handle_);
  }

  testing::TempDir folder_;
  SharedClock clock_;
  Tasks tasks_;
  framework::WaitingPods waiting_{clock_};
  framework::OfflineParts parts_{{.clock = &clock_, .tasks = &tasks_, .waiting_pods = &waiting_}};
  testing::NoPlugins no_plugins_;
  framework::Handle handle_{parts_.parts(), {.name = "default-scheduler"}, no_plugins_};
  metrics::Registry metrics_;
  framework::Registry registry_;
  std::unique_ptr<PluginLibraries> libraries_;
};

TEST_F(TimeWindowTest, HoldsBatchPodsUntilItOpens) {
  auto plugin = Make(R"({"closes":"06:00","opens":"22:00"})");
  ASSERT_TRUE(plugin.ok()) << plugin.error().message;
  auto& permit = At<framework::PermitPlugin>(**plugin);
  CycleState state;
  EXPECT_TRUE(permit.Permit(state, MakePod().Name("p").Obj(), "n").status.ok());
  const api::PodPtr batch = MakePod().Name("b").Labels({{"batch", "true"}}).Obj();
  const framework::PermitResult held = permit.Permit(state, batch, "n");
  ASSERT_TRUE(held.status.IsWait());
  EXPECT_EQ(held.timeout, std::chrono::minutes(15));
  waiting_.Add(batch, {{"TimeWindow", held.timeout}});
  std::optional<framework::Status> verdict;
  ASSERT_TRUE(waiting_.Listen("uid-b", [&](const framework::Status& status) { verdict = status; }));
  clock_.Set(22, 0);
  ASSERT_TRUE(tasks_.RunOne(std::chrono::seconds(60)));
  ASSERT_TRUE(verdict.has_value());
  EXPECT_TRUE(verdict->ok());
  EXPECT_TRUE(permit.Permit(state, batch, "n").status.ok());
  EXPECT_NE(metrics_.Text().find(
                "kubesched_plugin_events_total{event=\"held\",plugin=\"TimeWindow\"} 1\n"),
            std::string::npos)
      << metrics_.Text();
}

TEST_F(TimeWindowTest, RefusesTimesThatAreNone) {
  for (const auto& [args, error] :
       {std::pair{"{}", "opens is missing: give HH:MM"},
        std::pair{R"({"closes":"06:00","opens":"24:00"})", "opens must be a time of day, HH:MM"},
        std::pair{R"({"closes":"6","opens":"22:00"})", "closes must be a time of day, HH:MM"}}) {
    SCOPED_TRACE(args);
    const auto plugin = Make(args);
    ASSERT_FALSE(plugin.ok());
    EXPECT_EQ(plugin.error().message, error);
  }
}

}  // namespace
}  // namespace ks::modules
