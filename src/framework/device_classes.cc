// SPDX-License-Identifier: Apache-2.0
#include "framework/device_classes.h"

namespace ks::framework {
namespace {

Symbol ImplicitName(std::string_view device_class) {
  return Symbol(std::string(kImplicitResourcePrefix) + std::string(device_class));
}

// Whether `owner` keeps the extended name that `claimant` asks for.
bool Keeps(const DeviceClass& owner, const DeviceClass& claimant) {
  if (claimant.creation_timestamp != owner.creation_timestamp) {
    return claimant.creation_timestamp < owner.creation_timestamp;
  }
  return claimant.name >= owner.name;
}

}  // namespace

const DeviceClassLister& NoDeviceClasses() {
  static const DeviceClassTable none;
  return none;
}

void DeviceClassTable::Put(const DeviceClass& device_class, const DeviceClass* former) {
  if (!device_class.extended_resource_name.empty()) {
    const DeviceClass* owner = by_resource_.Find(Symbol(device_class.extended_resource_name));
    if (owner != nullptr && Keeps(*owner, device_class)) return;
  }
  if (former != nullptr) RemoveNames(*former);
  by_resource_.Set(ImplicitName(device_class.name), device_class);
  if (!device_class.extended_resource_name.empty()) {
    by_resource_.Set(Symbol(device_class.extended_resource_name), device_class);
  }
  ++generation_;
}

void DeviceClassTable::Remove(const DeviceClass& device_class) {
  RemoveNames(device_class);
  ++generation_;
}

void DeviceClassTable::RemoveNames(const DeviceClass& device_class) {
  by_resource_.Erase(ImplicitName(device_class.name));
  if (device_class.extended_resource_name.empty()) return;
  by_resource_.Erase(Symbol(device_class.extended_resource_name));
}

const std::string* DeviceClassTable::ClassServing(const Symbol& resource) const {
  const DeviceClass* owner = by_resource_.Find(resource);
  return owner == nullptr ? nullptr : &owner->name;
}

}  // namespace ks::framework
