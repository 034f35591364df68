// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the API says about a device, as far as selectors see it.
//
// Upstream: docs/spec/cel.md section 2.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "api/quantity.h"

namespace ks::cel {

// A semantic version as written.
struct VersionText {
  std::string text;

  friend bool operator==(const VersionText&, const VersionText&) = default;
};

// Names: "domain/id", or "id" alone for the driver's own domain.
struct DeviceContent {
  // monostate: an attribute of a type that is not known, which fails every selector.
  using AttributeValue =
      std::variant<std::monostate, int64_t, bool, std::string, VersionText, std::vector<int64_t>,
                   std::vector<bool>, std::vector<std::string>, std::vector<VersionText>>;
  struct Attribute {
    std::string name{};
    AttributeValue value{};
  };
  struct Capacity {
    std::string name{};
    api::Quantity value{};
  };

  std::string driver{};
  bool allow_multiple_allocations = false;
  std::vector<Attribute> attributes{};
  std::vector<Capacity> capacity{};
};

}  // namespace ks::cel
