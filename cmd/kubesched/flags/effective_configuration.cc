// SPDX-License-Identifier: Apache-2.0
#include "kubesched/flags/effective_configuration.h"

#include <string>

#include "config/read/defaults.h"
#include "config/read/load.h"

namespace ks {
namespace {

// Deprecated flags that a configuration file replaces, with the field to use instead.
struct Replaced {
  const char* flag;
  const char* field;
};
constexpr Replaced kReplaced[] = {
    {"contention-profiling", "enableContentionProfiling"},
    {"kube-api-burst", "clientConnection.burst"},
    {"kube-api-content-type", "clientConnection.contentType"},
    {"kube-api-qps", "clientConnection.qps"},
    {"kubeconfig", "clientConnection.kubeconfig"},
    {"profiling", "enableProfiling"},
};

void ApplyDeprecated(const Options& options, config::Configuration* configuration) {
  const DeprecatedOptions& flags = options.deprecated;
  config::ClientConnection& connection = configuration->client_connection;
  if (options.Given("profiling")) configuration->enable_profiling = flags.profiling;
  if (options.Given("contention-profiling")) {
    configuration->enable_contention_profiling = flags.contention_profiling;
  }
  if (options.Given("kubeconfig")) connection.kubeconfig = flags.kubeconfig;
  if (options.Given("kube-api-content-type")) connection.content_type = flags.content_type;
  if (options.Given("kube-api-qps")) connection.qps = flags.qps;
  if (options.Given("kube-api-burst")) connection.burst = flags.burst;
}

void ApplyLeaderElection(const Options& options, config::Configuration* configuration) {
  const config::LeaderElection& flags = options.leader_election;
  config::LeaderElection& election = configuration->leader_election;
  if (options.Given("leader-elect")) election.leader_elect = flags.leader_elect;
  if (options.Given("leader-elect-lease-duration")) election.lease_duration = flags.lease_duration;
  if (options.Given("leader-elect-renew-deadline")) election.renew_deadline = flags.renew_deadline;
  if (options.Given("leader-elect-retry-period")) election.retry_period = flags.retry_period;
  if (options.Given("leader-elect-resource-lock")) election.resource_lock = flags.resource_lock;
  if (options.Given("leader-elect-resource-name")) election.resource_name = flags.resource_name;
  if (options.Given("leader-elect-resource-namespace")) {
    election.resource_namespace = flags.resource_namespace;
  }
}

}  // namespace

daemon::Effective ReadEffectiveConfiguration(const Options& options,
                                             const config::FeatureGates& gates) {
  daemon::Effective effective;
  config::Reading& reading = effective.reading;
  if (options.config_file.empty()) {
    reading.understood = true;
    reading.configuration = config::DefaultConfiguration(gates);
    ApplyDeprecated(options, &reading.configuration);
    ApplyLeaderElection(options, &reading.configuration);
    return effective;
  }
  reading = config::ReadConfiguration(
      options.config_file, {.gates = &gates, .overlay = [&options](config::Configuration& all) {
                              ApplyLeaderElection(options, &all);
                            }});
  if (!reading.unread.text.empty() || !reading.invalid.text.empty()) return effective;
  effective.warnings = daemon::WarningLines(reading.warnings, options.config_file);
  for (const Replaced& replaced : kReplaced) {
    if (options.Given(replaced.flag)) {
      effective.warnings.push_back(std::string("--") + replaced.flag +
                                   " is ignored because --config is given; set " + replaced.field +
                                   " in " + options.config_file);
    }
  }
  return effective;
}

}  // namespace ks
