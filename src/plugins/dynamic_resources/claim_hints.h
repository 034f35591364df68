// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which events may help a pod that DynamicResources rejected.
//
// Upstream: docs/spec/plugins-dra.md section 13.

#include <vector>

#include "framework/device_state.h"
#include "framework/events.h"
#include "plugins/dynamic_resources/pod_claims.h"

namespace ks::plugins {

// Lifetime: `devices` outlives the hints.
std::vector<framework::EventRegistration> DynamicResourcesEvents(
    const framework::DeviceState& devices, ClaimOwners owners);

}  // namespace ks::plugins
