// SPDX-License-Identifier: Apache-2.0
#pragma once
// What upstream refuses of a cluster and of a user that a kubeconfig names, though each field could
// be read. Internal to kubeconfig.cc.
//
// Upstream: docs/spec/api.md section 8.3.

#include <string>
#include <vector>

#include "client/auth/kubeconfig.h"

namespace ks::client {

// All faults of the cluster's fields, in upstream's words and order.
std::vector<std::string> ClusterFaults(const std::string& name, const ClusterAccess& access);

// The same of the user's. `auth_provider`: the user has one.
std::vector<std::string> UserFaults(const std::string& name, const ClusterAccess& access,
                                    bool auth_provider);

// "invalid configuration: one", "invalid configuration: [one, two]".
Error InvalidConfiguration(const std::vector<std::string>& faults);

}  // namespace ks::client
