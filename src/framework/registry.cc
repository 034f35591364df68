// SPDX-License-Identifier: Apache-2.0
#include "framework/registry.h"

#include <algorithm>

namespace ks::framework {
namespace {

bool Before(const PluginEntry& entry, std::string_view name) { return entry.name < name; }

}  // namespace

Result<void> Registry::Register(std::string_view name, PluginFactory factory) {
  return Insert({.name = name, .factory = factory});
}

Result<void> Registry::Register(std::string_view name, PluginSource& source) {
  return Insert({.name = name, .source = &source});
}

Result<void> Registry::Insert(PluginEntry entry) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), entry.name, Before);
  if (at != entries_.end() && at->name == entry.name) {
    return Error{"a plugin named " + std::string(entry.name) + " already exists"};
  }
  entries_.insert(at, entry);
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
