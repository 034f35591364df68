// SPDX-License-Identifier: Apache-2.0
#pragma once
// The places (framework::PlaceWisePlugin) of nodes for counts by the domains of a key.
//
// Design: docs/decisions/0070-windows-are-judged-by-places.md.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "framework/node_info.h"
#include "plugins/kit/cross_pod/topology.h"

namespace ks::plugins {

enum class AlikeBy : uint8_t {
  kDomain,   // nodes of one domain are, of which there are few
  kCount,    // nodes with one count, which changes with the node's own pods only
  kNothing,  // not known without looking at other nodes
};

inline constexpr size_t kFewDomains = 64;

// `per_node`: each node is counted alone, not its domain.
inline AlikeBy HowAlike(const Topology& topology, bool per_node) {
  if (per_node) return AlikeBy::kCount;
  if (topology.domains() <= kFewDomains) return AlikeBy::kDomain;
  return topology.IsNodeEach() ? AlikeBy::kCount : AlikeBy::kNothing;
}

// Appends what places depend on but for the counters, whose serial numbers follow if it is kCount.
inline void AppendBasis(const Topology& topology, AlikeBy alike, std::vector<uint64_t>* basis) {
  basis->push_back(static_cast<uint64_t>(alike));
  basis->push_back(topology.serial());
  basis->push_back(topology.epoch());
}

// `count`: asked if it is the count that matters; nodes without the key have none.
template <class Count>
void AppendPlace(const Topology& topology, bool per_node, const framework::NodeInfo& node,
                 Count count, std::vector<int64_t>* place) {
  const int32_t domain = topology.DomainOf(node.slot());
  const bool by_domain = domain == kNoDomain || HowAlike(topology, per_node) == AlikeBy::kDomain;
  place->push_back(domain == kNoDomain ? INT64_MIN : by_domain ? domain : count(domain));
}

}  // namespace ks::plugins
