// SPDX-License-Identifier: Apache-2.0
#pragma once
// StorageState: volumes, claims and what surrounds them, as plugins read them, and the versions of
// volumes and claims that are assumed but not written yet. Kinds that no enabled plugin asks for
// look empty (framework/optional_kinds.h).
//
// All profiles share it, so that two of them never choose one volume; upstream's profiles assume
// each for itself and find out at the API server.
//
// Upstream: docs/spec/plugins-volume.md sections 2.2 and 2.12.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/storage.h"
#include "base/result.h"
#include "framework/object_change.h"
#include "framework/optional_kinds.h"
#include "framework/ring_log.h"

namespace ks::framework {

using VolumeLog = RingLog<std::string>;

// Threads: the scheduling thread; workers read while a cycle runs. Lifetime: spans are valid until
// the next change of the kind, so only within an attempt.
class StorageState {
 public:
  virtual ~StorageState() = default;

  // As the API server last showed them; null when unknown. `key`: "namespace/name".
  virtual api::PersistentVolumePtr FindVolume(std::string_view name) const = 0;
  virtual api::PersistentVolumeClaimPtr FindClaim(std::string_view key) const = 0;
  virtual api::StorageClassPtr FindStorageClass(std::string_view name) const = 0;
  virtual api::CsiNodePtr FindCsiNode(std::string_view node_name) const = 0;
  virtual api::CsiDriverPtr FindCsiDriver(std::string_view name) const = 0;
  // All capacities of one class, of all namespaces, ascending by key (upstream: undefined).
  virtual std::span<const api::CsiStorageCapacityPtr> CapacitiesOf(
      std::string_view storage_class) const = 0;
  // Those whose spec.nodeName is the node, ascending by name.
  virtual std::span<const api::VolumeAttachmentPtr> AttachmentsOf(
      std::string_view node_name) const = 0;

  // The same with assumed versions in place of the API server's: the API server's object decides
  // whether there is one and to which class it belongs.
  virtual api::PersistentVolumePtr CurrentVolume(std::string_view name) const = 0;
  virtual api::PersistentVolumeClaimPtr CurrentClaim(std::string_view key) const = 0;
  // Volumes of a class (api::PersistentVolume::StorageClass), ascending by name (upstream:
  // undefined).
  virtual std::vector<api::PersistentVolumePtr> CurrentVolumesOf(
      const Symbol& storage_class) const = 0;

  // Puts a version in place of the one with the same resourceVersion, and of an earlier assumed
  // one. Any event about the object drops it again, unless the resourceVersion stayed. Errors:
  // `persistentvolumes "pv" not found`, `"pv" is out of sync (stored: A, assume: B)`, for claims
  // with `persistentvolumeclaims` and the key "namespace/name".
  virtual Result<void> Assume(const api::PersistentVolumePtr& volume) = 0;
  virtual Result<void> Assume(const api::PersistentVolumeClaimPtr& claim) = 0;
  // Drops the assumed version if it has this one's resourceVersion.
  virtual void Restore(const api::PersistentVolume& volume) = 0;
  virtual void Restore(const api::PersistentVolumeClaim& claim) = 0;

  // What the API server changed; assumed versions are no change.
  virtual const ObjectLog& changes() const = 0;
  // Names of volumes whose current version may be another one now, assumed versions included.
  virtual const VolumeLog& current_volume_changes() const = 0;
};

}  // namespace ks::framework
