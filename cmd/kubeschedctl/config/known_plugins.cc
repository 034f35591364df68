// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/config/known_plugins.h"

#include <memory>
#include <utility>

#include "modules/plugin_libraries.h"
#include "plugins/registry.h"

namespace ks::ctl {
namespace {

struct Known {
  framework::Registry registry = plugins::InTreeRegistry();
  std::unique_ptr<modules::PluginLibraries> libraries;  // null: none
};

// Never destroyed: plugins may be made until the process ends.
Known& TheKnown() {
  static Known& known = *new Known();
  return known;
}

}  // namespace

Result<void> UsePluginLibraries(const std::vector<std::string>& flags) {
  Known& known = TheKnown();
  auto loaded = modules::PluginLibraries::Load(flags, nullptr, &known.registry);
  if (!loaded.ok()) return loaded.error();
  known.libraries = std::move(loaded).value();
  return {};
}

const framework::Registry& KnownPlugins() { return TheKnown().registry; }

}  // namespace ks::ctl
