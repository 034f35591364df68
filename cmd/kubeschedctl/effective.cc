// SPDX-License-Identifier: Apache-2.0
#include "effective.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "config/defaults.h"
#include "config/nearest_name.h"
#include "plugins/registry.h"

namespace ks::ctl {
namespace {

constexpr std::string_view kProfilePrefix =
    "initializing profiles: creating profile for scheduler name ";

// The text between `before` and `after`; empty when they are not there.
std::string Between(const std::string& text, std::string_view before, std::string_view after) {
  const size_t found = text.find(before);
  if (found == std::string::npos) return "";
  const size_t start = found + before.size();
  const size_t end = text.find(after, start);
  return end == std::string::npos ? "" : text.substr(start, end - start);
}

// The path of the first entry that enables the plugin, at the point if one is given.
std::string EntryPath(const config::Configuration& configuration, size_t profile,
                      std::string_view plugin, std::string_view point) {
  std::string at = "profiles[" + std::to_string(profile) + "]";
  for (const config::PluginSection& row : config::PluginSections()) {
    const bool wanted = point.empty() || row.go_name == point || row.field == "multiPoint";
    const auto& enabled = (configuration.profiles[profile].plugins.*row.section).enabled;
    if (!wanted || std::none_of(enabled.begin(), enabled.end(),
                                [&](const auto& entry) { return entry.name == plugin; })) {
      continue;
    }
    // Merged lists have other indices than the file, so the section is as near as it gets there.
    std::string section = at + ".plugins." + std::string(row.field) + ".enabled";
    if (row.field == "multiPoint") return section;
    const auto entry = std::find_if(enabled.begin(), enabled.end(),
                                    [&](const auto& other) { return other.name == plugin; });
    return section + "[" + std::to_string(entry - enabled.begin()) + "]";
  }
  return at;
}

// The path of what is wrong with a plugin's arguments: the field that the error names, as far as it
// is in the file. Empty: the file gives no arguments.
std::string ArgumentPath(const config::Loaded& loaded, size_t profile, const std::string& plugin,
                         const std::string& error) {
  const auto& entries = loaded.configuration.profiles[profile].plugin_config;
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string entry =
        "profiles[" + std::to_string(profile) + "].pluginConfig[" + std::to_string(i) + "]";
    if (entries[i].name != plugin || !loaded.source.Contains(entry)) continue;
    const std::string field = Between(error, "\": ", ": ");
    return entry + ".args" + (field.empty() ? "" : ".") + field;
  }
  return "";
}

std::optional<size_t> ProfileIndex(const config::Configuration& configuration,
                                   std::string_view name) {
  for (size_t i = 0; i < configuration.profiles.size(); ++i) {
    if (configuration.profiles[i].name() == name) return i;
  }
  return std::nullopt;
}

std::string NameHint(const std::string& plugin) {
  std::vector<std::string_view> known;
  const config::Plugins defaults = config::DefaultPlugins({});
  for (const config::PluginRef& entry : defaults.multi_point.enabled) known.push_back(entry.name);
  for (const std::string_view name : {"GangScheduling", "TopologyPlacementGenerator",
                                      "PodGroupPodsCount", "DeferredPodScheduling"}) {
    known.push_back(name);
  }
  if (plugin == "*") return "\"*\" stands for all plugins in \"disabled\" only";
  const std::string nearest = config::NearestName(plugin, known);
  return nearest.empty() ? "" : "did you mean \"" + nearest + "\"?";
}

}  // namespace

std::vector<ExtensionPoint> ExtensionPoints() {
  std::vector<ExtensionPoint> points;
  for (const config::PluginSection& row : config::PluginSections()) {
    if (row.field != "multiPoint") points.push_back({row.field, row.go_name});
  }
  return points;
}

config::Finding ExplainBuildError(const config::Loaded& loaded, const std::string& text) {
  config::Finding finding{.path = "profiles", .message = text};
  const std::string name = Between(text, kProfilePrefix, ": ");
  const auto profile = ProfileIndex(loaded.configuration, name);
  if (!profile) {
    finding.place = loaded.source.Find(finding.path);
    return finding;
  }
  finding.message = text.substr(kProfilePrefix.size() + name.size() + 2);
  finding.path = "profiles[" + std::to_string(*profile) + "]";
  const std::string plugin = Between(finding.message, "lugin \"", "\"");
  if (!plugin.empty()) {
    const size_t kind = finding.message.find("Plugin \"");
    const std::string point = kind == std::string::npos ? "" : finding.message.substr(0, kind);
    const bool arguments = finding.message.starts_with("initializing plugin ");
    finding.path = arguments ? ArgumentPath(loaded, *profile, plugin, finding.message) : "";
    if (finding.path.empty()) {
      finding.path = EntryPath(loaded.configuration, *profile, plugin, point);
    }
    if (finding.message.ends_with("does not exist")) finding.hint = NameHint(plugin);
  }
  finding.place = loaded.source.Find(finding.path);
  return finding;
}

std::variant<std::unique_ptr<Effective>, config::Faults> BuildEffective(
    const std::string& file, const config::FeatureGates& gates) {
  auto read = config::LoadConfiguration(file, {.gates = &gates, .overlay = {}});
  if (auto* faults = std::get_if<config::Faults>(&read)) return std::move(*faults);
  auto effective = std::make_unique<Effective>();
  effective->loaded = std::get<config::Loaded>(std::move(read));
  config::Loaded& loaded = effective->loaded;
  if (Result<void> applied = config::ApplyExtenders(&loaded.configuration); !applied.ok()) {
    config::Finding finding{.path = "extenders", .message = applied.error().message};
    finding.place = loaded.source.Find(finding.path);
    return config::Faults{.text = applied.error().message, .findings = {std::move(finding)}};
  }
  auto profiles = framework::BuildProfiles(plugins::InTreeRegistry(), loaded.configuration,
                                           {.clock = &RealClock(), .random = &effective->random});
  if (!profiles.ok()) {
    return config::Faults{.text = profiles.error().message,
                          .findings = {ExplainBuildError(loaded, profiles.error().message)}};
  }
  effective->profiles = std::move(profiles).value();
  return effective;
}

Result<config::FeatureGates> MakeGates(const std::vector<std::string>& values) {
  std::vector<std::string> notes;
  config::GateFlags flags;
  flags.feature_gates = values;
  return config::FeatureGates::Make(flags, &notes);
}

}  // namespace ks::ctl
