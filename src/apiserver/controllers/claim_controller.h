// SPDX-License-Identifier: Apache-2.0
#pragma once
// The resource claim controller: makes the claims of pods and pod groups that name a template,
// takes pods that are gone or have ended, and groups that are gone, out of reservedFor, gives
// devices back that nobody has reserved any more, and deletes the claims whose pod is gone or has
// ended, or whose group is gone (upstream leaves some of that to the garbage collector).
//
// Upstream: docs/spec/plugins-dra.md sections 2.1, 10 and 12; what it does in which case, and the
// texts of its events, as kube-controller-manager v1.37.1.

#include <memory>

#include "apiserver/service/service.h"

namespace ks::apiserver {

std::unique_ptr<Controller> NewClaimController(Service& service);

}  // namespace ks::apiserver
