// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scheduler's requests about ResourceClaims. Where upstream writes whole objects, the claim is
// patched: a merge patch that the API server refuses with a conflict when the claim's
// resourceVersion is not the known one, so that fields which are not kept here stay as they are.
//
// Upstream: docs/spec/plugins-dra.md sections 4.4, 4.7, 4.9, 10.4 and 10.5.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/devices.h"
#include "base/clock.h"

namespace ks::api {

// One request to the API server. Threads: like a value.
struct ClaimRequest {
  enum class Verb : uint8_t { kGet, kCreate, kPatch, kPatchStatus, kDelete };

  Verb verb = Verb::kGet;
  std::string ns;
  std::string name{};  // empty: kCreate
  std::string body{};  // of kCreate the object; of the patches the patch; of kDelete the options
  bool strategic = false;  // a strategic merge patch; else a merge patch
  Duration after{};        // it is sent that much later
};

ClaimRequest GetClaimRequest(const ResourceClaim& claim);
// Adds kClaimDeleteProtection to the finalizers.
ClaimRequest AddFinalizerRequest(const ResourceClaim& claim);
// Takes kClaimDeleteProtection from the finalizers, whether it is there or not.
ClaimRequest RemoveFinalizerRequest(const ResourceClaim& claim);

// What becomes of a claim when it is bound.
struct ClaimBinding {
  ClaimAllocationPtr allocation{};          // null: the claim keeps the one that it has
  std::optional<TimePoint> allocated_at{};  // sets status.allocation.allocationTimestamp
  ClaimConsumer consumer{};                 // joins status.reservedFor
};
ClaimRequest BindClaimRequest(const ResourceClaim& claim, const ClaimBinding& binding);
// Clears status.allocation, status.reservedFor and status.devices.
ClaimRequest DeallocateRequest(const ResourceClaim& claim);
// Takes the consumer of that uid from status.reservedFor, whatever the claim's version is.
// Strategic.
ClaimRequest RemoveConsumerRequest(const ResourceClaim& claim, std::string_view consumer_uid);
// Creates the claim of a pod's extended resources: `claim` has a name, which looks as if the API
// server had made it of `generate_name`, a namespace, owner reference and requests (`exactly`:
// class, count).
ClaimRequest CreateExtendedClaimRequest(const ResourceClaim& claim, std::string_view generate_name);
// Deletes the claim, as upstream without precondition.
ClaimRequest DeleteClaimRequest(const ResourceClaim& claim);

}  // namespace ks::api
