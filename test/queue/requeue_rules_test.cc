// SPDX-License-Identifier: Apache-2.0
// The requeue decision: docs/spec/queue.md section 8.
#include "queue/requeue_rules.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "queue_fixture.h"

namespace ks::queue::testing {
namespace {

using ks::testing::MakePod;

constexpr ClusterEvent kTimeout{.custom_label = framework::kLabelUnschedulableTimeout};

ProfileHooksByName Profiles() {
  ProfileHooks hooks;
  hooks.registrations["Queues"] = {{kNodeAdd, Says(QueueingHint::kQueue)}};
  hooks.registrations["Skips"] = {{kNodeAdd, Says(QueueingHint::kSkip)}};
  hooks.registrations["Errs"] = {{kNodeAdd, Fails()}};
  hooks.registrations["Always"] = {{kNodeAdd, {}}};
  hooks.registrations["Nothing"] = {};
  hooks.registrations["Pods"] = {
      {{EventResource::kPod, framework::kActionAll, {}}, Says(QueueingHint::kQueue)}};
  ProfileHooks other;
  other.registrations["Other"] = {{kVolumeAdd, Says(QueueingHint::kQueue)}};
  return {{"default-scheduler", hooks}, {"other-scheduler", other}};
}

struct Case {
  const char* name;
  std::set<std::string> unschedulable;
  std::set<std::string> pending;
  ClusterEvent event;
  EventObject new_object;
  Strategy want;
  std::string scheduler = "default-scheduler";
};

const Case kCases[] = {
    {"1 no rejecting plugin", {}, {}, kNodeAdd, {}, Strategy::kAfterBackoff},
    {"1 before the wildcard rules",
     {},
     {},
     kTimeout,
     MakePod().Name("q").Obj(),
     Strategy::kAfterBackoff},
    {"2 wildcard without object", {"Skips"}, {}, kTimeout, {}, Strategy::kAfterBackoff},
    {"3 wildcard for this pod",
     {"Skips"},
     {},
     kTimeout,
     MakePod().Name("p").Obj(),
     Strategy::kAfterBackoff},
    {"4 wildcard for another pod",
     {"Skips"},
     {},
     kTimeout,
     MakePod().Name("q").Obj(),
     Strategy::kSkip},
    {"5 unknown profile", {"Queues"}, {}, kNodeAdd, {}, Strategy::kAfterBackoff, "nobody"},
    {"6 Queue", {"Queues"}, {}, kNodeAdd, {}, Strategy::kAfterBackoff},
    {"6 Skip", {"Skips"}, {}, kNodeAdd, {}, Strategy::kSkip},
    {"6 an error means Queue", {"Errs"}, {}, kNodeAdd, {}, Strategy::kAfterBackoff},
    {"6 no function means Queue", {"Always"}, {}, kNodeAdd, {}, Strategy::kAfterBackoff},
    {"6 Queue of a pending plugin", {"Queues"}, {"Queues"}, kNodeAdd, {}, Strategy::kImmediately},
    {"6 error of a pending plugin", {}, {"Errs"}, kNodeAdd, {}, Strategy::kImmediately},
    {"6 Skip of a pending plugin", {}, {"Skips"}, kNodeAdd, {}, Strategy::kSkip},
    {"6 maximum", {"Queues", "Skips"}, {"Always"}, kNodeAdd, {}, Strategy::kImmediately},
    {"6 the pending one skips", {"Queues"}, {"Skips"}, kNodeAdd, {}, Strategy::kAfterBackoff},
    {"6 not registered for this event", {"Queues"}, {}, kVolumeAdd, {}, Strategy::kSkip},
    {"6 registered nothing", {"Nothing"}, {}, kNodeAdd, {}, Strategy::kSkip},
    {"6 unknown plugin", {"Unheard"}, {}, kNodeAdd, {}, Strategy::kSkip},
    {"6 only the pod's own profile", {"Other"}, {}, kVolumeAdd, {}, Strategy::kSkip},
    {"6 the other profile",
     {"Other"},
     {},
     kVolumeAdd,
     {},
     Strategy::kAfterBackoff,
     "other-scheduler"},
    {"6 Pod stands for three", {"Pods"}, {}, kAssignedPodDelete, {}, Strategy::kAfterBackoff},
};

TEST(RequeueRulesTest, Decide) {
  const ks::testing::FakeClock clock;
  RequeueRules rules(Profiles(), clock, {});
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    framework::QueuedPod pod(MakePod().Name("p").SchedulerName(c.scheduler).Obj());
    pod.unschedulable_plugins = c.unschedulable;
    pod.pending_plugins = c.pending;
    EXPECT_EQ(rules.Decide(pod, c.event, {}, c.new_object), c.want);
    // The bit sets must never hide a pod that would move.
    if (c.want != Strategy::kSkip && c.scheduler != "nobody") {
      EXPECT_NE(rules.PluginsOf(pod) & rules.PluginsFor(c.event), 0U);
    }
  }
}

TEST(RequeueRulesTest, InterestIsTheUnionOfAllProfiles) {
  const ks::testing::FakeClock clock;
  RequeueRules rules(Profiles(), clock, {});
  EXPECT_TRUE(rules.IsInteresting(kNodeAdd));
  EXPECT_TRUE(rules.IsInteresting(kVolumeAdd));
  EXPECT_TRUE(rules.IsInteresting(kTimeout));
  EXPECT_FALSE(rules.IsInteresting(kNodeTaint));
}

TEST(RequeueRulesTest, OpensGate) {
  const ks::testing::FakeClock clock;
  const RequeueRules rules(Profiles(), clock, {});
  EXPECT_TRUE(rules.OpensGate("Skips", kNodeAdd));
  EXPECT_FALSE(rules.OpensGate("Skips", kNodeTaint));
  EXPECT_FALSE(rules.OpensGate("Unheard", kNodeAdd));
  EXPECT_TRUE(rules.OpensGate("Unheard", kTimeout));
  EXPECT_TRUE(rules.OpensGate("Other", kVolumeAdd));
}

TEST(RequeueRulesTest, ObserverSeesEachRun) {
  const ks::testing::FakeClock clock;
  std::vector<std::string> seen;
  RequeueRules rules(
      Profiles(), clock,
      [&seen](std::string_view plugin, const framework::ClusterEvent& event, std::string_view hint,
              Duration) {
        seen.push_back(std::string(plugin) + " " + event.Label() + " " + std::string(hint));
      });
  framework::QueuedPod pod(MakePod().Name("p").Obj());
  pod.unschedulable_plugins = {"Skips"};
  (void)rules.Decide(pod, kNodeAdd, {}, {});
  pod.unschedulable_plugins = {"Errs"};
  (void)rules.Decide(pod, kNodeAdd, {}, {});
  pod.unschedulable_plugins = {"Always", "Queues"};
  (void)rules.Decide(pod, kNodeAdd, {}, {});
  EXPECT_EQ(seen, (std::vector<std::string>{"Skips NodeAdd QueueSkip", "Errs NodeAdd Error",
                                            "Always NodeAdd Queue"}))
      << "the first Queue settles it";
}

TEST(RequeueRulesTest, MorePluginsThanBits) {
  ProfileHooks hooks;
  for (int i = 0; i < 100; ++i) {
    hooks.registrations["P" + std::to_string(i)] = {{kNodeAdd, Says(QueueingHint::kQueue)}};
  }
  hooks.registrations["P99"] = {{kVolumeAdd, Says(QueueingHint::kQueue)}};
  const ks::testing::FakeClock clock;
  RequeueRules rules({{"default-scheduler", hooks}}, clock, {});
  framework::QueuedPod pod(MakePod().Name("p").Obj());
  for (int i = 0; i < 100; ++i) {
    pod.unschedulable_plugins = {"P" + std::to_string(i)};
    const Strategy want = i == 99 ? Strategy::kSkip : Strategy::kAfterBackoff;
    EXPECT_EQ(rules.Decide(pod, kNodeAdd, {}, {}), want) << i;
    if (i != 99) {
      EXPECT_NE(rules.PluginsOf(pod) & rules.PluginsFor(kNodeAdd), 0U) << i;
    }
  }
}

}  // namespace
}  // namespace ks::queue::testing
