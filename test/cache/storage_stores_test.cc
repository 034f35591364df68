// SPDX-License-Identifier: Apache-2.0
#include "cache/storage_stores.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testing/deltas.h"

namespace ks::cache {
namespace {

using framework::EventObject;
using framework::EventResource;
using framework::OptionalKind;
using testing::Delete;
using testing::Replace;
using testing::Upsert;
template <class T>
using Deltas = std::vector<api::Delta<T>>;
using Names = std::vector<std::string>;

api::PersistentVolumePtr Volume(const char* name, const char* version, const char* class_name) {
  auto volume = std::make_shared<api::PersistentVolume>();
  volume->meta.name = name;
  volume->meta.resource_version = version;
  volume->storage_class_name = Symbol(class_name);
  return volume;
}

// A version of the volume that nobody but the scheduler knows.
api::PersistentVolumePtr Reserved(const char* name, const char* version, const char* claim) {
  auto volume = std::make_shared<api::PersistentVolume>(*Volume(name, version, "sc"));
  volume->claim_ref = api::ClaimReference{.ns = "ns", .name = claim};
  return volume;
}

api::PersistentVolumeClaimPtr Claim(const char* name, const char* version,
                                    const char* selected_node = nullptr) {
  auto claim = std::make_shared<api::PersistentVolumeClaim>();
  claim->meta.ns = Symbol("ns");
  claim->meta.name = name;
  claim->meta.resource_version = version;
  if (selected_node != nullptr) claim->selected_node = selected_node;
  return claim;
}

class StorageStoresTest : public ::testing::Test {
 protected:
  template <class T>
  void Apply(Deltas<T> deltas) {
    stores.Apply(StorageDeltas(std::move(deltas)),
                 [this](EventResource resource, uint32_t action, const EventObject& old_object,
                        const EventObject& new_object) {
                   const framework::ClusterEvent event{
                       .resource = resource, .actions = action, .custom_label = {}};
                   events.push_back(event.Label() + (old_object.index() != 0 ? " old" : "") +
                                    (new_object.index() != 0 ? " new" : ""));
                 });
  }
  template <class T>
  void See(std::shared_ptr<const T> object) {
    Apply(Deltas<T>{Upsert(std::move(object))});
  }
  std::string ClaimOf(const api::PersistentVolumePtr& volume) {
    return volume == nullptr    ? "no volume"
           : !volume->claim_ref ? "no claim"
                                : volume->claim_ref->name;
  }

  StorageStores stores;
  Names events;
};

TEST_F(StorageStoresTest, TellsOfEachObject) {
  Apply(Deltas<api::CsiNode>{Replace<api::CsiNode>({})});
  See(Volume("pv", "1", "sc"));
  See(Volume("pv", "2", "sc"));
  Apply(Deltas<api::PersistentVolume>{Delete(Volume("pv", "3", "sc"))});
  See(Claim("c", "1"));
  auto attachment = std::make_shared<api::VolumeAttachment>();
  attachment->meta.name = "a";
  See<api::VolumeAttachment>(attachment);
  EXPECT_EQ(events, (Names{"PersistentVolumeAdd new", "PersistentVolumeUpdate old new",
                           "PersistentVolumeDelete old", "PersistentVolumeClaimAdd new",
                           "storage.k8s.io/VolumeAttachmentAdd new"}));
}

TEST_F(StorageStoresTest, SyncedAfterTheFirstFullState) {
  EXPECT_TRUE(stores.Synced({}));
  EXPECT_TRUE(stores.Synced({OptionalKind::kService})) << "not kept here";
  EXPECT_FALSE(stores.Synced({OptionalKind::kService, OptionalKind::kCsiDriver}));
  See(Volume("pv", "1", "sc"));
  EXPECT_FALSE(stores.Synced({OptionalKind::kPersistentVolume}));
  Apply(Deltas<api::PersistentVolume>{Replace<api::PersistentVolume>({})});
  EXPECT_TRUE(stores.Synced({OptionalKind::kPersistentVolume}));
  EXPECT_EQ(stores.FindVolume("pv"), nullptr);
}

TEST_F(StorageStoresTest, AssumedVolumeStandsInForItsVersionOnly) {
  See(Volume("pv", "8", "sc"));
  ASSERT_TRUE(stores.Assume(Reserved("pv", "8", "first")).ok());
  EXPECT_EQ(ClaimOf(stores.CurrentVolume("pv")), "first");
  EXPECT_EQ(ClaimOf(stores.CurrentVolumesOf(Symbol("sc")).at(0)), "first");
  EXPECT_EQ(ClaimOf(stores.FindVolume("pv")), "no claim") << "the API server's stays readable";
  ASSERT_TRUE(stores.Assume(Reserved("pv", "8", "second")).ok());
  EXPECT_EQ(ClaimOf(stores.CurrentVolume("pv")), "second");

  stores.Restore(*Reserved("pv", "9", "second"));
  EXPECT_EQ(ClaimOf(stores.CurrentVolume("pv")), "second") << "another version";
  stores.Restore(*Volume("pv", "8", "sc"));
  EXPECT_EQ(ClaimOf(stores.CurrentVolume("pv")), "no claim");
}

TEST_F(StorageStoresTest, EventsDropAssumedVersions) {
  See(Volume("pv", "8", "sc"));
  ASSERT_TRUE(stores.Assume(Reserved("pv", "8", "c")).ok());
  See(Volume("pv", "8", "sc"));
  EXPECT_EQ(ClaimOf(stores.CurrentVolume("pv")), "c") << "listed again, unchanged";
  See(Volume("pv", "9", "sc"));
  EXPECT_EQ(ClaimOf(stores.CurrentVolume("pv")), "no claim");

  ASSERT_TRUE(stores.Assume(Reserved("pv", "9", "c")).ok());
  Apply(Deltas<api::PersistentVolume>{Delete(Volume("pv", "9", "sc"))});
  EXPECT_EQ(ClaimOf(stores.CurrentVolume("pv")), "no volume");
  See(Volume("pv", "9", "sc"));
  EXPECT_EQ(ClaimOf(stores.CurrentVolume("pv")), "no claim");
}

TEST_F(StorageStoresTest, AssumedClaims) {
  See(Claim("c", "3"));
  ASSERT_TRUE(stores.Assume(Claim("c", "3", "n1")).ok());
  EXPECT_EQ(stores.CurrentClaim("ns/c")->selected_node, "n1");
  EXPECT_FALSE(stores.FindClaim("ns/c")->selected_node.has_value());
  stores.Restore(*Claim("c", "3"));
  EXPECT_FALSE(stores.CurrentClaim("ns/c")->selected_node.has_value());
  EXPECT_EQ(stores.CurrentClaim("ns/other"), nullptr);
}

TEST_F(StorageStoresTest, WhatCannotBeAssumed) {
  EXPECT_EQ(stores.Assume(Volume("pv", "8", "sc")).error().message,
            "persistentvolumes \"pv\" not found");
  EXPECT_EQ(stores.Assume(Claim("c", "8")).error().message,
            "persistentvolumeclaims \"ns/c\" not found");
  See(Volume("pv", "8", "sc"));
  See(Claim("c", "8"));
  EXPECT_EQ(stores.Assume(Volume("pv", "7", "sc")).error().message,
            "\"pv\" is out of sync (stored: 8, assume: 7)");
  EXPECT_EQ(stores.Assume(Claim("c", "7")).error().message,
            "\"ns/c\" is out of sync (stored: 8, assume: 7)");
}

TEST_F(StorageStoresTest, VolumesOfAClassByName) {
  const auto names = [this](const char* class_name) {
    Names found;
    for (const auto& volume : stores.CurrentVolumesOf(Symbol(class_name))) {
      found.push_back(volume->meta.name);
    }
    return found;
  };
  See(Volume("b", "1", "sc"));
  See(Volume("a", "2", "sc"));
  See(Volume("c", "3", "other"));
  EXPECT_EQ(names("sc"), (Names{"a", "b"}));
  See(Volume("a", "4", "other"));
  EXPECT_EQ(names("sc"), (Names{"b"}));
  EXPECT_EQ(names("other"), (Names{"a", "c"}));
  // The API server's object decides on the class, not the assumed one.
  ASSERT_TRUE(stores.Assume(Volume("c", "3", "sc")).ok());
  EXPECT_EQ(names("sc"), (Names{"b"}));
  EXPECT_EQ(names("none"), Names{});
}

TEST_F(StorageStoresTest, CapacitiesAndAttachmentsByWhatTheyBelongTo) {
  const auto capacity = [](const char* ns, const char* name, const char* class_name) {
    auto made = std::make_shared<api::CsiStorageCapacity>();
    made->meta.ns = Symbol(ns);
    made->meta.name = name;
    made->storage_class_name = Symbol(class_name);
    return made;
  };
  See<api::CsiStorageCapacity>(capacity("z", "a", "sc"));
  See<api::CsiStorageCapacity>(capacity("a", "z", "sc"));
  ASSERT_EQ(stores.CapacitiesOf("sc").size(), 2u);
  EXPECT_EQ(stores.CapacitiesOf("sc")[0]->meta.Key(), "a/z");
  See<api::CsiStorageCapacity>(capacity("a", "z", "other"));
  EXPECT_EQ(stores.CapacitiesOf("sc").size(), 1u);
  EXPECT_EQ(stores.CapacitiesOf("other").size(), 1u);
  EXPECT_TRUE(stores.CapacitiesOf("none").empty());

  auto attachment = std::make_shared<api::VolumeAttachment>();
  attachment->meta.name = "a";
  attachment->node_name = "n1";
  See<api::VolumeAttachment>(attachment);
  EXPECT_EQ(stores.AttachmentsOf("n1").size(), 1u);
  Apply(Deltas<api::VolumeAttachment>{Delete<api::VolumeAttachment>(attachment)});
  EXPECT_TRUE(stores.AttachmentsOf("n1").empty());
}

TEST_F(StorageStoresTest, LogTellsWhatChanged) {
  const uint64_t begin = stores.changes().end();
  See(Claim("c", "1"));
  ASSERT_TRUE(stores.Assume(Claim("c", "1", "n1")).ok());
  See(Volume("pv", "1", "sc"));
  ASSERT_EQ(stores.changes().end(), begin + 2) << "assuming is no change";
  EXPECT_EQ(stores.changes().At(begin).kind, OptionalKind::kPersistentVolumeClaim);
  EXPECT_EQ(stores.changes().At(begin).key, "ns/c");
  EXPECT_EQ(stores.changes().At(begin + 1).key, "pv");
}

TEST_F(StorageStoresTest, CopiesAreIndependent) {
  See(Volume("pv", "8", "sc"));
  StorageStores copy = stores;
  ASSERT_TRUE(copy.Assume(Reserved("pv", "8", "c")).ok());
  EXPECT_EQ(ClaimOf(copy.CurrentVolume("pv")), "c");
  EXPECT_EQ(ClaimOf(stores.CurrentVolume("pv")), "no claim");
}

}  // namespace
}  // namespace ks::cache
