// SPDX-License-Identifier: Apache-2.0
#pragma once
// Claims of pod groups: made for a group, or named by it, and reserved for all of its members at
// once (gate DRAWorkloadResourceClaims).
//
// Upstream: docs/spec/plugins-dra.md section 12.

#include <string_view>

#include "api/devices.h"
#include "api/pod.h"
#include "api/pod_group.h"
#include "base/result.h"
#include "framework/device_state.h"

namespace ks::plugins {

// Whether the claim's controller is the PodGroup of that name. Its uid is not looked at, as
// upstream.
bool IsMadeForGroup(const api::ResourceClaim& claim, std::string_view group);

// Whether the entry of a member stands for an entry of its group: all of its fields are equal.
bool IsEntryOfGroup(const api::PodGroup& group, const api::PodResourceClaim& entry);

// The pod, or the whole group, as a user of claims.
api::ClaimConsumer ConsumerOf(const api::Pod& pod);
api::ClaimConsumer ConsumerOf(const api::PodGroup& group);
// Whether the user is a pod.
bool IsPod(const api::ClaimConsumer& consumer);
// Whether the claim is reserved for the whole group.
bool IsReservedForGroup(const api::ResourceClaim& claim, const api::PodGroup& group);
// Whether the group may lose the claim without harm to others: nobody else has reserved it.
bool IsUsedByNobodyElse(const api::ResourceClaim& claim, const api::PodGroup& group);

// A claim of spec.resourceClaims that is reserved for the group, the first one; null: none is.
// Errors, of entries before it: `PodGroup ns/g: ResourceClaim not created yet`, `could not find
// ResourceClaim "ns/n"`.
Result<api::ResourceClaimPtr> FindReservedClaim(const framework::DeviceState& devices,
                                                const api::PodGroup& group);

}  // namespace ks::plugins
