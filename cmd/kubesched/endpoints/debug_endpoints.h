// SPDX-License-Identifier: Apache-2.0
#pragma once
// kubesched's own answers to operators, below /debug/kubesched/: queue, explain, decisions, cache,
// simulate. All are JSON; errors are a `Status`
// of the API. What they say and cost: docs/debugging.md.
//
// Upstream: none; it has no such thing.

#include <functional>
#include <string>

#include "client/auth/kubeconfig.h"
#include "daemon/current_scheduler.h"
#include "server/http/https_server.h"

namespace ks::daemon {

struct DebugSources {
  CurrentScheduler& scheduler;
  // How to reach the API server, for comparisons with it.
  const client::ClusterAccess& access;
  // This process's identity in leader election. Threads: any. Empty: there is none.
  std::function<std::string()> identity{};
};

// Starts the threads that write the answers; they end with the server. Requires: the server does
// not serve yet. Lifetime: the sources outlive the server.
void InstallDebugEndpoints(server::HttpsServer& https, const DebugSources& sources);

}  // namespace ks::daemon
