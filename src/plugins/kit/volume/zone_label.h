// SPDX-License-Identifier: Apache-2.0
#pragma once
// The labels that say where a volume or a node is, and the values of a volume that is in several
// places: "zone-a__zone-b".
//
// Upstream: docs/spec/plugins-volume.md sections 1.7 and 4.1.

#include <string_view>
#include <vector>

namespace ks::plugins {

inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
inline constexpr std::string_view kRegionLabel = "topology.kubernetes.io/region";
inline constexpr std::string_view kBetaZoneLabel = "failure-domain.beta.kubernetes.io/zone";
inline constexpr std::string_view kBetaRegionLabel = "failure-domain.beta.kubernetes.io/region";

// The parts as they are, at least one; empty parts stay.
inline std::vector<std::string_view> SplitZones(std::string_view label) {
  constexpr std::string_view kDelimiter = "__";
  std::vector<std::string_view> parts;
  for (size_t end = label.find(kDelimiter); end != std::string_view::npos;
       end = label.find(kDelimiter)) {
    parts.push_back(label.substr(0, end));
    label.remove_prefix(end + kDelimiter.size());
  }
  parts.push_back(label);
  return parts;
}

}  // namespace ks::plugins
