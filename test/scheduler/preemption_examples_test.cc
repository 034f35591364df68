// SPDX-License-Identifier: Apache-2.0
// The worked examples of docs/spec/preemption.md section 17 through a whole scheduler: the message,
// who is evicted in which order, the nomination. (P4 to P7, P21, P23 to P28, P30: unit tests of the
// parts. P9, P22, P29: preemption_test.cc.)
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "scheduler/preemption_rig.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeBudget;
using ks::testing::NodeBuilder;
using ks::testing::PodBuilder;

struct Example {
  std::string name;
  std::vector<NodeBuilder> nodes;
  std::vector<PodBuilder> pods;  // running ones and nominated ones
  PodBuilder preemptor;
  // In full, or from "…" on.
  std::string want_message;
  PreemptionTexts want_victims = {};
  std::string want_nomination = "-";  // in a patch
  std::vector<api::PodDisruptionBudgetPtr> budgets = {};
};

PodBuilder P(const std::string& cpu) { return CpuPod("p", 10, cpu); }
PodBuilder Started(PodBuilder pod, int seconds) {
  pod.pod().status.start_time = TimePoint(std::chrono::seconds(seconds));
  return pod;
}
PodBuilder Protected(PodBuilder pod) { return pod.Labels({{"x", "yes"}}); }
// Nominated to n1, and not scheduled itself: a gate holds it.
PodBuilder Nominated(int32_t priority) {
  return CpuPod("q", priority, "2").NominatedNode("n1").Gates({"held"});
}
PodBuilder Leaving(PodBuilder pod) { return Preempted(pod); }
std::vector<api::PodDisruptionBudgetPtr> Budget(int32_t allowed) {
  return {MakeBudget(
      "ns", "pdb", api::LabelSelectorSpec{.match_labels = {{"x", "yes"}}, .match_expressions = {}},
      allowed)};
}
std::string Found(const std::string& node, int victims) {
  return "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for "
         "pod on node " +
         node + ", preempting " + std::to_string(victims) + " victims";
}

const Example kExamples[] = {
    {"P1_the_less_important_go",
     {CpuNode("n1", "4")},
     {Running("a", 1, "1"), Running("b", 2, "1"), Running("c", 3, "1"), Running("d", 4, "1")},
     P("2"),
     Found("n1", 2),
     {"b", "a"},
     "n1"},
    {"P2_who_cannot_stay_goes",
     {CpuNode("n1", "4")},
     {Running("x", 5, "3"), Running("y", 1, "1")},
     P("2"),
     Found("n1", 1),
     {"x"},
     "n1"},
    {"P3_budgets_before_importance",
     {CpuNode("n1", "4")},
     {Protected(Running("low", 1, "2")), Running("high", 5, "2")},
     P("2"),
     Found("n1", 1),
     {"high"},
     "n1",
     Budget(0)},
    {"P8_the_youngest_goes",
     {CpuNode("n1", "3")},
     {Started(Running("new", 5, "1"), 3000), Started(Running("old", 5, "1"), 1000),
      Started(Running("mid", 5, "1"), 2000)},
     P("1"),
     Found("n1", 1),
     {"new"},
     "n1"},
    {"P10_the_budget_protects_the_less_important",
     {CpuNode("n1", "2")},
     {Started(Protected(Running("a", 5, "1")), 1000),
      Started(Protected(Running("b", 5, "1")), 2000)},
     P("1"),
     Found("n1", 1),
     {"a"},
     "n1",
     Budget(1)},
    {"P11_terminating_pods_count_and_are_left_alone",
     {CpuNode("n1", "2")},
     {Running("v1", 1, "1").Terminating(), Running("v2", 2, "1")},
     P("2"),
     Found("n1", 2),
     {"v2"},
     "n1"},
    {"P11_all_terminating",
     {CpuNode("n1", "2")},
     {Running("v1", 1, "1").Terminating()},
     P("2"),
     Found("n1", 1),
     {},
     "n1"},
    {"P12_waits_for_its_victims",
     {CpuNode("n1", "2")},
     {Leaving(Running("v1", 1, "1")), Running("v2", 2, "1")},
     P("2").NominatedNode("n1"),
     "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to a terminating "
     "pod on the nominated node."},
    {"deleted_by_somebody_else_is_no_reason_to_wait",
     {CpuNode("n1", "2")},
     {Running("v1", 1, "1").Terminating(), Running("v2", 2, "1")},
     P("2").NominatedNode("n1"),
     Found("n1", 2),
     {"v2"}},
    {"P13_no_node_is_big_enough",
     {CpuNode("n1", "1"), CpuNode("n2", "1")},
     {Running("v", 1, "1")},
     P("2"),
     "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 "
     "Preemption is not helpful for scheduling."},
    {"P14",
     {CpuNode("n1", "1", "1"), CpuNode("n2", "4", "1")},
     {Running("h1", 10, "1m"), Running("h2", 10, "1m").Node("n2")},
     P("2"),
     "0/2 nodes are available: 1 Insufficient cpu, 2 Too many pods. preemption: 0/2 nodes are "
     "available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for "
     "scheduling."},
    {"P15",
     {CpuNode("n1", "2")},
     {Running("v", 1, "2")},
     P("2").PreemptionPolicy("Never"),
     "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to "
     "preemptionPolicy=Never."},
    {"P16",
     {CpuNode("n1", "2")},
     {Running("a", 0, "1"), Running("b", 5, "1")},
     P("1500m"),
     Found("n1", 2),
     {"b", "a"},
     "n1"},
    {"P17_a_higher_nomination_holds_the_node",
     {CpuNode("n1", "2")},
     {Nominated(20)},
     P("2"),
     "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No "
     "preemption victims found for incoming pod."},
    {"P18_a_lower_nomination_does_not", {CpuNode("n1", "2")}, {Nominated(5)}, P("2"), ""},
    {"P19",
     {CpuNode("n1", "2"), CpuNode("n2", "2"), CpuNode("n3", "2")},
     {Running("low", 1, "1"), Running("h1", 10, "1"), Running("h2", 10, "1").Node("n2"),
      Running("h3", 10, "1").Node("n3")},
     P("2"),
     "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 1 "
     "Insufficient cpu, 2 No preemption victims found for incoming pod."},
    {"P20",
     {CpuNode("n1", "2"), CpuNode("n2", "2"), CpuNode("n3", "1"), CpuNode("n4", "1")},
     {Running("l1", 1, "1"), Running("h1", 10, "1"), Running("l2", 1, "1").Node("n2"),
      Running("h2", 10, "1").Node("n2")},
     P("2"),
     "0/4 nodes are available: 4 Insufficient cpu. preemption: 0/4 nodes are available: 2 "
     "Insufficient cpu, 2 Preemption is not helpful for scheduling."},
    {"T15_never_preempting_pods_are_victims",
     {CpuNode("n1", "2")},
     {Running("v", 1, "2").PreemptionPolicy("Never")},
     P("2"),
     Found("n1", 1),
     {"v"},
     "n1"},
    {"T14_pods_of_other_schedulers_are_victims",
     {CpuNode("n1", "2")},
     {Running("v", 1, "2").SchedulerName("other")},
     P("2"),
     Found("n1", 1),
     {"v"},
     "n1"},
    {"T17_minus_ten_preempts_minus_eleven",
     {CpuNode("n1", "2")},
     {Running("v", -11, "2")},
     CpuPod("p", -10, "2"),
     Found("n1", 1),
     {"v"},
     "n1"},
    {"the_nomination_is_cleared_when_nothing_helps",
     {CpuNode("n1", "2")},
     {Running("h", 10, "2")},
     P("2").NominatedNode("n1"),
     "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No "
     "preemption victims found for incoming pod.",
     {},
     ""},
};

class PreemptionExamplesTest : public ::testing::TestWithParam<Example> {};

TEST_P(PreemptionExamplesTest, Decides) {
  const Example& example = GetParam();
  PreemptionRig rig;
  rig.SetBudgets(example.budgets);
  std::vector<api::NodePtr> nodes;
  for (NodeBuilder node : example.nodes) nodes.push_back(node.Obj());
  std::vector<api::PodPtr> pods;
  for (const PodBuilder& pod : example.pods) pods.push_back(pod.Obj());
  pods.push_back(example.preemptor.Obj());
  rig.Sync(nodes, pods);
  rig.Settle();
  EXPECT_EQ(rig.LastMessage("p"), example.want_message);
  EXPECT_EQ(rig.Nomination("p"), example.want_nomination);
  while (rig.api.AnswerEviction(framework::EvictionOutcome::kEvicted) != nullptr) rig.Settle();
  EXPECT_EQ(rig.Victims(), example.want_victims);
  EXPECT_EQ(rig.PreemptedEvents().size(), example.want_victims.size());
  EXPECT_EQ(rig.api.binds.size(), example.want_message.empty() ? 1U : 0U);
}

INSTANTIATE_TEST_SUITE_P(Rows, PreemptionExamplesTest, ::testing::ValuesIn(kExamples),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ks::scheduler
