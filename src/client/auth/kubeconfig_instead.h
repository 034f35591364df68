// SPDX-License-Identifier: Apache-2.0
#pragma once
// What stands in the place of a kubeconfig's fields. Internal to kubeconfig.cc; the rules are those
// of KubeconfigOptions::instead.

#include "client/auth/kubeconfig.h"

namespace ks::client {

// server is not among them: KubeconfigOptions::master.
void ReplaceCluster(const ClusterAccess& instead, ClusterAccess* access);

void ReplaceUser(const ClusterAccess& instead, ClusterAccess* access);

}  // namespace ks::client
