// SPDX-License-Identifier: Apache-2.0
#include "daemon/startup.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/logging.h"
#include "client/auth/credentials.h"
#include "client/election/leader_elector.h"
#include "config/read/defaults.h"
#include "config/validate/follow_ups.h"
#include "config/validate/validate.h"
#include "framework/runtime/offline_parts.h"
#include "framework/runtime/profile_faults.h"
#include "plugins/registry.h"

namespace ks::daemon {
namespace {

using config::Faults;
using config::Finding;
using Place = StartupQuestion::Place;
using Until = StartupQuestion::Until;

constexpr const char* kKubeconfig = "clientConnection.kubeconfig";

Finding FindingAt(std::string path, std::string message, std::string hint = {}) {
  return {
      .path = std::move(path), .message = std::move(message), .place = {}, .hint = std::move(hint)};
}

Faults OneFault(std::string path, const std::string& message, std::string hint = {}) {
  return {.text = message, .findings = {FindingAt(std::move(path), message, std::move(hint))}};
}

// The kubeconfig or --master, else the cluster this process runs in; said as upstream says it.
Result<client::ClusterAccess> LoadAccess(const std::string& kubeconfig, const std::string& master,
                                         bool silent) {
  if (kubeconfig.empty() && master.empty() && !silent) {
    log::Plain('W',
               "Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This "
               "might not work.");
    const auto inside = client::LoadInCluster(client::InClusterFromEnvironment());
    if (!inside.ok()) {
      log::Plain('W', "error creating inClusterConfig, falling back to default config: " +
                          inside.error().message);
    }
  }
  return client::LoadClientConfig(kubeconfig, master);
}

std::optional<Faults> RateLimitFault(const config::ClientConnection& settings) {
  // Upstream's words when it prints such a configuration; it does run with one, without a limit.
  if (!std::isfinite(settings.qps)) {
    const std::string value = std::isnan(settings.qps) ? "NaN" : settings.qps > 0 ? "+Inf" : "-Inf";
    return OneFault("clientConnection.qps", "json: unsupported value: " + value);
  }
  if (settings.qps <= 0 || settings.burst > 0) return std::nullopt;
  return OneFault("clientConnection.burst",
                  "burst is required to be greater than 0 when RateLimiter is not set and QPS is "
                  "set to greater than 0");
}

std::optional<Faults> ResourceLockFault(const config::LeaderElection& election) {
  const std::string& lock = election.resource_lock;
  if (!election.leader_elect || lock == "leases") return std::nullopt;
  std::string text = "couldn't create resource lock: ";
  if (lock == "endpoints" || lock == "endpointsleases" || lock == "configmaps") {
    text += lock + " lock is removed, migrate to leases";
  } else if (lock == "configmapsleases") {
    text += lock + " lock is removed, migrated to leases";
  } else {
    text += "Invalid lock-type " + lock;
  }
  return OneFault("leaderElection.resourceLock", text);
}

// The way through the steps; a fault does not end it.
class Judge {
 public:
  Judge(const config::Reading& reading, const StartupQuestion& question)
      : reading_(reading), question_(question), faults_(reading.source) {}

  StartupVerdict Run() {
    verdict_.configuration = reading_.configuration;
    if (!reading_.unread.text.empty()) faults_.AddUnread(reading_.unread);
    if (!reading_.invalid.text.empty()) faults_.Add(reading_.invalid);
    if (reading_.understood) {
      const bool starts = question_.until != Until::kReloaded;
      if (starts) CheckClient();
      CheckExtenders();
      CheckProfiles();
      if (question_.until == Until::kRunning) CheckRunning();
      if (starts) Warn();
    }
    verdict_.faults = faults_.Take();
    for (Finding& warning : verdict_.warnings) {
      if (warning.place.line == 0) warning.place = reading_.source.Find(warning.path);
    }
    return std::move(verdict_);
  }

 private:
  void Add(std::optional<Faults> faults) {
    if (faults) faults_.Add(*std::move(faults));
  }

  void CheckClient() {
    const config::ClientConnection& settings = verdict_.configuration.client_connection;
    if (NamesAccess()) {
      auto access = LoadAccess(settings.kubeconfig, question_.master, !faults_.empty());
      if (access.ok()) {
        verdict_.access = std::move(access).value();
        has_access_ = true;
      } else {
        faults_.Add(OneFault(kKubeconfig, access.error().message));
      }
    }
    if (question_.between && faults_.empty()) {
      const Result<void> done = question_.between();
      if (!done.ok()) faults_.Add({.text = done.error().message, .findings = {}});
    }
    if (has_access_) CheckCredentials();
    Add(RateLimitFault(settings));
    Add(ResourceLockFault(verdict_.configuration.leader_election));
  }

  // As the client takes them, so that it does not refuse later what passes here.
  void CheckCredentials() {
    const auto credentials = client::NewCredentials(verdict_.access);
    if (!credentials.ok()) faults_.Add(OneFault(kKubeconfig, credentials.error().message));
  }

  // Whether what the client is made of can be looked at here.
  bool NamesAccess() const {
    if (question_.place == Place::kHere) return true;
    const bool in_cluster =
        reading_.configuration.client_connection.kubeconfig.empty() && question_.master.empty();
    return question_.place == Place::kPerhaps && !in_cluster;
  }

  void CheckExtenders() {
    if (question_.place != Place::kElsewhere) {
      std::vector<Finding> findings = config::CheckExtenders(verdict_.configuration);
      if (!findings.empty()) {
        std::string text = findings.front().message;
        faults_.Add({.text = std::move(text), .findings = std::move(findings)});
      }
    }
    const Result<void> applied = config::ApplyIgnoredResources(&verdict_.configuration);
    if (!applied.ok()) faults_.Add(OneFault(applied.error().path, applied.error().message));
  }

  void CheckProfiles() {
    const config::Configuration sound = Sound();
    const framework::OfflineParts offline({.gates = &question_.gates});
    const framework::Registry in_tree = plugins::InTreeRegistry();
    const framework::Registry& registry =
        question_.registry == nullptr ? in_tree : *question_.registry;
    auto found = framework::FindProfileFaults(registry, sound, {.parts = offline.parts()});
    if (!found) return;
    Faults faults{.text = found->first.message, .findings = {}};
    for (Error& error : found->all) {
      error.path = PathInFile(error.path);
      faults.findings.push_back(config::FindingOf(error, reading_.source));
    }
    faults_.Add(std::move(faults));
  }

  // Plugins rely on arguments that passed validation: where they did not, on the defaults.
  config::Configuration Sound() const {
    config::Configuration sound = verdict_.configuration;
    sound.parallelism = std::max(sound.parallelism, 1);
    for (size_t i = 0; i < sound.profiles.size(); ++i) {
      std::vector<config::PluginConfig>& entries = sound.profiles[i].plugin_config;
      for (size_t j = 0; j < entries.size(); ++j) {
        const std::string path =
            "profiles[" + std::to_string(i) + "].pluginConfig[" + std::to_string(j) + "]";
        if (!faults_.Touches(path)) continue;
        entries[j].args = config::DefaultArgs(entries[j].name, question_.gates);
      }
    }
    return sound;
  }

  // Profiles are built of merged lists: multiPoint begins with the default plugins, and the entry
  // of the file is the last one of that name.
  std::string PathInFile(const std::string& path) const {
    constexpr std::string_view kList = "].plugins.multiPoint.enabled";
    const size_t list = path.find(kList);
    if (list == std::string::npos) return path;
    const size_t profile = std::stoul(path.substr(path.find('[') + 1));
    std::string head = path.substr(0, list + kList.size());
    const size_t merged = std::stoul(path.substr(head.size() + 1));
    const std::string& name =
        verdict_.configuration.profiles[profile].plugins.multi_point.enabled[merged].name;
    if (profile >= reading_.written.profiles.size()) return head;
    const auto& written = reading_.written.profiles[profile].plugins.multi_point.enabled;
    for (size_t i = written.size(); i-- > 0;) {
      if (written[i].name == name) return head + "[" + std::to_string(i) + "].name";
    }
    return head;
  }

  void CheckRunning() {
    const std::vector<std::string> unsupported = question_.gates.NotImplemented();
    if (!unsupported.empty()) {
      Faults faults;
      for (const std::string& text : unsupported) faults.findings.push_back(FindingAt("", text));
      faults.text = config::Aggregate(faults.findings);
      faults_.Add(std::move(faults));
    }
    const config::LeaderElection& election = verdict_.configuration.leader_election;
    if (election.leader_elect) {
      const Result<void> works =
          client::CheckLeaderElector({.lease_namespace = election.resource_namespace,
                                      .lease_name = election.resource_name,
                                      .lease_duration = election.lease_duration,
                                      .renew_deadline = election.renew_deadline,
                                      .retry_period = election.retry_period});
      if (!works.ok()) faults_.Add(OneFault(works.error().path, works.error().message));
    }
  }

  void Warn() {
    const config::Configuration& all = verdict_.configuration;
    if (all.leader_election.leader_elect && all.leader_election.lease_duration > Duration::zero() &&
        all.leader_election.lease_duration < std::chrono::seconds(1)) {
      verdict_.warnings.push_back(
          FindingAt("leaderElection.leaseDuration",
                    "is below a second: a Lease counts whole seconds, so the API server refuses "
                    "it and nobody ever leads",
                    "give it at least 1s"));
    }
    if (question_.place == Place::kPerhaps && !NamesAccess()) {
      verdict_.warnings.push_back(FindingAt(
          kKubeconfig,
          "names no file: the scheduler starts in a pod of the cluster or with --master only"));
    }
  }

  const config::Reading& reading_;
  const StartupQuestion& question_;
  config::AllFaults faults_;
  bool has_access_ = false;
  StartupVerdict verdict_;
};

}  // namespace

StartupVerdict JudgeStartup(const config::Reading& reading, const StartupQuestion& question) {
  return Judge(reading, question).Run();
}

}  // namespace ks::daemon
