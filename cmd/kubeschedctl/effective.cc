// SPDX-License-Identifier: Apache-2.0
#include "effective.h"

#include <utility>

#include "base/clock.h"
#include "config/defaults.h"
#include "plugins/registry.h"

namespace ks::ctl {

std::vector<ExtensionPoint> ExtensionPoints() {
  std::vector<ExtensionPoint> points;
  for (const config::PluginSection& row : config::PluginSections()) {
    if (row.field != "multiPoint") points.push_back({row.field, row.go_name});
  }
  return points;
}

config::LoadResult LoadForScheduler(const std::string& file, const config::FeatureGates& gates) {
  config::LoadResult read = config::LoadConfiguration(file, {.gates = &gates, .overlay = {}});
  auto* loaded = std::get_if<config::Loaded>(&read);
  if (loaded == nullptr) return read;
  if (Result<void> applied = config::ApplyExtenders(&loaded->configuration); !applied.ok()) {
    config::Finding finding{.path = "extenders", .message = applied.error().message};
    finding.place = loaded->source.Find(finding.path);
    return config::Faults{.text = applied.error().message, .findings = {std::move(finding)}};
  }
  return read;
}

std::variant<std::unique_ptr<Effective>, config::Faults> BuildEffective(
    const std::string& file, const config::FeatureGates& gates) {
  config::LoadResult read = LoadForScheduler(file, gates);
  if (auto* faults = std::get_if<config::Faults>(&read)) return std::move(*faults);
  auto effective = std::make_unique<Effective>();
  effective->loaded = std::get<config::Loaded>(std::move(read));
  config::Loaded& loaded = effective->loaded;
  auto profiles = framework::BuildProfiles(plugins::InTreeRegistry(), loaded.configuration,
                                           {.clock = &RealClock(), .random = &effective->random});
  if (!profiles.ok()) {
    return config::Faults{.text = profiles.error().message,
                          .findings = {config::FindingOf(profiles.error(), loaded.source)}};
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
