// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which ResourceClaims a pod uses.
//
// Upstream: docs/spec/plugins-dra.md section 2.1.

#include <cstdint>
#include <vector>

#include "api/devices.h"
#include "api/pod.h"
#include "base/result.h"
#include "framework/device_state.h"

namespace ks::plugins {

using ClaimList = std::vector<api::ResourceClaimPtr>;

// Whose the claims are that were made from templates.
enum class ClaimOwners : uint8_t {
  kPods,
  kPodsAndGroups,  // also the pod group's of which the pod is a member: DRAWorkloadResourceClaims
};

// A claim and the entry of spec.resourceClaims that it stands for. Lifetime: that of the pod.
struct ClaimOfEntry {
  const api::PodResourceClaim* entry;
  api::ResourceClaimPtr claim;
};

// The claims of spec.resourceClaims in their order; entries that need none are left out. Errors:
// upstream's texts, of the first entry in trouble.
Result<std::vector<ClaimOfEntry>> ResolveEntries(const framework::DeviceState& devices,
                                                 const api::Pod& pod, ClaimOwners owners);
// The same without the entries.
Result<ClaimList> ResolveClaims(const framework::DeviceState& devices, const api::Pod& pod,
                                ClaimOwners owners);

}  // namespace ks::plugins
