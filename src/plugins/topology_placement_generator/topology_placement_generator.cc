// SPDX-License-Identifier: Apache-2.0
#include "plugins/topology_placement_generator/topology_placement_generator.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/group_plugins.h"
#include "plugins/kit/group_trees.h"

namespace ks::plugins {
namespace {

using framework::NodeInfo;
using framework::Placement;
using framework::PodGroupKey;
using framework::Status;

class TopologyPlacementGenerator final : public framework::Plugin,
                                         public framework::PlacementGeneratePlugin {
 public:
  explicit TopologyPlacementGenerator(framework::Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return kTopologyPlacementGeneratorName; }

  Status GeneratePlacements(const PodGroupKey& group, const Placement& parent,
                            std::vector<Placement>* placements) override {
    const api::GroupSpec* spec = SpecOf(handle_.pod_groups(), group);
    if (spec == nullptr || spec->topology_keys.empty()) {
      placements->push_back(parent);
      return {};
    }
    const Symbol key = spec->topology_keys.front();
    const Result<std::optional<Symbol>> required = DomainInUse(group, key);
    if (!required.ok()) {
      return Status::Error("cannot determine domain for already scheduled pods: " +
                           required.error().message);
    }
    std::map<std::string, size_t, std::less<>> by_domain;
    for (const NodeInfo* node : parent.nodes) {
      const Symbol* domain = node->node()->meta.labels.Find(key);
      if (domain == nullptr || (*required && *domain != **required)) continue;
      const auto [at, made] = by_domain.try_emplace(domain->str(), placements->size());
      if (made) placements->push_back({.name = domain->str(), .nodes = {}});
      (*placements)[at->second].nodes.push_back(node);
    }
    return {};
  }

 private:
  // That of the members that are on nodes already; absent: there are none.
  Result<std::optional<Symbol>> DomainInUse(const PodGroupKey& group, const Symbol& key) const {
    std::optional<Symbol> found;
    for (const PodGroupKey& leaf : LeavesBelow(handle_.pod_groups(), group)) {
      const framework::PodGroupState* state = handle_.pod_groups().Find(leaf.ns, leaf.name);
      if (state == nullptr) continue;
      for (const auto& [uid, member] : state->members()) {
        if (member.state == framework::MemberState::kUnscheduled) continue;
        const api::Pod& pod = *member.current();
        const NodeInfo* node = handle_.snapshot().Find(pod.node_name.str());
        if (node == nullptr) {
          return Error{"getting node for pod " + pod.meta.Key() +
                       ": nodeinfo not found for node name \"" + pod.node_name.str() + "\""};
        }
        const Symbol* domain = node->node()->meta.labels.Find(key);
        if (domain == nullptr) {
          return Error{"no topology domain found for pod " + pod.meta.Key()};
        }
        if (found && *found != *domain) {
          return Error{"more than 1 domain found for pod group: " + found->str() + ", " +
                       domain->str()};
        }
        found = *domain;
      }
    }
    return found;
  }

  const framework::Handle& handle_;
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewTopologyPlacementGenerator(
    const config::PluginArgs&, framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<TopologyPlacementGenerator>(handle));
}

}  // namespace ks::plugins
