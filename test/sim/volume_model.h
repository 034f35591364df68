// SPDX-License-Identifier: Apache-2.0
#pragma once
// The controllers of volumes and claims in a simulation: the API server's own
// (apiserver/controllers/volume_controller.h) and that of ephemeral volumes (ephemeral_claims.h).
// They look at what changed some time later, and now and then not at all for a while.

#include <memory>
#include <vector>

#include "apiserver/service/service.h"
#include "sim/plan.h"

namespace ks::sim {

// Whose volumes are provisioned.
inline constexpr const char* kDriver = "fake.csi.kubesched.io";
inline constexpr const char* kNoProvisioner = "kubernetes.io/no-provisioner";

// Lifetime: the service outlives it, and its clock stands at the beginning of the simulation.
std::vector<std::unique_ptr<apiserver::Controller>> NewSlowVolumeControllers(
    apiserver::Service& service, const Plan& plan);

}  // namespace ks::sim
