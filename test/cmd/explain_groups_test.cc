// SPDX-License-Identifier: Apache-2.0
// kubeschedctl explain about groups of pods in a dump.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kubeschedctl/explain/explain.h"
#include "kubeschedctl/explain/group_table.h"
#include "testing/temp_dir.h"

namespace ks::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two racks: one node in a, two in b, one CPU each. The gang wants three.
constexpr const char* kRacks = R"(kind: List
items:
- {kind: Node, metadata: {name: a1, labels: {rack: a}}, status: {allocatable: {cpu: 1, pods: 10}}}
- {kind: Node, metadata: {name: b1, labels: {rack: b}}, status: {allocatable: {cpu: 1, pods: 10}}}
- {kind: Node, metadata: {name: b2, labels: {rack: b}}, status: {allocatable: {cpu: 1, pods: 10}}}
- {kind: PodGroup, apiVersion: scheduling.k8s.io/v1beta1, metadata: {name: gang},
   spec: {schedulingPolicy: {gang: {minCount: 3}}, schedulingConstraints: {topology: [{key: rack}]}}}
- {kind: Pod, metadata: {name: w0}, spec: {schedulingGroup: {podGroupName: gang}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
- {kind: Pod, metadata: {name: w1}, spec: {schedulingGroup: {podGroupName: gang}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
- {kind: Pod, metadata: {name: w2}, spec: {schedulingGroup: {podGroupName: gang}, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
)";
const std::vector<std::string> kGateFlags = {
    "GenericWorkload=true,TopologyAwareWorkloadScheduling=true"};

// Output, then warnings, or the error.
std::string ExplainRacks(ExplainQuestion question, const std::string& dump = kRacks) {
  const testing::TempDir dir;
  Result<inspect::ClusterDump> read = ReadDump({dir.Write("dump.yaml", dump)});
  if (!read.ok()) return read.error().message;
  std::string output;
  std::string warnings;
  const ExplainSinks sinks{.out = [&](std::string_view text) { output += text; },
                           .warn = [&](const std::string& line) { warnings += line + "\n"; }};
  const Result<void> explained = ExplainDump(std::move(read).value(), question, sinks);
  if (!explained.ok()) return output + explained.error().message;
  return output + warnings;
}

TEST(ExplainGroups, TableOfAGangThatFitsInNoRack) {
  EXPECT_EQ(ExplainRacks({.feature_gates = kGateFlags, .pod = "podgroup/gang"}),
            R"(podgroup/default/gang: Unschedulable
  pod group is unschedulable, 0/2 placements are available, first placement status: minCount (3) cannot be satisfied: 1 scheduled, 1 remaining
  1 of 3 members fit in a; member 2 (default/w1) does not: 0/1 nodes are available: 1 Insufficient cpu.; the most fit in b: 2

  PLACEMENT  NODES  FIT  RESULT         WHY NOT
  b              2  2/3  Unschedulable  default/w2: 0/2 nodes are available: 2 Insufficient cpu.
  a              1  1/3  Unschedulable  default/w1: 0/1 nodes are available: 1 Insufficient cpu.

  GROUP                  WANTED  ON NODES  WAITING  FIT  RESULT         WHY NOT
  podgroup/default/gang       3         0        3    1  Unschedulable  pod group is unschedulable, 0/2 placements are available, first placement status: minCount (3) cannot be satisfied: 1 scheduled, 1 remaining

  MEMBERS  FOR EXAMPLE  RESULT
        1  default/w1   Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.
        1  default/w2   Unschedulable: pod group is unschedulable, 0/2 placements are available, first placement status: minCount (3) cannot be satisfied: 1 scheduled, 1 remaining
        1  default/w0   Unschedulable: pod group is unschedulable, pod group is unschedulable, 0/2 placements are available, first placement status: minCount (3) cannot be satisfied: 1 scheduled, 1 remaining
)");
}

TEST(ExplainGroups, AMemberIsToldOfItsGroup) {
  const std::string text = ExplainRacks({.feature_gates = kGateFlags, .pod = "w0"});
  EXPECT_THAT(text, HasSubstr("default/w0: Schedulable, 3 nodes share the best total"));
  EXPECT_THAT(text,
              HasSubstr("\n  its group, podgroup/default/gang: Unschedulable\n    pod group "));
  EXPECT_THAT(text, HasSubstr("\n    1 of 3 members fit in a; member 2 (default/w1) does not: "));
  EXPECT_THAT(text, HasSubstr("\n    this pod in it: Unschedulable: "));
}

// A gang of priority 10 that wants two; a rack with pods above it, and one with pods below.
std::string FullRacks(const std::string& wanted) {
  const auto pod = [](const std::string& name, const std::string& spec) {
    return "- {kind: Pod, metadata: {name: " + name + "}, spec: {" + spec +
           ", containers: [{name: c, resources: {requests: {cpu: 1}}}]}}\n";
  };
  std::string dump = "kind: List\nitems:\n";
  for (const char* node : {"a1", "b1", "b2"}) {
    dump += std::string("- {kind: Node, metadata: {name: ") + node + ", labels: {rack: " + *node +
            "}}, status: {allocatable: {cpu: 1, pods: 10}}}\n";
  }
  dump +=
      "- {kind: PodGroup, apiVersion: scheduling.k8s.io/v1beta1, metadata: {name: gang}, spec: "
      "{priority: 10, schedulingPolicy: {gang: {minCount: " +
      wanted + "}}, schedulingConstraints: {topology: [{key: rack}]}}}\n";
  dump +=
      "- {kind: PodGroup, apiVersion: scheduling.k8s.io/v1beta1, metadata: {name: old}, spec: "
      "{priority: 2, schedulingPolicy: {basic: {}}}}\n";
  dump += pod("high", "nodeName: a1, priority: 20");
  dump += pod("low", "nodeName: b1, priority: 1");
  dump += pod("old-0", "nodeName: b2, priority: 2, schedulingGroup: {podGroupName: old}");
  for (const char* name : {"w0", "w1", "w2"}) {
    if (*std::string(name).rbegin() - '0' >= std::stoi(wanted)) break;
    dump += pod(name, "priority: 10, schedulingGroup: {podGroupName: gang}");
  }
  return dump;
}

TEST(ExplainGroups, WhatPreemptionWouldDo) {
  const std::string text = ExplainRacks(
      {.feature_gates = kGateFlags, .pod = "podgroup/gang", .preemption = true}, FullRacks("2"));
  EXPECT_THAT(text, HasSubstr(R"(
  pod group preemption: found a placement for podgroup, preempting 2 victims, in b
  NODE  MEMBERS  VICTIMS
  b1          1  default/low (priority 1)
  b2          1  default/old-0 (priority 2, of podgroup/default/old)

  WITHOUT LOWER PRIORITIES  NODES  FIT  RESULT         WHY NOT
  b                             2  2/2  Schedulable    -
  a                             1  0/2  Unschedulable  default/w0: 0/1 nodes are available: 1 Insufficient cpu.
)"));
  const std::string member =
      ExplainRacks({.feature_gates = kGateFlags, .pod = "w0", .preemption = true}, FullRacks("2"));
  EXPECT_THAT(member, HasSubstr("preempting 2 victims, in b\n  NODE  MEMBERS  VICTIMS\n"));
  EXPECT_THAT(member, Not(HasSubstr("TRIED")));  // the pod alone preempts nobody
}

TEST(ExplainGroups, WhyPreemptionWouldNotHelp) {
  const std::string too_many = ExplainRacks(
      {.feature_gates = kGateFlags, .pod = "podgroup/gang", .preemption = true}, FullRacks("3"));
  EXPECT_THAT(too_many, HasSubstr("\n  pod group preemption: pod group is unschedulable, 0/2 "
                                  "placements are available, first placement status: "));
  EXPECT_THAT(too_many, HasSubstr("\n  b                             2  2/3  Unschedulable  "
                                  "default/w2: 0/2 nodes are available: 2 Insufficient cpu.\n"));
  EXPECT_THAT(
      ExplainRacks({.feature_gates = kGateFlags, .pod = "podgroup/gang", .preemption = true}),
      HasSubstr("\n  pod group preemption: No preemption victims found for incoming preemptor\n"));
  EXPECT_THAT(ExplainRacks({.feature_gates = kGateFlags, .pod = "podgroup/gang"}, FullRacks("2")),
              Not(HasSubstr("preemption")));
}

TEST(ExplainGroups, AllRecordsAsJson) {
  const std::string text = ExplainRacks({.feature_gates = kGateFlags, .json = true});
  std::vector<nlohmann::json> records;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    records.push_back(nlohmann::json::parse(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[0]["pod"], "default/w0");
  EXPECT_EQ(records[0]["podGroup"]["podGroup"], "podgroup/default/gang");
  EXPECT_EQ(records[3]["podGroup"], "podgroup/default/gang");
  EXPECT_EQ(records[3]["placements"][1]["fit"], 2);
  EXPECT_EQ(records[3]["members"].size(), 3U);
}

TEST(ExplainGroups, WhatIsRefused) {
  EXPECT_THAT(ExplainRacks({.feature_gates = kGateFlags, .pod = "podgroup/none"}),
              HasSubstr("no podgroup/default/none is known to the scheduler"));
  EXPECT_EQ(ExplainRacks({.pod = "podgroup/gang"}),
            "groups of pods need --feature-gates GenericWorkload=true");
  // Without the gate they are ordinary pods.
  EXPECT_THAT(ExplainRacks({}), Not(HasSubstr("group")));
}

TEST(GroupTable, MembersByNodeAndByReason) {
  const auto member = [](const std::string& pod, const std::string& node,
                         const std::string& message) {
    return inspect::MemberVerdict{
        .pod = pod,
        .group = "podgroup/ns/g",
        .result = node.empty() ? inspect::Verdict::kUnschedulable : inspect::Verdict::kSchedulable,
        .node = node,
        .message = message,
        .unschedulable_plugins = {}};
  };
  EXPECT_EQ(MembersTable({member("ns/a", "n1", ""), member("ns/b", "n2", ""),
                          member("ns/c", "n2", ""), member("ns/d", "", "no room")}),
            R"(
  MEMBERS  FOR EXAMPLE  NODE
        2  ns/b         n2
        1  ns/a         n1

  MEMBERS  FOR EXAMPLE  RESULT
        1  ns/d         Unschedulable: no room
)");
}

}  // namespace
}  // namespace ks::ctl
