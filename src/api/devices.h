// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds that devices are made of: ResourceClaim, ResourceSlice, DeviceClass, DeviceTaintRule of
// resource.k8s.io, as far as scheduling reads them. What is only handed on (the parameters of a
// driver) stays JSON text. Lists keep the order in which they were received.
//
// Upstream: docs/spec/plugins-dra.md sections 2, 3, 5, 6.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/labels.h"
#include "api/object.h"
#include "api/quantity.h"
#include "api/selector.h"
#include "base/optional_time.h"

namespace ks::api {

// On a claim that was made for the extended resources of a pod.
inline constexpr std::string_view kExtendedResourceClaimAnnotation =
    "resource.kubernetes.io/extended-resource-claim";
// The finalizer of an allocated claim.
inline constexpr std::string_view kClaimDeleteProtection =
    "resource.kubernetes.io/delete-protection";
// Modes of a request; an empty one is kExactCountMode by the API server's default.
inline constexpr std::string_view kExactCountMode = "ExactCount";
inline constexpr std::string_view kAllMode = "All";

struct NamedQuantity {
  Symbol name;
  Quantity value;

  friend bool operator==(const NamedQuantity&, const NamedQuantity&) = default;
};

// A node selector as written, and compiled. Threads: immutable once shared.
struct DeviceNodeSelector {
  NodeSelectorSpec spec;
  NodeSelector compiled;  // with errors, which nothing here reports, where it does not parse
};
using DeviceNodeSelectorPtr = std::shared_ptr<const DeviceNodeSelector>;

// For which nodes something is: one of the three, or nothing.
struct DeviceNodes {
  Symbol node_name;  // empty: absent
  bool all_nodes = false;
  DeviceNodeSelectorPtr selector{};  // null: absent
};

struct DeviceTaint {
  Symbol key;
  Symbol value;
  Symbol effect;

  friend bool operator==(const DeviceTaint&, const DeviceTaint&) = default;
};

struct DeviceToleration {
  Symbol key;
  std::string op;  // "", "Equal", "Exists" or anything else
  Symbol value;
  Symbol effect;
  std::optional<int64_t> seconds{};  // tolerationSeconds: only handed on

  friend bool operator==(const DeviceToleration&, const DeviceToleration&) = default;
};

// The expression of a selector; none: the selector is of a type that is not known.
using DeviceSelector = std::optional<std::string>;

// Parameters for a driver.
struct DeviceConfig {
  std::string source;                 // FromClass, FromClaim; only in allocations
  std::vector<std::string> requests;  // "r" or "r/sub"; empty: all
  std::string opaque;                 // the object `opaque` as JSON; empty: absent

  friend bool operator==(const DeviceConfig&, const DeviceConfig&) = default;
};

// An attribute that a request computes of each device, for its constraints.
struct DerivedAttribute {
  std::string name;  // "domain/id"
  std::string expression;

  friend bool operator==(const DerivedAttribute&, const DerivedAttribute&) = default;
};

// `exactly`, or one of `firstAvailable`.
struct ExactDeviceRequest {
  std::string name;          // of a subrequest; else empty
  Symbol device_class_name;  // empty: absent
  std::vector<DeviceSelector> selectors;
  std::string allocation_mode;  // kExactCountMode, kAllMode or anything else
  int64_t count = 0;
  std::optional<bool> admin_access;
  std::vector<DeviceToleration> tolerations;
  std::vector<NamedQuantity> capacity;  // capacity.requests
  bool has_capacity = false;            // `capacity` is non-null, possibly without requests
  std::vector<DerivedAttribute> derived_attributes;
  bool operator==(const ExactDeviceRequest&) const = default;
};

// One entry of spec.devices.requests. With neither it is of a type that is not known.
struct DeviceRequest {
  std::string name;
  std::optional<ExactDeviceRequest> exactly;
  std::vector<ExactDeviceRequest> first_available;
  bool operator==(const DeviceRequest&) const = default;
};

// The attribute is "domain/id". With neither it is of a type that is not known.
struct DeviceConstraint {
  std::vector<std::string> requests;  // "r" or "r/sub"; empty: all
  std::optional<std::string> match_attribute;
  std::optional<std::string> distinct_attribute;

  friend bool operator==(const DeviceConstraint&, const DeviceConstraint&) = default;
};

// One device that a claim got.
struct DeviceResult {
  std::string request;  // "r" or "r/sub"
  Symbol driver;
  Symbol pool;
  Symbol device;
  bool admin_access = false;
  std::vector<std::string> skip_node_operations{};
  std::string share_id{};                          // empty: the device is not shared
  std::vector<NamedQuantity> consumed_capacity{};  // of a shared device
  std::vector<DeviceToleration> tolerations{};
  std::vector<std::string> binding_conditions{};
  std::vector<std::string> binding_failure_conditions{};
  bool operator==(const DeviceResult&) const = default;
};

// status.allocation.
struct ClaimAllocation {
  std::vector<DeviceResult> results;
  std::vector<DeviceConfig> config;     // only of a new allocation: it is not read back
  DeviceNodeSelectorPtr node_selector;  // null: available everywhere
  OptionalTime timestamp;               // allocationTimestamp
};
using ClaimAllocationPtr = std::shared_ptr<const ClaimAllocation>;

// Who uses a claim; of a pod: {"", "pods", name, uid}.
struct ClaimConsumer {
  std::string api_group;
  std::string resource;
  std::string name;
  std::string uid;

  friend bool operator==(const ClaimConsumer&, const ClaimConsumer&) = default;
};

// What the driver says about a device of the claim: status.devices.
struct AllocatedDeviceStatus {
  Symbol driver;
  Symbol pool;
  Symbol device;
  std::vector<Condition> conditions;

  friend bool operator==(const AllocatedDeviceStatus&, const AllocatedDeviceStatus&) = default;
};

// resource.k8s.io/v1. Annotations are not kept but for kExtendedResourceClaimAnnotation.
// Threads: immutable once shared.
struct ResourceClaim {
  ObjectMeta meta;
  std::vector<std::string> finalizers;
  bool for_extended_resources = false;  // kExtendedResourceClaimAnnotation is "true"
  std::vector<DeviceRequest> requests;
  std::vector<DeviceConstraint> constraints;
  std::vector<DeviceConfig> config;
  ClaimAllocationPtr allocation;  // null: not allocated
  std::vector<ClaimConsumer> reserved_for;
  std::vector<AllocatedDeviceStatus> devices;
  // A hash of the status as it was written, with the fields that are not kept; equal ones are equal
  // statuses. 0: absent.
  uint64_t status_fingerprint = 0;

  bool IsReservedFor(std::string_view uid) const {
    for (const ClaimConsumer& consumer : reserved_for) {
      if (consumer.uid == uid) return true;
    }
    return false;
  }
};

// A semantic version as written.
struct DeviceVersion {
  std::string text;

  friend bool operator==(const DeviceVersion&, const DeviceVersion&) = default;
};

// monostate: of a type that is not known.
using DeviceAttributeValue =
    std::variant<std::monostate, int64_t, bool, std::string, DeviceVersion, std::vector<int64_t>,
                 std::vector<bool>, std::vector<std::string>, std::vector<DeviceVersion>>;

struct DeviceAttribute {
  Symbol name;  // "domain/id", or "id" alone for the driver's own domain
  DeviceAttributeValue value;

  friend bool operator==(const DeviceAttribute&, const DeviceAttribute&) = default;
};

// Which amounts of a capacity can be requested. Threads: immutable once shared.
struct CapacityRequestPolicy {
  struct Range {
    std::optional<Quantity> min;
    std::optional<Quantity> max;
    std::optional<Quantity> step;
    bool operator==(const Range&) const = default;
  };
  std::optional<Quantity> default_amount;
  std::vector<Quantity> valid_values;  // ascending, as the API demands
  std::optional<Range> valid_range;
  bool operator==(const CapacityRequestPolicy&) const = default;
};

struct DeviceCapacity {
  Symbol name;  // like that of an attribute
  Quantity value;
  std::shared_ptr<const CapacityRequestPolicy> policy{};  // null: absent
};

// Counters of one set: what there is of them, or what a device takes of them.
struct CounterSet {
  Symbol name;
  std::vector<NamedQuantity> counters;
  std::vector<Symbol> compatibility_groups{};  // of a device

  friend bool operator==(const CounterSet&, const CounterSet&) = default;
};

struct Device {
  Symbol name;
  bool allow_multiple_allocations = false;
  bool binds_to_node = false;
  std::vector<DeviceAttribute> attributes;
  std::vector<DeviceCapacity> capacity;
  std::vector<DeviceTaint> taints;
  std::vector<CounterSet> consumes_counters;
  DeviceNodes nodes;  // with per-device selection
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
};

// resource.k8s.io/v1. Of the metadata: name, uid, resource version.
// Threads: immutable once shared.
struct ResourceSlice {
  ObjectMeta meta;
  Symbol driver;
  Symbol pool;
  int64_t pool_generation = 0;
  int64_t pool_slice_count = 0;
  DeviceNodes nodes;
  std::optional<bool> per_device_node_selection;
  std::vector<std::string> skip_node_operations;
  std::vector<Device> devices;
  std::vector<CounterSet> shared_counters;
};

// resource.k8s.io/v1. Of the metadata: name, uid, resource version, creation time.
// Threads: immutable once shared.
struct DeviceClass {
  ObjectMeta meta;
  std::vector<DeviceSelector> selectors;
  std::vector<DeviceConfig> config;    // `opaque` alone
  std::string extended_resource_name;  // empty: absent
};

// resource.k8s.io/v1. Threads: immutable once shared.
struct DeviceTaintRule {
  // Which devices; what is absent matches every one.
  struct Selector {
    std::optional<Symbol> driver;
    std::optional<Symbol> pool;
    std::optional<Symbol> device;

    friend bool operator==(const Selector&, const Selector&) = default;
  };
  ObjectMeta meta;
  std::optional<Selector> selector;  // none: no device
  DeviceTaint taint;
};

using ResourceClaimPtr = std::shared_ptr<const ResourceClaim>;
using ResourceSlicePtr = std::shared_ptr<const ResourceSlice>;
using DeviceClassPtr = std::shared_ptr<const DeviceClass>;
using DeviceTaintRulePtr = std::shared_ptr<const DeviceTaintRule>;

}  // namespace ks::api
