// SPDX-License-Identifier: Apache-2.0
#pragma once
// Devices that are ready only after a driver has prepared them: whether those of an allocated claim
// are.
//
// Upstream: docs/spec/plugins-dra.md section 4.8.

#include <cstdint>
#include <string>

#include "api/devices.h"
#include "base/clock.h"

namespace ks::plugins {

struct DeviceReadiness {
  enum class State : uint8_t { kReady, kPending, kFailed };
  State state = State::kReady;
  std::string failure{};  // kFailed: `device binding failed: claim=n, reason=R, message="M"`
};

bool HasBindingConditions(const api::ClaimAllocation& allocation);

// Requires: the claim is allocated. The first device that is not ready decides.
DeviceReadiness ReadinessOf(const api::ResourceClaim& claim);

// Whether the devices had `timeout` to become ready. Requires: the claim is allocated.
bool BindingTimedOut(const api::ResourceClaim& claim, Duration timeout, TimePoint now);

}  // namespace ks::plugins
