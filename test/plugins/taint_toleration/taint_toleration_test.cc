// SPDX-License-Identifier: Apache-2.0
// Rows 75 to 80 of docs/spec/plugins-node.md 7.6 (ex75 to ex80; 79 and 80 also without the gate),
// and the rest of 2.8.
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

std::vector<config::Gate> Gates(bool lt_and_gt) {
  if (!lt_and_gt) return {};
  return {config::Gate::kTaintTolerationComparisonOperators};
}

struct FilterCase {
  std::string name;
  PodBuilder pod;
  NodeBuilder node;
  std::string want;
  bool lt_and_gt = false;  // the gate
};

class TaintFilterTest : public ::testing::TestWithParam<FilterCase> {};

TEST_P(TaintFilterTest, Filters) {
  PluginRig rig(NewTaintToleration, "null", Gates(GetParam().lt_and_gt));
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

// The gate is on: whether {sla <op> <value>} tolerates sla=<taint>:NoSchedule.
FilterCase Compares(std::string name, std::string_view op, std::string_view value,
                    std::string_view taint, bool want) {
  return {std::move(name), Tolerating("sla", op, value, ""), Tainted("sla", taint, "NoSchedule"),
          want ? kSuccess : kUntolerated, true};
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
    Compares("ex79_950", "Gt", "900", "950", true),
    Compares("ex79_900", "Gt", "900", "900", false),
    Compares("ex79_leading_zero", "Gt", "900", "0950", false),
    Compares("ex79_text", "Gt", "900", "x", false),
    Compares("ex80_below", "Lt", "-5", "-6", true),
    Compares("ex80_equal", "Lt", "-5", "-5", false),
    Compares("ex80_does_not_fit", "Lt", "-5", "99999999999999999999", false),
    Compares("zero", "Lt", "1", "0", true),
    Compares("minus_zero", "Lt", "1", "-0", false),
    Compares("plus_sign", "Gt", "1", "+2", false),
    Compares("space", "Gt", "1", " 2", false),
    Compares("minus_alone", "Lt", "1", "-", false),
    Compares("no_value", "Lt", "1", "", false),
    Compares("fraction", "Gt", "1", "2.5", false),
    Compares("minus_leading_zero", "Lt", "1", "-01", false),
    Compares("toleration_does_not_parse", "Gt", "01", "5", false),
    Compares("lowest", "Gt", "-9223372036854775808", "-9223372036854775807", true),
    Compares("below_lowest", "Lt", "0", "-9223372036854775809", false),
    Compares("unknown_operator_with_the_gate", "Ge", "1", "2", false),
    {"gate_on_equal_still_compares_texts", Tolerating("sla", "Equal", "950", ""),
     Tainted("sla", "0950", "NoSchedule"), kUntolerated, true},
    {"gate_on_other_key", Tolerating("slo", "Gt", "900", ""), Tainted("sla", "950", "NoSchedule"),
     kUntolerated, true},
    {"gate_on_other_effect", Tolerating("sla", "Gt", "900", "NoExecute"),
     Tainted("sla", "950", "NoSchedule"), kUntolerated, true},
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
  bool lt_and_gt = false;
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
      {"comparison",
       Tolerating("sla", "Gt", "900", "PreferNoSchedule"),
       {Tainted("sla", "950", "PreferNoSchedule"), Tainted("sla", "900", "PreferNoSchedule")},
       {0, 1},
       {100, 0},
       true},
  };
  for (const ScoreCase& c : cases) {
    SCOPED_TRACE(c.name);
    PluginRig rig(NewTaintToleration, "null", Gates(c.lt_and_gt));
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
