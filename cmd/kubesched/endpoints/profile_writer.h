// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes a CPU profile as `go tool pprof` reads it: protocol buffer profile.proto, gzip.

#include <string>

#include "kubesched/endpoints/cpu_profiler.h"

namespace ks::daemon {

// With the mappings of this process and the names of its functions, as far as its files tell,
// packed with gzip. Empty: zlib refused.
std::string WriteProfile(const CpuProfile& profile);

}  // namespace ks::daemon
