// SPDX-License-Identifier: Apache-2.0
#pragma once
// The structured allocator: devices for the claims of a pod on one node, exactly as upstream's with
// the gates of v1.37 at their defaults. It writes nothing and knows no plugin.
//
// Upstream: docs/spec/plugins-dra.md sections 6 and 8.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/devices.h"
#include "api/node.h"
#include "plugins/dynamic_resources/allocated_state.h"
#include "plugins/dynamic_resources/plan.h"
#include "plugins/dynamic_resources/pools.h"

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
  std::vector<api::ClaimAllocation> claims{};  // kAllocated: one a claim of the plan
};

struct AllocationHooks {
  // A new random id (a UUID) for a share.
  std::function<std::string()> new_share_id;
  // Asked at every step; a text ends the search as `filter operation aborted: <text>`. May be
  // empty.
  std::function<std::string()> cancelled{};
};

// Threads: any, several nodes at once; nothing that it is given may change meanwhile.
NodeAllocation AllocateDevices(const AllocationPlan& plan, const NodePools& pools,
                               const AllocatedState& allocated, const api::Node& node,
                               const AllocationHooks& hooks);

}  // namespace ks::plugins
