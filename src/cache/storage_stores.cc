// SPDX-License-Identifier: Apache-2.0
#include "cache/storage_stores.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ks::cache {

using framework::EventResource;

namespace {

// The events of a kind's objects.
template <class T>
constexpr EventResource kResourceOf{};
#define KS_RESOURCE_OF(type, kind, group, version, plural, scope) \
  template <>                                                     \
  constexpr EventResource kResourceOf<api::type> = EventResource::k##type;
KS_STORAGE_KINDS(KS_RESOURCE_OF)
#undef KS_RESOURCE_OF

// Objects in lists, each ascending by key; the name of the list is a property of the object.
template <class T>
using Lists = StringMap<std::vector<std::shared_ptr<const T>>>;

template <class T>
typename std::vector<std::shared_ptr<const T>>::iterator Place(
    std::vector<std::shared_ptr<const T>>& list, const std::string& key) {
  return std::lower_bound(list.begin(), list.end(), key,
                          [](const std::shared_ptr<const T>& entry, const std::string& wanted) {
                            return entry->meta.Key() < wanted;
                          });
}

template <class T>
void Erase(Lists<T>& lists, std::string_view list_name, const T& object) {
  const auto found = lists.find(list_name);
  if (found == lists.end()) return;
  std::vector<std::shared_ptr<const T>>& list = found->second;
  const std::string key = object.meta.Key();
  const auto place = Place<T>(list, key);
  if (place != list.end() && (*place)->meta.Key() == key) list.erase(place);
  if (list.empty()) lists.erase(found);
}

template <class T>
void Insert(Lists<T>& lists, std::string_view list_name, const std::shared_ptr<const T>& object) {
  std::vector<std::shared_ptr<const T>>& list = lists[std::string(list_name)];
  list.insert(Place<T>(list, object->meta.Key()), object);
}

template <class T>
std::span<const std::shared_ptr<const T>> In(const Lists<T>& lists, std::string_view list_name) {
  const auto found = lists.find(list_name);
  if (found == lists.end()) return {};
  return found->second;
}

// Whether `version` may take the place of `stored`. `plural`: of the kind, in texts.
template <class T>
Result<void> CheckAssumable(const std::shared_ptr<const T>& stored, const T& version,
                            std::string_view plural) {
  const std::string quoted = '"' + version.meta.Key() + '"';
  if (stored == nullptr) return Error{std::string(plural) + ' ' + quoted + " not found"};
  if (stored->meta.resource_version == version.meta.resource_version) return {};
  return Error{quoted + " is out of sync (stored: " + stored->meta.resource_version +
               ", assume: " + version.meta.resource_version + ")"};
}

}  // namespace

template <class T>
std::shared_ptr<const T> AssumedVersions<T>::Over(std::string_view key, Ptr stored) const {
  if (versions_.empty() || stored == nullptr) return stored;
  const auto found = versions_.find(key);
  const bool holds = found != versions_.end() &&
                     found->second->meta.resource_version == stored->meta.resource_version;
  return holds ? found->second : stored;
}

template <class T>
bool AssumedVersions<T>::Restore(const T& object) {
  const auto found = versions_.find(object.meta.Key());
  if (found == versions_.end()) return false;
  if (found->second->meta.resource_version != object.meta.resource_version) return false;
  versions_.erase(found);
  return true;
}

template <class T>
void AssumedVersions<T>::Follow(const std::string& key, const T* stored) {
  const auto found = versions_.find(key);
  if (found == versions_.end()) return;
  const bool same =
      stored != nullptr && stored->meta.resource_version == found->second->meta.resource_version;
  if (!same) versions_.erase(found);
}

template class AssumedVersions<api::PersistentVolume>;
template class AssumedVersions<api::PersistentVolumeClaim>;

// Keeps indexes, assumed versions and the log, then tells of the change.
template <class T>
class StorageStores::Handler final : public ObjectHandler<T> {
 public:
  using Ptr = std::shared_ptr<const T>;

  Handler(StorageStores& stores, const Changed& changed) : stores_(stores), changed_(changed) {}

  void Add(const Ptr& object) override {
    Note(nullptr, object);
    changed_(kResourceOf<T>, framework::kActionAdd, std::monostate(), object);
  }
  void Update(const Ptr& old_object, const Ptr& new_object) override {
    Note(old_object, new_object);
    changed_(kResourceOf<T>, framework::kActionUpdate, old_object, new_object);
  }
  void Delete(const Ptr& object, bool) override {
    Note(object, nullptr);
    changed_(kResourceOf<T>, framework::kActionDelete, object, std::monostate());
  }

 private:
  void Note(const Ptr& old_object, const Ptr& new_object) {
    stores_.Note(old_object.get(), new_object);
    stores_.changes_.Append(
        {framework::kOptionalKindOf<T>, (new_object ? new_object : old_object)->meta.Key()});
  }

  StorageStores& stores_;
  const Changed& changed_;
};

template <class T>
void StorageStores::ApplyTo(const std::vector<api::Delta<T>>& deltas, const Changed& changed) {
  Handler<T> handler(*this, changed);
  for (const api::Delta<T>& delta : deltas) {
    std::get<ObjectStore<T>>(stores_).Apply(delta, handler);
    if (delta.type == api::Delta<T>::Type::kReplace) synced_.Add(framework::kOptionalKindOf<T>);
  }
}

void StorageStores::Apply(const StorageDeltas& deltas, const Changed& changed) {
  std::visit([&](const auto& of_kind) { ApplyTo(of_kind, changed); }, deltas);
}

void StorageStores::Note(const api::PersistentVolume* old_object,
                         const api::PersistentVolumePtr& new_object) {
  const std::string& name = (new_object ? new_object.get() : old_object)->meta.name;
  assumed_volumes_.Follow(name, new_object.get());
  current_volume_changes_.Append(name);
  if (old_object != nullptr) {
    const auto found = volumes_by_class_.find(old_object->StorageClass());
    found->second.erase(name);
    if (found->second.empty()) volumes_by_class_.erase(found);
  }
  if (new_object != nullptr) volumes_by_class_[new_object->StorageClass()][name] = new_object;
}

void StorageStores::Note(const api::PersistentVolumeClaim* old_object,
                         const api::PersistentVolumeClaimPtr& new_object) {
  assumed_claims_.Follow((new_object ? new_object.get() : old_object)->meta.Key(),
                         new_object.get());
}

void StorageStores::Note(const api::CsiStorageCapacity* old_object,
                         const api::CsiStorageCapacityPtr& new_object) {
  if (old_object != nullptr) {
    Erase(capacities_by_class_, old_object->storage_class_name.view(), *old_object);
  }
  if (new_object != nullptr) {
    Insert(capacities_by_class_, new_object->storage_class_name.view(), new_object);
  }
}

void StorageStores::Note(const api::VolumeAttachment* old_object,
                         const api::VolumeAttachmentPtr& new_object) {
  if (old_object != nullptr) Erase(attachments_by_node_, old_object->node_name, *old_object);
  if (new_object != nullptr) Insert(attachments_by_node_, new_object->node_name, new_object);
}

bool StorageStores::Synced(framework::OptionalKinds kinds) const {
  return framework::AllSynced<api::StorageKinds>(kinds, synced_);
}

api::PersistentVolumePtr StorageStores::FindVolume(std::string_view name) const {
  return Stored<api::PersistentVolume>().Get(name);
}
api::PersistentVolumeClaimPtr StorageStores::FindClaim(std::string_view key) const {
  return Stored<api::PersistentVolumeClaim>().Get(key);
}
api::StorageClassPtr StorageStores::FindStorageClass(std::string_view name) const {
  return Stored<api::StorageClass>().Get(name);
}
api::CsiNodePtr StorageStores::FindCsiNode(std::string_view node_name) const {
  return Stored<api::CsiNode>().Get(node_name);
}
api::CsiDriverPtr StorageStores::FindCsiDriver(std::string_view name) const {
  return Stored<api::CsiDriver>().Get(name);
}

std::span<const api::CsiStorageCapacityPtr> StorageStores::CapacitiesOf(
    std::string_view storage_class) const {
  return In(capacities_by_class_, storage_class);
}

std::span<const api::VolumeAttachmentPtr> StorageStores::AttachmentsOf(
    std::string_view node_name) const {
  return In(attachments_by_node_, node_name);
}

api::PersistentVolumePtr StorageStores::CurrentVolume(std::string_view name) const {
  return assumed_volumes_.Over(name, Stored<api::PersistentVolume>().Get(name));
}

api::PersistentVolumeClaimPtr StorageStores::CurrentClaim(std::string_view key) const {
  return assumed_claims_.Over(key, Stored<api::PersistentVolumeClaim>().Get(key));
}

std::vector<api::PersistentVolumePtr> StorageStores::CurrentVolumesOf(
    const Symbol& storage_class) const {
  std::vector<api::PersistentVolumePtr> list;
  const auto found = volumes_by_class_.find(storage_class);
  if (found == volumes_by_class_.end()) return list;
  list.reserve(found->second.size());
  for (const auto& [name, volume] : found->second) {
    list.push_back(assumed_volumes_.Over(name, volume));
  }
  return list;
}

Result<void> StorageStores::Assume(const api::PersistentVolumePtr& volume) {
  Result<void> fits = CheckAssumable(Stored<api::PersistentVolume>().Get(volume->meta.name),
                                     *volume, "persistentvolumes");
  if (!fits.ok()) return fits;
  assumed_volumes_.Put(volume);
  current_volume_changes_.Append(volume->meta.name);
  return {};
}

Result<void> StorageStores::Assume(const api::PersistentVolumeClaimPtr& claim) {
  Result<void> fits = CheckAssumable(Stored<api::PersistentVolumeClaim>().Get(claim->meta.Key()),
                                     *claim, "persistentvolumeclaims");
  if (fits.ok()) assumed_claims_.Put(claim);
  return fits;
}

void StorageStores::Restore(const api::PersistentVolume& volume) {
  if (assumed_volumes_.Restore(volume)) current_volume_changes_.Append(volume.meta.name);
}

void StorageStores::Restore(const api::PersistentVolumeClaim& claim) {
  assumed_claims_.Restore(claim);
}

}  // namespace ks::cache
