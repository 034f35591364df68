// SPDX-License-Identifier: Apache-2.0
#include "config/defaults.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/logging.h"

namespace ks::config {
namespace {

bool Names(const std::vector<PluginRef>& refs, std::string_view name) {
  return std::any_of(refs.begin(), refs.end(),
                     [&](const PluginRef& ref) { return ref.name == name; });
}

}  // namespace

Plugins DefaultPlugins(const FeatureGates&) {
  Plugins plugins;
  plugins.multi_point.enabled = {
      {"SchedulingGates"},
      {"PrioritySort"},
      {"NodeName"},
      {"NodeUnschedulable"},
      {"TaintToleration", 3},
      {"NodeAffinity", 2},
      {"NodePorts"},
      {"NodeResourcesFit", 1},
      {"UnsupportedFeatures"},
      {"DefaultPreemption"},
      {"NodeResourcesBalancedAllocation", 1},
      {"ImageLocality", 1},
      {"DefaultBinder"},
  };
  return plugins;
}

Configuration DefaultConfiguration(const FeatureGates& gates) {
  Configuration configuration;
  Profile profile;
  profile.scheduler_name = "default-scheduler";
  profile.plugins = DefaultPlugins(gates);
  configuration.profiles.push_back(std::move(profile));
  return configuration;
}

PluginSet MergePluginSet(const PluginSet& defaults, const PluginSet& user) {
  PluginSet merged;
  merged.disabled = user.disabled;
  merged.disabled.insert(merged.disabled.end(), defaults.disabled.begin(), defaults.disabled.end());
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
        log::Info(0, "Default plugin is explicitly re-configured; overriding",
                  {{"plugin", ref.name}});
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
  for (const PluginSection& row : PluginSections()) {
    merged.*row.section = MergePluginSet(defaults.*row.section, user.*row.section);
  }
  return merged;
}

}  // namespace ks::config
