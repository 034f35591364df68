// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which attachable volumes a pod's volumes are: driver and handle, through claim, volume and class.
//
// Upstream: docs/spec/plugins-volume.md section 5.2.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "framework/status.h"
#include "framework/storage_state.h"

namespace ks::plugins {

struct AttachableVolume {
  Symbol driver;
  std::string name;  // unique: "driver/handle"

  friend bool operator==(const AttachableVolume&, const AttachableVolume&) = default;
};

// Absent when one of the two is empty.
std::optional<AttachableVolume> MakeAttachable(std::string_view driver, std::string_view handle);

// Whether the node has a CSINode; without one no in-tree type counts as migrated there.
enum class CsiNodePresence { kAbsent, kPresent };

// The volume of the claim as it is now; absent: it does not count.
std::optional<AttachableVolume> IdentifyClaim(const api::PersistentVolumeClaim& claim,
                                              CsiNodePresence csi_node,
                                              const framework::StorageState& storage);

// Whether a volume of the pod may be one: it means a claim or has an in-tree source.
bool MayAttach(const api::Pod& pod);

// Appends what each volume of the pod is, with repetitions. Fails at the first volume that cannot
// be told: Error, or UnschedulableAndUnresolvable where a claim is missing.
framework::Status IdentifyVolumes(const api::Pod& pod, CsiNodePresence csi_node,
                                  const framework::StorageState& storage,
                                  std::vector<AttachableVolume>* volumes);

// The same for a pod that is on a node, which has a CSINode: missing claims count for nothing.
framework::Status IdentifyAttached(const api::Pod& pod, const framework::StorageState& storage,
                                   std::vector<AttachableVolume>* volumes);

// `converting volume(v) from inline to csi: …`.
std::string InlineTranslationText(const api::Volume& volume, const std::string& error);

}  // namespace ks::plugins
