// SPDX-License-Identifier: Apache-2.0
#pragma once
// The configuration that flags and file give together.
//
// Upstream: docs/spec/config.md section 8.3 (step 8 of section 1).

#include <string>
#include <vector>

#include "config/feature_gates.h"
#include "config/findings.h"
#include "config/load.h"
#include "flags.h"

namespace ks {

struct Effective {
  config::Reading reading;  // of the file; without one what the flags give, which is not validated
  // What upstream ignores silently, one line each, with the place in the file. None of a file with
  // faults.
  std::vector<std::string> warnings;
};

// Reads --config if it is given. Without a file the flags' values are applied to the defaults and,
// as upstream does, not validated.
Effective ReadEffectiveConfiguration(const Options& options, const config::FeatureGates& gates);

// Findings as lines with their places in the file: those that say more than the error's text does.
std::vector<std::string> FaultLines(const config::Faults& faults, const Options& options);
std::vector<std::string> WarningLines(const std::vector<config::Finding>& findings,
                                      const Options& options);

}  // namespace ks
