// SPDX-License-Identifier: Apache-2.0
#pragma once
// The plugins that profiles can name in this process: those of the tree, and those of the libraries
// of --plugin-library.

#include <string>
#include <vector>

#include "base/result.h"
#include "framework/registry.h"

namespace ks::ctl {

// Threads: one, and before the first use of KnownPlugins. Runs code of the libraries. Error: place
// and cure, the first one.
Result<void> UsePluginLibraries(const std::vector<std::string>& flags);

const framework::Registry& KnownPlugins();

}  // namespace ks::ctl
