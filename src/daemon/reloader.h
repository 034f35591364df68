// SPDX-License-Identifier: Apache-2.0
#pragma once
// Brings a changed configuration file into force while the daemon runs, or refuses it and leaves
// the former one in force.
//
// Upstream: none; it has no reload (docs/spec/config.md 2.1). Decision 0018.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "config/gates/feature_gates.h"
#include "config/types.h"
#include "daemon/effective_configuration.h"
#include "framework/registry.h"
#include "metrics/reload_metrics.h"
#include "modules/plugin_libraries.h"

namespace ks::daemon {

// Fields that cannot change while the daemon runs and differ, by path: clientConnection,
// leaderElection, delayCacheUntilActive and the profiling switches.
std::vector<std::string> FixedFieldsThatDiffer(const config::Configuration& running,
                                               const config::Configuration& wanted);

struct ReloaderOptions {
  std::string file;                 // --config; empty: none
  std::function<Effective()> read;  // what flags and file give now
  config::FeatureGates gates;
  const framework::Registry* registry = nullptr;
  modules::PluginLibraries* libraries = nullptr;  // of the registry's plugins; null: none
  metrics::ReloadMetrics* metrics = nullptr;
  config::Configuration loaded;   // as read
  config::Configuration running;  // extenders applied
  // Puts the configuration into force and returns when that is done or refused.
  std::function<Result<void>(const config::Configuration&)> apply;
};

// Threads: any; one reload at a time. Lifetime: what the options point to outlives it.
class Reloader {
 public:
  explicit Reloader(ReloaderOptions options);

  // Reads the configuration and the plugin libraries again. `cause` goes into the log. Error: why
  // it was refused.
  Result<void> Reload(std::string_view cause) KS_EXCLUDES(mutex_);

  // The body of /configz.
  std::string Configz() const KS_EXCLUDES(configz_mutex_);

 private:
  Result<void> TryReload() KS_REQUIRES(mutex_);
  Result<void> ReadAndApply() KS_REQUIRES(mutex_);
  void Publish(const config::Configuration& loaded, const config::Configuration& reduced)
      KS_EXCLUDES(configz_mutex_);

  const ReloaderOptions options_;
  Mutex mutex_;
  config::Configuration running_ KS_GUARDED_BY(mutex_);
  mutable Mutex configz_mutex_;
  std::string configz_ KS_GUARDED_BY(configz_mutex_);
};

// What is left of pluginConfig when the profiles are built: what --write-config-to and a verbose
// /configz show.
config::Configuration Reduced(config::Configuration configuration,
                              const framework::Registry& registry);

}  // namespace ks::daemon
