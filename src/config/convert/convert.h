// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files of older schedulers as KubeSchedulerConfiguration v1: the Policy of releases up to 1.22 and
// the versions v1alpha1 to v1beta3. For kubeschedctl; the daemon reads v1 only.
//
// Upstream: docs/spec/config.md section 11.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ks::config {

struct ConvertOptions {
  // Keep NodeLabel, ServiceAffinity, SelectorSpread and NodePreferAvoidPods as kubesched's plugins
  // of these names instead of mapping them to today's upstream plugins.
  bool keep_legacy = false;
  // Which text of a manifest: ChooseConfiguration (manifest.h).
  std::string key{};
};

struct Converted {
  std::string yaml;                // the notes as comments, then the configuration
  std::vector<std::string> notes;  // what could not be kept or needs a look, "path: text" each
  // Empty, or why the result is refused as it is (it takes over what the old file says).
  std::string refused;
};

// Reads leniently, as the old schedulers did: unknown fields become notes. Accepts YAML and JSON,
// also inside a manifest (manifest.h). Error: not readable, a kind or version that was never one of
// the scheduler's, or a field whose type makes no sense.
Result<Converted> ConvertConfiguration(std::string_view text, const ConvertOptions& options);

}  // namespace ks::config
