// SPDX-License-Identifier: Apache-2.0
#pragma once
// Volumes of the scenario "volumes": a claim with a CSI volume of its own for each pod, bound
// already, and on each node a limit of attached volumes.

#include <cstddef>
#include <nlohmann/json.hpp>

#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl::dev {

// Volumes of the scenario's driver that one node can have attached.
inline constexpr size_t kVolumesPerNode = 39;

// A CSINode for each node of the workload, and `count` bound pairs of claim and volume. Blocking.
Result<void> CreateVolumes(Cluster& cluster, const Workload& workload, size_t count);

// Lets the pod use claim `index` of CreateVolumes.
void UseClaim(nlohmann::json& pod, size_t index);

}  // namespace ks::ctl::dev
