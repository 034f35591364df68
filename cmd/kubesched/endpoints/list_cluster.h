// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes and pods as the API server has them now, for comparing the cache with it.

#include "base/result.h"
#include "client/auth/kubeconfig.h"
#include "inspect/cache_report.h"

namespace ks::daemon {

// Two consistent lists, over a connection of its own. Blocks, for at most some seconds a page.
// Error: what the client or the server said.
Result<inspect::ClusterAccount> ListCluster(const client::ClusterAccess& access);

}  // namespace ks::daemon
