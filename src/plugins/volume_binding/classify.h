// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which claims a pod has, and which of them are bound, to be bound with the pod, or nobody's
// business here.
//
// Upstream: docs/spec/plugins-volume.md sections 1.3, 2.4 and 2.5.

#include <optional>
#include <vector>

#include "api/storage.h"
#include "base/result.h"
#include "framework/storage_state.h"

namespace ks::plugins {

// A claim that is bound when the pod is placed, and its class.
struct DelayedClaimOfPod {
  api::PersistentVolumeClaimPtr claim;
  api::StorageClassPtr storage_class;
};

// The claims of a pod in the order of its volumes; one that two volumes use is there twice.
struct PodClaims {
  std::vector<api::PersistentVolumeClaimPtr> bound;
  std::vector<DelayedClaimOfPod> delayed;
  bool unbound_immediate = false;  // there is one that somebody else has to bind
};

bool HasClaims(const api::Pod& pod);

// Why the pod cannot be scheduled whatever its claims are bound to; absent: nothing is wrong.
std::optional<std::string> ClaimProblem(const framework::StorageState& storage,
                                        const api::Pod& pod);

Result<PodClaims> ClassifyClaims(const framework::StorageState& storage, const api::Pod& pod);

// Whether every claim of the pod is bound, assumed versions included; one that is unknown is not.
bool AllClaimsBound(const framework::StorageState& storage, const api::Pod& pod);

}  // namespace ks::plugins
