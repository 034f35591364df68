// SPDX-License-Identifier: Apache-2.0
// Rows 75 to 80 of docs/spec/plugins-node.md 7.6; rows 79 and 80 in their gate-off form, which is
// the only one: the comparison operators are not implemented.
#include "plugins/taint_toleration/taint_toleration.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using testing::MakeNode;
using testing::MakePod;
using testing::NodeBuilder;
using testing::PodBuilder;

const std::string kUntolerated = "UnschedulableAndUnresolvable: node(s) had untolerated taint(s)";
const std::string kSuccess = "Success";

struct FilterCase {
  std::string name;
  PodBuilder pod;
  NodeBuilder node;
  std::string want;
};

class TaintFilterTest : public ::testing::TestWithParam<FilterCase> {};

TEST_P(TaintFilterTest, Filters) {
  PluginRig rig(NewTaintToleration);
  rig.AddNode(GetParam().node);
  EXPECT_EQ(rig.FilterAll(*GetParam().pod.Obj()), std::vector<std::string>{GetParam().want});
}

NodeBuilder Tainted(std::string_view key, std::string_view value, std::string_view effect) {
  return MakeNode().Taint(key, value, effect);
}
PodBuilder Tolerating(std::string_view key, std::string_view op, std::string_view value,
                      std::string_view effect) {
  return MakePod().Toleration(key, op, value, effect);
}

const FilterCase kCases[] = {
    {"ex77", Tolerating("a", "Exists", "", "NoSchedule"),
     Tainted("a", "", "PreferNoSchedule").Taint("a", "", "NoSchedule"), kSuccess},
    {"ex78", Tolerating("a", "Exists", "", "NoSchedule"), Tainted("a", "", "NoExecute"),
     kUntolerated},
    {"ex79_gate_off", Tolerating("sla", "Gt", "900", ""), Tainted("sla", "950", "NoSchedule"),
     kUntolerated},
    {"ex80_gate_off", Tolerating("sla", "Lt", "-5", ""), Tainted("sla", "-6", "NoSchedule"),
     kUntolerated},
    {"untainted", MakePod(), MakeNode(), kSuccess},
    {"soft_taints_only", MakePod(), Tainted("a", "", "PreferNoSchedule"), kSuccess},
    {"unknown_effect", MakePod(), Tainted("a", "", "Whatever"), kSuccess},
    {"equal", Tolerating("a", "Equal", "v", ""), Tainted("a", "v", "NoSchedule"), kSuccess},
    {"equal_is_the_default", Tolerating("a", "", "v", ""), Tainted("a", "v", "NoExecute"),
     kSuccess},
    {"other_value", Tolerating("a", "", "w", ""), Tainted("a", "v", "NoSchedule"), kUntolerated},
    {"other_key", Tolerating("b", "Exists", "", ""), Tainted("a", "v", "NoSchedule"), kUntolerated},
    {"empty_key_matches_any", Tolerating("", "Equal", "v", ""), Tainted("a", "v", "NoSchedule"),
     kSuccess},
    {"unknown_operator", Tolerating("a", "Foo", "v", ""), Tainted("a", "v", "NoSchedule"),
     kUntolerated},
    {"second_taint_untolerated", Tolerating("a", "Exists", "", ""),
     Tainted("a", "", "NoSchedule").Taint("b", "", "NoExecute"), kUntolerated},
};

INSTANTIATE_TEST_SUITE_P(Rows, TaintFilterTest, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

NodeBuilder SoftTaints(int count) {
  NodeBuilder node = MakeNode();
  for (int i = 0; i < count; ++i) node.Taint("k" + std::to_string(i), "", "PreferNoSchedule");
  return node;
}

struct ScoreCase {
  std::string name;
  PodBuilder pod;
  std::vector<NodeBuilder> nodes;
  std::vector<int64_t> want_raw;
  std::vector<int64_t> want;
};

TEST(TaintScoreTest, Scores) {
  const ScoreCase cases[] = {
      {"ex75", MakePod(), {SoftTaints(0), SoftTaints(1), SoftTaints(3)}, {0, 1, 3}, {100, 67, 0}},
      {"ex76",
       Tolerating("", "Exists", "", ""),
       {SoftTaints(0), SoftTaints(1), SoftTaints(3)},
       {0, 0, 0},
       {100, 100, 100}},
      {"ex77",
       Tolerating("a", "Exists", "", "NoSchedule"),
       {Tainted("a", "", "PreferNoSchedule").Taint("a", "", "NoSchedule")},
       {1},
       {0}},
      {"soft toleration",
       Tolerating("k0", "Exists", "", "PreferNoSchedule"),
       {SoftTaints(2)},
       {1},
       {0}},
  };
  for (const ScoreCase& c : cases) {
    SCOPED_TRACE(c.name);
    PluginRig rig(NewTaintToleration);
    for (const NodeBuilder& node : c.nodes) rig.AddNode(node);
    const api::PodPtr pod = c.pod.Obj();
    EXPECT_EQ(rig.ScoreAll(*pod), c.want_raw);
    EXPECT_EQ(rig.Normalized(*pod, c.want_raw), c.want);
  }
}

// Trap 27.
TEST(TaintScoreTest, NeedsItsPreScore) {
  PluginRig rig(NewTaintToleration);
  rig.AddNode(MakeNode());
  int64_t score = 0;
  const framework::Status status =
      rig.As<framework::ScorePlugin>()->Score(rig.state, *MakePod().Obj(), *rig.nodes()[0], &score);
  EXPECT_EQ(Describe(status),
            "Error: failed to read \"PreScoreTaintToleration\" from cycleState: not found");
}

TEST(TaintTolerationTest, Events) {
  EXPECT_EQ(PluginRig(NewTaintToleration).Events(),
            (std::vector<std::string>{"Node/17", "TargetPod/4096"}));
}

TEST(TaintTolerationTest, SignatureSortsByKeyAndValue) {
  PluginRig rig(NewTaintToleration);
  EXPECT_EQ(rig.Signature(*Tolerating("b", "Exists", "", "").Toleration("a", "", "v", "").Obj()),
            (std::vector<std::string>{
                R"(v1.Pod.Spec.Tolerations=[["a","","v",""],["b","Exists","",""]])"}));
}

}  // namespace
}  // namespace ks::plugins
