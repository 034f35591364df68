// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is written into a claim's status of the devices that were found.
//
// Upstream: docs/spec/plugins-dra.md section 6.7.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "api/devices.h"
#include "api/node.h"
#include "base/result.h"
#include "plugins/dynamic_resources/plan.h"
#include "plugins/dynamic_resources/pools.h"
#include "plugins/dynamic_resources/search.h"

namespace ks::plugins {

// `picks`: those of this claim, in order. Errors are fatal.
Result<api::ClaimAllocation> MakeClaimAllocation(const ClaimPlan& claim, const NodePools& pools,
                                                 const api::Node& node,
                                                 std::span<const DevicePick> picks,
                                                 const std::function<std::string()>& new_share_id);

}  // namespace ks::plugins
