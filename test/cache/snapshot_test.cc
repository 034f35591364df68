// SPDX-License-Identifier: Apache-2.0
// The view that an attempt reads: docs/spec/cache.md sections 7 to 9 and 17, whose rows give the
// tests their numbers; PluginsEx99 is row 99 of docs/spec/plugins-node.md 7.6.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cache/cache.h"
#include "testing/builders.h"

namespace ks::cache {
namespace {

using framework::NodeInfo;
using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::NodeBuilder;
using ks::testing::PodBuilder;

NodeBuilder InZone(const std::string& name, const std::string& zone) {
  NodeBuilder node = MakeNode().Name(name);
  if (!zone.empty()) node.Zone(zone);
  return node;
}
PodBuilder Affine(const std::string& name, const std::string& node) {
  PodBuilder pod = MakePod().Name(name).Node(node);
  pod.spec().pod_affinity.emplace();
  return pod;
}
PodBuilder AntiAffine(const std::string& name, const std::string& node) {
  PodBuilder pod = MakePod().Name(name).Node(node);
  pod.spec().pod_anti_affinity.emplace().required.emplace_back();
  return pod;
}

std::string Names(std::span<const NodeInfo* const> nodes) {
  std::string text;
  for (const NodeInfo* node : nodes) text += (text.empty() ? "" : " ") + node->name();
  return text;
}
// After a refresh.
std::string Listed(Cache& cache) {
  EXPECT_TRUE(cache.RefreshSnapshot().ok());
  for (uint32_t i = 0; i < cache.nodes().size(); ++i) EXPECT_EQ(cache.nodes()[i]->index(), i);
  return Names(cache.nodes());
}
// "nodes/size" of an image as the node sees it, "-" when it does not know it.
std::string Image(const Cache& cache, const std::string& node, const std::string& image) {
  const framework::ImageState* state = cache.Find(node)->FindImage(Symbol(image));
  if (state == nullptr) return "-";
  return std::to_string(state->num_nodes) + "/" + std::to_string(state->size_bytes);
}

TEST(SnapshotTest, Ex15To19ListOrder) {
  Cache cache;
  for (const auto& [name, zone] : ks::testing::Texts{{"a1", "za"},
                                                     {"a2", "za"},
                                                     {"b1", "zb"},
                                                     {"a3", "za"},
                                                     {"c1", "zc"},
                                                     {"c2", "zc"},
                                                     {"x", ""}}) {
    cache.AddNode(InZone(name, zone).Obj());
  }
  EXPECT_EQ(Listed(cache), "a1 b1 c1 x a2 c2 a3") << "ex15";
  cache.UpdateNode(*InZone("a2", "za").Obj(), InZone("a2", "zb").Obj());
  EXPECT_EQ(Listed(cache), "a1 b1 c1 x a2 c2 a3") << "ex16";
  cache.AddNode(InZone("d1", "zd").Obj());
  EXPECT_EQ(Listed(cache), "a1 b1 c1 x d1 a3 a2 c2") << "ex17";
  ASSERT_TRUE(cache.RemoveNode(*InZone("b1", "zb").Obj()).ok());
  ASSERT_TRUE(cache.RemoveNode(*InZone("a2", "zb").Obj()).ok());
  EXPECT_EQ(Listed(cache), "a1 c1 x d1 a3 c2") << "ex18";
  cache.AddNode(InZone("b9", "zb").Obj());
  EXPECT_EQ(Listed(cache), "a1 c1 x d1 b9 a3 c2") << "ex19";
}

TEST(SnapshotTest, Ex20DeletedAndAddedAgainKeepsItsPlace) {
  Cache cache;
  for (const char* name : {"n1", "n2", "n3"}) cache.AddNode(InZone(name, "z").Obj());
  EXPECT_EQ(Listed(cache), "n1 n2 n3");
  ASSERT_TRUE(cache.RemoveNode(*InZone("n1", "z").Obj()).ok());
  cache.AddNode(InZone("n1", "z").Label("again", "yes").Obj());
  EXPECT_EQ(Listed(cache), "n1 n2 n3");
  EXPECT_TRUE(cache.Find("n1")->node()->meta.labels.Contains(Symbol("again")));
  cache.AddNode(InZone("n4", "z").Obj());
  EXPECT_EQ(Listed(cache), "n2 n3 n1 n4");
}

TEST(SnapshotTest, Ex23And24ImageFiguresAreFrozen) {
  Cache cache;
  const api::NodePtr a = InZone("a", "").Image({"x:1"}, 100).Obj();
  cache.AddNode(a);
  EXPECT_EQ(Listed(cache), "a");
  cache.AddNode(InZone("b", "").Image({"x:1", "x@sha"}, 999).Obj());
  Listed(cache);
  EXPECT_EQ(Image(cache, "a", "x:1"), "1/100") << "ex23";
  EXPECT_EQ(Image(cache, "b", "x:1"), "2/100") << "ex23";
  EXPECT_EQ(Image(cache, "b", "x@sha"), "1/999") << "ex23";

  ASSERT_TRUE(cache.AddPod(MakePod().Name("p").Node("a").Obj()).ok());
  Listed(cache);
  EXPECT_EQ(Image(cache, "a", "x:1"), "2/100") << "ex24";
  ASSERT_TRUE(cache.RemovePod(*MakePod().Name("p").Node("a").Obj()).ok());
  ASSERT_TRUE(cache.RemoveNode(*a).ok());
  Listed(cache);
  EXPECT_EQ(Image(cache, "b", "x:1"), "2/100") << "ex24";
  ASSERT_TRUE(cache.AddPod(MakePod().Name("q").Node("b").Obj()).ok());
  Listed(cache);
  EXPECT_EQ(Image(cache, "b", "x:1"), "1/100") << "ex24";
}

TEST(SnapshotTest, PluginsEx99FirstReportersSizeAndFrozenCounts) {
  Cache cache;
  const api::NodePtr a = InZone("a", "").Image({"z:1"}, 500).Obj();
  cache.AddNode(a);
  Listed(cache);
  EXPECT_EQ(Image(cache, "a", "z:1"), "1/500");
  cache.AddNode(InZone("b", "").Image({"z:1"}, 900).Obj());
  Listed(cache);
  EXPECT_EQ(Image(cache, "a", "z:1"), "1/500") << "b reports it";
  EXPECT_EQ(Image(cache, "b", "z:1"), "2/500") << "b reports it";
  ASSERT_TRUE(cache.AddPod(MakePod().Name("p").Node("a").Obj()).ok());
  Listed(cache);
  EXPECT_EQ(Image(cache, "a", "z:1"), "2/500") << "a pod landed on a";
  cache.UpdateNode(*a, InZone("a", "").Obj());
  Listed(cache);
  EXPECT_EQ(Image(cache, "a", "z:1"), "-") << "a dropped it";
  EXPECT_EQ(Image(cache, "b", "z:1"), "2/500") << "a dropped it";
}

TEST(SnapshotTest, ImagesOfAnUpdatedNode) {
  Cache cache;
  cache.AddNode(InZone("a", "").Image({"x", "x"}, 1).Image({"y"}, 2).Obj());
  Listed(cache);
  EXPECT_EQ(Image(cache, "a", "x"), "1/1");
  // The only reporter sets a new size; a name that is gone is not seen any more.
  cache.UpdateNode(*InZone("a", "").Obj(), InZone("a", "").Image({"x"}, 7).Obj());
  Listed(cache);
  EXPECT_EQ(Image(cache, "a", "x"), "1/7");
  EXPECT_EQ(Image(cache, "a", "y"), "-");
}

TEST(SnapshotTest, EveryChangeOfAnImageIsSeen) {
  Cache cache;
  const api::NodePtr plain = InZone("b", "").Obj();
  const api::NodePtr with_y = InZone("c", "").Image({"y"}, 2).Obj();
  cache.AddNode(InZone("a", "").Image({"x"}, 1).Obj());
  cache.AddNode(plain);
  cache.AddNode(with_y);
  Listed(cache);
  EXPECT_EQ(Image(cache, "a", "x"), "1/1");
  cache.UpdateNode(*plain, InZone("b", "").Image({"x"}, 1).Obj());   // a count
  cache.UpdateNode(*with_y, InZone("c", "").Image({"y"}, 3).Obj());  // a size
  ASSERT_TRUE(cache.AddPod(MakePod().Name("p").Node("a").Obj()).ok());
  Listed(cache);
  EXPECT_EQ(Image(cache, "a", "x"), "2/1");
  cache.AddNode(InZone("d", "").Image({"x"}, 1).Obj());
  ASSERT_TRUE(cache.RemoveNode(*with_y).ok());
  ASSERT_TRUE(cache.AddPod(MakePod().Name("q").Node("a").Obj()).ok());
  Listed(cache);
  EXPECT_EQ(Image(cache, "a", "x"), "3/1");
}

TEST(SnapshotTest, AffinityLists) {
  Cache cache;
  for (const char* name : {"n1", "n2", "n3"}) cache.AddNode(InZone(name, "z").Obj());
  ASSERT_TRUE(cache.AddPod(AntiAffine("p3", "n3").Obj()).ok());
  Listed(cache);
  EXPECT_EQ(Names(cache.nodes_with_affinity()), "n3");
  EXPECT_EQ(Names(cache.nodes_with_required_anti_affinity()), "n3");

  // The lists keep the order of the node list, not the one of the changes.
  ASSERT_TRUE(cache.AssumePod(Affine("p2", "n2").Obj()).ok());
  ASSERT_TRUE(cache.AddPod(Affine("p1", "n1").Obj()).ok());
  EXPECT_EQ(Names(cache.nodes_with_affinity()), "n3") << "unchanged before the refresh";
  Listed(cache);
  EXPECT_EQ(Names(cache.nodes_with_affinity()), "n1 n2 n3");
  EXPECT_EQ(Names(cache.nodes_with_required_anti_affinity()), "n3");

  ASSERT_TRUE(cache.ForgetPod(*Affine("p2", "n2").Obj()).ok());
  ASSERT_TRUE(cache.RemovePod(*AntiAffine("p3", "n3").Obj()).ok());
  Listed(cache);
  EXPECT_EQ(Names(cache.nodes_with_affinity()), "n1");
  EXPECT_EQ(Names(cache.nodes_with_required_anti_affinity()), "");
}

TEST(SnapshotTest, StaysReadableBetweenRefreshes) {
  Cache cache;
  for (const char* name : {"n1", "n2"}) cache.AddNode(InZone(name, "z").Obj());
  const api::PodPtr pod = AntiAffine("p", "n1").Obj();
  ASSERT_TRUE(cache.AddPod(pod).ok());
  Listed(cache);
  ASSERT_TRUE(cache.RemoveNode(*InZone("n1", "z").Obj()).ok());
  ASSERT_TRUE(cache.RemovePod(*pod).ok());
  EXPECT_EQ(Names(cache.nodes()), "n1 n2");
  EXPECT_EQ(Names(cache.nodes_with_affinity()), "n1");
  EXPECT_EQ(Names(cache.nodes_with_required_anti_affinity()), "n1");
  EXPECT_EQ(cache.Find("n1")->pods().size(), 1U);
  cache.AddNode(InZone("n3", "z").Obj());
  EXPECT_EQ(cache.Find("n3"), nullptr) << "not listed yet";
  EXPECT_EQ(Listed(cache), "n2 n3");
  EXPECT_EQ(cache.Find("n1"), nullptr);
}

TEST(SnapshotTest, RemovedTwiceBetweenRefreshes) {
  Cache cache;
  for (const char* name : {"n1", "n2"}) cache.AddNode(InZone(name, "z").Obj());
  Listed(cache);
  const api::NodePtr n1 = InZone("n1", "z").Obj();
  ASSERT_TRUE(cache.RemoveNode(*n1).ok());
  ASSERT_TRUE(cache.AddPod(Affine("p", "n1").Obj()).ok());
  cache.AddNode(n1);
  ASSERT_TRUE(cache.RemoveNode(*n1).ok());
  EXPECT_EQ(Names(cache.nodes()), "n1 n2");
  EXPECT_EQ(Listed(cache), "n2");
  EXPECT_EQ(cache.counts().nodes, 2U);
}

TEST(SnapshotTest, DeletedAndAddedAgainWithOtherPods) {
  Cache cache;
  const api::NodePtr n1 = InZone("n1", "z").Obj();
  cache.AddNode(n1);
  const api::PodPtr pod = Affine("p", "n1").Obj();
  ASSERT_TRUE(cache.AddPod(pod).ok());
  Listed(cache);
  ASSERT_TRUE(cache.RemovePod(*pod).ok());
  ASSERT_TRUE(cache.RemoveNode(*n1).ok());
  cache.AddNode(n1);
  EXPECT_EQ(Listed(cache), "n1");
  EXPECT_EQ(Names(cache.nodes_with_affinity()), "");
  EXPECT_TRUE(cache.Find("n1")->pods().empty());
}

TEST(SnapshotTest, InconsistentTreeFailsOnce) {
  Cache cache;
  for (const char* name : {"n1", "n2"}) cache.AddNode(InZone(name, "z").Obj());
  Listed(cache);
  // The deletion names another zone, so the tree keeps the name.
  const Result<void> removed = cache.RemoveNode(*InZone("n1", "other").Obj());
  ASSERT_FALSE(removed.ok());
  const Result<void> refreshed = cache.RefreshSnapshot();
  ASSERT_FALSE(refreshed.ok());
  EXPECT_EQ(refreshed.error().message,
            "snapshot state is not consistent, length of NodeInfoList=1 not equal to length of "
            "nodes in tree=2 , length of NodeInfoMap=1, length of nodes in cache=1, trying to "
            "recover");
  EXPECT_EQ(Listed(cache), "n2");
}

TEST(SnapshotTest, GhostUpdateDoesNotJoinTheTree) {
  Cache cache;
  const api::NodePtr n1 = InZone("n1", "z").Obj();
  cache.AddNode(n1);
  ASSERT_TRUE(cache.AddPod(MakePod().Name("p").Node("n1").Obj()).ok());
  Listed(cache);
  ASSERT_TRUE(cache.RemoveNode(*n1).ok());
  EXPECT_EQ(Listed(cache), "");
  cache.UpdateNode(*n1, n1);
  EXPECT_EQ(Listed(cache), "");
  EXPECT_EQ(cache.Find("n1"), nullptr);
  cache.UpdateNode(*n1, InZone("n1", "z2").Obj());
  cache.AddNode(InZone("n2", "z").Obj());
  EXPECT_EQ(Listed(cache), "n1 n2");
}

TEST(SnapshotTest, Ex32HeartbeatBumpsTheGeneration) {
  Cache cache;
  cache.AddNode(InZone("n1", "z").Obj());
  Listed(cache);
  const uint64_t before = cache.Find("n1")->generation();
  cache.UpdateNode(*InZone("n1", "z").Obj(), InZone("n1", "z").ResourceVersion("2").Obj());
  EXPECT_EQ(Listed(cache), "n1");
  EXPECT_GT(cache.Find("n1")->generation(), before);
}

}  // namespace
}  // namespace ks::cache
