// SPDX-License-Identifier: Apache-2.0
#pragma once
// The controllers of devices in a simulation: the API server's own that serves claims
// (apiserver/controllers/claim_controller.h), and its simulated drivers (device_drivers.h). As late
// as those of volumes.

#include <memory>
#include <vector>

#include "apiserver/service/service.h"
#include "sim/plan.h"

namespace ks::sim {

// The kinds of devices, whose classes have their names.
inline constexpr const char* kPlainDevice = "gpu";
inline constexpr const char* kSharedDevice = "nic";     // shared by its capacity
inline constexpr const char* kPreparedDevice = "fpga";  // has binding conditions
// What the first class serves, too.
inline constexpr const char* kExtendedDevice = "example.com/gpu";

// Lifetime: the service outlives it, and its clock stands at the beginning of the simulation.
std::vector<std::unique_ptr<apiserver::Controller>> NewSlowDeviceControllers(
    apiserver::Service& service, const Plan& plan);

}  // namespace ks::sim
