// SPDX-License-Identifier: Apache-2.0
#pragma once
// The controller of generic ephemeral volumes: makes the claims that pods bring with them, and
// deletes those whose pod is gone, as the garbage collector does.
//
// Upstream: docs/spec/plugins-volume.md section 1.3 for names and owners.

#include <memory>

#include "apiserver/service/service.h"

namespace ks::sim {

// Lifetime: the service outlives it.
std::unique_ptr<apiserver::Controller> NewEphemeralClaims(apiserver::Service& service);

}  // namespace ks::sim
