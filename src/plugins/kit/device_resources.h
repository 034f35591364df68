// SPDX-License-Identifier: Apache-2.0
#pragma once
// Extended resources that devices serve instead of the node's own accounting.
//
// Upstream: docs/spec/plugins-node.md 4.8, gate DRAExtendedResource.

#include "framework/handle.h"

namespace ks::plugins {

// Whether a DeviceClass maps to the resource.
inline bool ServedByDevices(const framework::Handle& handle, const Symbol& resource) {
  return handle.gates().Enabled(config::Gate::kDRAExtendedResource) &&
         handle.device_classes().ClassServing(resource) != nullptr;
}

}  // namespace ks::plugins
