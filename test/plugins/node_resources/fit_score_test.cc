// SPDX-License-Identifier: Apache-2.0
// Rows 38 to 55 of docs/spec/plugins-node.md 7.3 (ex38 to ex55), traps 1, 2, 9, 29 and 30,
// and 2.11.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/kit/resource_score/strategies.h"
#include "plugins/node_resources/fit.h"
#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using testing::MakeNode;
using testing::MakePod;
using testing::NodeBuilder;
using testing::PodBuilder;
using testing::Resources;

NodeBuilder N4(const Resources& more = {}) {
  Resources allocatable = {
      {"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}, {"ephemeral-storage", "10Gi"}};
  allocatable.insert(allocatable.end(), more.begin(), more.end());
  return MakeNode().Name("n4").Allocatable(allocatable);
}
PodBuilder P1() { return MakePod().Req({{"cpu", "1"}, {"memory", "2Gi"}}); }
PodBuilder P0() { return MakePod().Req({}); }
PodBuilder E1() { return MakePod().Name("e1").Req({{"cpu", "500m"}, {"memory", "1Gi"}}).Req({}); }

std::string Strategy(const std::string& type, const std::string& more = "") {
  return R"({"scoringStrategy": {"type": ")" + type + "\"" + more + "}}";
}
std::string Ratio(const std::string& shape, const std::string& more = "") {
  return Strategy("RequestedToCapacityRatio",
                  R"(, "requestedToCapacityRatio": {"shape": [)" + shape + "]}" + more);
}
std::string Point(int utilization, int score) {
  return R"({"utilization": )" + std::to_string(utilization) + R"(, "score": )" +
         std::to_string(score) + "}";
}
const char kGpuList[] =
    R"(, "resources": [{"name": "cpu", "weight": 1}, {"name": "example.com/gpu", "weight": 5}])";

struct ScoreCase {
  std::string name;
  std::string args;
  PodBuilder pod;
  int64_t want;
  std::vector<PodBuilder> held = {};
  NodeBuilder node = N4();
};

class FitScoreTest : public ::testing::TestWithParam<ScoreCase> {};

TEST_P(FitScoreTest, Scores) {
  const ScoreCase& c = GetParam();
  PluginRig rig(NewNodeResourcesFit, c.args);
  std::vector<api::PodPtr> held;
  for (const PodBuilder& pod : c.held) held.push_back(pod.Obj());
  rig.AddNode(c.node, held);
  const api::PodPtr pod = c.pod.Obj();
  EXPECT_EQ(rig.ScoreAll(*pod), std::vector<int64_t>{c.want});
  rig.state.Reset();
  EXPECT_EQ(rig.RawScores(*pod), std::vector<int64_t>{c.want}) << "without PreScore";
}

const PodBuilder kBigHolder = MakePod().Name("h").Req({{"cpu", "30"}, {"memory", "1Gi"}});
const PodBuilder kPodOf52 = MakePod().PodLevel({{"cpu", "2"}, {"memory", "4Gi"}}).Req({}).Req({});

const ScoreCase kCases[] = {
    {"ex38", "null", P1(), 75},
    {"ex39", "null", P1(), 60, {E1()}},
    {"ex40", "null", P0(), 97},
    {"ex41", Strategy("MostAllocated"), P1(), 39, {E1()}},
    {"ex42", Strategy("MostAllocated"), P0(), 2},
    {"ex43",
     Strategy("LeastAllocated",
              R"(, "resources": [{"name": "cpu", "weight": 2}, {"name": "memory"}])"),
     MakePod().Req({{"cpu", "3"}, {"memory", "1Gi"}}), 45},
    // Trap 9: ephemeral-storage counts although the pod asks for none.
    {"ex44",
     Strategy("LeastAllocated",
              R"(, "resources": [{"name": "cpu"}, {"name": "ephemeral-storage"}])"),
     P1(), 87},
    {"ex45", Strategy("LeastAllocated", kGpuList), P1(), 75, {}, N4({{"example.com/gpu", "8"}})},
    {"ex46",
     Strategy("LeastAllocated", kGpuList),
     MakePod().Req({{"cpu", "1"}, {"memory", "2Gi"}, {"example.com/gpu", "2"}}),
     75,
     {},
     N4({{"example.com/gpu", "8"}})},
    {"ex47_most", Strategy("MostAllocated"), P1(), 68, {kBigHolder}},
    // Trap 29.
    {"ex47_least", Strategy("LeastAllocated"), P1(), 31, {kBigHolder}},
    {"ex48", Ratio(Point(0, 0) + "," + Point(100, 10)), P1(), 40, {E1()}},
    {"ex49", Ratio(Point(0, 10) + "," + Point(100, 0)), P1(), 61, {E1()}},
    {"ex50", Ratio(Point(20, 2) + "," + Point(50, 9) + "," + Point(80, 1)), P1(), 65, {E1()}},
    // Trap 30.
    {"ex51",
     Ratio(Point(0, 0) + "," + Point(30, 0) + "," + Point(100, 10),
           R"(, "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 9}])"),
     MakePod().Req({{"cpu", "2"}, {"memory", "1Gi"}}), 28},
    // Trap 1.
    {"ex52", "null", kPodOf52, 95},
    {"ex53", "null", P0(), 47, {kPodOf52}},
    // Trap 2.
    {"ex54", "null", MakePod().SidecarReq({}).Req({{"cpu", "1"}, {"memory", "1Gi"}}), 78},
    {"ex55", "null", MakePod().Overhead({{"cpu", "500m"}, {"memory", "512Mi"}}).Req({}), 88},

    {"trap29_exactly_full", "null", MakePod().Req({{"cpu", "4"}, {"memory", "8Gi"}}), 0},
    {"trap29_ratio_overfull", Ratio(Point(0, 0) + "," + Point(100, 10)),
     MakePod().Req({{"cpu", "9"}, {"memory", "9Gi"}}), 100},
    {"nothing_allocatable", "null", P1(), 0, {}, MakeNode()},
    {"repeated_resource_counts_twice",
     Strategy("LeastAllocated",
              R"(, "resources": [{"name": "cpu"}, {"name": "cpu"}, {"name": "memory"}])"),
     MakePod().Req({{"cpu", "3"}, {"memory", "1Gi"}}), 45},
    {"unknown_resource_does_not_count",
     Strategy("LeastAllocated", R"(, "resources": [{"name": "cpu"}, {"name": "foo"}])"), P1(), 75},
    {"no_resource_counts", Strategy("LeastAllocated", R"(, "resources": [{"name": "foo"}])"), P1(),
     0},
    {"hugepages",
     Strategy("LeastAllocated", R"(, "resources": [{"name": "hugepages-2Mi"}])"),
     MakePod().Req({{"hugepages-2Mi", "2Mi"}}),
     50,
     {MakePod().Name("h").Req({{"hugepages-2Mi", "2Mi"}})},
     N4({{"hugepages-2Mi", "8Mi"}})},
    {"weights_of_most_allocated",
     Strategy("MostAllocated",
              R"(, "resources": [{"name": "cpu", "weight": 3}, {"name": "memory"}])"),
     MakePod().Req({{"cpu", "3"}, {"memory", "1Gi"}}), 59},
    // Devices are not counted: the resource is left out.
    {"asked_for_but_not_on_the_node", Strategy("LeastAllocated", kGpuList),
     MakePod().Req({{"cpu", "1"}, {"example.com/gpu", "2"}}), 75},
    // 2.1: (2^63 - 1) * 100 wraps to -100.
    {"products_wrap",
     Strategy("MostAllocated", R"(, "resources": [{"name": "memory"}])"),
     MakePod().Req({{"memory", "9223372036854775807"}}),
     0,
     {},
     MakeNode().Allocatable({{"memory", "9223372036854775807"}})},
    {"no_shape_score_is_positive", Ratio(Point(0, 0)), P1(), 0},
};

INSTANTIATE_TEST_SUITE_P(Rows, FitScoreTest, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

// docs/spec/plugins-node.md 2.11.
TEST(ShapeValueTest, Interpolates) {
  const std::vector<config::UtilizationShapePoint> shape = {{20, 20}, {50, 90}, {80, 10}};
  struct Case {
    int64_t utilization, want;
  };
  const Case cases[] = {{0, 20},  {20, 20}, {21, 22}, {49, 87}, {50, 90},
                        {51, 88}, {79, 13}, {80, 10}, {81, 10}, {100, 10}};
  for (const Case& c : cases) {
    EXPECT_EQ(ShapeValue(shape, c.utilization), c.want) << "at " << c.utilization;
  }
}

}  // namespace
}  // namespace ks::plugins
