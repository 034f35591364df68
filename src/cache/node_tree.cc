// SPDX-License-Identifier: Apache-2.0
#include "cache/node_tree.h"

#include <algorithm>

#include "base/check.h"
#include "base/logging.h"

namespace ks::cache {
namespace {

// The value of the beta label if that key exists, even with an empty value; else of the stable one.
std::string_view TopologyValue(const api::LabelMap& labels, const Symbol& beta,
                               const Symbol& stable) {
  const Symbol* value = labels.Find(beta);
  if (value == nullptr) value = labels.Find(stable);
  return value == nullptr ? std::string_view() : value->view();
}

}  // namespace

std::string ZoneKey(const api::Node& node) {
  static const Symbol beta_zone("failure-domain.beta.kubernetes.io/zone");
  static const Symbol zone_label("topology.kubernetes.io/zone");
  static const Symbol beta_region("failure-domain.beta.kubernetes.io/region");
  static const Symbol region_label("topology.kubernetes.io/region");
  const std::string_view zone = TopologyValue(node.meta.labels, beta_zone, zone_label);
  const std::string_view region = TopologyValue(node.meta.labels, beta_region, region_label);
  if (zone.empty() && region.empty()) return {};
  std::string key(region);
  key += ':';
  key += '\0';
  key += ':';
  key += zone;
  return key;
}

bool NodeTree::Add(std::string_view name, const std::string& zone_key) {
  const Symbol node(name);
  const Symbol key(zone_key);
  const auto known = zone_of_.find(node);
  if (known != zone_of_.end()) {
    if (known->second == key) return false;
    Forget(known);
  }
  zone_of_.try_emplace(node, key);
  auto zone = std::ranges::find(zones_, key, &Zone::key);
  if (zone == zones_.end()) {
    zones_.push_back({.key = key, .names = {}});
    zone = zones_.end() - 1;
  }
  zone->names.push_back(node);
  KS_LOG(2, "Added node to NodeTree", {{"node", name}, {"zone", zone_key}});
  return true;
}

Result<void> NodeTree::Remove(std::string_view name, const std::string& zone_key) {
  const auto known = zone_of_.find(Symbol(name));
  if (known == zone_of_.end() || known->second != zone_key) {
    return Error{"node \"" + std::string(name) + "\" in group \"" + zone_key + "\" was not found"};
  }
  Forget(known);
  return {};
}

void NodeTree::Forget(std::string_view name) {
  const auto known = zone_of_.find(Symbol(name));
  if (known != zone_of_.end()) Forget(known);
}

void NodeTree::Forget(ZoneOfName::iterator known) {
  const auto [node, key] = *known;
  KS_LOG(2, "Removed node from NodeTree", {{"node", node.view()}, {"zone", key.view()}});
  const auto zone = std::ranges::find(zones_, key, &Zone::key);
  KS_CHECK(zone != zones_.end(), "a node is in a zone that is not there");
  const auto place = std::ranges::find(zone->names, node);
  KS_CHECK(place != zone->names.end(), "a node is not in its zone");
  zone->names.erase(place);
  if (zone->names.empty()) zones_.erase(zone);
  zone_of_.erase(known);
}

std::vector<std::string_view> NodeTree::List() const {
  std::vector<std::string_view> list;
  list.reserve(size());
  for (size_t round = 0; list.size() < size(); ++round) {
    for (const Zone& zone : zones_) {
      if (round < zone.names.size()) list.push_back(zone.names[round].view());
    }
  }
  return list;
}

}  // namespace ks::cache
