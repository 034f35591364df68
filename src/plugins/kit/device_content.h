// SPDX-License-Identifier: Apache-2.0
#pragma once
// A device as selectors see it.
//
// Upstream: docs/spec/cel.md section 2.

#include "api/devices.h"
#include "cel/device.h"

namespace ks::plugins {

cel::DeviceContent DeviceContentOf(const Symbol& driver, const api::Device& device);

// What an expression made of a device.
api::DeviceAttributeValue AttributeOf(const cel::DeviceContent::AttributeValue& value);

}  // namespace ks::plugins
