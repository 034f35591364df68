// SPDX-License-Identifier: Apache-2.0
// Pods and nodes in the cache: docs/spec/cache.md sections 5, 6 and 17.
#include "cache/cache.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/builders.h"

namespace ks::cache {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::PodBuilder;

api::NodePtr Node(const std::string& name) {
  return MakeNode()
      .Name(name)
      .Allocatable({{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}})
      .Obj();
}
PodBuilder Pod(const std::string& name, const std::string& node) {
  return MakePod().Name(name).Node(node).Req({{"cpu", "1"}});
}

const framework::NodeInfo* EntryOf(const Cache& cache, const std::string& wanted) {
  const framework::NodeInfo* found = nullptr;
  cache.ForEachEntry([&](const std::string& name, const framework::NodeInfo& info) {
    if (name == wanted) found = &info;
  });
  return found;
}
int64_t MilliCpu(const Cache& cache, const std::string& node) {
  const framework::NodeInfo* info = EntryOf(cache, node);
  return info == nullptr ? -1 : info->requested().milli_cpu;
}
std::vector<std::string> PodsOn(const Cache& cache, const std::string& node) {
  std::vector<std::string> names;
  for (const framework::PodInfoPtr& pod : EntryOf(cache, node)->pods()) {
    names.push_back(pod->pod().meta.name);
  }
  return names;
}
std::string TextOf(const Result<void>& result) {
  return result.ok() ? "ok" : result.error().message;
}
using Names = std::vector<std::string>;

TEST(CachePodTest, ErrorTexts) {
  Cache cache;
  const api::PodPtr assumed = Pod("a", "n1").Obj();
  const api::PodPtr added = Pod("b", "n1").Obj();
  const api::PodPtr unknown = Pod("c", "n1").Obj();
  const api::PodPtr no_uid = Pod("d", "n1").Uid("").Obj();
  ASSERT_TRUE(cache.AssumePod(assumed).ok());
  ASSERT_TRUE(cache.AddPod(added).ok());
  const std::string kNoUid = "cannot get cache key for pod with empty UID";

  const struct {
    const char* name;
    Result<void> got;
    std::string want;
  } cases[] = {
      {"assume an assumed pod", cache.AssumePod(assumed),
       "pod uid-a(ns/a) is in the cache, so can't be assumed"},
      {"assume an added pod", cache.AssumePod(added),
       "pod uid-b(ns/b) is in the cache, so can't be assumed"},
      {"assume without uid", cache.AssumePod(no_uid), kNoUid},
      {"forget elsewhere", cache.ForgetPod(*Pod("a", "n2").Obj()),
       "pod uid-a(ns/a) was assumed on n2 but assigned to n1"},
      {"forget elsewhere, of a lesser name", cache.ForgetPod(*Pod("a", "n0").Obj()),
       "pod uid-a(ns/a) was assumed on n0 but assigned to n1"},
      {"forget an added pod", cache.ForgetPod(*added),
       "pod uid-b(ns/b) is not assumed, so it cannot be removed or forgotten"},
      {"remove-assumed of an added pod", cache.RemoveAssumedPod(*added),
       "pod uid-b(ns/b) is not assumed, so it cannot be removed or forgotten"},
      {"forget an unknown pod", cache.ForgetPod(*unknown), "ok"},
      {"forget without uid", cache.ForgetPod(*no_uid), kNoUid},
      {"add twice", cache.AddPod(added), "pod uid-b(ns/b) was already in added state"},
      {"add without uid", cache.AddPod(no_uid), kNoUid},
      {"update an unknown pod", cache.UpdatePod(*unknown, unknown),
       "pod uid-c(ns/c) is not added to scheduler cache, so cannot be updated"},
      {"update an assumed pod", cache.UpdatePod(*assumed, assumed),
       "assumed pod uid-a(ns/a) should not be updated"},
      {"update without uid", cache.UpdatePod(*no_uid, no_uid), kNoUid},
      {"remove an unknown pod", cache.RemovePod(*unknown),
       "pod uid-c(ns/c) is not found in scheduler cache, so cannot be removed from it"},
      {"remove without uid", cache.RemovePod(*no_uid), kNoUid},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(TextOf(c.got), c.want);
  }
  const Result<api::PodPtr> missing = cache.GetPod(*unknown);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "pod uid-c(ns/c) does not exist in scheduler cache");
  EXPECT_EQ(*cache.GetPod(*added), added);
  EXPECT_TRUE(cache.IsAssumedPod(*assumed));
  EXPECT_FALSE(cache.IsAssumedPod(*added));
  EXPECT_EQ(cache.counts().pods, 2U);
  EXPECT_EQ(cache.counts().assumed_pods, 1U);
  EXPECT_EQ(MilliCpu(cache, "n1"), 2000);
}

TEST(CachePodTest, AssumeThenForgetLeavesNothing) {
  Cache cache;
  cache.AddNode(Node("n1"));
  const api::PodPtr pod = Pod("p", "n1").Obj();
  ASSERT_TRUE(cache.AssumePod(pod).ok());
  EXPECT_EQ(MilliCpu(cache, "n1"), 1000);
  ASSERT_TRUE(cache.ForgetPod(*pod).ok());
  EXPECT_EQ(MilliCpu(cache, "n1"), 0);
  EXPECT_EQ(cache.counts().pods, 0U);
  EXPECT_EQ(cache.counts().assumed_pods, 0U);
  ASSERT_TRUE(cache.AssumePod(pod).ok());
  ASSERT_TRUE(cache.RemoveAssumedPod(*pod).ok());
  EXPECT_EQ(cache.counts().pods, 0U);
}

TEST(CachePodTest, Ex27UpdateMovesThePodToTheEnd) {
  Cache cache;
  cache.AddNode(Node("n"));
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(cache.AddPod(Pod(name, "n").Obj()).ok());
  const api::PodPtr a = Pod("a", "n").Obj();
  ASSERT_TRUE(cache.UpdatePod(*a, Pod("a", "n").Labels({{"k", "v"}}).Obj()).ok());
  EXPECT_EQ(PodsOn(cache, "n"), (Names{"c", "b", "a"}));
}

TEST(CachePodTest, Ex28ConfirmedOnAnotherNode) {
  Cache cache;
  cache.AddNode(Node("n1"));
  cache.AddNode(Node("n2"));
  ASSERT_TRUE(cache.AssumePod(Pod("p", "n1").Obj()).ok());
  ASSERT_TRUE(cache.AddPod(Pod("p", "n2").Obj()).ok());
  EXPECT_EQ(MilliCpu(cache, "n1"), 0);
  EXPECT_EQ(MilliCpu(cache, "n2"), 1000);
  EXPECT_EQ(cache.counts().assumed_pods, 0U);
}

TEST(CachePodTest, Ex29WatchFirstForgetSecond) {
  Cache cache;
  cache.AddNode(Node("n1"));
  const api::PodPtr pod = Pod("p", "n1").Obj();
  ASSERT_TRUE(cache.AssumePod(pod).ok());
  ASSERT_TRUE(cache.AddPod(pod).ok());
  EXPECT_EQ(TextOf(cache.ForgetPod(*pod)),
            "pod uid-p(ns/p) is not assumed, so it cannot be removed or forgotten");
  EXPECT_EQ(MilliCpu(cache, "n1"), 1000);
}

TEST(CachePodTest, Ex30RemoveAssumedThenForgetIsNothing) {
  Cache cache;
  const api::PodPtr pod = Pod("p", "n1").Obj();
  ASSERT_TRUE(cache.AssumePod(pod).ok());
  ASSERT_TRUE(cache.RemoveAssumedPod(*pod).ok());
  EXPECT_TRUE(cache.ForgetPod(*pod).ok());
}

TEST(CachePodTest, Ex34PortsDoNotCountUsers) {
  Cache cache;
  cache.AddNode(Node("n1"));
  ASSERT_TRUE(cache.AddPod(Pod("a", "n1").HostPort(80).Obj()).ok());
  ASSERT_TRUE(cache.AddPod(Pod("b", "n1").HostPort(80).Obj()).ok());
  EXPECT_EQ(EntryOf(cache, "n1")->used_ports().size(), 1U);
  ASSERT_TRUE(cache.RemovePod(*Pod("a", "n1").HostPort(80).Obj()).ok());
  EXPECT_TRUE(EntryOf(cache, "n1")->used_ports().empty());
}

TEST(CachePodTest, UpdateWithAnotherUid) {
  Cache cache;
  ASSERT_TRUE(cache.AddPod(Pod("p", "n1").Obj()).ok());
  ASSERT_TRUE(cache.UpdatePod(*Pod("p", "n1").Obj(), Pod("p", "n1").Uid("u2").Obj()).ok());
  EXPECT_EQ(cache.PodUids(), Names{"u2"});
  EXPECT_EQ(MilliCpu(cache, "n1"), 1000);
}

TEST(CachePodTest, RemovalGivesBackWhatWasAdded) {
  Cache cache;
  cache.AddNode(Node("n1"));
  ASSERT_TRUE(cache.AddPod(Pod("p", "n1").Obj()).ok());
  // The deletion carries an object with other requests, and without a node name.
  ASSERT_TRUE(cache.RemovePod(*MakePod().Name("p").Req({{"cpu", "3"}}).Obj()).ok());
  EXPECT_EQ(MilliCpu(cache, "n1"), 0);
}

TEST(CachePodTest, RemovalOfAnAssumedPod) {
  Cache cache;
  const api::PodPtr pod = Pod("p", "n1").Obj();
  ASSERT_TRUE(cache.AssumePod(pod).ok());
  ASSERT_TRUE(cache.RemovePod(*pod).ok());
  EXPECT_EQ(cache.counts().pods, 0U);
  EXPECT_EQ(cache.counts().assumed_pods, 0U);
}

TEST(CachePodDeathTest, CorruptedState) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Cache cache;
  ASSERT_TRUE(cache.AddPod(Pod("p", "n1").Obj()).ok());
  EXPECT_DEATH((void)cache.UpdatePod(*Pod("p", "n1").Obj(), Pod("p", "n2").Obj()),
               "Pod updated on a different node than previously added to. Scheduler cache is "
               "corrupted and can badly affect scheduling decisions");
  EXPECT_DEATH((void)cache.RemovePod(*Pod("p", "n2").Obj()),
               "Scheduler cache is corrupted and can badly affect scheduling decisions");
}

TEST(CacheNodeTest, Ex35RemovedNodeWithPods) {
  Cache cache;
  cache.AddNode(Node("n1"));
  ASSERT_TRUE(cache.AddPod(Pod("a", "n1").Obj()).ok());
  ASSERT_TRUE(cache.AddPod(Pod("b", "n1").Obj()).ok());
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  ASSERT_TRUE(cache.RemoveNode(*Node("n1")).ok());
  EXPECT_EQ(cache.counts().nodes, 1U);
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  EXPECT_EQ(cache.Find("n1"), nullptr);
  EXPECT_TRUE(cache.nodes().empty());
  ASSERT_TRUE(cache.RemovePod(*Pod("a", "n1").Obj()).ok());
  EXPECT_EQ(cache.counts().nodes, 1U);
  ASSERT_TRUE(cache.RemovePod(*Pod("b", "n1").Obj()).ok());
  EXPECT_EQ(cache.counts().nodes, 0U);
}

TEST(CacheNodeTest, PodsMayComeBeforeTheirNode) {
  Cache cache;
  ASSERT_TRUE(cache.AddPod(Pod("a", "n1").Obj()).ok());
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  EXPECT_TRUE(cache.nodes().empty());
  EXPECT_EQ(cache.counts().nodes, 1U);
  cache.AddNode(Node("n1"));
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  ASSERT_EQ(cache.nodes().size(), 1U);
  EXPECT_EQ(cache.nodes()[0]->requested().milli_cpu, 1000);
}

TEST(CacheNodeTest, RemoveErrors) {
  Cache cache;
  EXPECT_EQ(TextOf(cache.RemoveNode(*Node("n1"))), "node n1 is not found");
  ASSERT_TRUE(cache.AddPod(Pod("a", "n1").Obj()).ok());
  EXPECT_EQ(TextOf(cache.RemoveNode(*Node("n1"))), "node \"n1\" in group \"\" was not found");
}

// Between refreshes the view still shows it.
TEST(CacheNodeTest, RemovedTwice) {
  Cache cache;
  cache.AddNode(Node("n1"));
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  ASSERT_TRUE(cache.RemoveNode(*Node("n1")).ok());
  EXPECT_EQ(TextOf(cache.RemoveNode(*Node("n1"))), "node n1 is not found");
  EXPECT_EQ(cache.counts().nodes, 0U);
}

TEST(CacheNodeTest, EntriesAreVisitedByName) {
  Cache cache;
  for (const char* name : {"b", "c", "a"}) cache.AddNode(Node(name));
  Names visited;
  cache.ForEachEntry(
      [&](const std::string& name, const framework::NodeInfo&) { visited.push_back(name); });
  EXPECT_EQ(visited, (Names{"a", "b", "c"}));
}

TEST(CacheNodeTest, UpdateOfAnUnknownNodeAddsIt) {
  Cache cache;
  cache.UpdateNode(*Node("n1"), Node("n1"));
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  EXPECT_EQ(cache.nodes().size(), 1U);
}

TEST(CacheNodeTest, EmptyImaginaryEntryVanishes) {
  Cache cache;
  const api::PodPtr pod = Pod("a", "nowhere").Obj();
  ASSERT_TRUE(cache.AssumePod(pod).ok());
  ASSERT_TRUE(cache.ForgetPod(*pod).ok());
  EXPECT_EQ(cache.counts().nodes, 0U);
  EXPECT_EQ(EntryOf(cache, "nowhere"), nullptr);
}

}  // namespace
}  // namespace ks::cache
