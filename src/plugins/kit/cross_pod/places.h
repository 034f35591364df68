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

// Appends what places depend on. `add_serials(basis)`: called if it is the count that matters;
// appends the serial numbers of the counters. False: nodes are alike by nothing.
template <class AddSerials>
bool AppendBasis(const Topology& topology, bool per_node, AddSerials add_serials,
                 std::vector<uint64_t>* basis) {
  const AlikeBy alike = HowAlike(topology, per_node);
  if (alike == AlikeBy::kNothing) return false;
  basis->push_back(static_cast<uint64_t>(alike));
  basis->push_back(topology.serial());
  basis->push_back(topology.epoch());
  if (alike == AlikeBy::kCount) add_serials(basis);
  return true;
}
// The same with one counter.
template <class Counter>
bool AppendBasisOf(const Counter& counter, const Topology& topology, bool per_node,
                   std::vector<uint64_t>* basis) {
  const auto add_serial = [&counter](auto* to) { to->push_back(counter.serial()); };
  return AppendBasis(topology, per_node, add_serial, basis);
}

// `count`: asked if it is the count that matters; nodes without the key have none.
template <class Count>
void AppendPlace(const Topology& topology, bool per_node, const framework::NodeInfo& node,
                 Count count, std::vector<int64_t>* place) {
  const int32_t domain = topology.DomainOf(node.slot());
  const bool by_domain = domain == kNoDomain || HowAlike(topology, per_node) == AlikeBy::kDomain;
  place->push_back(domain == kNoDomain ? INT64_MIN : by_domain ? domain : count(domain));
}

// framework::PlaceWisePlugin of a plugin with a state for Filter and one for Score; null: it is not
// asked there.
template <class Filter, class Score>
bool FindPlacesOf(const Filter* filter, const Score* score, std::vector<uint64_t>* basis) {
  return (filter == nullptr || filter->FindPlaces(basis)) &&
         (score == nullptr || score->FindPlaces(basis));
}
template <class Filter, class Score>
void AppendPlaceOf(const Filter* filter, const Score* score, const framework::NodeInfo& node,
                   std::vector<int64_t>* place) {
  if (filter != nullptr) filter->AppendPlace(node, place);
  if (score != nullptr) score->AppendPlace(node, place);
}

}  // namespace ks::plugins
