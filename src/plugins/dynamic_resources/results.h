// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is written into a claim's status of the devices that were found.
//
// Upstream: docs/spec/plugins-dra.md section 6.7.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "plugins/dynamic_resources/plan.h"
#include "plugins/dynamic_resources/pools.h"
#include "plugins/dynamic_resources/search.h"

namespace ks::plugins {

// Why nothing can be made of these picks, which is fatal; empty: it can.
std::string FindUnsupportedSelector(const AllocationPlan& plan, const NodePools& pools,
                                    const DevicePicks& picks);

// One allocation a claim of the plan. `new_share_id` gives a new random id (a UUID) for a share.
// Requires: no unsupported selector.
std::vector<api::ClaimAllocation> MakeAllocations(const AllocationPlan& plan,
                                                  const NodePools& pools,
                                                  std::string_view node_name,
                                                  const DevicePicks& picks,
                                                  const std::function<std::string()>& new_share_id);

}  // namespace ks::plugins
