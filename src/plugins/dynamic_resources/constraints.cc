// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/constraints.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "base/check.h"

namespace ks::plugins {
namespace {

template <class Held>
constexpr bool kIsScalar =
    std::is_same_v<Held, int64_t> || std::is_same_v<Held, bool> ||
    std::is_same_v<Held, std::string> || std::is_same_v<Held, api::DeviceVersion>;

// Of one scalar type and equal; lists never are.
bool Same(const api::DeviceAttributeValue& a, const api::DeviceAttributeValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&b](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (kIsScalar<Held>) {
          return held == std::get<Held>(b);
        } else {
          return false;
        }
      },
      a);
}

bool IsScalar(const api::DeviceAttributeValue& value) {
  return std::visit([](const auto& held) { return kIsScalar<std::decay_t<decltype(held)>>; },
                    value);
}

// A scalar is a set of itself.
std::vector<api::DeviceAttributeValue> ElementsOf(const api::DeviceAttributeValue& value) {
  std::vector<api::DeviceAttributeValue> elements;
  std::visit(
      [&elements](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (kIsScalar<Held>) {
          elements.emplace_back(held);
        } else if constexpr (!std::is_same_v<Held, std::monostate>) {
          for (const auto& element : held) {
            elements.emplace_back(static_cast<typename Held::value_type>(element));
          }
        }
      },
      value);
  return elements;
}

bool Has(const api::DeviceAttributeValue& value, const api::DeviceAttributeValue& element) {
  const std::vector<api::DeviceAttributeValue> elements = ElementsOf(value);
  return std::any_of(elements.begin(), elements.end(),
                     [&element](const auto& one) { return Same(one, element); });
}

}  // namespace

AttributeConstraint::AttributeConstraint(const api::DeviceConstraint& constraint, bool lists)
    : distinct_(!constraint.match_attribute.has_value()), lists_(lists) {
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
                                                              const Symbol& driver) const {
  const api::DeviceAttributeValue* short_named = nullptr;
  for (const api::DeviceAttribute& attribute : device.attributes) {
    if (attribute.name == name_) return &attribute.value;
    if (attribute.name == id_ && domain_ == driver) short_named = &attribute.value;
  }
  return short_named;
}

bool AttributeConstraint::AcceptsSet(const api::DeviceAttributeValue& value, Values values) const {
  const std::vector<api::DeviceAttributeValue> elements = ElementsOf(value);
  if (elements.empty()) return false;
  if (!distinct_) {  // all have one in common
    return std::any_of(elements.begin(), elements.end(), [&values](const auto& element) {
      return std::all_of(values.begin(), values.end(),
                         [&element](const auto* earlier) { return Has(*earlier, element); });
    });
  }
  return std::none_of(elements.begin(), elements.end(), [&values](const auto& element) {
    return std::any_of(values.begin(), values.end(),
                       [&element](const auto* earlier) { return Has(*earlier, element); });
  });
}

bool AttributeConstraint::Accepts(const api::DeviceAttributeValue& value,
                                  std::span<const api::DeviceAttributeValue* const> values) const {
  if (lists_) return AcceptsSet(value, values);
  if (values.empty()) return true;
  if (!distinct_) return Same(value, *values.front());
  if (!IsScalar(value)) return false;
  return std::none_of(values.begin(), values.end(),
                      [&value](const auto* earlier) { return Same(value, *earlier); });
}

}  // namespace ks::plugins
