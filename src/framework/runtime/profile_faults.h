// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything that is wrong with the profiles of a configuration, where BuildProfiles stops at the
// first offence: for telling people all at once.

#include <optional>
#include <vector>

#include "base/result.h"
#include "config/types.h"
#include "framework/registry.h"
#include "framework/runtime/runtime.h"

namespace ks::framework {

struct ProfileFaults {
  Error first;  // BuildProfiles' error
  // Each fault by itself, in the same form and order, what only follows from another left out.
  // Paths count entries as they are in the configuration, where defaults are merged in.
  std::vector<Error> all;
};

// Absent: the profiles can be built.
std::optional<ProfileFaults> FindProfileFaults(const Registry& registry,
                                               const config::Configuration& configuration,
                                               const FrameworkOptions& options);

}  // namespace ks::framework
