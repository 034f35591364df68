// SPDX-License-Identifier: Apache-2.0
#include "framework/device_classes.h"

#include <utility>

namespace ks::framework {
namespace {

// `claimant` takes the extended name over from `owner`. Requires: its name is greater.
bool Displaces(const DeviceClass& claimant, const DeviceClass& owner) {
  return owner.creation_timestamp < claimant.creation_timestamp;
}

}  // namespace

const DeviceClassLister& NoDeviceClasses() {
  static const DeviceClassTable none;
  return none;
}

void DeviceClassTable::Put(DeviceClass device_class) {
  std::string name = device_class.name;
  classes_.insert_or_assign(std::move(name), std::move(device_class));
  Rebuild();
}

bool DeviceClassTable::Remove(std::string_view name) {
  const auto it = classes_.find(name);
  if (it == classes_.end()) return false;
  classes_.erase(it);
  Rebuild();
  return true;
}

const std::string* DeviceClassTable::ClassServing(Symbol resource) const {
  return by_resource_.Find(resource);
}

void DeviceClassTable::Rebuild() {
  ++generation_;
  by_resource_ = {};
  for (const auto& [name, device_class] : classes_) {
    by_resource_.Set(Symbol(std::string(kImplicitResourcePrefix) + name), name);
  }
  api::SymbolMap<const DeviceClass*> owners;
  for (const auto& [name, device_class] : classes_) {
    if (device_class.extended_resource_name.empty()) continue;
    const DeviceClass*& owner = owners[Symbol(device_class.extended_resource_name)];
    if (owner == nullptr || Displaces(device_class, *owner)) owner = &device_class;
  }
  for (const auto& [resource, owner] : owners) by_resource_.Set(resource, owner->name);
}

}  // namespace ks::framework
