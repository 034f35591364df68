// SPDX-License-Identifier: Apache-2.0
#pragma once
// StorageStores: the last known PersistentVolumes, PersistentVolumeClaims, StorageClasses,
// CSINodes, CSIDrivers, CSIStorageCapacities and VolumeAttachments, and the assumed versions over
// the first two. Empty and free of cost while nobody watches them.
//
// Upstream: docs/spec/plugins-volume.md sections 2.2 and 2.12, docs/spec/queue.md 9.6.

#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "api/delta.h"
#include "api/kinds.h"
#include "base/string_map.h"
#include "cache/object_store.h"
#include "framework/events.h"
#include "framework/storage_state.h"

namespace ks::cache {

// One batch of one kind, as its reflector delivers it.
using StorageDeltas = api::StorageKinds::Into<api::DeltasOfOne>;

// The assumed versions over a store. Threads: the scheduling thread.
template <class T>
class AssumedVersions {
 public:
  using Ptr = std::shared_ptr<const T>;

  // The assumed version of `stored` if there is one, else `stored` (which may be null).
  Ptr Over(std::string_view key, Ptr stored) const;
  void Put(const Ptr& object) { versions_[object->meta.Key()] = object; }
  // If it has this one's resourceVersion; whether it had.
  bool Restore(const T& object);
  // The API server's object is another one now; null: deleted.
  void Follow(const std::string& key, const T* stored);
  bool empty() const { return versions_.empty(); }

 private:
  StringMap<Ptr> versions_;
};

// Threads: the scheduling thread; workers read while a cycle runs. A copy is independent.
class StorageStores final : public framework::StorageState {
 public:
  // Told of each object after the store has changed. `action`: Add, Update or Delete.
  using Changed = std::function<void(framework::EventResource resource, uint32_t action,
                                     const framework::EventObject& old_object,
                                     const framework::EventObject& new_object)>;

  void Apply(const StorageDeltas& deltas, const Changed& changed);

  // Whether each of these kinds delivered its first full state. Kinds that are not kept here count
  // as delivered.
  bool Synced(framework::OptionalKinds kinds) const;

  api::PersistentVolumePtr FindVolume(std::string_view name) const override;
  api::PersistentVolumeClaimPtr FindClaim(std::string_view key) const override;
  api::StorageClassPtr FindStorageClass(std::string_view name) const override;
  api::CsiNodePtr FindCsiNode(std::string_view node_name) const override;
  api::CsiDriverPtr FindCsiDriver(std::string_view name) const override;
  std::span<const api::CsiStorageCapacityPtr> CapacitiesOf(
      std::string_view storage_class) const override;
  std::span<const api::VolumeAttachmentPtr> AttachmentsOf(
      std::string_view node_name) const override;

  api::PersistentVolumePtr CurrentVolume(std::string_view name) const override;
  api::PersistentVolumeClaimPtr CurrentClaim(std::string_view key) const override;
  std::vector<api::PersistentVolumePtr> CurrentVolumesOf(
      const Symbol& storage_class) const override;

  Result<void> Assume(const api::PersistentVolumePtr& volume) override;
  Result<void> Assume(const api::PersistentVolumeClaimPtr& claim) override;
  void Restore(const api::PersistentVolume& volume) override;
  void Restore(const api::PersistentVolumeClaim& claim) override;

  const framework::ObjectLog& changes() const override { return changes_; }
  const framework::VolumeLog& current_volume_changes() const override {
    return current_volume_changes_;
  }

 private:
  static constexpr size_t kVolumeLogCapacity = size_t{1} << 12;

  template <class T>
  class Handler;
  template <class T>
  using Index = StringMap<std::vector<std::shared_ptr<const T>>>;  // each ascending by key

  template <class... T>
  using Stores = std::tuple<ObjectStore<T>...>;

  template <class T>
  const ObjectStore<T>& Stored() const {
    return std::get<ObjectStore<T>>(stores_);
  }
  template <class T>
  void ApplyTo(const std::vector<api::Delta<T>>& deltas, const Changed& changed);
  void Note(const api::PersistentVolume* old_object, const api::PersistentVolumePtr& new_object);
  void Note(const api::PersistentVolumeClaim* old_object,
            const api::PersistentVolumeClaimPtr& new_object);
  void Note(const api::CsiStorageCapacity* old_object,
            const api::CsiStorageCapacityPtr& new_object);
  void Note(const api::VolumeAttachment* old_object, const api::VolumeAttachmentPtr& new_object);
  template <class T>
  void Note(const T*, const std::shared_ptr<const T>&) {}

  api::StorageKinds::Into<Stores> stores_;
  std::map<Symbol, std::map<std::string, api::PersistentVolumePtr, std::less<>>> volumes_by_class_;
  Index<api::CsiStorageCapacity> capacities_by_class_;
  Index<api::VolumeAttachment> attachments_by_node_;
  AssumedVersions<api::PersistentVolume> assumed_volumes_;
  AssumedVersions<api::PersistentVolumeClaim> assumed_claims_;
  framework::ObjectLog changes_;
  framework::VolumeLog current_volume_changes_{kVolumeLogCapacity};
  framework::OptionalKinds synced_;
};

}  // namespace ks::cache
