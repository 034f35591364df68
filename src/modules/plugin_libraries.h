// SPDX-License-Identifier: Apache-2.0
#pragma once
// The libraries of --plugin-library, and their plugins as entries of a registry. One piece of code
// for the daemon and for every verb that builds profiles.
//
// Upstream: none; an out-of-tree build of it registers its plugins in its main.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "framework/registry.h"
#include "metrics/registry.h"

namespace ks::modules {

// Threads: one at a time; the registry's entries as it says. Lifetime: outlives the registry; the
// metrics outlive it.
class PluginLibraries {
 public:
  // Loads each `FILE[=NAME]` and adds its plugins to `registry`; with a name, that of its only
  // plugin. Errors: `--plugin-library FILE…`, with place and cure; the first one. Runs code of the
  // libraries. `metrics`: null: nothing is counted.
  static Result<std::unique_ptr<PluginLibraries>> Load(const std::vector<std::string>& flags,
                                                       metrics::Registry* metrics,
                                                       framework::Registry* registry);
  ~PluginLibraries();
  PluginLibraries(const PluginLibraries&) = delete;
  PluginLibraries& operator=(const PluginLibraries&) = delete;

  std::vector<std::string> files() const;
  // A line each, for operators.
  void Log() const;

  // Loads what changed on disk, beside what is loaded: plugins that are made from now on are of the
  // new libraries, and those that exist stay what they are. Whether anything changed. Error: as
  // Load, or the library has other plugins, or needs more, than before; nothing is changed then.
  Result<bool> Refresh();
  // Ends a refresh: for good, or as if it had not been.
  void KeepRefreshed();
  void TakeBackRefreshed();

 private:
  class Library;

  PluginLibraries();
  Result<void> Add(const std::string& flag, framework::Registry* registry);

  struct Counts;
  std::unique_ptr<Counts> counts_;  // null: nothing is counted
  std::vector<std::unique_ptr<Library>> libraries_;
};

}  // namespace ks::modules
