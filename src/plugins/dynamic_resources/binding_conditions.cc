// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/binding_conditions.h"

#include <algorithm>
#include <utility>

#include "golang/quote.h"

namespace ks::plugins {
namespace {

using State = DeviceReadiness::State;

const api::AllocatedDeviceStatus* StatusOf(const api::ResourceClaim& claim,
                                           const api::DeviceResult& result) {
  for (const api::AllocatedDeviceStatus& status : claim.devices) {
    if (status.driver == result.driver && status.pool == result.pool &&
        status.device == result.device) {
      return &status;
    }
  }
  return nullptr;
}

// The condition if it is True; else null.
const api::Condition* True(const api::AllocatedDeviceStatus& status, const std::string& type) {
  for (const api::Condition& condition : status.conditions) {
    if (condition.type == type) return condition.status == "True" ? &condition : nullptr;
  }
  return nullptr;
}

DeviceReadiness DeviceReady(const api::ResourceClaim& claim, const api::DeviceResult& result) {
  const api::AllocatedDeviceStatus* status = StatusOf(claim, result);
  if (status == nullptr) return {.state = State::kPending};
  for (const std::string& type : result.binding_failure_conditions) {
    const api::Condition* failed = True(*status, type);
    if (failed == nullptr) continue;
    return {.state = State::kFailed,
            .failure = "device binding failed: claim=" + claim.meta.name + ", reason=" +
                       failed->reason + ", message=" + golang::Quote(failed->message)};
  }
  const bool ready =
      std::all_of(result.binding_conditions.begin(), result.binding_conditions.end(),
                  [status](const std::string& type) { return True(*status, type) != nullptr; });
  return {.state = ready ? State::kReady : State::kPending};
}

}  // namespace

bool HasBindingConditions(const api::ClaimAllocation& allocation) {
  return std::any_of(
      allocation.results.begin(), allocation.results.end(),
      [](const api::DeviceResult& result) { return !result.binding_conditions.empty(); });
}

DeviceReadiness ReadinessOf(const api::ResourceClaim& claim) {
  for (const api::DeviceResult& result : claim.allocation->results) {
    if (result.binding_conditions.empty()) continue;
    DeviceReadiness ready = DeviceReady(claim, result);
    if (ready.state != State::kReady) return ready;
  }
  return {};
}

bool BindingTimedOut(const api::ResourceClaim& claim, Duration timeout, TimePoint now) {
  const api::ClaimAllocation& allocation = *claim.allocation;
  return allocation.timestamp && HasBindingConditions(allocation) &&
         *allocation.timestamp + timeout < now;
}

}  // namespace ks::plugins
