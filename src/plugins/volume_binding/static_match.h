// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which existing volume a claim gets on a node. What does not depend on the node is decided once;
// a node then costs the candidates that may be for it, in order, until one fits: of 10,000 volumes
// of one node each, it looks at its own.
//
// Upstream: docs/spec/plugins-volume.md section 2.7.1. Volumes of equal capacity: the smallest name
// wins (upstream: undefined).

#include <span>
#include <string>
#include <vector>

#include "api/storage.h"
#include "plugins/volume_binding/node_index.h"

namespace ks::plugins {

// A place in the list of volumes: one volume is one place.
using VolumeRef = const api::PersistentVolumePtr*;

// Whether the volume is reserved for this claim, or free: spec.claimRef is absent or names it.
bool MayBelongTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim);

// Whether the volume may be used on a node with these labels (section 1.6).
inline bool AffinityMatches(const api::PersistentVolume& volume, const api::LabelMap& labels) {
  return !volume.node_affinity || volume.node_affinity->Matches(labels, {});
}

// The volumes that may be a claim's. Threads: immutable. Lifetime: the list outlives it.
class StaticMatch {
 public:
  // `volumes`: of the claim's class, ascending by name.
  StaticMatch(const api::PersistentVolumeClaim& claim,
              std::span<const api::PersistentVolumePtr> volumes);

  // Of a selector that cannot be used; nothing may be asked then.
  const std::string& error() const { return error_; }

  // Null: none. `taken`: given to other claims of the pod on this node.
  VolumeRef On(const api::LabelMap& node_labels, std::span<const VolumeRef> taken) const;

 private:
  std::string error_;
  std::vector<VolumeRef> reserved_;  // for this claim, by name
  std::vector<VolumeRef> free_;      // by capacity and name
  NodeIndex free_by_node_;
};

}  // namespace ks::plugins
