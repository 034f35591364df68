// SPDX-License-Identifier: Apache-2.0
#pragma once
// The points of a loaded plugin, each an object of its own: only those that it implements are
// there.
//
// Upstream: docs/spec/framework.md section 3.

#include <memory>
#include <vector>

#include "framework/composed_plugin.h"
#include "kubesched/plugin.h"
#include "modules/plugin_host.h"

namespace ks::modules {

// What a part calls. Lifetime: `host` and what `table` names live for ever, `self` until close.
struct PartContext {
  PluginHost& host;
  const ks_plugin& table;
  void* self;
};

using Parts = std::vector<std::unique_ptr<framework::PluginPart>>;

// Those that decide where a pod goes, and those that follow. They add to `parts`.
void AddDecidingParts(const PartContext& context, Parts* parts);
void AddBindingParts(const PartContext& context, Parts* parts);
void AddQueueParts(const PartContext& context, Parts* parts);

// Calls a function of the module. An exception must not leave it; if one does, it ends here.
template <class Function>
ks_status Guarded(const Function& function) noexcept {
  try {
    return function();
  } catch (...) {
    return PluginHost::kThrew;
  }
}

}  // namespace ks::modules
