// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON of ResourceClaims and their parts. What is written, decode_claim.cc reads back as it was,
// but for `config` of allocations, which it does not read.

#include <optional>
#include <string>
#include <vector>

#include "api/devices.h"
#include "base/clock.h"

namespace ks::api {

std::string StringsJson(const std::vector<std::string>& texts);
std::string OwnersJson(const std::vector<OwnerReference>& owners);
std::string RequestJson(const DeviceRequest& request);
std::string ConstraintsJson(const std::vector<DeviceConstraint>& constraints);
std::string ConsumersJson(const std::vector<ClaimConsumer>& consumers);
// `allocation` may be null. `timestamp` stands for that of the allocation, if there is one. Empty:
// neither is there.
std::string AllocationJson(const ClaimAllocation* allocation, std::optional<TimePoint> timestamp);
// All that is kept of the claim, but for the fingerprint of its status.
std::string ClaimJson(const ResourceClaim& claim);

}  // namespace ks::api
