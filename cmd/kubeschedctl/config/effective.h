// SPDX-License-Identifier: Apache-2.0
#pragma once
// A configuration file as a scheduler would use it, built without a cluster.

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/gates/feature_gates.h"
#include "config/read/load.h"
#include "framework/runtime/offline_parts.h"
#include "framework/runtime/profiles.h"

namespace ks::ctl {

// The extension points in the order in which they are declared, with the names that
// ProfilePlugins::ListPlugins takes: {"preEnqueue", "PreEnqueue"} …
struct ExtensionPoint {
  std::string_view field;
  std::string_view name;
};
std::vector<ExtensionPoint> ExtensionPoints();

// Lifetime: independent; not to be moved.
struct Effective {
  config::Loaded loaded;  // completed, extenders applied
  std::unique_ptr<framework::OfflineParts> parts;
  framework::Profiles profiles;
};

// Reads, completes and checks the text and applies what extenders change in it, as a running
// scheduler does that takes it over. Faults: upstream's text and every finding with its place.
config::LoadResult LoadTextForScheduler(std::string_view text, const config::FeatureGates& gates);
// The same of a file.
config::LoadResult LoadForScheduler(const std::string& file, const config::FeatureGates& gates);
// The faults of a file as one error: the text, then a line for each finding.
Error FaultsError(const config::Faults& faults, const std::string& file);

// As above, and builds the profiles. Gates must outlive the result.
std::variant<std::unique_ptr<Effective>, config::Faults> BuildEffective(
    std::string_view text, const config::FeatureGates& gates);

// The gates of --feature-gates values. Error: upstream's text.
Result<config::FeatureGates> MakeGates(const std::vector<std::string>& values);

}  // namespace ks::ctl
