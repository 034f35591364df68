// SPDX-License-Identifier: Apache-2.0
#pragma once
// ComposedPlugin: a plugin of which only its making decides at which points it takes part (one that
// was loaded). Everything else derives from the interfaces of framework/plugin.h.
//
// Upstream: none; its plugins are compiled in.

#include <memory>
#include <span>
#include <type_traits>

#include "framework/plugin.h"

namespace ks::framework {

// An object that has one or more interfaces of framework/plugin.h.
class PluginPart {
 public:
  virtual ~PluginPart() = default;
};

class ComposedPlugin {
 public:
  virtual ~ComposedPlugin() = default;
  // Always the same ones, never null. Of several with one interface the first counts.
  virtual std::span<const std::unique_ptr<PluginPart>> parts() const = 0;
};

// Where the plugin has this interface: itself or a part; null: nowhere. `plugin` may be const, and
// then the interface is.
template <class Interface, class AnyPlugin>
Interface* InterfaceOf(AnyPlugin& plugin) {
  if (auto* self = dynamic_cast<Interface*>(&plugin)) return self;
  const auto* composed = dynamic_cast<const ComposedPlugin*>(&plugin);
  if (composed == nullptr) return nullptr;
  for (const std::unique_ptr<PluginPart>& part : composed->parts()) {
    if (auto* found = dynamic_cast<Interface*>(part.get())) return found;
  }
  return nullptr;
}

// A plugin that reads objects whole (api::Pod::raw, api::Node::raw): they are kept then.
class WholeObjectReader {
 public:
  virtual ~WholeObjectReader() = default;
  // Asked once, after construction.
  virtual bool ReadsWholePods() const = 0;
  virtual bool ReadsWholeNodes() const = 0;
};

}  // namespace ks::framework
