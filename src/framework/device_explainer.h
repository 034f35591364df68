// SPDX-License-Identifier: Apache-2.0
#pragma once
// DeviceExplainer: what a node would give the claims of a pod.
//
// Upstream: docs/spec/explain.md (field `allocations`).

#include <string>
#include <vector>

#include "api/devices.h"
#include "api/json/encode.h"
#include "framework/cycle_state.h"
#include "framework/node_info.h"

namespace ks::framework {

// Of one claim that is not allocated yet.
struct ClaimOutcome {
  std::string claim;                // its name
  api::ClaimAllocation allocation;  // with "*" for the ids of shares, which are not drawn yet
  // Of the claim of the pod's extended resources.
  std::vector<api::DeviceRequest> requests{};
  std::vector<api::ExtendedResourceMapping> mappings{};
};

// What a Filter plugin that allocates devices offers beside. Threads: the scheduling thread.
class DeviceExplainer {
 public:
  virtual ~DeviceExplainer() = default;
  // In the order of allocation; none: there is nothing to allocate. Requires: the node passed
  // Filter with this state.
  virtual std::vector<ClaimOutcome> ExplainClaims(const CycleState& state,
                                                  const NodeInfo& node) const = 0;
};

}  // namespace ks::framework
