// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the reasons of DynamicResources leave out: which request of which claim failed, on how many
// of a node's devices why, with amounts and those who use them. For people who look at one pod;
// judges with the plugin's own code, at any cost that a question may have.
//
// Upstream: none; docs/spec/plugins-dra.md sections 4.2, 4.3 and 6 say when a reason is given.

#include <string_view>

#include "api/pod.h"
#include "cache/device_stores.h"
#include "config/gates/feature_gates.h"
#include "framework/snapshot.h"
#include "inspect/explain.h"

namespace ks::inspect {

// Adds amounts to what claims would take of shared devices of feasible nodes, and to `details`: for
// each reason the stories of its nodes, that of most nodes first, and for each story one or more
// texts. `only_node`: speak of this one; empty: of all. Requires: the explanation is of this pod in
// this snapshot, with these devices. Threads: the scheduling thread.
void ExplainDevices(const api::Pod& pod, const framework::Snapshot& snapshot,
                    const cache::DeviceStores& devices, const config::FeatureGates& gates,
                    std::string_view only_node, Explanation* explanation);

}  // namespace ks::inspect
