// SPDX-License-Identifier: Apache-2.0
// The fit error text: docs/spec/framework.md section 15 and examples 24 and 25, docs/spec/cycle.md
// section 11 and examples 22 to 33.
#include "framework/diagnosis.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ks::framework {
namespace {

constexpr Code kU = Code::kUnschedulable;
constexpr Code kUU = Code::kUnschedulableAndUnresolvable;

struct TextCase {
  std::string name;
  size_t nodes = 0;
  std::vector<std::pair<size_t, Status>> groups = {};  // this many nodes, from the first on
  Status absent = Status(kUU, {});
  std::string pre_filter = {};
  std::string post_filter = {};
  std::string want;
};

std::string NotHelpful(size_t nodes) {
  const std::string n = std::to_string(nodes);
  return "preemption: 0/" + n + " nodes are available: " + n +
         " Preemption is not helpful for scheduling.";
}

class DiagnosisTest : public ::testing::TestWithParam<TextCase> {};

TEST_P(DiagnosisTest, Text) {
  const TextCase& test = GetParam();
  Diagnosis diagnosis;
  diagnosis.num_all_nodes = test.nodes;
  diagnosis.nodes.Reset(test.nodes);
  diagnosis.nodes.set_absent(test.absent);
  uint32_t index = 0;
  for (const auto& [count, status] : test.groups) {
    for (size_t i = 0; i < count; ++i) diagnosis.AddNodeStatus(index++, status);
  }
  diagnosis.pre_filter_message = test.pre_filter;
  diagnosis.post_filter_message = test.post_filter;
  EXPECT_EQ(diagnosis.Text(), test.want);
}

const Status kCpu(kU, {"Insufficient cpu"}, "NodeResourcesFit");
const Status kCpuUnresolvable(kUU, {"Insufficient cpu"}, "NodeResourcesFit");
const Status kPods(kU, {"Too many pods"}, "NodeResourcesFit");
const Status kCpuAndPods(kU, {"Insufficient cpu", "Too many pods"}, "NodeResourcesFit");

INSTANTIATE_TEST_SUITE_P(
    Examples, DiagnosisTest,
    ::testing::Values(
        TextCase{.name = "Framework24",
                 .nodes = 5,
                 .groups = {{1, Status(kU, {"Insufficient cpu", "Insufficient memory"}, "F")},
                            {1, kCpu}},
                 .absent = Status(kUU, {"node(s) didn't satisfy plugin(s) [NodeAffinity]"}),
                 .post_filter = "preemption: x.",
                 .want = "0/5 nodes are available: 1 Insufficient memory, 2 Insufficient cpu, 3 "
                         "node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: x."},
        TextCase{.name = "Framework24PreFilter",
                 .nodes = 5,
                 .groups = {{1, kCpu}},
                 .pre_filter = "pf msg",
                 .post_filter = "preemption: x.",
                 .want = "0/5 nodes are available: pf msg. preemption: x."},
        TextCase{.name = "Framework25",
                 .nodes = 12,
                 .groups = {{10, kCpu}, {2, kPods}},
                 .want = "0/12 nodes are available: 10 Insufficient cpu, 2 Too many pods."},
        TextCase{.name = "Cycle22",
                 .nodes = 2,
                 .groups = {{2, kCpuUnresolvable}},
                 .post_filter = NotHelpful(2),
                 .want = "0/2 nodes are available: 2 Insufficient cpu. " + NotHelpful(2)},
        TextCase{.name = "Cycle23",
                 .nodes = 2,
                 .groups = {{1, kCpuAndPods}, {1, kPods}},
                 .post_filter = "preemption: p.",
                 .want = "0/2 nodes are available: 1 Insufficient cpu, 2 Too many pods. "
                         "preemption: p."},
        TextCase{.name = "Cycle24",
                 .nodes = 13,
                 .groups = {{10, kCpuUnresolvable},
                            {2, Status(kUU, {"node(s) were unschedulable"}, "NodeUnschedulable")},
                            {1, Status(kUU, {"node(s) had untolerated taint(s)"}, "T")}},
                 .post_filter = NotHelpful(13),
                 .want = "0/13 nodes are available: 1 node(s) had untolerated taint(s), 10 "
                         "Insufficient cpu, 2 node(s) were unschedulable. " +
                         NotHelpful(13)},
        TextCase{.name = "Cycle25",
                 .nodes = 1,
                 .pre_filter = "persistentvolumeclaim \"x\" not found",
                 .post_filter = "not found",
                 .want = "0/1 nodes are available: persistentvolumeclaim \"x\" not found. not "
                         "found"},
        TextCase{.name = "Cycle26",
                 .nodes = 2,
                 .absent = Status(kUU, {"node(s) didn't satisfy plugin(s) [NodeAffinity]"}),
                 .post_filter = NotHelpful(2),
                 .want = "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) "
                         "[NodeAffinity]. " +
                         NotHelpful(2)},
        TextCase{
            .name = "Cycle27",
            .nodes = 3,
            .groups = {{1, kCpu}},
            .absent = Status(kUU,
                             {"node(s) didn't satisfy plugin(s) [NodeAffinity NodeResourcesFit]"}),
            .post_filter = NotHelpful(3),
            .want = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy "
                    "plugin(s) [NodeAffinity NodeResourcesFit]. " +
                    NotHelpful(3)},
        TextCase{.name = "Cycle28",
                 .nodes = 3,
                 .groups = {{1, kCpu},
                            {1, Status(kUU, {"node(s) didn't match Pod's node affinity/selector"},
                                       "NodeAffinity")}},
                 .absent = Status(kUU, {"node(s) didn't satisfy plugin(s) [NodeAffinity]"}),
                 .want = "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match "
                         "Pod's node affinity/selector, 1 node(s) didn't satisfy plugin(s) "
                         "[NodeAffinity]."},
        TextCase{.name = "Cycle29NoReasonsAtAll",
                 .nodes = 2,
                 .post_filter = NotHelpful(2),
                 .want = "0/2 nodes are available: " + NotHelpful(2)},
        TextCase{.name = "Cycle30",
                 .nodes = 2,
                 .groups = {{1, Status(kU, {"no dev"})}, {1, kCpu}},
                 .want = "0/2 nodes are available: 1 Insufficient cpu, 1 no dev."},
        TextCase{
            .name = "Cycle32PermitTimeout",
            .nodes = 1,
            .groups = {{1, Status(kU, {"rejected due to timeout after waiting 10s at plugin X"},
                                  "X")}},
            .want = "0/1 nodes are available: 1 rejected due to timeout after waiting 10s at "
                    "plugin X."},
        TextCase{.name = "Cycle33",
                 .nodes = 4,
                 .pre_filter = "node(s) didn't satisfy plugin(s) [A B] simultaneously",
                 .want = "0/4 nodes are available: node(s) didn't satisfy plugin(s) [A B] "
                         "simultaneously."},
        TextCase{.name = "EqualTextsOfDifferentStatusesAddUp",
                 .nodes = 3,
                 .groups = {{1, Status(kU, {"r", "r"}, "A")},
                            {1, Status(kUU, {"r"}, "B")},
                            {1, Status(kU, {}, "C")}},
                 .want = "0/3 nodes are available: 3 r."}),
    [](const auto& row) { return row.param.name; });

TEST(NodeStatusesTest, StartsWithoutReasons) {
  NodeStatuses statuses;
  statuses.Reset(3);
  EXPECT_EQ(statuses.size(), 3U);
  EXPECT_EQ(statuses.explicit_count(), 0U);
  EXPECT_EQ(statuses.Get(1), Status(kUU, {}));
  statuses.Set(1, kCpu);
  statuses.Set(1, kPods);
  EXPECT_EQ(statuses.explicit_count(), 1U);
  EXPECT_TRUE(statuses.IsExplicit(1));
  EXPECT_EQ(statuses.Get(1), kPods);
  statuses.set_absent(kCpu);
  statuses.Reset(2);
  EXPECT_EQ(statuses.explicit_count(), 0U);
  EXPECT_EQ(statuses.Get(1), Status(kUU, {}));
}

TEST(NodeStatusesTest, NodesForCode) {
  NodeStatuses statuses;
  statuses.Reset(5);
  statuses.Set(1, kCpu);
  statuses.Set(3, Status(kUU, {"x"}));
  using Indices = std::vector<uint32_t>;
  EXPECT_EQ(statuses.NodesForCode(kU), (Indices{1}));
  EXPECT_EQ(statuses.NodesForCode(kUU), (Indices{0, 2, 3, 4}));
  statuses.set_absent(kPods);
  EXPECT_EQ(statuses.NodesForCode(kU), (Indices{0, 1, 2, 4}));
  EXPECT_EQ(statuses.NodesForCode(kUU), (Indices{3}));
  EXPECT_EQ(statuses.NodesForCode(Code::kPending), Indices{});
}

TEST(DiagnosisPluginsTest, OnlyRejectionsWithANameCount) {
  Diagnosis diagnosis;
  diagnosis.nodes.Reset(6);
  diagnosis.AddNodeStatus(0, kCpu);
  diagnosis.AddNodeStatus(1, kCpu);
  diagnosis.AddNodeStatus(2, Status(Code::kPending, {"p"}, "DynamicResources"));
  diagnosis.AddNodeStatus(3, Status(kUU, {"extender"}));
  diagnosis.AddNodeStatus(4, Status(Code::kError, {"e"}, "Broken"));
  using Names = std::set<std::string>;
  EXPECT_EQ(diagnosis.unschedulable_plugins, (Names{"DynamicResources", "NodeResourcesFit"}));
  EXPECT_EQ(diagnosis.pending_plugins, Names{"DynamicResources"});
  EXPECT_EQ(diagnosis.nodes.explicit_count(), 5U);
}

}  // namespace
}  // namespace ks::framework
