// SPDX-License-Identifier: Apache-2.0
#include "sim/device_model.h"

#include "apiserver/controllers/claim_controller.h"
#include "apiserver/controllers/device_drivers.h"
#include "sim/slow_controller.h"

namespace ks::sim {

std::vector<std::unique_ptr<apiserver::Controller>> NewSlowDeviceControllers(
    apiserver::Service& service, const Plan& plan) {
  const auto slowness = [&plan](uint64_t seed) {
    return Slowness{
        .longest = plan.device_delay, .outages = plan.device_outages, .seed = plan.seed ^ seed};
  };
  const int count = plan.devices_of_a_node;
  std::vector<std::unique_ptr<apiserver::Controller>> controllers;
  controllers.push_back(NewSlowController(service, slowness(0x636c61696dULL),
                                          apiserver::NewClaimController(service)));
  controllers.push_back(NewSlowController(
      service, slowness(0x647269766572ULL),
      apiserver::NewDeviceDrivers(
          service, {.kinds = {{.count = count, .name = kPlainDevice},
                              {.count = count, .name = kSharedDevice, .shared = true},
                              {.count = count, .name = kPreparedDevice, .binding = true}},
                    .ready_delay = plan.device_ready_delay})));
  return controllers;
}

}  // namespace ks::sim
