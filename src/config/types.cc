// SPDX-License-Identifier: Apache-2.0
#include "config/types.h"

namespace ks::config {

Plugins DefaultPlugins() {
  Plugins plugins;
  plugins.multi_point.enabled = {
      {"SchedulingGates", {}},
      {"PrioritySort", {}},
      {"NodeName", {}},
      {"NodeUnschedulable", {}},
      {"TaintToleration", 3},
      {"NodeAffinity", 2},
      {"NodePorts", {}},
      {"NodeResourcesFit", 1},
      {"UnsupportedFeatures", {}},
      {"DefaultPreemption", {}},
      {"NodeResourcesBalancedAllocation", 1},
      {"ImageLocality", 1},
      {"DefaultBinder", {}},
  };
  return plugins;
}

Configuration DefaultConfiguration() {
  Configuration configuration;
  Profile profile;
  profile.plugins = DefaultPlugins();
  configuration.profiles.push_back(std::move(profile));
  return configuration;
}

}  // namespace ks::config
