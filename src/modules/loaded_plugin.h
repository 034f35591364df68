// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plugin of a module as a plugin of the framework.
//
// Upstream: none; its plugins are compiled in. What the runtime does with answers:
// docs/spec/framework.md section 3.

#include <memory>
#include <string>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "modules/module.h"
#include "modules/module_metrics.h"

namespace ks::modules {

struct LoadedPluginOptions {
  std::string name;  // in profiles
  const ModulePlugin& plugin;
  uint32_t needs = 0;                // KS_NEEDS_…
  ModuleMetrics* metrics = nullptr;  // null: nothing is counted
};

// Error: what the module says, or that it says nothing. Lifetime: `handle` and the metrics outlive
// the plugin.
Result<std::unique_ptr<framework::Plugin>> MakeLoadedPlugin(const LoadedPluginOptions& options,
                                                            const config::PluginArgs& args,
                                                            framework::Handle& handle);

}  // namespace ks::modules
