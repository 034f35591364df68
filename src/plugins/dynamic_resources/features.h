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

  bool compatibility_groups = false;      // DRADeviceCompatibilityGroups
  bool derived_attributes = false;        // DRADerivedAttributes
  bool fractional_ranges = false;         // DRAFractionalCapacityRange
  bool list_attributes = false;           // DRAListTypeAttributes
  bool optional_node_operations = false;  // DRAOptionalNodeOperations

  // Upstream takes another allocator then, which differs in what it makes of devices that need
  // features that are off.
  bool experimental() const {
    return compatibility_groups || derived_attributes || list_attributes ||
           optional_node_operations;
  }
};

AllocatorFeatures FeaturesOf(const config::FeatureGates& gates);

}  // namespace ks::plugins
