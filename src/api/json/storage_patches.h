// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bodies of the scheduler's writes to volumes and claims: merge patches that the API server
// refuses with a conflict when the object's resourceVersion is not that of `version`.
//
// Upstream: docs/spec/plugins-volume.md sections 2.9 and 2.10, where whole objects are written.

#include <string>

#include "api/storage.h"

namespace ks::api {

// Gives the volume the claimRef of `version`, whole (a fieldPath goes), and the annotation
// bound-by-controller if `version` has it.
std::string VolumeBindingPatch(const PersistentVolume& version);
// Gives the claim the annotation selected-node of `version`.
std::string SelectedNodePatch(const PersistentVolumeClaim& version);

}  // namespace ks::api
