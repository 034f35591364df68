// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which extended resources are served by devices: a DeviceClass stands for an extended resource, so
// that a pod may ask for devices as for any other resource.
//
// Upstream: docs/spec/plugins-node.md 4.8 (DeviceClass mapping) and 2.2 (DRA-capable names).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/labels.h"
#include "base/clock.h"

namespace ks::framework {

// Names of this prefix stand for the class that follows it.
inline constexpr std::string_view kImplicitResourcePrefix = "deviceclass.resource.kubernetes.io/";

// Threads: the scheduling thread; workers read while a cycle runs.
class DeviceClassLister {
 public:
  virtual ~DeviceClassLister() = default;
  // The name of the class that serves the resource, by its implicit or its extended name; null:
  // none does. Valid until the next change.
  virtual const std::string* ClassServing(const Symbol& resource) const = 0;
  // Changes whenever an answer may have changed, and never returns to an earlier value.
  virtual uint64_t generation() const = 0;
};

// No device class is known.
const DeviceClassLister& NoDeviceClasses();

// The part of a resource.k8s.io DeviceClass that the mapping needs.
struct DeviceClass {
  std::string name;
  std::optional<TimePoint> creation_timestamp;
  std::string extended_resource_name;  // empty: only the implicit name
};

// The mapping over the classes that it was told of, in the order in which it was told, as upstream:
// where two classes claim one extended name, the one created later serves it, and of two of one age
// the one with the smaller name; a class that comes second and loses has not even its implicit
// name; when the one that serves goes, nobody does until the other one changes
// (docs/spec/plugins-dra.md 3.4, traps 12 and 13).
class DeviceClassTable final : public DeviceClassLister {
 public:
  // The class was added, or changed from `former`; null: it was added.
  void Put(const DeviceClass& device_class, const DeviceClass* former = nullptr);
  // It was deleted; as it was last.
  void Remove(const DeviceClass& device_class);

  const std::string* ClassServing(const Symbol& resource) const override;
  uint64_t generation() const override { return generation_; }

 private:
  void RemoveNames(const DeviceClass& device_class);

  api::SymbolMap<DeviceClass> by_resource_;
  uint64_t generation_ = 0;
};

}  // namespace ks::framework
