// SPDX-License-Identifier: Apache-2.0
#pragma once
// The frameworks of all profiles of one configuration, by scheduler name.
//
// Upstream: docs/spec/framework.md section 5.8.

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/types.h"
#include "framework/registry.h"
#include "framework/runtime/runtime.h"

namespace ks::framework {

using Profiles = std::map<std::string, std::unique_ptr<Framework>>;

// Builds the frameworks in profile order and checks what they must have in common. Errors name the
// first offence, start with `initializing profiles: ` and carry the path of the field at fault.
Result<Profiles> BuildProfiles(const Registry& registry, const config::Configuration& configuration,
                               const FrameworkOptions& options);

}  // namespace ks::framework
