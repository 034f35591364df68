// SPDX-License-Identifier: Apache-2.0
#pragma once
// ClassVolumes: the volumes of a storage class, arranged for static matching: by the claim they are
// kept for, or by what claims ask of them and the nodes they are for. VolumeIndex: these for the
// classes that were asked for, kept from attempt to attempt change by change, so that an attempt
// looks at no volume that is neither for its claim nor for a node it examines.
//
// Upstream: docs/spec/plugins-volume.md sections 2.2 and 2.7.1.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/storage.h"
#include "base/string_map.h"
#include "framework/storage_state.h"
#include "plugins/volume_binding/node_index.h"

namespace ks::plugins {

// The smallest volume first; of equal capacity the smallest name.
struct SmallerVolume {
  bool operator()(const api::PersistentVolumePtr& a, const api::PersistentVolumePtr& b) const {
    const auto order = a->capacity <=> b->capacity;
    return order != 0 ? order < 0 : a->meta.name < b->meta.name;
  }
};
using VolumesByNode = NodeIndex<api::PersistentVolumePtr, SmallerVolume>;

// An In requirement that every node of the volume fulfils; absent: none is known.
std::optional<api::Requirement> CommonRequirement(const api::PersistentVolume& volume);

// Threads: like a value.
class ClassVolumes {
 public:
  // Volumes that nobody has and anybody may get, alike in all that claims compare for equality.
  struct Kind {
    Symbol mode;  // never empty
    Symbol attributes_class;
    std::vector<Symbol> access_modes;
    VolumesByNode volumes;
  };

  ClassVolumes() = default;
  explicit ClassVolumes(std::vector<api::PersistentVolumePtr> volumes);

  // Requires: no volume of the name is in.
  void Insert(const api::PersistentVolumePtr& volume);
  // Requires: the volume is in.
  void Erase(const api::PersistentVolumePtr& volume);

  // Whose spec.claimRef has this "namespace/name", ascending by name.
  std::span<const api::PersistentVolumePtr> KeptFor(std::string_view claim_key) const;
  const std::vector<Kind>& kinds() const { return kinds_; }

 private:
  Kind& KindOf(const api::PersistentVolume& volume);

  StringMap<std::vector<api::PersistentVolumePtr>> kept_;
  std::vector<Kind> kinds_;  // few
};

// spec.volumeMode as it counts.
Symbol VolumeModeOf(const Symbol& written);

// Threads: the scheduling thread. Lifetime: the storage state, always the same, outlives it.
class VolumeIndex {
 public:
  // The volumes of the class as they are now, assumed versions included; what is returned never
  // changes. O(changes of volumes since the last call); O(volumes of the class) the first time and
  // when the log does not reach back.
  std::shared_ptr<const ClassVolumes> Of(const Symbol& storage_class,
                                         const framework::StorageState& storage);

 private:
  struct Known {
    Symbol storage_class;
    api::PersistentVolumePtr volume;
  };

  void CatchUp(const framework::StorageState& storage);
  void Update(const std::string& name, const framework::StorageState& storage);
  // Null when the class was not asked for. A copy takes the place of what an attempt still reads.
  ClassVolumes* Mutable(const Symbol& storage_class);

  std::optional<uint64_t> position_;
  std::map<Symbol, std::shared_ptr<ClassVolumes>> classes_;
  StringMap<Known> known_;  // what is in classes_, by name
};

}  // namespace ks::plugins
