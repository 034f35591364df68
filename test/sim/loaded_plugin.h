// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plugin that is loaded from a shared object, as operators load theirs: DiskOnly
// (test/modules/disk_only.cc).

#include "framework/registry.h"
#include "sim/plan.h"

namespace ks::sim {

inline constexpr const char* kLoadedName = "DiskOnly";
// A pod with this label goes to nodes whose label `disk` has its value.
inline constexpr const char* kLoadedLabel = "only-disk";

// The in-tree plugins, and DiskOnly where the plan wants it. The object is loaded once.
framework::Registry RegistryOf(const Plan& plan);

}  // namespace ks::sim
