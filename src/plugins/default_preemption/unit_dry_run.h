// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who would have to leave so that a pod fits on one node, where pods may only leave as a group.
//
// Upstream: docs/spec/preemption.md section 15.

#include "plugins/default_preemption/dry_run.h"
#include "plugins/default_preemption/victim_units.h"

namespace ks::plugins {

// As RunWithoutLowerPods, for units. They may have pods on other nodes, which the state is told of.
// NoVictims() when there is no lower unit.
DryRun RunWithoutLowerUnits(const framework::Handle& handle, const framework::CycleState& state,
                            const api::Pod& preemptor, const framework::NodeInfo& node,
                            VictimUnits& units);

}  // namespace ks::plugins
