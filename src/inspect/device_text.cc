// SPDX-License-Identifier: Apache-2.0
#include "inspect/device_text.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ks::inspect {
namespace {

constexpr size_t kValuesShown = 3;

bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// `text` without the string literal in brackets that it starts with: `['x']`.
std::optional<std::string_view> TakeBracketed(std::string_view& text) {
  if (text.size() < 4 || text[0] != '[' || (text[1] != '\'' && text[1] != '"')) return std::nullopt;
  const size_t end = text.find(text[1], 2);
  if (end == std::string_view::npos || !text.substr(end + 1).starts_with(']')) return std::nullopt;
  const std::string_view inside = text.substr(2, end - 2);
  text.remove_prefix(end + 2);
  return inside;
}

std::optional<std::string_view> TakeName(std::string_view& text) {
  if (!text.starts_with('.')) return TakeBracketed(text);
  size_t end = 1;
  while (end < text.size() && IsNamePart(text[end])) ++end;
  const std::string_view name = text.substr(1, end - 1);
  text.remove_prefix(end);
  return name;
}

bool IsNamed(const Symbol& name, std::string_view domain, std::string_view id,
             const Symbol& driver) {
  if (name.view() == std::string(domain) + '/' + std::string(id)) return true;
  return name.view() == id && driver.view() == domain;
}

std::string AttributeOf(const api::Device& device, std::string_view domain, std::string_view id,
                        const Symbol& driver) {
  for (const api::DeviceAttribute& attribute : device.attributes) {
    if (IsNamed(attribute.name, domain, id, driver)) return AttributeText(attribute.value);
  }
  return "absent";
}

std::string CapacityOf(const api::Device& device, std::string_view domain, std::string_view id,
                       const Symbol& driver) {
  for (const api::DeviceCapacity& capacity : device.capacity) {
    if (IsNamed(capacity.name, domain, id, driver)) return capacity.value.ToString();
  }
  return "absent";
}

// The value that a member of `device` has, by the text that follows "device."; empty: none.
std::string MemberText(std::string_view rest, const api::Device& device, const Symbol& driver) {
  size_t end = 0;
  while (end < rest.size() && IsNamePart(rest[end])) ++end;
  const std::string_view member = rest.substr(0, end);
  if (member == "driver") return "driver " + driver.str();
  if (member != "attributes" && member != "capacity") return "";
  rest.remove_prefix(end);
  const auto domain = TakeBracketed(rest);
  if (!domain) return "";
  const auto id = TakeName(rest);
  if (!id || id->empty()) return "";
  return std::string(*id) + ' ' +
         (member == "capacity" ? CapacityOf(device, *domain, *id, driver)
                               : AttributeOf(device, *domain, *id, driver));
}

}  // namespace

std::string QuotedExpression(std::string_view expression) {
  std::string text = "\"";
  bool blank = false;
  for (const char c : expression) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      blank = text.size() > 1;
      continue;
    }
    if (blank) text += ' ';
    blank = false;
    text += c;
  }
  return text + '"';
}

std::string NamedValues(std::string_view expression, const api::Device& device,
                        const Symbol& driver) {
  constexpr std::string_view kDevice = "device.";
  std::vector<std::string> values;
  for (size_t at = expression.find(kDevice); at != std::string_view::npos;
       at = expression.find(kDevice, at + 1)) {
    if (at > 0 && (IsNamePart(expression[at - 1]) || expression[at - 1] == '.')) continue;
    std::string value = MemberText(expression.substr(at + kDevice.size()), device, driver);
    if (value.empty() || std::find(values.begin(), values.end(), value) != values.end()) continue;
    values.push_back(std::move(value));
    if (values.size() == kValuesShown) break;
  }
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

std::string AttributeText(const api::DeviceAttributeValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return "of an unknown type";
        } else if constexpr (std::is_same_v<Held, bool>) {
          return held ? "true" : "false";
        } else if constexpr (std::is_same_v<Held, int64_t>) {
          return std::to_string(held);
        } else if constexpr (std::is_same_v<Held, std::string>) {
          return held;
        } else if constexpr (std::is_same_v<Held, api::DeviceVersion>) {
          return held.text;
        } else {
          std::string text;
          for (const typename Held::value_type& element : held) {
            text += (text.empty() ? "" : ", ") + AttributeText(api::DeviceAttributeValue(element));
          }
          return '[' + text + ']';
        }
      },
      value);
}

std::string ConstraintText(const api::DeviceConstraint& constraint) {
  if (constraint.match_attribute) return "matchAttribute " + *constraint.match_attribute;
  return "distinctAttribute " + constraint.distinct_attribute.value_or("");
}

std::string TaintText(const api::DeviceTaint& taint) {
  std::string text = taint.key.str();
  if (!taint.value.empty()) text += '=' + taint.value.str();
  return text + ':' + taint.effect.str();
}

}  // namespace ks::inspect
