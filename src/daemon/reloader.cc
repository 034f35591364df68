// SPDX-License-Identifier: Apache-2.0
#include "daemon/reloader.h"

#include <utility>

#include "base/logging.h"
#include "config/print/print.h"
#include "config/read/defaults.h"
#include "daemon/startup.h"

namespace ks::daemon {

std::vector<std::string> FixedFieldsThatDiffer(const config::Configuration& running,
                                               const config::Configuration& wanted) {
  std::vector<std::string> fields;
  const auto check = [&fields](bool same, const char* path) {
    if (!same) fields.emplace_back(path);
  };
  const config::ClientConnection& client = running.client_connection;
  const config::ClientConnection& new_client = wanted.client_connection;
  check(client.kubeconfig == new_client.kubeconfig, "clientConnection.kubeconfig");
  check(client.accept_content_types == new_client.accept_content_types,
        "clientConnection.acceptContentTypes");
  check(client.content_type == new_client.content_type, "clientConnection.contentType");
  check(client.qps == new_client.qps, "clientConnection.qps");
  check(client.burst == new_client.burst, "clientConnection.burst");
  check(running.leader_election == wanted.leader_election, "leaderElection");
  check(running.enable_profiling == wanted.enable_profiling, "enableProfiling");
  check(running.enable_contention_profiling == wanted.enable_contention_profiling,
        "enableContentionProfiling");
  check(running.delay_cache_until_active == wanted.delay_cache_until_active,
        "delayCacheUntilActive");
  return fields;
}

config::Configuration Reduced(config::Configuration configuration,
                              const framework::Registry& registry) {
  config::ReducePluginConfig(&configuration, [&registry](std::string_view name) {
    return registry.Find(name) != nullptr;
  });
  return configuration;
}

Reloader::Reloader(ReloaderOptions options)
    : options_(std::move(options)), running_(options_.running) {
  Publish(options_.loaded, Reduced(options_.running, *options_.registry));
}

Result<void> Reloader::Reload(std::string_view cause) {
  MutexLock lock(mutex_);
  const std::string& file = options_.file;
  log::Info(0, "Reloading the configuration", {{"file", file}, {"cause", cause}});
  Result<void> done = TryReload();
  if (done.ok()) {
    options_.metrics->Succeeded();
    log::Info(0, "The new configuration is in force", {{"file", file}});
  } else {
    options_.metrics->Rejected();
    log::Error(done.error().message,
               "The new configuration was refused; the former one stays in force",
               {{"file", file}});
  }
  return done;
}

Result<void> Reloader::TryReload() {
  if (options_.file.empty()) {
    return Error{"there is no --config to read: kubesched was started with the defaults"};
  }
  modules::PluginLibraries* libraries = options_.libraries;
  if (libraries != nullptr) {
    if (const auto changed = libraries->Refresh(); !changed.ok()) return changed.error();
  }
  Result<void> done = ReadAndApply();
  if (libraries != nullptr) done.ok() ? libraries->KeepRefreshed() : libraries->TakeBackRefreshed();
  return done;
}

Result<void> Reloader::ReadAndApply() {
  const Effective effective = options_.read();
  daemon::StartupVerdict verdict =
      daemon::JudgeStartup(effective.reading, {.gates = options_.gates,
                                               .until = daemon::StartupQuestion::Until::kReloaded,
                                               .registry = options_.registry});
  if (!verdict.faults.text.empty()) {
    for (const std::string& line : FaultLines(verdict.faults, options_.file)) {
      log::Plain('E', line);
    }
    return Error{verdict.faults.text};
  }
  for (const std::string& warning : effective.warnings) log::Plain('W', warning);
  config::Configuration wanted = std::move(verdict.configuration);
  const std::vector<std::string> fixed = FixedFieldsThatDiffer(running_, wanted);
  if (!fixed.empty()) {
    std::string names;
    for (const std::string& field : fixed) names += (names.empty() ? "" : ", ") + field;
    return Error{"these fields cannot change while kubesched runs: " + names +
                 "; set them back or restart"};
  }
  if (Result<void> applied = options_.apply(wanted); !applied.ok()) return applied;
  Publish(effective.reading.configuration, Reduced(wanted, *options_.registry));
  running_ = std::move(wanted);
  return {};
}

// As upstream: the profiles as loaded, unless -v=2 has put the reduced ones in their place.
void Reloader::Publish(const config::Configuration& loaded, const config::Configuration& reduced) {
  std::string text = config::WriteConfigz(log::Enabled(2) ? reduced : loaded);
  MutexLock lock(configz_mutex_);
  configz_ = std::move(text);
}

std::string Reloader::Configz() const {
  MutexLock lock(configz_mutex_);
  return configz_;
}

}  // namespace ks::daemon
