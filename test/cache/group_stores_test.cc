// SPDX-License-Identifier: Apache-2.0
#include "cache/group_stores.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "testing/deltas.h"

namespace ks::cache {
namespace {

using framework::MetaOf;
using framework::OptionalKind;
using Texts = std::vector<std::string>;
template <class T>
using Deltas = std::vector<api::Delta<T>>;

// A group of either kind, made at second `second`.
template <class T>
std::shared_ptr<const T> Make(const std::string& name, const std::string& parent, int second,
                              const std::string& version) {
  auto group = std::make_shared<T>();
  group->meta.name = name;
  group->meta.ns = Symbol("ns");
  group->meta.resource_version = version;
  group->meta.creation_timestamp = TimePoint() + std::chrono::seconds(second);
  group->spec.parent_composite_pod_group_name = parent;
  return group;
}
api::PodGroupPtr Group(const std::string& name, const std::string& parent, int second,
                       const std::string& version = "1") {
  return Make<api::PodGroup>(name, parent, second, version);
}
api::CompositePodGroupPtr Composite(const std::string& name, const std::string& parent, int second,
                                    const std::string& version = "1") {
  return Make<api::CompositePodGroup>(name, parent, second, version);
}

class GroupStoresTest : public ::testing::Test {
 protected:
  template <class T>
  void Apply(Deltas<T> deltas) {
    // "old>new", by resource version.
    const auto note = [this](const auto& before, const auto& after) {
      changes.push_back((before ? before->meta.resource_version : "") + ">" +
                        (after ? after->meta.resource_version : ""));
    };
    stores.Apply(GroupDeltas(std::move(deltas)), {.pod_group = note, .composite = note});
  }
  template <class T>
  void See(std::shared_ptr<const T> group) {
    Apply(Deltas<T>{testing::Upsert(std::move(group))});
  }
  template <class T>
  void Remove(std::shared_ptr<const T> group) {
    Apply(Deltas<T>{testing::Delete(std::move(group))});
  }
  Texts ChildrenOf(const char* composite) {
    Texts names;
    for (const framework::GroupPtr& child : stores.ChildrenOf(Symbol("ns"), composite)) {
      names.push_back(MetaOf(child).name);
    }
    return names;
  }

  GroupStores stores;
  Texts changes;
};

TEST_F(GroupStoresTest, SyncedAfterTheFirstFullState) {
  EXPECT_TRUE(stores.Synced({OptionalKind::kCsiNode})) << "not kept here";
  EXPECT_FALSE(stores.Synced({OptionalKind::kPodGroup}));
  Apply(Deltas<api::PodGroup>(1));
  EXPECT_TRUE(stores.Synced({OptionalKind::kPodGroup}));
  EXPECT_FALSE(stores.Synced({OptionalKind::kPodGroup, OptionalKind::kCompositePodGroup}));
}

TEST_F(GroupStoresTest, ObjectsAreFoundByNamespaceAndName) {
  See(Group("g", "", 0, "1"));
  See(Composite("g", "", 0, "2"));
  ASSERT_NE(stores.FindPodGroup(Symbol("ns"), "g"), nullptr);
  EXPECT_EQ(stores.FindPodGroup(Symbol("ns"), "g")->meta.resource_version, "1");
  EXPECT_EQ(stores.FindCompositePodGroup(Symbol("ns"), "g")->meta.resource_version, "2");
  EXPECT_EQ(stores.FindPodGroup(Symbol("other"), "g"), nullptr);
  EXPECT_EQ(stores.FindPodGroup(Symbol("ns"), "h"), nullptr);
}

TEST_F(GroupStoresTest, ChangesAreTold) {
  See(Group("g", "", 0, "1"));
  See(Group("g", "", 0, "2"));
  See(Group("g", "", 0, "2"));
  EXPECT_EQ(changes, (Texts{">1", "1>2"})) << "the same version is no change";
  Remove(Group("g", "", 0, "3"));
  EXPECT_EQ(changes.back(), "3>");
  See(Composite("c", "", 0, "4"));
  EXPECT_EQ(changes.back(), ">4");
  EXPECT_EQ(stores.FindPodGroup(Symbol("ns"), "g"), nullptr);
}

TEST_F(GroupStoresTest, MissedDeletionsAreTold) {
  See(Group("g", "c", 0, "1"));
  Apply(Deltas<api::PodGroup>(1));
  EXPECT_EQ(changes, (Texts{">1", "1>"}));
  EXPECT_TRUE(ChildrenOf("c").empty());
}

TEST_F(GroupStoresTest, ChildrenByCreationThenName) {
  See(Group("late", "c", 9));
  See(Group("b", "c", 1));
  See(Group("a", "c", 1));
  See(Composite("a", "c", 1));
  See(Composite("first", "c", 0));
  See(Group("elsewhere", "d", 0));
  See(Group("root", "", 0));
  EXPECT_EQ(ChildrenOf("c"), (Texts{"first", "a", "a", "b", "late"}))
      << "although nobody knows the parent";
  EXPECT_EQ(stores.ChildrenOf(Symbol("ns"), "c")[1].index(), 0u) << "PodGroups first";
  EXPECT_TRUE(ChildrenOf("").empty());
  EXPECT_TRUE(stores.ChildrenOf(Symbol("other"), "c").empty());
}

TEST_F(GroupStoresTest, ChildrenAreTheLatestVersions) {
  See(Group("g", "c", 1, "1"));
  See(Composite("g", "c", 2, "1"));
  See(Group("g", "c", 1, "2"));
  ASSERT_EQ(ChildrenOf("c").size(), 2u);
  EXPECT_EQ(MetaOf(stores.ChildrenOf(Symbol("ns"), "c")[0]).resource_version, "2");
  See(Group("g", "d", 3, "3"));  // another one under the name
  EXPECT_EQ(ChildrenOf("c"), (Texts{"g"}));
  EXPECT_EQ(ChildrenOf("d"), (Texts{"g"}));
  Remove(Group("g", "d", 3, "3"));
  EXPECT_TRUE(ChildrenOf("d").empty());
  EXPECT_EQ(ChildrenOf("c"), (Texts{"g"})) << "the composite of that name";
}

TEST_F(GroupStoresTest, CopiesAreIndependent) {
  See(Group("g", "c", 1));
  const GroupStores copy = stores;
  Remove(Group("g", "c", 1));
  EXPECT_NE(copy.FindPodGroup(Symbol("ns"), "g"), nullptr);
  EXPECT_EQ(copy.ChildrenOf(Symbol("ns"), "c").size(), 1u);
}

}  // namespace
}  // namespace ks::cache
