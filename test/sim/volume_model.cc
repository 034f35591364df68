// SPDX-License-Identifier: Apache-2.0
#include "sim/volume_model.h"

#include "apiserver/controllers/volume_controller.h"
#include "sim/ephemeral_claims.h"
#include "sim/slow_controller.h"

namespace ks::sim {

std::vector<std::unique_ptr<apiserver::Controller>> NewSlowVolumeControllers(
    apiserver::Service& service, const Plan& plan) {
  const auto slowness = [&plan](uint64_t seed) {
    return Slowness{
        .longest = plan.controller_delay, .outages = plan.outages, .seed = plan.seed ^ seed};
  };
  std::vector<std::unique_ptr<apiserver::Controller>> controllers;
  controllers.push_back(NewSlowController(
      service, slowness(0x636f6e74726fULL),
      apiserver::NewVolumeController(
          service, {.driver = kDriver,
                    .provision_delay = plan.provisioning_delay,
                    .topology_key = plan.made_for_hosts ? "kubernetes.io/hostname"
                                                        : "topology.kubernetes.io/zone"})));
  controllers.push_back(
      NewSlowController(service, slowness(0x657068656d65ULL), NewEphemeralClaims(service)));
  return controllers;
}

}  // namespace ks::sim
