// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/config/effective.h"

#include <utility>

#include "base/clock.h"
#include "config/read/defaults.h"
#include "daemon/startup.h"
#include "kubeschedctl/config/known_plugins.h"

namespace ks::ctl {

std::vector<ExtensionPoint> ExtensionPoints() {
  std::vector<ExtensionPoint> points;
  for (const config::PluginSection& row : config::PluginSections()) {
    if (row.field != "multiPoint") points.push_back({row.field, row.go_name});
  }
  return points;
}

config::LoadResult LoadTextForScheduler(std::string_view text, const config::FeatureGates& gates) {
  config::Reading reading = config::ReadConfigurationText(text, {.gates = &gates, .overlay = {}});
  daemon::StartupVerdict verdict =
      daemon::JudgeStartup(reading, {.gates = gates,
                                     .until = daemon::StartupQuestion::Until::kReloaded,
                                     .place = daemon::StartupQuestion::Place::kPerhaps,
                                     .registry = &KnownPlugins()});
  if (!verdict.faults.text.empty()) return std::move(verdict.faults);
  return config::Loaded{.configuration = std::move(verdict.configuration),
                        .source = std::move(reading.source),
                        .warnings = std::move(reading.warnings)};
}

config::LoadResult LoadForScheduler(const std::string& file, const config::FeatureGates& gates) {
  const Result<std::string> text = config::ReadConfigurationFile(file);
  if (text.ok()) return LoadTextForScheduler(*text, gates);
  return config::Faults{.text = text.error().message,
                        .findings = {{.message = text.error().message}}};
}

Error FaultsError(const config::Faults& faults, const std::string& file) {
  std::string message = file + ": " + faults.text;
  for (const config::Finding& finding : faults.findings) {
    message += "\n" + config::Render(finding, file);
  }
  return Error{message};
}

std::variant<std::unique_ptr<Effective>, config::Faults> BuildEffective(
    std::string_view text, const config::FeatureGates& gates) {
  config::LoadResult read = LoadTextForScheduler(text, gates);
  if (auto* faults = std::get_if<config::Faults>(&read)) return std::move(*faults);
  auto effective = std::make_unique<Effective>();
  effective->loaded = std::get<config::Loaded>(std::move(read));
  config::Loaded& loaded = effective->loaded;
  effective->parts =
      std::make_unique<framework::OfflineParts>(framework::OfflineParts::Given{.gates = &gates});
  auto profiles = framework::BuildProfiles(KnownPlugins(), loaded.configuration,
                                           {.parts = effective->parts->parts()});
  if (!profiles.ok()) return config::Faults{.text = profiles.error().message, .findings = {}};
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
