// SPDX-License-Identifier: Apache-2.0
#include "framework/profiles.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "framework/quote.h"

namespace ks::framework {
namespace {

Error Failed(const std::string& text, const std::string& path = {}, const std::string& hint = {}) {
  return Error{"initializing profiles: " + text, path, hint};
}

// The raw arguments of a plugin; absent when the profile gives none.
std::optional<config::PluginArgs> Arguments(const config::Profile& profile,
                                            std::string_view plugin) {
  for (const config::PluginConfig& entry : profile.plugin_config) {
    if (entry.name == plugin) return entry.args;
  }
  return std::nullopt;
}

}  // namespace

Result<Profiles> BuildProfiles(const Registry& registry, const config::Configuration& configuration,
                               const FrameworkOptions& shared) {
  FrameworkOptions options = shared;
  options.parallelism = configuration.parallelism;
  Profiles profiles;
  std::string first_sort;
  for (size_t i = 0; i < configuration.profiles.size(); ++i) {
    const config::Profile& profile = configuration.profiles[i];
    const std::string path = "profiles[" + std::to_string(i) + "]";
    const std::string& name = profile.name();
    auto framework = Framework::Create(registry, profile, options);
    if (!framework.ok()) {
      const Error& error = framework.error();
      return Failed("creating profile for scheduler name " + name + ": " + error.message,
                    error.path.empty() ? path : path + "." + error.path, error.hint);
    }
    if (name.empty()) return Failed("scheduler name is needed");
    if (profiles.contains(name)) {
      return Failed("duplicate profile with scheduler name " + Quoted(name));
    }
    const std::string sort((*framework)->QueueSortPluginName());
    if (profiles.empty()) {
      first_sort = sort;
    } else if (sort != first_sort) {
      return Failed("different queue sort plugins for profile " + Quoted(name) + ": " +
                    Quoted(sort) + ", first: " + Quoted(first_sort));
    } else if (Arguments(profile, sort) != Arguments(configuration.profiles.front(), sort)) {
      return Failed("different queue sort plugin args for profile " + Quoted(name));
    }
    profiles.emplace(name, std::move(framework).value());
  }
  if (profiles.empty()) return Failed("at least one profile is required");
  return profiles;
}

}  // namespace ks::framework
