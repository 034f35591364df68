// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/constraints.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "base/check.h"

namespace ks::plugins {
namespace {

// Of one scalar type and equal; lists never are.
bool Same(const api::DeviceAttributeValue& a, const api::DeviceAttributeValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&b](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        constexpr bool kScalar = std::is_same_v<Held, int64_t> || std::is_same_v<Held, bool> ||
                                 std::is_same_v<Held, std::string> ||
                                 std::is_same_v<Held, api::DeviceVersion>;
        if constexpr (kScalar) {
          return held == std::get<Held>(b);
        } else {
          return false;
        }
      },
      a);
}

}  // namespace

AttributeConstraint::AttributeConstraint(const api::DeviceConstraint& constraint)
    : distinct_(!constraint.match_attribute.has_value()) {
  KS_CHECK(constraint.match_attribute.has_value() || constraint.distinct_attribute.has_value(),
           "an empty constraint");
  const std::string_view name =
      distinct_ ? *constraint.distinct_attribute : *constraint.match_attribute;
  name_ = Symbol(name);
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return;
  domain_ = Symbol(name.substr(0, slash));
  id_ = Symbol(name.substr(slash + 1));
}

const api::DeviceAttributeValue* AttributeConstraint::ValueOf(const api::Device& device,
                                                              Symbol driver) const {
  const api::DeviceAttributeValue* short_named = nullptr;
  for (const api::DeviceAttribute& attribute : device.attributes) {
    if (attribute.name == name_) return &attribute.value;
    if (attribute.name == id_ && domain_ == driver) short_named = &attribute.value;
  }
  return short_named;
}

bool AttributeConstraint::Accepts(const api::DeviceAttributeValue& value,
                                  std::span<const api::DeviceAttributeValue* const> values) const {
  if (values.empty()) return true;
  if (!distinct_) return Same(value, *values.front());
  return std::none_of(values.begin(), values.end(),
                      [&value](const auto* earlier) { return Same(value, *earlier); });
}

}  // namespace ks::plugins
