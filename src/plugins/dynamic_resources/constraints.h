// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constraints of a claim: devices that have an attribute in common, or that differ in it.
//
// Upstream: docs/spec/plugins-dra.md section 6.4.

#include <span>
#include <string_view>
#include <vector>

#include "api/devices.h"

namespace ks::plugins {

// A constraint as written, ready to look at devices. Immutable.
class AttributeConstraint {
 public:
  // Requires: one of its two kinds.
  // `lists`: values are sets, of one element where they are no lists.
  explicit AttributeConstraint(const api::DeviceConstraint& constraint, bool lists = false);

  // Whether only the first of the accepted values counts.
  bool first_decides() const { return !distinct_ && !lists_; }
  // "domain/id".
  Symbol name() const { return name_; }
  // The attribute's value on a device of this driver; null: it has none.
  const api::DeviceAttributeValue* ValueOf(const api::Device& device, const Symbol& driver) const;
  // `values`: those of the devices that were accepted before.
  bool Accepts(const api::DeviceAttributeValue& value,
               std::span<const api::DeviceAttributeValue* const> values) const;

 private:
  using Values = std::span<const api::DeviceAttributeValue* const>;

  bool AcceptsSet(const api::DeviceAttributeValue& value, Values values) const;

  bool distinct_ = false;
  bool lists_ = false;
  Symbol name_;    // "domain/id"
  Symbol domain_;  // of it
  Symbol id_;
};

}  // namespace ks::plugins
