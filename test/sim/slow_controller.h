// SPDX-License-Identifier: Apache-2.0
#pragma once
// A controller of the API server that looks at what changed some time later, and now and then not
// at all for a while.

#include <cstdint>
#include <memory>
#include <vector>

#include "apiserver/service/service.h"
#include "sim/plan.h"

namespace ks::sim {

struct Slowness {
  Duration longest{};  // from a change to what is made of it
  std::vector<PlannedOutage> outages{};
  uint64_t seed = 0;
};

// Lifetime: the service outlives it, and its clock stands at the beginning of the simulation.
std::unique_ptr<apiserver::Controller> NewSlowController(
    apiserver::Service& service, Slowness slowness, std::unique_ptr<apiserver::Controller> real);

}  // namespace ks::sim
