// SPDX-License-Identifier: Apache-2.0
// Exchange of the configuration under virtual time: no pod is lost, none is decided twice
// (decision 0018).

#include <gmock/gmock.h>

#include "rig.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ::testing::HasSubstr;

api::NodePtr Node(const std::string& name, const char* cpu = "4") {
  return MakeNode().Name(name).Allocatable({{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "10"}}).Obj();
}

config::Configuration WithoutPlugin(const char* plugin) {
  config::Configuration configuration = config::DefaultConfiguration();
  std::erase_if(configuration.profiles[0].plugins.multi_point.enabled,
                [plugin](const config::PluginRef& ref) { return ref.name == plugin; });
  return configuration;
}

config::Configuration Named(const std::vector<std::string>& names) {
  config::Configuration configuration = config::DefaultConfiguration();
  const config::Profile profile = configuration.profiles[0];
  configuration.profiles.clear();
  for (const std::string& name : names) {
    configuration.profiles.push_back(profile);
    configuration.profiles.back().scheduler_name = name;
  }
  return configuration;
}

TEST(Reload, NewRulesReachParkedPods) {
  Rig rig;
  rig.Sync({Node("n")}, {MakePod().Name("big").Req({{"cpu", "8"}}).Obj()});
  rig.Settle();
  ASSERT_TRUE(rig.Bound().empty());
  ASSERT_TRUE(rig.scheduler->Reload(WithoutPlugin("NodeResourcesFit")).ok());
  rig.Advance(std::chrono::seconds(2));
  EXPECT_EQ(rig.Bound(), (std::map<std::string, std::string>{{"big", "n"}}));
}

TEST(Reload, AWrongProfileChangesNothing) {
  Rig rig;
  rig.Sync({Node("n")});
  rig.Settle();
  config::Configuration wrong = config::DefaultConfiguration();
  wrong.profiles[0].plugins.filter.enabled.push_back({"Nope"});
  wrong.parallelism = 3;
  const Result<void> done = rig.scheduler->Reload(wrong);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("FilterPlugin \"Nope\" does not exist"));
  EXPECT_EQ(done.error().path, "profiles[0].plugins.filter.enabled[0].name");
  EXPECT_EQ(rig.scheduler->context().configuration.parallelism, 16);
  rig.UpsertPod(MakePod().Name("p").Obj());
  rig.Settle();
  EXPECT_EQ(rig.Bound().size(), 1U);
}

TEST(Reload, PodsOnTheirWayFinishOnce) {
  Rig rig;
  rig.Sync({Node("n")}, {MakePod().Name("p").Obj()});
  rig.Settle();
  ASSERT_EQ(rig.api.binds.size(), 1U);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(rig.scheduler->Reload(config::DefaultConfiguration()).ok());
    rig.Settle();
  }
  rig.Bind();
  EXPECT_EQ(rig.api.binds.size(), 1U);
  EXPECT_EQ(rig.scheduler->context().stats.bound, 1U);
}

TEST(Reload, AFailedBindingOfTheFormerProfileIsRetriedUnderTheNewOne) {
  Rig rig;
  rig.Sync({Node("n")}, {MakePod().Name("p").Obj()});
  rig.Settle();
  ASSERT_TRUE(rig.scheduler->Reload(WithoutPlugin("ImageLocality")).ok());
  rig.api.AnswerBinds(api::ApiError{.code = 500, .message = "no"});
  rig.Settle();
  rig.Advance(std::chrono::seconds(3));
  EXPECT_EQ(rig.api.binds.size(), 2U);
}

TEST(Reload, ProfilesComeAndGo) {
  Rig rig;
  rig.Sync({Node("n")}, {MakePod().Name("ours").Req({{"cpu", "64"}}).Obj(),
                         MakePod().Name("theirs").SchedulerName("other").Obj()});
  rig.Settle();
  EXPECT_EQ(rig.scheduler->context().queue.stores().Pods().size(), 1U);
  ASSERT_TRUE(rig.scheduler->Reload(Named({"other"})).ok());
  rig.Settle();
  EXPECT_EQ(rig.Bound(), (std::map<std::string, std::string>{{"theirs", "n"}}));
  EXPECT_TRUE(rig.scheduler->context().queue.stores().Pods().empty()) << "ours was let go";

  ASSERT_TRUE(rig.scheduler->Reload(Named({"default-scheduler", "other"})).ok());
  rig.Settle();
  const auto pending = rig.scheduler->context().queue.stores().Pods();
  ASSERT_EQ(pending.size(), 1U);
  EXPECT_EQ(pending[0]->meta.name, "ours");
  rig.Bind();
  EXPECT_EQ(rig.scheduler->context().stats.bound, 1U);
}

TEST(Reload, SettingsOfTheCycleChange) {
  Rig rig;
  rig.Sync({Node("n")});
  config::Configuration wanted = config::DefaultConfiguration();
  wanted.parallelism = 1;
  wanted.percentage_of_nodes_to_score = 50;
  wanted.pod_initial_backoff_seconds = 5;
  wanted.pod_max_backoff_seconds = 50;
  ASSERT_TRUE(rig.scheduler->Reload(wanted).ok());
  EXPECT_EQ(rig.scheduler->context().configuration, wanted);
}

}  // namespace
}  // namespace ks::scheduler
