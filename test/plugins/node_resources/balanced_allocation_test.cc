// SPDX-License-Identifier: Apache-2.0
// Rows 56 to 67 and 97 of docs/spec/plugins-node.md 7.4 and 7.6 (ex56 to ex97), and traps 12 to 14.
#include "plugins/node_resources/balanced_allocation.h"

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
using testing::Resources;

NodeBuilder N4() {
  return MakeNode().Name("n4").Allocatable({{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}});
}
NodeBuilder NodeOf(const Resources& allocatable) {
  return MakeNode().Name("n").Allocatable(allocatable);
}
PodBuilder Asks(const Resources& requests) { return MakePod().Req(requests); }
PodBuilder Holds(const Resources& requests) { return MakePod().Name("h").Req(requests); }
PodBuilder P1() { return Asks({{"cpu", "1"}, {"memory", "2Gi"}}); }

const char kWithGpu[] =
    R"({"resources": [{"name": "cpu"}, {"name": "memory"}, {"name": "example.com/gpu"}]})";
const Resources kGpuNode = {{"cpu", "4"}, {"memory", "8Gi"}, {"example.com/gpu", "8"}};

struct BalancedCase {
  std::string name;
  PodBuilder pod;
  int64_t want;
  NodeBuilder node = N4();
  std::vector<PodBuilder> held = {};
  std::string args = "null";
};

class BalancedAllocationTest : public ::testing::TestWithParam<BalancedCase> {};

TEST_P(BalancedAllocationTest, Scores) {
  const BalancedCase& c = GetParam();
  PluginRig rig(NewNodeResourcesBalancedAllocation, c.args);
  std::vector<api::PodPtr> held;
  for (const PodBuilder& pod : c.held) held.push_back(pod.Obj());
  rig.AddNode(c.node, held);
  const api::PodPtr pod = c.pod.Obj();
  EXPECT_EQ(rig.ScoreAll(*pod), std::vector<int64_t>{c.want});
  rig.state.Reset();
  EXPECT_EQ(rig.RawScores(*pod), std::vector<int64_t>{c.want}) << "without PreScore";
}

const BalancedCase kCases[] = {
    {"ex56", P1(), 75},
    {"ex58", Asks({{"cpu", "2"}}), 62},
    {"ex59", Asks({{"memory", "4Gi"}}), 87, N4(), {Holds({{"cpu", "2"}})}},
    {"ex60", Asks({{"cpu", "4"}}), 50},
    {"ex61", Asks({{"memory", "8Gi"}}), 100, N4(), {Holds({{"cpu", "4"}})}},
    {"ex62",
     Asks({{"cpu", "3"}, {"memory", "1Gi"}, {"example.com/gpu", "1"}}),
     60,
     NodeOf(kGpuNode),
     {},
     kWithGpu},
    {"ex63", Asks({{"cpu", "3"}, {"memory", "1Gi"}}), 59, NodeOf(kGpuNode), {}, kWithGpu},
    {"ex64", Asks({{"cpu", "3"}}), 75, N4(), {}, R"({"resources": [{"name": "cpu"}]})"},
    {"ex65", P1(), 81, N4(), {Holds({{"cpu", "30"}, {"memory", "1Gi"}})}},
    {"ex66", Asks({{"cpu", "1"}, {"memory", "1Gi"}}), 70,
     NodeOf({{"cpu", "3"}, {"memory", "7Gi"}})},
    // Trap 12: no fused multiply-add, truncation.
    {"ex67", Asks({{"cpu", "680m"}}), 57, NodeOf({{"cpu", "1"}, {"memory", "8Gi"}})},
    {"ex97", MakePod().PodLevel({{"cpu", "2"}}).Req({}), 62},
    // f 1/4, 0, 1/8, 1/4 against the node's 0s: mean 0.15625, d = 0.1036….
    {"four_resources",
     Asks({{"cpu", "1"}, {"example.com/gpu", "1"}, {"example.com/nic", "2"}}),
     69,
     NodeOf({{"cpu", "4"}, {"memory", "8Gi"}, {"example.com/gpu", "8"}, {"example.com/nic", "8"}}),
     {},
     R"({"resources": [{"name": "cpu"}, {"name": "memory"}, {"name": "example.com/gpu"},
                       {"name": "example.com/nic"}]})"},
    // The scalar that the node has none of is left out: two resources are left.
    {"third_resource_not_on_the_node",
     Asks({{"cpu", "2"}, {"example.com/gpu", "1"}}),
     62,
     N4(),
     {},
     kWithGpu},
    // Asked for, so not best effort, but no node accounts it.
    {"only_an_unaccounted_name",
     Asks({{"foo", "1"}}),
     75,
     N4(),
     {},
     R"({"resources": [{"name": "foo"}]})"},
    {"nothing_allocatable", P1(), 75, MakeNode()},
    // Trap 13: pods without requests are not seen here.
    {"trap13_plain_requested", Asks({{"cpu", "2"}}), 62, N4(), {Holds({}), Holds({})}},
};

INSTANTIATE_TEST_SUITE_P(Rows, BalancedAllocationTest, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

TEST(BalancedAllocationTest, Ex57BestEffortIsSkipped) {
  PluginRig rig(NewNodeResourcesBalancedAllocation);
  rig.AddNode(N4());
  const api::PodPtr pod = Asks({}).Obj();
  EXPECT_EQ(Describe(rig.PreScore(*pod)), "Skip");
  EXPECT_EQ(rig.RawScores(*pod), std::vector<int64_t>{0});
}

TEST(BalancedAllocationTest, Trap14OtherResourcesAloneAreBestEffort) {
  PluginRig rig(NewNodeResourcesBalancedAllocation);
  rig.AddNode(N4());
  EXPECT_EQ(Describe(rig.PreScore(*Asks({{"ephemeral-storage", "1Gi"}}).Obj())), "Skip");
}

// 2.5 row 3: with status, unlike Fit.
TEST(BalancedAllocationTest, ResizedPodOfAKnownTemplate) {
  PluginRig rig(NewNodeResourcesBalancedAllocation);
  rig.AddNode(N4());
  const api::PodPtr pod = Asks({{"cpu", "2"}}).Obj();
  EXPECT_EQ(rig.ScoreAll(*pod), std::vector<int64_t>{62});
  auto resized = std::make_shared<api::Pod>(*pod);
  api::ContainerStatus status;
  status.name = "c0";
  status.allocated_resources = testing::MakeResources({{"cpu", "4"}});
  resized->status.resources.Mutable().containers.push_back(status);
  EXPECT_EQ(rig.ScoreAll(*resized), std::vector<int64_t>{50});
  EXPECT_EQ(rig.ScoreAll(*pod), std::vector<int64_t>{62});
}

}  // namespace
}  // namespace ks::plugins
