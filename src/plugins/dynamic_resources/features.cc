// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/features.h"

namespace ks::plugins {

AllocatorFeatures FeaturesOf(const config::FeatureGates& gates) {
  using config::Gate;
  return {.taints = gates.Enabled(Gate::kDRADeviceTaints),
          .partitions = gates.Enabled(Gate::kDRAPartitionableDevices),
          .binding_conditions = gates.Enabled(Gate::kDRADeviceBindingConditions) &&
                                gates.Enabled(Gate::kDRAResourceClaimDeviceStatus),
          .consumable_capacity = gates.Enabled(Gate::kDRAConsumableCapacity),
          .compatibility_groups = gates.Enabled(Gate::kDRADeviceCompatibilityGroups),
          .derived_attributes = gates.Enabled(Gate::kDRADerivedAttributes),
          .fractional_ranges = gates.Enabled(Gate::kDRAFractionalCapacityRange),
          .list_attributes = gates.Enabled(Gate::kDRAListTypeAttributes),
          .optional_node_operations = gates.Enabled(Gate::kDRAOptionalNodeOperations)};
}

}  // namespace ks::plugins
