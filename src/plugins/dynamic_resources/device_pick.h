// SPDX-License-Identifier: Apache-2.0
#pragma once
// A device that the search for devices has chosen.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/dynamic_resources/capacity.h"

namespace ks::plugins {

// A device that a request got.
struct DevicePick {
  uint32_t claim = 0;
  uint32_t device = 0;                               // index into NodePools::devices
  size_t alternative = 0;                            // AlternativePlan::index
  std::shared_ptr<const CapacityAmounts> amounts{};  // of a shareable device; else null
  bool counters_taken = false;
};
using DevicePicks = std::vector<DevicePick>;

}  // namespace ks::plugins
