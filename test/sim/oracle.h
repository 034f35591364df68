// SPDX-License-Identifier: Apache-2.0
#pragma once
// A second opinion on whether a node can take a pod: plain and slow, of the rules that simulated
// pods use, sharing no code with the plugins.

#include <string>
#include <vector>

#include "framework/snapshot.h"

namespace ks::sim {

// Why `pod`, which the node is charged with already, should not be on it; empty: it may. The second
// leaves out who would repel it, or whom it would.
std::string WhyInfeasible(const api::Pod& pod, const framework::NodeInfo& node,
                          const framework::Snapshot& snapshot);
std::string WhyUnfit(const api::Pod& pod, const framework::NodeInfo& node);

// Why the node will not have the pod, whoever is on it: a taint, a cordon, a label that it selects
// by; empty: it may. The second leaves out the loaded plugin, of which the scheduler does not know
// what it refuses for good.
std::string WhyRefused(const api::Pod& pod, const api::Node& node);
std::string WhyLost(const api::Pod& pod, const api::Node& node);

// Whether the node had room for `pod`, which it is charged with already, and for those nominated
// there that the pod has to respect; empty: it had. Of cpu, memory and the number of pods.
std::string WhyNoRoom(const api::Pod& pod, const framework::NodeInfo& node,
                      const std::vector<framework::PodInfoPtr>& nominated);

}  // namespace ks::sim
