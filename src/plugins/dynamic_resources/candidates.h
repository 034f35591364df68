// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which devices of a node a request could take, whoever else uses them: selectors, the device's own
// node selection, and amounts of capacity.
//
// Upstream: docs/spec/plugins-dra.md sections 6.1 step 2, 6.3 b to e.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/node.h"
#include "base/result.h"
#include "plugins/dynamic_resources/capacity.h"
#include "plugins/dynamic_resources/plan.h"
#include "plugins/dynamic_resources/pools.h"

namespace ks::plugins {

// Results with at most so many devices: the limit of a claim.
inline constexpr int64_t kMaxDeviceResults = 32;

// Threads: one. Lifetime: plan and pools must outlive it.
class DeviceCandidates {
 public:
  DeviceCandidates(const AllocationPlan& plan, const NodePools& pools);

  // What 6.1 looks at before any device is picked. Errors are fatal.
  Result<void> Prepare();

  // How many devices the alternative needs. Requires: Prepare.
  int64_t Needed(const AlternativePlan& alternative) const { return of_[alternative.index].needed; }
  // With the mode All: these, as indices of NodePools::devices.
  const std::vector<uint32_t>& AllOf(const AlternativePlan& alternative) const {
    return of_[alternative.index].all;
  }

  // Selectors and node selection of a device. Errors are fatal.
  Result<bool> Selects(const ClaimPlan& claim, const AlternativePlan& alternative, uint32_t device);
  // What it would take of the device; kept. Errors are fatal, without prefix.
  const std::shared_ptr<const Result<CapacityAmounts>>& Amounts(const AlternativePlan& alternative,
                                                                uint32_t device);

  // The value of the constraint's attribute on the device, as the request sees it; null: there is
  // none. Errors are fatal.
  Result<const api::DeviceAttributeValue*> ValueOf(const AttributeConstraint& constraint,
                                                   const AlternativePlan& alternative,
                                                   uint32_t device);

 private:
  struct Asked {
    int64_t needed = 0;
    std::vector<uint32_t> all;
    std::vector<std::shared_ptr<VerdictTable::Kept[]>> verdicts;          // by slice and position
    std::vector<std::shared_ptr<const Result<CapacityAmounts>>> amounts;  // by device
  };

  Result<void> PrepareRequest(const ClaimPlan& claim, const RequestPlan& request,
                              int64_t& at_least);
  Result<void> PrepareAlternative(const ClaimPlan& claim, const AlternativePlan& alternative);
  Result<void> PrepareAll(const ClaimPlan& claim, const AlternativePlan& alternative);
  VerdictTable::Kept& VerdictOf(const AlternativePlan& alternative, const PoolDevice& device);
  static Result<bool> ForNode(const PoolDevice& device);
  Result<api::DeviceAttributeValue> Derive(const DerivedPlan& derived,
                                           const PoolDevice& device) const;
  std::string Name(const PoolDevice& device) const;

  const AllocationPlan& plan_;
  const NodePools& pools_;
  std::vector<Asked> of_;  // by alternative
  std::map<std::pair<const DerivedPlan*, uint32_t>, Result<api::DeviceAttributeValue>> derived_;
};

}  // namespace ks::plugins
