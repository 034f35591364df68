// SPDX-License-Identifier: Apache-2.0
// What a group is, and when there are none. That groups follow the cluster is for
// domain_counts_test.cc, whose counters begin with them.
#include "framework/pods_by_labels.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "testing/builders.h"

namespace ks::framework {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;

class PodsByLabelsTest : public ::testing::Test {
 protected:
  PodsByLabelsTest() {
    for (const char* name : {"a", "b"}) cache_.AddNode(MakeNode().Name(name).Obj());
  }

  void Add(const testing::PodBuilder& pod) { ASSERT_TRUE(cache_.AddPod(Built(pod)).ok()); }
  void Remove(const testing::PodBuilder& pod) { ASSERT_TRUE(cache_.RemovePod(*Built(pod)).ok()); }
  // With as many questions as it takes, unless groups do not pay.
  bool Refresh() {
    EXPECT_TRUE(cache_.RefreshSnapshot().ok());
    return pods_.Refresh(cache_, PodsByLabels::kQuestionsWithoutGroups + 1);
  }
  // The pods by node's name, of each group, by what its pods have in common; of all groups, or
  // those with the labels.
  std::map<std::string, std::map<std::string, int>> Groups(const std::vector<Label>& labels = {}) {
    std::map<std::string, std::map<std::string, int>> groups;
    pods_.ForEach(labels, [&](const PodsByLabels::Group& group) {
      const api::ObjectMeta& meta = group.like.pod().meta;
      std::string name = meta.ns.str();
      for (const auto& [key, value] : meta.labels) name += "," + key.str() + "=" + value.str();
      if (meta.deletion_timestamp) name += ",deleted";
      for (const auto& [slot, pods] : group.on_slot) {
        groups[name][cache_.AtSlot(slot)->name()] += pods;
      }
    });
    return groups;
  }

  cache::Cache cache_;
  PodsByLabels pods_;

 private:
  static api::PodPtr Built(testing::PodBuilder pod) { return pod.Obj(); }
};

TEST_F(PodsByLabelsTest, OneGroupHasOneNamespaceAndTheSameLabels) {
  const auto app = [](const char* name, const char* node) {
    return MakePod().Name(name).Namespace("n").Node(node).Labels({{"app", "x"}});
  };
  Add(app("1", "a"));
  Add(app("2", "a"));
  Add(app("3", "b"));
  Add(app("4", "b").Terminating());
  Add(app("5", "b").Namespace("m"));
  Add(app("6", "b").Labels({{"app", "x"}, {"tier", "y"}}));
  Add(MakePod().Name("7").Namespace("n").Node("a"));
  Add(app("8", "no such node"));
  ASSERT_TRUE(Refresh());
  EXPECT_EQ(Groups(), (std::map<std::string, std::map<std::string, int>>{
                          {"n,app=x", {{"a", 2}, {"b", 1}}},
                          {"n,app=x,deleted", {{"b", 1}}},
                          {"m,app=x", {{"b", 1}}},
                          {"n,app=x,tier=y", {{"b", 1}}},
                          {"n", {{"a", 1}}},
                      }));
  const Label tier{Symbol("tier"), Symbol("y")};
  EXPECT_EQ(Groups({{Symbol("app"), Symbol("x")}, tier}),
            (std::map<std::string, std::map<std::string, int>>{{"n,app=x,tier=y", {{"b", 1}}}}));
  EXPECT_TRUE(Groups({tier, {Symbol("app"), Symbol("z")}}).empty());
  for (const char* name : {"1", "2"}) Remove(app(name, "a"));
  Remove(app("5", "b").Namespace("m"));
  ASSERT_TRUE(Refresh());
  EXPECT_EQ(Groups(), (std::map<std::string, std::map<std::string, int>>{
                          {"n,app=x", {{"b", 1}}},
                          {"n,app=x,deleted", {{"b", 1}}},
                          {"n,app=x,tier=y", {{"b", 1}}},
                          {"n", {{"a", 1}}},
                      }));
}

// Who begins to count now and then looks at the pods.
TEST_F(PodsByLabelsTest, AreMadeWhenTheyAreAskedForOften) {
  const auto pod = [](const std::string& name) { return MakePod().Name(name).Node("a"); };
  Add(pod("1"));
  ASSERT_TRUE(cache_.RefreshSnapshot().ok());
  for (const bool want : {false, false, false, true, true}) {
    EXPECT_EQ(pods_.Refresh(cache_), want);
  }
  for (size_t i = 0; i <= ChangeLog::kDefaultCapacity / 2; ++i) {
    Add(pod("2"));
    Remove(pod("2"));
    if (i % 1000 == 0) {
      ASSERT_TRUE(cache_.RefreshSnapshot().ok());
    }
  }
  ASSERT_TRUE(cache_.RefreshSnapshot().ok());
  for (const bool want : {false, false, false, true}) EXPECT_EQ(pods_.Refresh(cache_), want);
  EXPECT_EQ(pods_.size(), 1U);
}

// Of a StatefulSet, say, or a Job with indices.
TEST_F(PodsByLabelsTest, PodsThatAreAllDifferentAreNotGrouped) {
  const auto own = [](int i) {
    const std::string name = "p" + std::to_string(i);
    return MakePod().Name(name).Node("a").Labels({{"pod-name", name}});
  };
  constexpr int kPods = 5000;
  for (int i = 0; i < 1000; ++i) Add(own(i));
  EXPECT_TRUE(Refresh()) << "so few cost nothing";
  for (int i = 1000; i < kPods; ++i) Add(own(i));
  EXPECT_FALSE(Refresh());
  EXPECT_EQ(pods_.size(), 0U);
  // Others come in their place. It is not looked again until so much has changed as there were.
  for (int i = 0; i < kPods - 10; ++i) {
    Remove(own(i));
    if (i == kPods / 2 - 2) {
      EXPECT_FALSE(Refresh());
    }
  }
  for (int i = 0; i < 10; ++i) Add(own(i));
  EXPECT_TRUE(Refresh());
  EXPECT_EQ(pods_.size(), 20U);
}

}  // namespace
}  // namespace ks::framework
