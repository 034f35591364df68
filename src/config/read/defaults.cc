// SPDX-License-Identifier: Apache-2.0
#include "config/read/defaults.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/logging.h"
#include "config/args_type.h"

namespace ks::config {
namespace {

// Where a zero, stated or not, means "default".
template <class T>
void SetIfZero(T& value, const T& otherwise) {
  if (value == T{}) value = otherwise;
}

bool Names(const std::vector<PluginRef>& refs, std::string_view name) {
  return std::any_of(refs.begin(), refs.end(),
                     [&](const PluginRef& ref) { return ref.name == name; });
}

void InsertBefore(std::vector<PluginRef>& refs, std::string_view name, PluginRef ref) {
  const auto at = std::find_if(refs.begin(), refs.end(),
                               [&](const PluginRef& other) { return other.name == name; });
  refs.insert(at, std::move(ref));
}

// Names in enabled lists. Upstream forgets podGroupPostFilter when it adds arguments (trap T8).
std::set<std::string, std::less<>> EnabledPlugins(const Plugins& plugins, bool group_post_filter) {
  std::set<std::string, std::less<>> names;
  for (const PluginSection& section : PluginSections()) {
    if (section.section == &Plugins::pod_group_post_filter && !group_post_filter) continue;
    for (const PluginRef& ref : (plugins.*section.section).enabled) names.insert(ref.name);
  }
  return names;
}

void SetPluginConfigDefaults(Profile& profile, const FeatureGates& gates) {
  std::set<std::string, std::less<>> stated;
  for (PluginConfig& entry : profile.plugin_config) {
    stated.insert(entry.name);
    if (std::holds_alternative<std::monostate>(entry.args)) {
      entry.args = DefaultArgs(entry.name, gates);
    } else if (const ArgsType* type = ArgsTypeOf(entry.args)) {
      type->complete(entry.args, gates);
    }
  }
  const auto enabled = EnabledPlugins(profile.plugins, /*group_post_filter=*/false);
  for (const ArgsType& type : ArgsTypes()) {
    if (!enabled.contains(type.plugin) || stated.contains(type.plugin)) continue;
    profile.plugin_config.push_back({std::string(type.plugin), DefaultArgs(type.plugin, gates)});
  }
}

void SetLeaderElectionDefaults(LeaderElection& election) {
  const LeaderElection defaults;
  SetIfZero(election.lease_duration, defaults.lease_duration);
  SetIfZero(election.renew_deadline, defaults.renew_deadline);
  SetIfZero(election.retry_period, defaults.retry_period);
  SetIfZero(election.resource_lock, defaults.resource_lock);
  SetIfZero(election.resource_name, defaults.resource_name);
  SetIfZero(election.resource_namespace, defaults.resource_namespace);
}

void SetClientConnectionDefaults(ClientConnection& client) {
  const ClientConnection defaults;
  SetIfZero(client.content_type, defaults.content_type);
  SetIfZero(client.qps, defaults.qps);
  SetIfZero(client.burst, defaults.burst);
}

}  // namespace

Plugins DefaultPlugins(const FeatureGates& gates) {
  Plugins plugins;
  std::vector<PluginRef>& enabled = plugins.multi_point.enabled;
  enabled = {
      {"SchedulingGates"},
      {"PrioritySort"},
      {"NodeName"},
      {"NodeUnschedulable"},
      {"TaintToleration", 3},
      {"NodeAffinity", 2},
      {"NodePorts"},
      {"NodeResourcesFit", 1},
      {"VolumeRestrictions"},
      {"NodeVolumeLimits"},
      {"VolumeBinding"},
      {"VolumeZone"},
      {"PodTopologySpread", 2},
      {"InterPodAffinity", 2},
      {"DefaultPreemption"},
      {"NodeResourcesBalancedAllocation", 1},
      {"ImageLocality", 1},
      {"DefaultBinder"},
  };
  if (gates.Enabled(Gate::kNodeDeclaredFeatures)) enabled.push_back({"NodeDeclaredFeatures"});
  if (gates.Enabled(Gate::kInPlacePodVerticalScalingSchedulerPreemption)) {
    InsertBefore(enabled, "NodeResourcesFit", {"DeferredPodScheduling"});
  }
  if (gates.Enabled(Gate::kDynamicResourceAllocation)) {
    InsertBefore(enabled, "DefaultPreemption", {"DynamicResources", 2});
  }
  if (gates.Enabled(Gate::kGenericWorkload)) enabled.push_back({"GangScheduling"});
  if (gates.Enabled(Gate::kTopologyAwareWorkloadScheduling)) {
    enabled.push_back({"TopologyPlacementGenerator"});
    enabled.push_back({"PodGroupPodsCount", 1});
  }
  return plugins;
}

PluginSet MergePluginSet(const PluginSet& defaults, const PluginSet& user) {
  PluginSet merged;
  for (const auto* refs : {&user.disabled, &defaults.disabled}) {
    for (const PluginRef& ref : *refs) merged.disabled.push_back({ref.name});
  }
  std::vector<bool> replaces(user.enabled.size(), false);
  if (!Names(merged.disabled, "*")) {
    for (const PluginRef& ref : defaults.enabled) {
      if (Names(merged.disabled, ref.name)) continue;
      merged.enabled.push_back(ref);
      // The last entry of that name wins; earlier ones stay in the list and fail as duplicates.
      for (size_t i = user.enabled.size(); i-- > 0;) {
        if (user.enabled[i].name != ref.name) continue;
        merged.enabled.back() = user.enabled[i];
        replaces[i] = true;
        KS_LOG(0, "Default plugin is explicitly re-configured; overriding", {{"plugin", ref.name}});
        break;
      }
    }
  }
  for (size_t i = 0; i < user.enabled.size(); ++i) {
    if (!replaces[i]) merged.enabled.push_back(user.enabled[i]);
  }
  return merged;
}

Plugins MergePlugins(const Plugins& defaults, const Plugins& user) {
  Plugins merged;
  for (const PluginSection& section : PluginSections()) {
    merged.*section.section = MergePluginSet(defaults.*section.section, user.*section.section);
  }
  return merged;
}

PluginArgs DefaultArgs(std::string_view plugin, const FeatureGates& gates) {
  const ArgsType* type = FindArgsType(plugin);
  if (type == nullptr) return std::monostate{};
  PluginArgs args = type->make();
  type->complete(args, gates);
  return args;
}

void SetDefaults(Configuration* configuration, const FeatureGates& gates) {
  SetLeaderElectionDefaults(configuration->leader_election);
  SetClientConnectionDefaults(configuration->client_connection);
  if (!configuration->enable_contention_profiling) {
    configuration->enable_contention_profiling = configuration->enable_profiling;
  }
  if (configuration->profiles.empty()) configuration->profiles.emplace_back();
  // With several profiles each must say its name.
  if (configuration->profiles.size() == 1 && !configuration->profiles[0].scheduler_name) {
    configuration->profiles[0].scheduler_name = "default-scheduler";
  }
  for (Profile& profile : configuration->profiles) {
    profile.plugins = MergePlugins(DefaultPlugins(gates), profile.plugins);
    SetPluginConfigDefaults(profile, gates);
  }
  for (Extender& extender : configuration->extenders) {
    SetIfZero(extender.http_timeout, Extender().http_timeout);
  }
}

Configuration DefaultConfiguration(const FeatureGates& gates) {
  Configuration configuration;
  SetDefaults(&configuration, gates);
  return configuration;
}

void ReducePluginConfig(Configuration* configuration,
                        const std::function<bool(std::string_view)>& registered) {
  for (Profile& profile : configuration->profiles) {
    const auto enabled = EnabledPlugins(profile.plugins, /*group_post_filter=*/true);
    std::vector<PluginConfig>& entries = profile.plugin_config;
    std::erase_if(entries, [&](const PluginConfig& entry) {
      return std::holds_alternative<std::monostate>(entry.args) || !enabled.contains(entry.name) ||
             !registered(entry.name);
    });
    std::sort(entries.begin(), entries.end(),
              [](const PluginConfig& a, const PluginConfig& b) { return a.name < b.name; });
  }
}

}  // namespace ks::config
