// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the reasons of VolumeBinding and NodeVolumeLimits leave out: which claim, how much it asks
// for and how much is left where, which volume, which driver. For people who look at one pod;
// judges with the plugins' own code, at any cost that a question may have.
//
// Upstream: none; docs/spec/plugins-volume.md sections 2.4 to 2.7 and 5 say when a reason is given.

#include <string_view>

#include "api/pod.h"
#include "framework/snapshot.h"
#include "framework/storage_state.h"
#include "inspect/explain.h"

namespace ks::inspect {

// Fills `details`, and `notes` about drivers that are missing without being a reason. `only_node`:
// speak of this one; empty: of all. Requires: the explanation is of this pod in this snapshot.
// Threads: the scheduling thread.
void ExplainVolumes(const api::Pod& pod, const framework::Snapshot& snapshot,
                    const framework::StorageState& storage, std::string_view only_node,
                    Explanation* explanation);

}  // namespace ks::inspect
