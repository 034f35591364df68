// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts calls of operator new, in programs that link allocations.cc, which replaces it.

#include <cstdint>

namespace ks::bench {

// How often this thread has allocated.
uint64_t AllocationsOfThread();

}  // namespace ks::bench
