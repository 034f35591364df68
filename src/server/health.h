// SPDX-License-Identifier: Apache-2.0
#pragma once
// Health endpoints: lists of named checks, answered in upstream's words. What a check looks at is
// its owner's business; checks run on the server's thread and must not block.
//
// Upstream: docs/spec/operations.md section 2.2.

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server/health_metrics.h"
#include "server/http/https_server.h"

namespace ks::server {

struct HealthCheck {
  std::string name;
  std::function<std::string()> failure;  // why it fails; empty: passes
};

// The answer of the root endpoint `name` ("readyz"): `?verbose` and `?exclude=check` are obeyed.
// `metrics` (may be null) hears of every check that ran.
Response AnswerHealth(std::string_view name, const std::vector<HealthCheck>& checks,
                      std::string_view query, HealthMetrics* metrics = nullptr);

// The answer of one check's own endpoint ("/readyz/shutdown").
Response AnswerHealthCheck(const HealthCheck& check);

// Registers "/<name>" and "/<name>/<check>" of all checks. Lifetime: `metrics` (may be null)
// outlives the server.
void InstallHealth(HttpsServer& server, const std::string& name, std::vector<HealthCheck> checks,
                   HealthMetrics* metrics = nullptr);

// What the endpoints of a scheduler look at. Threads: any.
struct SchedulerHealth {
  std::atomic<bool> handlers_synced = false;  // initial lists reached all event handlers
  std::atomic<bool> shutting_down = false;    // termination was requested
};

struct SchedulerHealthOptions {
  // Why the check `leaderElection` fails, empty: it passes. An empty function: leader election is
  // off, and the check is not there.
  std::function<std::string()> leader_election{};
  // Likewise, of the check `informer-sync`; an empty function: it is not there.
  std::function<std::string()> informer_sync{};
  HealthMetrics* metrics = nullptr;
};

// /healthz: leaderElection, or ping without it; /livez: ping; /readyz: leaderElection (if any),
// shutdown, sched-handler-sync, informer-sync (if any). Lifetime: `health` and what the options use
// outlive the server.
void InstallSchedulerHealth(HttpsServer& server, const SchedulerHealth& health,
                            SchedulerHealthOptions options = {});

}  // namespace ks::server
