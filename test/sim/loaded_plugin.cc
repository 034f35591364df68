// SPDX-License-Identifier: Apache-2.0
#include "sim/loaded_plugin.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "modules/module_copy.h"
#include "modules/plugin_libraries.h"
#include "plugins/registry.h"
#include "testing/temp_dir.h"

namespace ks::sim {
namespace {

struct Loaded {
  framework::Registry registry = plugins::InTreeRegistry();
  std::unique_ptr<modules::PluginLibraries> libraries;

  Loaded() {
    const testing::TempDir folder;
    auto made = modules::PluginLibraries::Load({modules::CopyOf(folder, "disk_only", "a.so")},
                                               /*metrics=*/nullptr, &registry);
    KS_CHECK(made.ok(), made.error().message);
    libraries = std::move(made).value();
  }
};

}  // namespace

framework::Registry RegistryOf(const Plan& plan) {
  if (!plan.loaded_plugin) return plugins::InTreeRegistry();
  static const Loaded loaded;
  return loaded.registry;
}

}  // namespace ks::sim
