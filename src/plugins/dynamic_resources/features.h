// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the allocator does beyond giving whole devices away: as the feature gates of upstream say.
//
// Upstream: docs/spec/plugins-dra.md section 1.2.

#include "config/gates/feature_gates.h"

namespace ks::plugins {

struct AllocatorFeatures {
  bool taints = true;               // DRADeviceTaints
  bool partitions = true;           // DRAPartitionableDevices
  bool binding_conditions = true;   // DRADeviceBindingConditions, DRAResourceClaimDeviceStatus
  bool consumable_capacity = true;  // DRAConsumableCapacity
};

AllocatorFeatures FeaturesOf(const config::FeatureGates& gates);

}  // namespace ks::plugins
