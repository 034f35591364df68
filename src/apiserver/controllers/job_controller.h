// SPDX-License-Identifier: Apache-2.0
#pragma once
// Jobs: makes their pods, counts those that have ended, says when a Job is complete or has failed;
// makes a Workload and a PodGroup for each whose template names no group, as upstream does with the
// feature gate WorkloadWithJob. Without the waiting time between retries, deadlines, pod failure
// and success policies, and limits per index. What a Job made goes with it, as there is no garbage
// collection.
//
// Upstream: docs/spec/pod-groups.md section 3; kube-controller-manager v1.37.1.

#include <memory>

#include "apiserver/service/service.h"

namespace ks::apiserver {

std::unique_ptr<Controller> NewJobController(Service& service);

}  // namespace ks::apiserver
