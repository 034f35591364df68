// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cluster/capacity_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/builders.h"

namespace ks::ctl {
namespace {

using ::ks::testing::MakeNode;
using ::ks::testing::MakePod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

api::NodePtr Node() {
  return MakeNode()
      .Name("n")
      .Allocatable({{"cpu", "2"}, {"memory", "4Gi"}, {"pods", "3"}, {"example.com/gpu", "1"}})
      .Obj();
}

struct AmountCase {
  std::string name;
  api::PodPtr pod;
  Amount want;
};

class AmountTest : public ::testing::TestWithParam<AmountCase> {};

TEST_P(AmountTest, IsWhatThePodOccupies) {
  EXPECT_EQ(AmountOf(*GetParam().pod), GetParam().want)
      << AmountOf(*GetParam().pod).cpu_milli << " " << AmountOf(*GetParam().pod).memory_bytes;
}

INSTANTIATE_TEST_SUITE_P(
    Pods, AmountTest,
    ::testing::Values(
        AmountCase{"nothing", MakePod().Name("p").Req({}).Obj(), {0, 0, 1}},
        AmountCase{
            "containers_add_up",
            MakePod().Name("p").Req({{"cpu", "1"}}).Req({{"cpu", "250m"}, {"memory", "1Ki"}}).Obj(),
            {1250, 1024, 1}},
        AmountCase{"an_init_container_is_a_lower_limit",
                   MakePod().Name("p").Req({{"cpu", "1"}}).InitReq({{"cpu", "3"}}).Obj(),
                   {3000, 0, 1}},
        AmountCase{"a_sidecar_runs_beside_later_steps",
                   MakePod()
                       .Name("p")
                       .Req({{"cpu", "1"}})
                       .SidecarReq({{"cpu", "2"}})
                       .InitReq({{"cpu", "3"}})
                       .Obj(),
                   {5000, 0, 1}},
        AmountCase{"overhead_comes_on_top",
                   MakePod().Name("p").Req({{"cpu", "1"}}).Overhead({{"cpu", "10m"}}).Obj(),
                   {1010, 0, 1}},
        AmountCase{"the_pod_as_a_whole_wins",
                   MakePod().Name("p").Req({{"cpu", "1"}}).PodLevel({{"cpu", "7"}}).Obj(),
                   {7000, 0, 1}}),
    [](const auto& row) { return row.param.name; });

TEST(OverCapacityTest, FullIsNotOver) {
  EXPECT_THAT(OverCapacity({Node()}, {MakePod().Name("a").Node("n").Req({{"cpu", "1"}}).Obj(),
                                      MakePod().Name("b").Node("n").Req({{"cpu", "1"}}).Obj()}),
              IsEmpty());
}

TEST(OverCapacityTest, NamesNodeAndResource) {
  EXPECT_THAT(OverCapacity({Node()}, {MakePod().Name("a").Node("n").Req({{"cpu", "1"}}).Obj(),
                                      MakePod().Name("b").Node("n").Req({{"cpu", "1001m"}}).Obj()}),
              ElementsAre("node n: 2001m cpu requested, 2 allocatable"));
}

TEST(OverCapacityTest, LooksAtEveryResourceAndTheNumberOfPods) {
  std::vector<api::PodPtr> pods;
  for (const char* name : {"a", "b", "c", "d"}) {
    pods.push_back(MakePod().Name(name).Node("n").Req({{"example.com/gpu", "1"}}).Obj());
  }
  EXPECT_THAT(OverCapacity({Node()}, pods),
              ::testing::UnorderedElementsAre("node n: 4 example.com/gpu requested, 1 allocatable",
                                              "node n: 4 pods requested, 3 allocatable"));
}

TEST(OverCapacityTest, AResourceThatTheNodeLacksIsOver) {
  EXPECT_THAT(OverCapacity({Node()}, {MakePod().Name("a").Node("n").Req({{"x/y", "1"}}).Obj()}),
              ElementsAre("node n: 1 x/y requested, 0 allocatable"));
}

TEST(OverCapacityTest, EndedAndPendingPodsTakeNothing) {
  auto ended = MakePod().Name("a").Node("n").Req({{"cpu", "9"}});
  ended.pod().status.phase = Symbol("Succeeded");
  EXPECT_THAT(OverCapacity({Node()}, {ended.Obj(), MakePod().Name("b").Req({{"cpu", "9"}}).Obj()}),
              IsEmpty());
}

TEST(OverCapacityTest, ANodeThatDoesNotExist) {
  EXPECT_THAT(OverCapacity({Node()}, {MakePod().Name("a").Node("m").Req({}).Obj()}),
              ElementsAre("1 pods are bound to m, which does not exist"));
}

api::PodPtr PodWithClaim(const std::string& name, const std::string& node) {
  auto pod = MakePod().Name(name).Node(node);
  api::Volume volume;
  volume.source = api::Volume::Source::kPersistentVolumeClaim;
  pod.spec().volumes = {volume};
  return pod.Obj();
}

TEST(OverVolumeLimitTest, CountsPodsWithClaimsOnEachNode) {
  const std::vector<api::PodPtr> pods = {
      PodWithClaim("a", "n"), PodWithClaim("b", "n"), PodWithClaim("c", "m"),
      PodWithClaim("d", ""),  PodWithClaim("e", ""),  MakePod().Name("f").Node("m").Obj()};
  EXPECT_THAT(OverVolumeLimit(pods, 2), IsEmpty());
  EXPECT_THAT(OverVolumeLimit(pods, 1), ElementsAre("node n: 2 volumes, at most 1"));
}

}  // namespace
}  // namespace ks::ctl
