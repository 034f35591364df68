// SPDX-License-Identifier: Apache-2.0
#pragma once
// The structured allocator: devices for the claims of a pod on one node, exactly as upstream's with
// the gates of v1.37 at their defaults. It writes nothing and knows no plugin.
//
// Upstream: docs/spec/plugins-dra.md sections 6 and 8.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "plugins/dynamic_resources/allocated_state.h"
#include "plugins/dynamic_resources/plan.h"
#include "plugins/dynamic_resources/pools.h"
#include "plugins/dynamic_resources/search.h"

namespace ks::plugins {

struct NodeAllocation {
  enum class Verdict : uint8_t {
    kAllocated,
    kNoSolution,
    kNotOnNode,  // `text` says why, of this node only
    kFatal,      // `text` ends the attempt
  };
  Verdict verdict = Verdict::kNoSolution;
  std::string text{};
  DevicePicks picks{};  // kAllocated: for MakeAllocations (results.h)
};

// `cancelled` is asked at every step; a text ends the search as `filter operation aborted: <text>`.
// May be empty. `patience`: DeviceSearch's.
// Threads: any, several nodes at once; nothing that it is given may change meanwhile.
NodeAllocation AllocateDevices(const AllocationPlan& plan, const NodePools& pools,
                               const AllocatedState& allocated,
                               const std::function<std::string()>& cancelled = {},
                               size_t patience = DeviceSearch::kPatience);

}  // namespace ks::plugins
