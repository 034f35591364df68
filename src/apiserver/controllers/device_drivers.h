// SPDX-License-Identifier: Apache-2.0
#pragma once
// Simulated drivers of devices: for each kind a DeviceClass, on each node a ResourceSlice that
// comes and goes with it, and for allocated devices with binding conditions the driver's word, a
// while after the allocation. Nothing runs; only the objects change.
//
// Upstream: docs/spec/plugins-dra.md sections 3.2 and 4.8.

#include <memory>
#include <vector>

#include "apiserver/controllers/device_kinds.h"
#include "apiserver/service/service.h"

namespace ks::apiserver {

struct DeviceDriverOptions {
  std::vector<DeviceKind> kinds{};
  Duration ready_delay = std::chrono::milliseconds(500);  // from allocation to binding conditions
};

std::unique_ptr<Controller> NewDeviceDrivers(Service& service, DeviceDriverOptions options);

}  // namespace ks::apiserver
