// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which existing volume a claim gets on a node. What does not depend on the node is decided once;
// a node then costs the candidates that may be for it, in order, until one fits: of 10,000 volumes
// of one node each, it looks at its own.
//
// Upstream: docs/spec/plugins-volume.md section 2.7.1. Volumes of equal capacity: the smallest name
// wins (upstream: undefined).

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/storage.h"
#include "plugins/volume_binding/class_volumes.h"

namespace ks::plugins {

// Whether the volume is reserved for this claim, or free: spec.claimRef is absent or names it.
bool MayBelongTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim);

// Whether the volume may be used on a node with these labels (section 1.6).
inline bool AffinityMatches(const api::PersistentVolume& volume, const api::LabelMap& labels) {
  return !volume.node_affinity || volume.node_affinity->Matches(labels, {});
}

// The volumes that may be a claim's. Threads: immutable.
class StaticMatch {
 public:
  // `volumes`: of the claim's class.
  StaticMatch(api::PersistentVolumeClaimPtr claim, std::shared_ptr<const ClassVolumes> volumes);

  // The error of a selector that cannot be used; nothing may be asked then.
  const std::string& error() const { return error_; }

  // Null: none. `taken`: given to other claims of the pod on this node.
  const api::PersistentVolumePtr* On(const api::LabelMap& node_labels,
                                     std::span<const api::PersistentVolume* const> taken) const;

 private:
  void Select(const VolumesByNode& volumes);

  api::PersistentVolumeClaimPtr claim_;
  std::shared_ptr<const ClassVolumes> volumes_;
  std::string error_;
  std::vector<const api::PersistentVolumePtr*> reserved_;  // for this claim, by name
  std::vector<const VolumesByNode*> free_;   // may be the claim's where their nodes are
  std::unique_ptr<VolumesByNode> selected_;  // by the claim's selector; null: it has none
};

}  // namespace ks::plugins
