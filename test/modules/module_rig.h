// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plugins of the test's modules over a fake handle. Threads: one.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "config/plugin_args.h"
#include "framework/composed_plugin.h"
#include "framework/registry.h"
#include "modules/module_copy.h"
#include "modules/plugin_libraries.h"
#include "testing/fake_handle.h"
#include "testing/temp_dir.h"

namespace ks::modules {

class ModuleRig {
 public:
  explicit ModuleRig(const std::string& module) {
    auto loaded =
        PluginLibraries::Load({CopyOf(folder_, module, module + ".so")}, &metrics_, &registry_);
    KS_CHECK(loaded.ok(), loaded.error().message);
    libraries_ = std::move(loaded).value();
  }

  // Its plugin, made with these arguments (JSON; empty: none).
  Result<std::unique_ptr<framework::Plugin>> Make(const std::string& args) {
    config::PluginArgs raw;
    if (!args.empty()) raw = config::RawArgs{args};
    return registry_.entries()[0].source->Make(raw, handle_);
  }

  testing::FakeHandle& handle() { return handle_; }
  metrics::Registry& metrics() { return metrics_; }
  const framework::Registry& registry() const { return registry_; }

 private:
  testing::TempDir folder_;
  metrics::Registry metrics_;
  testing::FakeHandle handle_;
  framework::Registry registry_;
  std::unique_ptr<PluginLibraries> libraries_;
};

// Requires: it takes part there.
template <class Interface>
Interface& At(framework::Plugin& plugin) {
  auto* found = framework::InterfaceOf<Interface>(plugin);
  KS_CHECK(found != nullptr, "the plugin has no such point");
  return *found;
}

}  // namespace ks::modules
