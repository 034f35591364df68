// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which ResourceClaims a pod uses.
//
// Upstream: docs/spec/plugins-dra.md section 2.1.

#include <vector>

#include "api/devices.h"
#include "api/pod.h"
#include "base/result.h"
#include "framework/device_state.h"

namespace ks::plugins {

using ClaimList = std::vector<api::ResourceClaimPtr>;

// The claims of spec.resourceClaims in their order; entries that need none are left out. Errors:
// upstream's texts, of the first entry in trouble.
Result<ClaimList> ResolveClaims(const framework::DeviceState& devices, const api::Pod& pod);

}  // namespace ks::plugins
