// SPDX-License-Identifier: Apache-2.0
#include "framework/profiles.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "framework/quote.h"

namespace ks::framework {
namespace {

Error Failed(const std::string& text) { return Error{"initializing profiles: " + text}; }

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
                               const FrameworkOptions& options) {
  Profiles profiles;
  std::string first_sort;
  for (const config::Profile& profile : configuration.profiles) {
    const std::string& name = profile.name();
    auto framework = Framework::Create(registry, profile, options);
    if (!framework.ok()) {
      return Failed("creating profile for scheduler name " + name + ": " +
                    framework.error().message);
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
