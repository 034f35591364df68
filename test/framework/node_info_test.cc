// SPDX-License-Identifier: Apache-2.0
// docs/spec/cache.md sections 3 and 4 with its rows 1 to 5, and row 98 of docs/spec/plugins-node.md
// 7.6.
#include "framework/node_info.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "testing/builders.h"

namespace ks::framework {
namespace {

using testing::MakeNode;
using testing::MakePod;
using testing::NodeBuilder;
using testing::PodBuilder;

PodInfoPtr Info(const PodBuilder& pod) { return std::make_shared<const PodInfo>(pod.Obj()); }

std::string Names(std::span<const PodInfoPtr> pods) {
  std::string names;
  for (const PodInfoPtr& pod : pods) names += pod->pod().meta.name;
  return names;
}

NodeBuilder PlainNode() {
  return MakeNode().Name("n").Allocatable({{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}});
}

PodBuilder PodOfExample4() {
  PodBuilder pod = MakePod()
                       .Name("d")
                       .Req({{"cpu", "100m"},
                             {"example.com/gpu", "2"},
                             {"ephemeral-storage", "1Gi"},
                             {"hugepages-2Mi", "4Mi"},
                             {"pods", "3"}})
                       .HostPort(80)
                       .HostPort(80, "UDP", "127.0.0.1");
  pod.spec().pod_affinity.emplace();
  return pod;
}

HostPort Port(std::string ip, std::string_view protocol, int32_t port) {
  return {std::move(ip), Symbol(protocol), port};
}

// cache.md examples 1 to 5, one step after the other.
TEST(NodeInfoTest, Examples1To5) {
  NodeInfo node(PlainNode().Obj());

  SCOPED_TRACE("ex1");
  node.AddPod(Info(MakePod().Name("a").Req({}).Req({})));
  EXPECT_EQ(node.requested(), Resource{});
  EXPECT_EQ(node.non_zero_milli_cpu(), 200);
  EXPECT_EQ(node.non_zero_memory(), 419430400);

  SCOPED_TRACE("ex2");
  node.AddPod(Info(MakePod().Name("b").Req({{"cpu", "0"}, {"memory", "1Gi"}})));
  EXPECT_EQ(node.requested(), (Resource{.memory = 1073741824}));
  EXPECT_EQ(node.non_zero_milli_cpu(), 200);
  EXPECT_EQ(node.non_zero_memory(), 1493172224);

  SCOPED_TRACE("ex3");
  node.AddPod(Info(MakePod()
                       .Name("c")
                       .Req({{"cpu", "250m"}})
                       .InitReq({{"cpu", "2"}})
                       .Overhead({{"cpu", "10m"}})));
  const Resource after_ex3{.milli_cpu = 2010, .memory = 1073741824};
  EXPECT_EQ(node.requested(), after_ex3);
  EXPECT_EQ(node.non_zero_milli_cpu(), 2210);
  EXPECT_EQ(node.non_zero_memory(), 1702887424);

  SCOPED_TRACE("ex4");
  node.AddPod(Info(PodOfExample4()));
  EXPECT_EQ(
      node.requested(),
      (Resource{.milli_cpu = 2110,
                .memory = 1073741824,
                .ephemeral_storage = 1073741824,
                .scalars = {{Symbol("example.com/gpu"), 2}, {Symbol("hugepages-2Mi"), 4194304}}}));
  EXPECT_EQ(node.non_zero_milli_cpu(), 2310);
  EXPECT_EQ(node.non_zero_memory(), 1912602624);
  EXPECT_EQ(node.used_ports().size(), 2U);
  EXPECT_TRUE(node.used_ports().ConflictsWith(HostPortSet({Port("0.0.0.0", "TCP", 80)})));
  EXPECT_TRUE(node.used_ports().ConflictsWith(HostPortSet({Port("127.0.0.1", "UDP", 80)})));
  EXPECT_FALSE(node.used_ports().ConflictsWith(HostPortSet({Port("127.0.0.2", "UDP", 80)})));
  EXPECT_EQ(Names(node.pods_with_affinity()), "d");
  EXPECT_EQ(Names(node.pods_with_required_anti_affinity()), "");

  SCOPED_TRACE("ex5");
  EXPECT_TRUE(node.RemovePod(*PodOfExample4().Obj()));
  Resource want = after_ex3;
  want.scalars = {{Symbol("example.com/gpu"), 0}, {Symbol("hugepages-2Mi"), 0}};
  EXPECT_EQ(node.requested(), want);
  EXPECT_TRUE(node.used_ports().empty());
  EXPECT_TRUE(node.pods_with_affinity().empty());
}

TEST(NodeInfoTest, RemovalMovesTheLastPodIntoTheGap) {
  NodeInfo node(PlainNode().Obj());
  for (const char* name : {"a", "b", "c", "d"}) {
    PodBuilder pod = MakePod().Name(name).Req({});
    pod.spec().pod_anti_affinity.emplace().required.emplace_back();
    node.AddPod(Info(pod));
  }
  PodBuilder b = MakePod().Name("b").Req({});
  b.spec().pod_anti_affinity.emplace().required.emplace_back();
  EXPECT_TRUE(node.RemovePod(*b.Obj()));
  EXPECT_EQ(Names(node.pods()), "adc");
  EXPECT_EQ(Names(node.pods_with_affinity()), "adc");
  EXPECT_EQ(Names(node.pods_with_required_anti_affinity()), "adc");
  EXPECT_FALSE(node.RemovePod(*b.Obj()));
  EXPECT_EQ(Names(node.pods()), "adc");
}

// cache.md 4.2: the given object decides which affinity lists are searched.
TEST(NodeInfoTest, RemovalTrustsTheGivenObjectAboutAffinity) {
  NodeInfo node(PlainNode().Obj());
  PodBuilder stored = MakePod().Name("a").Req({});
  stored.spec().pod_affinity.emplace();
  node.AddPod(Info(stored));
  EXPECT_TRUE(node.RemovePod(*MakePod().Name("a").Req({}).Obj()));
  EXPECT_EQ(Names(node.pods()), "");
  EXPECT_EQ(Names(node.pods_with_affinity()), "a");
}

// cache.md 3.8: what was added is subtracted, whatever the object says by then.
TEST(NodeInfoTest, LowestPriority) {
  NodeInfo node(MakeNode().Name("n").Obj());
  EXPECT_EQ(node.lowest_priority(), NodeInfo::kNoPriority);
  const auto pod = [](const std::string& name, int32_t priority) {
    return std::make_shared<PodInfo>(MakePod().Name(name).Priority(priority).Obj());
  };
  const auto a = pod("a", 5);
  const auto b = pod("b", -3);
  const auto c = pod("c", -3);
  for (const auto& info : {a, b, c}) node.AddPod(info);
  EXPECT_EQ(node.lowest_priority(), -3);
  (void)node.RemovePod(b->pod());
  EXPECT_EQ(node.lowest_priority(), -3);
  const NodeInfo copy = node;
  (void)node.RemovePod(c->pod());
  EXPECT_EQ(node.lowest_priority(), 5);
  (void)node.RemovePod(a->pod());
  EXPECT_EQ(node.lowest_priority(), NodeInfo::kNoPriority);
  EXPECT_EQ(copy.lowest_priority(), -3);
}

TEST(NodeInfoTest, RemovalSubtractsTheVectorThatWasAdded) {
  NodeInfo node(PlainNode().Obj());
  node.AddPod(Info(MakePod().Name("a").Req({{"cpu", "1"}})));
  EXPECT_TRUE(node.RemovePod(*MakePod().Name("a").Req({{"cpu", "3"}}).Obj()));
  EXPECT_EQ(node.requested(), Resource{});
  EXPECT_EQ(node.non_zero_milli_cpu(), 0);
  EXPECT_EQ(node.non_zero_memory(), 0);
}

// cache.md example 34, trap 19 of plugins-node.md.
TEST(NodeInfoTest, Example34SharedPortIsFreedByOneRemoval) {
  NodeInfo node(PlainNode().Obj());
  node.AddPod(Info(MakePod().Name("a").Req({}).HostPort(80)));
  node.AddPod(Info(MakePod().Name("b").Req({}).HostPort(80)));
  EXPECT_EQ(node.used_ports().size(), 1U);
  EXPECT_TRUE(node.RemovePod(*MakePod().Name("a").Req({}).HostPort(80).Obj()));
  EXPECT_TRUE(node.used_ports().empty());
}

TEST(NodeInfoTest, ObjectGoesAndSumsStay) {
  NodeInfo node(PlainNode().Obj());
  node.AddPod(Info(MakePod().Name("a").Req({{"cpu", "1"}})));
  node.UnsetNode();
  EXPECT_EQ(node.node(), nullptr);
  EXPECT_EQ(node.requested().milli_cpu, 1000);
  EXPECT_EQ(node.allocatable().milli_cpu, 4000);
}

TEST(NodeInfoTest, EveryChangeTakesANewGeneration) {
  NodeInfo node;
  std::vector<uint64_t> seen = {node.generation()};
  const auto note = [&] {
    EXPECT_GT(node.generation(), seen.back());
    seen.push_back(node.generation());
  };
  node.SetNode(PlainNode().Obj());
  note();
  node.AddPod(Info(MakePod().Name("a").Req({})));
  note();
  EXPECT_TRUE(node.RemovePod(*MakePod().Name("a").Req({}).Obj()));
  note();
  node.UnsetNode();
  note();
  EXPECT_FALSE(node.RemovePod(*MakePod().Name("a").Req({}).Obj()));
  EXPECT_EQ(node.generation(), seen.back());
  EXPECT_GT(NodeInfo().generation(), seen.back());
}

TEST(NodeInfoTest, FlagsOfTheObject) {
  struct Case {
    std::string name;
    NodeBuilder node;
    bool want_hard, want_soft, want_unschedulable;
  };
  const Case cases[] = {
      {"plain", MakeNode(), false, false, false},
      {"no schedule", MakeNode().Taint("a", "", "NoSchedule"), true, false, false},
      {"no execute", MakeNode().Taint("a", "", "NoExecute"), true, false, false},
      {"prefer", MakeNode().Taint("a", "", "PreferNoSchedule"), false, true, false},
      {"unknown effect", MakeNode().Taint("a", "", "Whatever"), false, false, false},
      {"cordoned", MakeNode().Unschedulable(), false, false, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    NodeInfo node(MakeNode().Taint("x", "", "NoSchedule").Taint("x", "", "PreferNoSchedule").Obj());
    node.SetNode(c.node.Obj());
    EXPECT_EQ(node.has_hard_taints(), c.want_hard);
    EXPECT_EQ(node.has_soft_taints(), c.want_soft);
    EXPECT_EQ(node.unschedulable(), c.want_unschedulable);
  }
}

TEST(NodeInfoTest, DeclaredFeatures) {
  struct Case {
    std::string name;
    std::vector<std::string> declared;
    uint32_t want;
  };
  const Case cases[] = {
      {"none", {}, 0},
      {"first", {"DRANodeAllocatableResources"}, 1U << 0},
      {"last", {"VolumeBindMountOptions"}, 1U << 8},
      {"unknown names between",
       {"A", "RestartAllContainersOnContainerExits", "Sx", "VolumeBindMountOptions", "Z"},
       (1U << 6) | (1U << 8)},
      {"ex98: unsorted",
       {"UserNamespacesHostNetworkSupport", "RestartAllContainersOnContainerExits"},
       1U << 7},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    NodeBuilder node = MakeNode();
    node.node().declared_features = c.declared;
    EXPECT_EQ(NodeInfo(node.Obj()).declared_features(), c.want);
  }
}

TEST(NodeInfoTest, FindImage) {
  NodeInfo node(PlainNode().Obj());
  const Symbol a("reg/a:1");
  const Symbol b("reg/b:1");
  EXPECT_EQ(node.FindImage(a), nullptr);
  node.SetImages({{a, 2, 500}});
  ASSERT_NE(node.FindImage(a), nullptr);
  EXPECT_EQ(node.FindImage(a)->size_bytes, 500);
  EXPECT_EQ(node.FindImage(a)->num_nodes, 2);
  EXPECT_EQ(node.FindImage(b), nullptr);
}

}  // namespace
}  // namespace ks::framework
