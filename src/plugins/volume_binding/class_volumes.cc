// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/class_volumes.h"

#include <algorithm>
#include <utility>

namespace ks::plugins {
namespace {

bool NameBefore(const api::PersistentVolumePtr& a, const api::PersistentVolumePtr& b) {
  return a->meta.name < b->meta.name;
}

std::string KeyOf(const api::ClaimReference& reference) {
  return reference.ns + '/' + reference.name;
}

bool IsFree(const api::PersistentVolume& volume) {
  static const Symbol available("Available");
  return volume.phase == available && !volume.meta.deletion_timestamp;
}

}  // namespace

std::optional<api::Requirement> CommonRequirement(const api::PersistentVolume& volume) {
  const std::optional<api::NodeSelectorSpec>& spec = volume.node_affinity_spec;
  if (!spec || spec->terms.size() != 1) return std::nullopt;
  for (const api::SelectorRequirement& written : spec->terms.front().match_expressions) {
    if (written.op != "In") continue;
    api::Requirement common;
    common.key = Symbol(written.key);
    for (const std::string& value : written.values) common.values.emplace_back(value);
    return common;
  }
  return std::nullopt;
}

Symbol VolumeModeOf(const Symbol& written) {
  static const Symbol filesystem("Filesystem");
  return written.empty() ? filesystem : written;
}

ClassVolumes::ClassVolumes(std::vector<api::PersistentVolumePtr> volumes) {
  std::sort(volumes.begin(), volumes.end(), SmallerVolume());
  for (const api::PersistentVolumePtr& volume : volumes) Insert(volume);
}

void ClassVolumes::Insert(const api::PersistentVolumePtr& volume) {
  if (volume->claim_ref) {
    auto& list = kept_[KeyOf(*volume->claim_ref)];
    list.insert(std::lower_bound(list.begin(), list.end(), volume, NameBefore), volume);
  } else if (IsFree(*volume)) {
    const std::optional<api::Requirement> common = CommonRequirement(*volume);
    KindOf(*volume).volumes.Insert(volume, common ? &*common : nullptr);
  }
}

void ClassVolumes::Erase(const api::PersistentVolumePtr& volume) {
  if (volume->claim_ref) {
    const auto found = kept_.find(KeyOf(*volume->claim_ref));
    auto& list = found->second;
    list.erase(std::lower_bound(list.begin(), list.end(), volume, NameBefore));
    if (list.empty()) kept_.erase(found);
  } else if (IsFree(*volume)) {
    const std::optional<api::Requirement> common = CommonRequirement(*volume);
    KindOf(*volume).volumes.Erase(volume, common ? &*common : nullptr);
  }
}

std::span<const api::PersistentVolumePtr> ClassVolumes::KeptFor(std::string_view claim_key) const {
  const auto found = kept_.find(claim_key);
  if (found == kept_.end()) return {};
  return found->second;
}

ClassVolumes::Kind& ClassVolumes::KindOf(const api::PersistentVolume& volume) {
  const Symbol mode = VolumeModeOf(volume.volume_mode);
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
    return kind.mode == mode && kind.attributes_class == volume.attributes_class &&
           kind.access_modes == volume.access_modes;
  });
  if (found != kinds_.end()) return *found;
  return kinds_.emplace_back(Kind{.mode = mode,
                                  .attributes_class = volume.attributes_class,
                                  .access_modes = volume.access_modes,
                                  .volumes = {}});
}

std::shared_ptr<const ClassVolumes> VolumeIndex::Of(const Symbol& storage_class,
                                                    const framework::StorageState& storage) {
  CatchUp(storage);
  std::shared_ptr<ClassVolumes>& volumes = classes_[storage_class];
  if (volumes == nullptr) {
    std::vector<api::PersistentVolumePtr> list = storage.CurrentVolumesOf(storage_class);
    for (const api::PersistentVolumePtr& volume : list) {
      known_[volume->meta.name] = {storage_class, volume};
    }
    volumes = std::make_shared<ClassVolumes>(std::move(list));
  }
  return volumes;
}

void VolumeIndex::CatchUp(const framework::StorageState& storage) {
  const framework::VolumeLog& log = storage.current_volume_changes();
  if (!position_ || !log.Holds(*position_)) {
    classes_.clear();
    known_.clear();
    position_ = log.end();
  }
  for (; *position_ < log.end(); ++*position_) Update(log.At(*position_), storage);
}

void VolumeIndex::Update(const std::string& name, const framework::StorageState& storage) {
  const api::PersistentVolumePtr stored = storage.FindVolume(name);
  const Symbol storage_class = stored == nullptr ? Symbol() : stored->StorageClass();
  const api::PersistentVolumePtr current = storage.CurrentVolume(name);
  const auto known = known_.find(name);
  if (known != known_.end()) {
    if (known->second.volume == current && known->second.storage_class == storage_class) return;
    Mutable(known->second.storage_class)->Erase(known->second.volume);
    known_.erase(known);
  }
  if (current == nullptr) return;
  ClassVolumes* volumes = Mutable(storage_class);
  if (volumes == nullptr) return;
  volumes->Insert(current);
  known_[name] = {storage_class, current};
}

ClassVolumes* VolumeIndex::Mutable(const Symbol& storage_class) {
  const auto found = classes_.find(storage_class);
  if (found == classes_.end()) return nullptr;
  std::shared_ptr<ClassVolumes>& volumes = found->second;
  if (volumes.use_count() > 1) volumes = std::make_shared<ClassVolumes>(*volumes);
  return volumes.get();
}

}  // namespace ks::plugins
