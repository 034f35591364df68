// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether two objects read alike, one of them from JSON and the other from protobuf, say. All that
// is kept of an object counts but fingerprints: those are of one form, and never compared with the
// other's.

#include <algorithm>
#include <memory>
#include <vector>

#include "api/kinds.h"

namespace ks::api {

inline bool Same(const DeviceNodeSelector& a, const DeviceNodeSelector& b);
inline bool Same(const CapacityRequestPolicy& a, const CapacityRequestPolicy& b);
inline bool Same(const ClaimAllocation& a, const ClaimAllocation& b);
inline bool Same(const DeviceCapacity& a, const DeviceCapacity& b);
inline bool Same(const Device& a, const Device& b);

template <class T>
bool SameTarget(const std::shared_ptr<T>& a, const std::shared_ptr<T>& b) {
  return a == b || (a != nullptr && b != nullptr && Same(*a, *b));
}
template <class T>
bool SameEach(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b, [](const T& one, const T& other) { return Same(one, other); });
}

template <class T>
bool Same(const T& a, const T& b) {
  return a == b;
}
inline bool Same(const DeviceNodeSelector& a, const DeviceNodeSelector& b) {
  return a.spec == b.spec;
}
inline bool Same(const CapacityRequestPolicy& a, const CapacityRequestPolicy& b) { return a == b; }
inline bool Same(const DeviceNodes& a, const DeviceNodes& b) {
  return a.node_name == b.node_name && a.all_nodes == b.all_nodes &&
         SameTarget(a.selector, b.selector);
}
inline bool Same(const DeviceCapacity& a, const DeviceCapacity& b) {
  return a.name == b.name && a.value == b.value && SameTarget(a.policy, b.policy);
}
inline bool Same(const Device& a, const Device& b) {
  return a.name == b.name && a.allow_multiple_allocations == b.allow_multiple_allocations &&
         a.binds_to_node == b.binds_to_node && a.attributes == b.attributes &&
         SameEach(a.capacity, b.capacity) && a.taints == b.taints &&
         a.consumes_counters == b.consumes_counters && Same(a.nodes, b.nodes) &&
         a.binding_conditions == b.binding_conditions &&
         a.binding_failure_conditions == b.binding_failure_conditions;
}
inline bool Same(const ResourceSlice& a, const ResourceSlice& b) {
  return a.meta == b.meta && a.driver == b.driver && a.pool == b.pool &&
         a.pool_generation == b.pool_generation && a.pool_slice_count == b.pool_slice_count &&
         Same(a.nodes, b.nodes) && a.per_device_node_selection == b.per_device_node_selection &&
         a.skip_node_operations == b.skip_node_operations && SameEach(a.devices, b.devices) &&
         a.shared_counters == b.shared_counters;
}
inline bool Same(const ClaimAllocation& a, const ClaimAllocation& b) {
  return a.results == b.results && SameTarget(a.node_selector, b.node_selector) &&
         a.timestamp == b.timestamp;
}
inline bool Same(const ResourceClaim& a, const ResourceClaim& b) {
  return a.meta == b.meta && a.finalizers == b.finalizers &&
         a.for_extended_resources == b.for_extended_resources && a.requests == b.requests &&
         a.constraints == b.constraints && a.config == b.config &&
         SameTarget(a.allocation, b.allocation) && a.reserved_for == b.reserved_for &&
         a.devices == b.devices && (a.status_fingerprint == 0) == (b.status_fingerprint == 0);
}
inline bool Same(const DeviceClass& a, const DeviceClass& b) {
  return a.meta == b.meta && a.selectors == b.selectors && a.config == b.config &&
         a.extended_resource_name == b.extended_resource_name;
}
inline bool Same(const DeviceTaintRule& a, const DeviceTaintRule& b) {
  return a.meta == b.meta && a.taint == b.taint && a.selector == b.selector;
}
inline bool Same(const PersistentVolume& a, const PersistentVolume& b) {
  return a.meta == b.meta && a.storage_class_name == b.storage_class_name &&
         a.class_annotation == b.class_annotation &&
         a.bound_by_controller == b.bound_by_controller && a.capacity == b.capacity &&
         a.access_modes == b.access_modes && a.volume_mode == b.volume_mode &&
         a.attributes_class == b.attributes_class && a.claim_ref == b.claim_ref &&
         a.phase == b.phase && a.source == b.source && a.source_id == b.source_id &&
         a.azure_kind == b.azure_kind && a.volume_handle == b.volume_handle &&
         a.node_affinity_spec == b.node_affinity_spec;
}
inline PodSpec WithoutFingerprints(PodSpec spec) {
  for (Volume& volume : spec.volumes) volume.fingerprint = 0;
  return spec;
}
inline bool Same(const Pod& a, const Pod& b) {
  return a.meta == b.meta && a.node_name == b.node_name && a.status == b.status &&
         WithoutFingerprints(*a.spec) == WithoutFingerprints(*b.spec);
}

}  // namespace ks::api
