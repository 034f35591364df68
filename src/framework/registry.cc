// SPDX-License-Identifier: Apache-2.0
#include "framework/registry.h"

#include <algorithm>

namespace ks::framework {
namespace {

bool Before(const PluginEntry& entry, std::string_view name) { return entry.name < name; }

}  // namespace

Result<void> Registry::Register(std::string_view name, PluginFactory factory) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, Before);
  if (at != entries_.end() && at->name == name) {
    return Error{"a plugin named " + std::string(name) + " already exists"};
  }
  entries_.insert(at, {name, factory});
  return {};
}

Result<void> Registry::Unregister(std::string_view name) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, Before);
  if (at == entries_.end() || at->name != name) {
    return Error{"no plugin named " + std::string(name) + " exists"};
  }
  entries_.erase(at);
  return {};
}

const PluginEntry* Registry::Find(std::string_view name) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, Before);
  return at != entries_.end() && at->name == name ? &*at : nullptr;
}

}  // namespace ks::framework
