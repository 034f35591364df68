// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the configuration that flags and file give together.
//
// Upstream: docs/spec/config.md section 8.3 (step 8 of section 1).

#include "config/gates/feature_gates.h"
#include "daemon/effective_configuration.h"
#include "kubesched/flags/flags.h"

namespace ks {

// Reads --config if it is given. Without a file the flags' values are applied to the defaults and,
// as upstream does, not validated.
daemon::Effective ReadEffectiveConfiguration(const Options& options,
                                             const config::FeatureGates& gates);

}  // namespace ks
