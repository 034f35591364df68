// SPDX-License-Identifier: Apache-2.0
#pragma once
// Devices of the scenario "devices": a slice on each node, and a claim for each pod.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl::dev {

// What each claim asks for.
enum class DeviceAsk : uint8_t {
  kAny,       // one device
  kSelector,  // one that a selector chooses, as it does all
  kMatched,   // four with an attribute in common, of which each node has groups of four
  kRare,      // one that a selector chooses: one in eight
};

struct DeviceLoad {
  size_t per_node = 8;
  DeviceAsk ask = DeviceAsk::kSelector;
};

// A class, a slice for each node of the workload, and `count` claims. Blocking.
Result<void> CreateDevices(Cluster& cluster, const Workload& workload, const DeviceLoad& load,
                           size_t count);

// Lets the pod use claim `index` of CreateDevices.
void UseDeviceClaim(nlohmann::json& pod, size_t index);

// Whether every claim is allocated and no device twice. Blocking.
Result<void> CheckDevices(Cluster& cluster, const Workload& workload, size_t count);

}  // namespace ks::ctl::dev
