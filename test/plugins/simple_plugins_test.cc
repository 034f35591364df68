// SPDX-License-Identifier: Apache-2.0
// The plugins of one decision each, and the table of all: PrioritySort, SchedulingGates, NodeName,
// NodeUnschedulable, DefaultBinder (docs/spec/plugins-node.md 4.1 to 4.4 and 4.13; row 96 is Ex96).
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "config/args_type.h"
#include "config/read/defaults.h"
#include "plugins/default_binder/default_binder.h"
#include "plugins/kit/normalize_score.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/plugin_rig.h"
#include "plugins/priority_sort/priority_sort.h"
#include "plugins/registry.h"
#include "plugins/scheduling_gates/scheduling_gates.h"

namespace ks::plugins {
namespace {

using framework::QueuedPod;
using testing::MakeNode;
using testing::MakePod;
using testing::PodBuilder;

const std::string kSuccess = "Success";

TEST(PrioritySortTest, PriorityThenTimestamp) {
  struct Case {
    std::string name;
    std::optional<int32_t> priority_a, priority_b;
    int64_t time_a, time_b;
    bool want_less, want_greater;
  };
  const Case cases[] = {
      {"higher priority first", 2, 1, 5, 1, true, false},
      {"null is 0", std::nullopt, 0, 1, 2, true, false},
      {"null against negative", std::nullopt, -1, 2, 1, true, false},
      {"earlier first", 1, 1, 2, 1, false, true},
      {"equal", 1, 1, 1, 1, false, false},
  };
  PluginRig rig(NewPrioritySort);
  const auto* sort = rig.As<framework::QueueSortPlugin>();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto make = [](std::optional<int32_t> priority, int64_t seconds) {
      PodBuilder pod = MakePod();
      pod.spec().priority = priority;
      QueuedPod queued(pod.Obj());
      queued.timestamp = TimePoint(std::chrono::seconds(seconds));
      return queued;
    };
    const QueuedPod a = make(c.priority_a, c.time_a);
    const QueuedPod b = make(c.priority_b, c.time_b);
    EXPECT_EQ(sort->Less(a, b), c.want_less);
    EXPECT_EQ(sort->Less(b, a), c.want_greater);
  }
}

TEST(SchedulingGatesTest, Ex96) {
  PluginRig rig(NewSchedulingGates);
  auto* gates = rig.As<framework::PreEnqueuePlugin>();
  EXPECT_EQ(Describe(gates->PreEnqueue(*MakePod().Gates({"a.io/x", "b"}).Obj())),
            "UnschedulableAndUnresolvable: waiting for scheduling gates: [a.io/x b]");
  EXPECT_EQ(Describe(gates->PreEnqueue(*MakePod().Obj())), kSuccess);
  EXPECT_EQ(rig.Events(), std::vector<std::string>{"TargetPod/8192"});
}

TEST(NodeNameTest, NarrowsAndFilters) {
  PluginRig rig(NewNodeName);
  rig.AddNode(MakeNode().Name("a"));
  rig.AddNode(MakeNode().Name("b"));
  const std::string mismatch =
      "UnschedulableAndUnresolvable: node(s) didn't match the requested node name";
  const api::PodPtr bound = MakePod().Node("b").Obj();
  EXPECT_EQ(rig.FilterAll(*MakePod().Obj()), (std::vector<std::string>{kSuccess, kSuccess}));
  EXPECT_EQ(rig.FilterAll(*bound), (std::vector<std::string>{mismatch, kSuccess}));
  EXPECT_EQ(rig.PreFilter(*bound).nodes, (std::set<std::string>{"b"}));
  EXPECT_EQ(rig.PreFilter(*MakePod().Obj()).nodes, std::nullopt);
  EXPECT_EQ(rig.Events(), std::vector<std::string>{"Node/1"});
  EXPECT_EQ(rig.Signature(*bound), std::vector<std::string>{R"(v1.Pod.Spec.NodeName="b")"});
}

TEST(NodeUnschedulableTest, Filters) {
  struct Case {
    std::string name;
    PodBuilder pod;
    std::string want;
  };
  const std::string cordoned = "UnschedulableAndUnresolvable: node(s) were unschedulable";
  const std::string key = "node.kubernetes.io/unschedulable";
  const Case cases[] = {
      {"plain", MakePod(), cordoned},
      {"tolerates", MakePod().Toleration(key, "Exists", "", "NoSchedule"), kSuccess},
      {"tolerates all", MakePod().Toleration("", "Exists", "", ""), kSuccess},
      {"other effect", MakePod().Toleration(key, "Exists", "", "NoExecute"), cordoned},
      {"other value", MakePod().Toleration(key, "Equal", "x", ""), cordoned},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PluginRig rig(NewNodeUnschedulable);
    rig.AddNode(MakeNode().Unschedulable());
    // A taint without the cordon is not this plugin's business.
    rig.AddNode(MakeNode().Taint(key, "", "NoSchedule"));
    EXPECT_EQ(rig.FilterAll(*c.pod.Obj()), (std::vector<std::string>{c.want, kSuccess}));
  }
  EXPECT_EQ(PluginRig(NewNodeUnschedulable).Events(),
            (std::vector<std::string>{"Node/17", "TargetPod/4096"}));
}

TEST(DefaultBinderTest, BindsThroughTheWriter) {
  PluginRig rig(NewDefaultBinder);
  std::vector<std::string> results;
  const auto bind = [&] {
    return rig.As<framework::BindPlugin>()->Bind(
        rig.state, MakePod().Name("p").Obj(), "n",
        [&results](framework::Status status) { results.push_back(Describe(status)); });
  };
  EXPECT_TRUE(bind().ok());
  ASSERT_EQ(rig.handle.fake_api().binds.size(), 1U);
  EXPECT_EQ(rig.handle.fake_api().binds[0].pod->meta.name, "p");
  EXPECT_EQ(rig.handle.fake_api().binds[0].node_name, "n");
  EXPECT_TRUE(results.empty());
  rig.handle.fake_api().AnswerBinds();
  EXPECT_TRUE(bind().ok());
  api::ApiError error;
  error.code = 404;
  error.message = "pods \"p\" not found";
  rig.handle.fake_api().AnswerBinds(error);
  EXPECT_EQ(results, (std::vector<std::string>{kSuccess, "Error: pods \"p\" not found"}));
}

TEST(NormalizeTest, ToMaximum) {
  struct Case {
    std::string name;
    std::vector<int64_t> scores;
    bool reversed;
    std::vector<int64_t> want;
  };
  const Case cases[] = {
      {"none positive", {0, 0}, false, {0, 0}},
      {"none positive, reversed", {0, 0}, true, {100, 100}},
      {"in proportion", {13, 0, 3}, false, {100, 0, 23}},
      {"reversed truncates first", {0, 1, 3}, true, {100, 67, 0}},
      {"empty", {}, true, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<int64_t> scores = c.scores;
    NormalizeToMaximum(scores, c.reversed);
    EXPECT_EQ(scores, c.want);
  }
}

TEST(InTreeRegistryTest, HasEveryDefaultPluginUnderItsName) {
  const framework::Registry registry = InTreeRegistry();
  const config::Configuration configuration = config::DefaultConfiguration();
  for (const config::PluginRef& plugin : configuration.profiles[0].plugins.multi_point.enabled) {
    SCOPED_TRACE(plugin.name);
    const framework::PluginEntry* entry = registry.Find(plugin.name);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(PluginRig(entry->factory).plugin().Name(), plugin.name);
  }
  EXPECT_EQ(registry.Find("NoSuchPlugin"), nullptr);
}

TEST(InTreeRegistryTest, SaysWhichPluginsHaveTypedArguments) {
  const framework::Registry registry = InTreeRegistry();
  for (const framework::PluginEntry& entry : registry.entries()) {
    EXPECT_EQ(entry.typed_args, config::FindArgsType(entry.name) != nullptr) << entry.name;
  }
  for (const config::ArgsType& type : config::ArgsTypes()) {
    EXPECT_NE(registry.Find(type.plugin), nullptr) << type.plugin;
  }
}

}  // namespace
}  // namespace ks::plugins
