// SPDX-License-Identifier: Apache-2.0
#pragma once
// The daemon: wires configuration, client, scheduler and server together and runs until a signal,
// or until it may not go on. No decision is taken here.
//
// Upstream: docs/spec/config.md sections 1 (steps 9, 10 and 12), 10.1 and 10.4,
// docs/spec/operations.md section 1.

#include <atomic>
#include <csignal>
#include <memory>
#include <optional>
#include <variant>

#include "base/mutex.h"
#include "base/result.h"
#include "client/auth/kubeconfig.h"
#include "config/gates/feature_gates.h"
#include "config/read/load.h"
#include "config/read/tracing.h"
#include "config/text/findings.h"
#include "config/types.h"
#include "daemon/api_side.h"
#include "daemon/current_scheduler.h"
#include "daemon/decision_log.h"
#include "daemon/leader_election.h"
#include "daemon/life_events.h"
#include "daemon/reloader.h"
#include "daemon/scheduler_term.h"
#include "daemon/take_over.h"
#include "daemon/trace_export.h"
#include "framework/registry.h"
#include "kubesched/access/serving.h"
#include "kubesched/daemon_metrics.h"
#include "kubesched/flags/flags.h"
#include "modules/plugin_libraries.h"
#include "server/health.h"

namespace ks::daemon {

struct DaemonOptions {
  Options flags;
  config::FeatureGates gates;
  config::Configuration configuration{};                    // filled in by Prepare
  std::optional<server::ServingCertificate> certificate{};  // serving.h
  std::optional<config::TracingConfiguration> tracing{};    // absent: nothing is traced
};

// Where decisions are told besides metrics and log.
struct Outputs {
  std::unique_ptr<DecisionLog> decision_log{};  // null: no --decision-log
  std::unique_ptr<TraceExport> traces{};        // null: nothing is traced
};

// Threads: one.
class Daemon {
 public:
  // Everything that can be found wrong without the API server: what JudgeStartup finds, and
  // listener, TLS and authorization. The port is bound, nothing is served.
  static std::variant<std::unique_ptr<Daemon>, config::Faults> Prepare(
      DaemonOptions options, const config::Reading& reading);

  // As in force; what --write-config-to writes.
  const config::Configuration& configuration() const { return options_.configuration; }

  // Blocks until SIGTERM or SIGINT arrives, or a lease was lost that must not be, and everything
  // has ended; SIGHUP and a change of the configuration file reload it, SIGUSR2 dumps cache and
  // queue into the log. A second signal ends the process at once with exit code 1. The exit code,
  // upstream's last words are written. Error: what could not be set up, or upstream's last word
  // where it goes through the same line. Requires: called once.
  Result<int> Run(const sigset_t& signals);

 private:
  explicit Daemon(DaemonOptions options);
  Result<void> PrepareServing();
  std::unique_ptr<Reloader> MakeReloader();
  Result<void> Apply(const config::Configuration& wanted) KS_EXCLUDES(mutex_);
  void Serve();
  std::function<std::string()> LeaderElectionCheck() const;
  std::function<std::string()> InformerSyncCheck() const;
  std::string Identity() const;
  Result<void> OpenDecisionLog();
  Result<void> StartTraces();

  // -- the life of a daemon, on the main thread --
  Result<int> RunEventLoop(ApiSide& api, uint64_t seed);
  std::optional<Result<int>> HandleEvent(const LifeEvent& event);
  Result<void> BeginTerm() KS_EXCLUDES(mutex_);
  TermParts PartsOfTerms();
  // Names what the daemon needs and may not do. Asks beside everything else.
  void CheckPermissions() KS_EXCLUDES(mutex_);
  void EndTerm(Duration grace) KS_EXCLUDES(mutex_);
  void FollowTerm(const LifeEvent& event) KS_EXCLUDES(mutex_);
  std::optional<Result<int>> HandleLostLease(const LifeEvent& event);
  std::optional<Result<int>> HandleLeaseCalledBack(const LifeEvent& event);
  std::optional<Result<int>> StandByAgain();
  Result<int> Terminate(const std::string& signal);
  bool Elects() const { return options_.configuration.leader_election.leader_elect; }
  bool IsCoordinated() const {
    return Elects() && options_.gates.Enabled(config::Gate::kCoordinatedLeaderElection);
  }

  DaemonOptions options_;
  config::Configuration loaded_;  // before pluginConfig was reduced
  client::ClusterAccess access_;

  framework::Registry registry_;
  DaemonMetrics metrics_;
  std::unique_ptr<modules::PluginLibraries> libraries_;  // of the registry
  Outputs outputs_;
  server::SchedulerHealth health_;
  LifeEvents events_;
  CurrentScheduler current_;
  std::unique_ptr<Reloader> reloader_;  // from Run on
  std::unique_ptr<Serving> serving_;    // null: --secure-port=0

  // While RunEventLoop runs.
  ApiSide* api_ = nullptr;
  uint64_t seed_ = 0;
  std::atomic<Leadership*> leadership_{nullptr};  // null: no leader election

  // A reload must not meet a term that begins or ends.
  Mutex mutex_;
  config::Configuration in_force_ KS_GUARDED_BY(mutex_);
  std::unique_ptr<SchedulerTerm> term_ KS_GUARDED_BY(mutex_);
  std::unique_ptr<TakeOver> take_over_ KS_GUARDED_BY(mutex_);  // of the term
  uint64_t terms_ KS_GUARDED_BY(mutex_) = 0;
};

}  // namespace ks::daemon
