// SPDX-License-Identifier: Apache-2.0
#pragma once
// The configuration that flags and file give together.
//
// Upstream: docs/spec/config.md section 8.3 (step 8 of section 1).

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/feature_gates.h"
#include "config/findings.h"
#include "config/types.h"
#include "flags.h"

namespace ks {

struct Effective {
  config::Configuration configuration;  // complete; valid when it comes from a file
  config::SourceMap source;             // of the file; empty without one
  // What upstream ignores silently, one line each, with the place in the file.
  std::vector<std::string> warnings;
};

struct ConfigurationFault {
  std::string text;                   // upstream's whole error
  std::vector<std::string> findings;  // every fault with place and cure, one line each
};

// Reads --config if it is given. Without a file the flags' values are applied to the defaults and,
// as upstream does, not validated.
std::variant<Effective, ConfigurationFault> LoadEffectiveConfiguration(
    const Options& options, const config::FeatureGates& gates);

// A failure of a later step as a line with its place in the file; none when it has no place there.
std::vector<std::string> FindingLines(const Error& error, const config::SourceMap& source,
                                      const Options& options);

}  // namespace ks
