// SPDX-License-Identifier: Apache-2.0
// The message rows of docs/spec/preemption.md 17 (P12 to P15, P17) and of docs/spec/cycle.md
// (22 to 24, 26 to 28): the preemption part of the text, where no node has anybody to evict.
#include "plugins/default_preemption/default_preemption.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::Status;
using testing::MakeNode;
using testing::MakePod;
using testing::PodBuilder;

const Status kUnresolvable(Code::kUnschedulableAndUnresolvable, {"Insufficient cpu"});
const Status kUnschedulable(Code::kUnschedulable, {"Too many pods"});

struct NodeCase {
  Status status;  // success: no explicit status
  std::vector<PodBuilder> pods = {};
};

struct PreemptionCase {
  std::string name;
  PodBuilder pod;
  std::vector<NodeCase> nodes;
  std::string want;
  std::optional<std::string> want_nomination = std::nullopt;  // empty text: cleared
  Status absent = Status(Code::kUnschedulableAndUnresolvable, {});
};

class DefaultPreemptionTest : public ::testing::TestWithParam<PreemptionCase> {};

TEST_P(DefaultPreemptionTest, Answers) {
  const PreemptionCase& c = GetParam();
  PluginRig rig(NewDefaultPreemption);
  rig.handle.fake_pods().Add(c.pod.Obj());
  framework::NodeStatuses statuses;
  statuses.Reset(c.nodes.size());
  statuses.set_absent(c.absent);
  for (size_t i = 0; i < c.nodes.size(); ++i) {
    std::vector<api::PodPtr> pods;
    for (const PodBuilder& pod : c.nodes[i].pods) pods.push_back(pod.Obj());
    rig.AddNode(MakeNode().Name("n" + std::to_string(i + 1)), pods);
    if (!c.nodes[i].status.ok()) statuses.Set(static_cast<uint32_t>(i), c.nodes[i].status);
  }
  const framework::PostFilterResult result =
      rig.As<framework::PostFilterPlugin>()->PostFilter(rig.state, c.pod.Obj(), statuses);
  EXPECT_EQ(Describe(result.status), "Unschedulable: preemption: " + c.want);
  ASSERT_EQ(result.nomination.has_value(), c.want_nomination.has_value());
  if (c.want_nomination) {
    EXPECT_EQ(result.nomination->node_name, *c.want_nomination);
  }
  EXPECT_TRUE(rig.handle.fake_api().evictions.empty());
}

PodBuilder Preemptor() { return MakePod().Name("p").Priority(10).Req({{"cpu", "2"}}); }
PodBuilder Holder(int32_t priority) {
  return MakePod().Name("h").Priority(priority).Req({{"cpu", "1"}});
}
PodBuilder Leaving(const std::string& reason) {
  api::Condition condition;
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = reason;
  return Holder(1).Terminating().Condition(condition);
}
std::vector<NodeCase> Times(size_t count, const NodeCase& node) {
  return std::vector<NodeCase>(count, node);
}

const char kWaiting[] = "not eligible due to a terminating pod on the nominated node.";

const PreemptionCase kCases[] = {
    {"P13_cycle22", Preemptor(), Times(2, {kUnresolvable, {Holder(1)}}),
     "0/2 nodes are available: 2 Preemption is not helpful for scheduling.", ""},
    {"P14_cycle23",
     Preemptor(),
     {{kUnresolvable, {Holder(10)}}, {kUnschedulable, {Holder(10)}}},
     "0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not "
     "helpful for scheduling.",
     ""},
    {"P15",
     Preemptor().PreemptionPolicy("Never"),
     {{kUnschedulable, {Holder(1)}}},
     "not eligible due to preemptionPolicy=Never."},
    {"P17",
     Preemptor(),
     {{kUnschedulable}},
     "0/1 nodes are available: 1 No preemption victims found for incoming pod.",
     ""},
    {"cycle24", Preemptor(), Times(13, {kUnresolvable}),
     "0/13 nodes are available: 13 Preemption is not helpful for scheduling.", ""},
    {"cycle26_nothing_explicit", Preemptor(), Times(2, {Status()}),
     "0/2 nodes are available: 2 Preemption is not helpful for scheduling.", ""},
    {"cycle27_nomination_is_cleared",
     Preemptor().NominatedNode("n1"),
     {{kUnresolvable}, {Status()}, {Status()}},
     "0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
     ""},
    {"cycle28",
     Preemptor().NominatedNode("n2"),
     {{kUnresolvable}, {kUnresolvable}, {Status()}},
     "0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
     ""},
    {"P12_waits_for_victims",
     Preemptor().NominatedNode("n1"),
     {{kUnschedulable, {Leaving("PreemptionByScheduler")}}},
     kWaiting},
    {"nominated_node_cannot_be_helped",
     Preemptor().NominatedNode("n1"),
     {{kUnresolvable, {Leaving("PreemptionByScheduler")}}},
     "0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
     ""},
    {"nominated_node_is_gone",
     Preemptor().NominatedNode("gone"),
     {{kUnschedulable}},
     "0/1 nodes are available: 1 No preemption victims found for incoming pod.",
     ""},
    {"absent_status_can_be_helped", Preemptor(), Times(2, {Status()}),
     "0/2 nodes are available: 2 No preemption victims found for incoming pod.", "",
     Status(Code::kUnschedulable, {"rejected in PreFilter"})},
};

INSTANTIATE_TEST_SUITE_P(Rows, DefaultPreemptionTest, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

TEST(DefaultPreemptionTest, UnknownPod) {
  PluginRig rig(NewDefaultPreemption);
  const framework::PostFilterResult result =
      rig.As<framework::PostFilterPlugin>()->PostFilter(rig.state, Preemptor().Obj(), {});
  EXPECT_EQ(result.status, Status::Error(R"(preemption: pod "p" not found)"));
  EXPECT_FALSE(result.nomination.has_value());
}

TEST(DefaultPreemptionTest, WakesNoPodThatPreemptsNothing) {
  PluginRig rig(NewDefaultPreemption);
  const auto registrations = rig.As<framework::EnqueueExtensions>()->EventsToRegister();
  ASSERT_EQ(registrations.size(), 1U);
  EXPECT_EQ(rig.Events(), std::vector<std::string>{"AssignedPod/2"});
  EXPECT_EQ(registrations[0].hint(*MakePod().Obj(), {}, {}).value(),
            framework::QueueingHint::kSkip);
}

// A preemptor is held without the gate, too, and has to be let through when its victims leave.
TEST(DefaultPreemptionTest, RegistersDeletionsWithAndWithoutItsGate) {
  for (const bool gate : {true, false}) {
    testing::FakeHandle handle;
    handle.fake_gates().Set(config::Gate::kSchedulerAsyncPreemption, gate);
    const auto plugin = NewDefaultPreemption({}, handle).value();
    const auto events = dynamic_cast<framework::EnqueueExtensions&>(*plugin).EventsToRegister();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events.front().event.Label(), "AssignedPodDelete");
  }
}

}  // namespace
}  // namespace ks::plugins
