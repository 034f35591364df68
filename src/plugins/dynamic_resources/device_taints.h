// SPDX-License-Identifier: Apache-2.0
#pragma once
// Taints of devices and who tolerates them.
//
// Upstream: docs/spec/plugins-dra.md section 6.3 j.

#include <vector>

#include "api/devices.h"

namespace ks::plugins {

// The first taint that keeps the device from a request with these tolerations; null: none does.
const api::DeviceTaint* UntoleratedTaint(const std::vector<api::DeviceToleration>& tolerations,
                                         const api::Device& device);

}  // namespace ks::plugins
