// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the daemon's HTTPS server answers, by path. Each family of endpoints has a file of its own;
// this one lists them.
//
// Upstream: docs/spec/operations.md section 2.

#include <functional>
#include <string>

#include "client/auth/kubeconfig.h"
#include "client/http/timer_service.h"
#include "config/gates/feature_gates.h"
#include "config/types.h"
#include "daemon/current_scheduler.h"
#include "daemon/reloader.h"
#include "kubesched/flags/flags.h"
#include "metrics/registry.h"
#include "server/health.h"
#include "server/http/https_server.h"

namespace ks::daemon {

// What the endpoints look at. Lifetime: all of it outlives the server's Stop.
struct EndpointSources {
  const server::SchedulerHealth& health;
  const Reloader& reloader;
  metrics::Registry& metrics;
  CurrentScheduler& scheduler;
  const Options& flags;
  const config::FeatureGates& gates;
  const config::Configuration& configuration;  // as at start
  client::TimerService& timers;
  metrics::Registry& slis;  // what /metrics/slis shows
  // Why leadership is in doubt, empty: it is not. An empty function: leader election is off.
  std::function<std::string()> leader_election{};
  // Why the LeaseCandidate is not known, empty: it is. An empty function: there is none.
  std::function<std::string()> informer_sync{};
  const client::ClusterAccess& access;
  // This process's identity in leader election, empty: it has none yet. An empty function: it is
  // off.
  std::function<std::string()> identity{};
};

// Registers all handlers. Requires: the server does not serve yet.
void InstallEndpoints(server::HttpsServer& https, const EndpointSources& sources);

}  // namespace ks::daemon
