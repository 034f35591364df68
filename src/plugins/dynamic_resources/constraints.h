// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constraints of a claim: devices that have an attribute in common, or that differ in it.
//
// Upstream: docs/spec/plugins-dra.md section 6.4, list attributes off.

#include <span>
#include <string_view>
#include <vector>

#include "api/devices.h"

namespace ks::plugins {

// A constraint as written, ready to look at devices. Immutable.
class AttributeConstraint {
 public:
  // Requires: one of its two kinds.
  explicit AttributeConstraint(const api::DeviceConstraint& constraint);

  // The attribute's value on a device of this driver; null: it has none.
  const api::DeviceAttributeValue* ValueOf(const api::Device& device, Symbol driver) const;
  // `values`: those of the devices that were accepted before.
  bool Accepts(const api::DeviceAttributeValue& value,
               std::span<const api::DeviceAttributeValue* const> values) const;

 private:
  bool distinct_ = false;
  Symbol name_;    // "domain/id"
  Symbol domain_;  // of it
  Symbol id_;
};

}  // namespace ks::plugins
