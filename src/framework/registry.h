// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of plugin factories. src/plugins/registry.cc is the in-tree one; tests and out-of-tree
// builds merge their own.
//
// Upstream: docs/spec/framework.md sections 5.1 and 16.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/plugin_args.h"
#include "config/text/findings.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace ks::framework {

// Makes a plugin from its arguments (monostate when the profile gives none: all defaults). Anything
// wrong fails here, at start.
using PluginFactory = Result<std::unique_ptr<Plugin>> (*)(const config::PluginArgs& args,
                                                          Handle& handle);

// Makes plugins of one name where a function does not suffice. Threads: any, one at a time.
class PluginSource {
 public:
  virtual ~PluginSource() = default;
  virtual Result<std::unique_ptr<Plugin>> Make(const config::PluginArgs& args, Handle& handle) = 0;
};

struct PluginEntry {
  std::string_view name;
  PluginFactory factory = nullptr;
  // An in-tree plugin with an argument type of its own: the configuration always has arguments for
  // it, and a profile that does not is refused.
  bool typed_args = false;
  // Every fault in arguments that the factory refuses, with paths below the arguments; null: the
  // factory's error is all there is to say.
  std::vector<config::Finding> (*args_faults)(const config::PluginArgs& args) = nullptr;
  // In the place of `factory`, unless null. Lifetime: outlives the registry.
  PluginSource* source = nullptr;
};

// Threads: immutable once frameworks are built from it.
class Registry {
 public:
  Registry() = default;
  // Requires: sorted, unique names.
  explicit Registry(std::span<const PluginEntry> entries)
      : entries_(entries.begin(), entries.end()) {}

  // Error: `a plugin named <name> already exists`.
  Result<void> Register(std::string_view name, PluginFactory factory);
  Result<void> Register(std::string_view name, PluginSource& source);
  // Error: `no plugin named <name> exists`.
  Result<void> Unregister(std::string_view name);
  // Null when unknown.
  const PluginEntry* Find(std::string_view name) const;
  // Sorted by name.
  std::span<const PluginEntry> entries() const { return entries_; }

 private:
  Result<void> Insert(PluginEntry entry);

  std::vector<PluginEntry> entries_;  // sorted by name
};

}  // namespace ks::framework
