// SPDX-License-Identifier: Apache-2.0
#pragma once
// A module: a shared object that was loaded, and what it says of itself, checked. It is loaded from
// a private copy, so that what was checked is what runs, a file that changes under it harms
// nothing, and a new version can be loaded beside it. It is never unloaded: its threads, its
// thread-local variables, or a language's runtime may not stand that.
//
// Upstream: none; its plugins are compiled in. Decision 0057.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kubesched/plugin.h"

namespace ks::modules {

struct ModulePlugin {
  std::string name;
  ks_plugin table;  // in this version's size
};

struct Module {
  std::string name;
  std::string version;
  uint32_t needs = 0;  // KS_NEEDS_…
  std::vector<ModulePlugin> plugins;
};

// Whether a plugin can have this name in profiles: 1 to 63 letters, digits, '-', '.', '_', '/'.
bool IsPluginName(std::string_view name);

// The content of a file that may be loaded. Errors begin with the file and name the cure: what is
// not there, is no file, can be changed by others than root and this user, or is no shared object
// of this machine with the symbol kubesched_module.
Result<std::string> ReadModuleFile(const std::string& path);
// Runs code of the module. Errors: as above; what the loader says; a description that is not of
// this version or not sound. Threads: any.
// What it returns lives for the rest of the process.
Result<const Module*> LoadModule(const std::string& path, const std::string& content);
// The check of LoadModule. `path` is for the error.
Result<Module> CheckModule(const std::string& path, const ks_module* described);

}  // namespace ks::modules
