// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pod groups of the scenario "gangs": one after the other, each of so many pods, all of which it
// wants.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl::dev {

// What the real API server needs to have them, and both schedulers.
inline constexpr const char* kGroupGates = "--feature-gates=GenericWorkload=true";
std::vector<std::string> GroupApiServerFlags();

// The groups of `count` pods in gangs of `size`; the last one may be smaller. Blocking.
Result<void> CreateGangs(Cluster& cluster, const Workload& workload, size_t size, size_t count);

// Puts pod `index` into its gang.
void JoinGang(nlohmann::json& pod, size_t size, size_t index);

}  // namespace ks::ctl::dev
