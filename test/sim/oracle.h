// SPDX-License-Identifier: Apache-2.0
#pragma once
// A second opinion on whether a node can take a pod: plain and slow, of the rules that simulated
// pods use, sharing no code with the plugins.

#include <string>

#include "framework/snapshot.h"

namespace ks::sim {

// Why `pod`, which the node is charged with already, should not be on it; empty: it may.
std::string WhyInfeasible(const api::Pod& pod, const framework::NodeInfo& node,
                          const framework::Snapshot& snapshot);

}  // namespace ks::sim
