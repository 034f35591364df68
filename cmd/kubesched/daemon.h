// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon: wires configuration, client, scheduler and server together and runs until a signal.
// No decision is taken here.
//
// Upstream: docs/spec/config.md sections 1 (steps 9, 10 and 12), 10.1 and 10.4.

#include <csignal>
#include <memory>
#include <optional>

#include "base/result.h"
#include "client/async_call_metrics.h"
#include "client/kubeconfig.h"
#include "config/feature_gates.h"
#include "config/types.h"
#include "flags.h"
#include "framework/batch_metrics.h"
#include "framework/framework_metrics.h"
#include "framework/registry.h"
#include "metrics/registry.h"
#include "metrics/reload_metrics.h"
#include "owner_informers.h"
#include "reloader.h"
#include "scheduler/scheduler.h"
#include "server/health.h"
#include "server/https_server.h"

namespace ks::daemon {

class Feeds;  // daemon.cc

struct DaemonOptions {
  Options flags;
  config::FeatureGates gates;
  // Complete. clientConnection.kubeconfig empty and no master: in-cluster.
  config::Configuration configuration;
  bool leader_election_asked = false;                       // effective_configuration.h
  std::optional<server::ServingCertificate> certificate{};  // serving.h
};

// SIGTERM, SIGINT and SIGHUP, blocked in this thread and all it starts. Call before any thread
// exists.
sigset_t BlockTerminationSignals();

// Threads: one.
class Daemon {
 public:
  // Everything that can be found wrong without the API server: client configuration, listener, TLS,
  // authorization, extenders, profiles and plugins. The port is bound, nothing is served.
  static Result<std::unique_ptr<Daemon>> Prepare(DaemonOptions options);

  // As in force; what --write-config-to writes.
  const config::Configuration& configuration() const { return options_.configuration; }

  // Blocks until SIGTERM or SIGINT arrives and everything has ended: no attempt begins any more,
  // bindings in flight finish; SIGHUP and a change of the configuration file reload it. A second
  // signal ends the process at once with exit code 1. Error:
  // what could not be set up, or upstream's last word where its exit code is 1. Requires: called
  // once.
  Result<void> Run(const sigset_t& signals);

 private:
  explicit Daemon(DaemonOptions options);
  Result<void> CheckProfiles();
  std::unique_ptr<Reloader> MakeReloader();
  void InstallEndpoints(const server::SchedulerHealth& health);

  DaemonOptions options_;
  config::Configuration loaded_;  // before pluginConfig was reduced

  framework::Registry registry_;
  metrics::Registry metrics_;
  metrics::ReloadMetrics reload_metrics_{metrics_};
  framework::FrameworkMetrics framework_metrics_{metrics_, RealClock()};
  framework::BatchMetrics batch_metrics_{metrics_, RealClock()};
  std::unique_ptr<client::AsyncCallMetrics> call_metrics_;  // null: the gate is off
  std::unique_ptr<Reloader> reloader_;                      // from Run on
  scheduler::Scheduler* scheduler_ = nullptr;               // while Run runs it
  Feeds* feeds_ = nullptr;                                  // as long
  client::ClusterAccess access_;
  std::unique_ptr<server::HttpsServer> https_;  // null: --secure-port=0
};

}  // namespace ks::daemon
