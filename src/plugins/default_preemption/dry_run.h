// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who would have to leave one node so that a pod fits there.
//
// Upstream: docs/spec/preemption.md section 5.

#include <string_view>

#include "framework/handle.h"
#include "framework/preemption_extender.h"

namespace ks::plugins {

struct DryRun {
  // Success: the victims, most important first, at least one. Anything else: why this node cannot
  // be helped.
  framework::Status status;
  framework::Victims victims;
};

// Works on copies of node and state. `state` is that of the failed attempt.
// Requires: some pod on the node has lower priority.
DryRun RunWithoutLowerPods(const framework::Handle& handle, const framework::CycleState& state,
                           const api::Pod& preemptor, const framework::NodeInfo& node);

// `No preemption victims found for incoming pod`.
const framework::Status& NoVictims();

// `expected at least one victim pod on node "<node>"`.
framework::Status ExpectedVictims(std::string_view node);

}  // namespace ks::plugins
