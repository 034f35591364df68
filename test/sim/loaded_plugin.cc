// SPDX-License-Identifier: Apache-2.0
#include "sim/loaded_plugin.h"

#include <sys/stat.h>

#include <memory>
#include <utility>

#include "base/check.h"
#include "base/file_text.h"
#include "modules/plugin_libraries.h"
#include "plugins/registry.h"
#include "testing/temp_dir.h"

namespace ks::sim {
namespace {

struct Loaded {
  framework::Registry registry = plugins::InTreeRegistry();
  std::unique_ptr<modules::PluginLibraries> libraries;

  // From a copy in a folder that nobody else can write, whatever the build's folders are.
  Loaded() {
    const testing::TempDir folder;
    const auto content = ReadFile(std::string(KS_MODULES) + "/disk_only.so");
    KS_CHECK(content.ok(), content.error().message);
    const std::string path = folder.Write("disk_only.so", *content);
    chmod(path.c_str(), 0644);
    auto made = modules::PluginLibraries::Load({path}, /*metrics=*/nullptr, &registry);
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
