// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/device_content.h"

#include <type_traits>
#include <variant>
#include <vector>

namespace ks::plugins {
namespace {

cel::VersionText ToContent(const api::DeviceVersion& version) { return {version.text}; }

cel::DeviceContent::AttributeValue ToContent(const api::DeviceAttributeValue& value) {
  return std::visit(
      [](const auto& held) -> cel::DeviceContent::AttributeValue {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, api::DeviceVersion>) {
          return ToContent(held);
        } else if constexpr (std::is_same_v<Held, std::vector<api::DeviceVersion>>) {
          std::vector<cel::VersionText> versions;
          for (const api::DeviceVersion& version : held) versions.push_back(ToContent(version));
          return versions;
        } else {
          return held;
        }
      },
      value);
}

}  // namespace

cel::DeviceContent DeviceContentOf(const Symbol& driver, const api::Device& device) {
  cel::DeviceContent content{.driver = driver.str(),
                             .allow_multiple_allocations = device.allow_multiple_allocations};
  for (const api::DeviceAttribute& attribute : device.attributes) {
    content.attributes.push_back({attribute.name.str(), ToContent(attribute.value)});
  }
  for (const api::DeviceCapacity& capacity : device.capacity) {
    content.capacity.push_back({capacity.name.str(), capacity.value});
  }
  return content;
}

api::DeviceAttributeValue AttributeOf(const cel::DeviceContent::AttributeValue& value) {
  return std::visit(
      [](const auto& held) -> api::DeviceAttributeValue {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, cel::VersionText>) {
          return api::DeviceVersion{held.text};
        } else if constexpr (std::is_same_v<Held, std::vector<cel::VersionText>>) {
          std::vector<api::DeviceVersion> versions;
          for (const cel::VersionText& version : held) versions.push_back({version.text});
          return versions;
        } else {
          return held;
        }
      },
      value);
}

}  // namespace ks::plugins
