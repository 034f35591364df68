// SPDX-License-Identifier: Apache-2.0
#pragma once
// The protection of PodGroups: a group that is being deleted loses its finalizer, and so goes away,
// when no active pod names it.
//
// Upstream: docs/spec/pod-groups.md section 2; kube-controller-manager v1.37.1.

#include <memory>

#include "apiserver/service/service.h"

namespace ks::apiserver {

std::unique_ptr<Controller> NewPodGroupController(Service& service);

}  // namespace ks::apiserver
