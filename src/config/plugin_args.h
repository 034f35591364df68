// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments of the in-tree plugins (pluginConfig[].args), decoded and completed with defaults. The
// member initializers are the defaults of docs/spec/config.md section 4; a default that depends on
// a feature gate or replaces a given zero is filled in by defaults.h.
//
// Upstream: docs/spec/config.md section 4.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"

namespace ks::config {

struct DefaultPreemptionArgs {
  int32_t min_candidate_nodes_percentage = 10;
  int32_t min_candidate_nodes_absolute = 100;
  bool operator==(const DefaultPreemptionArgs&) const = default;
};

struct InterPodAffinityArgs {
  int32_t hard_pod_affinity_weight = 1;
  bool ignore_preferred_terms_of_existing_pods = false;
  bool operator==(const InterPodAffinityArgs&) const = default;
};

struct ResourceSpec {
  std::string name;
  int64_t weight = 0;  // 0 becomes 1 when defaulted
  bool operator==(const ResourceSpec&) const = default;
};

struct UtilizationShapePoint {
  int32_t utilization = 0;  // percent
  int32_t score = 0;        // 0..10
  bool operator==(const UtilizationShapePoint&) const = default;
};

struct ScoringStrategy {
  std::string type;                     // no default of its own once the strategy is given
  std::vector<ResourceSpec> resources;  // empty becomes cpu 1, memory 1
  // requestedToCapacityRatio.shape; absent: no such section.
  std::optional<std::vector<UtilizationShapePoint>> ratio_shape;
  bool operator==(const ScoringStrategy&) const = default;
};

struct NodeResourcesFitArgs {
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;
  std::optional<ScoringStrategy> scoring_strategy;  // never absent once defaulted
  bool operator==(const NodeResourcesFitArgs&) const = default;
};

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ResourceSpec> resources;  // empty becomes cpu 1, memory 1
  bool operator==(const NodeResourcesBalancedAllocationArgs&) const = default;
};

// The pod API's node affinity, with absent and empty lists told apart where errors or printing show
// the difference.
struct NodeSelectorRequirement {
  std::string key;
  std::string op;  // "operator"
  std::optional<std::vector<std::string>> values;
  bool operator==(const NodeSelectorRequirement&) const = default;
};

struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions;
  std::vector<NodeSelectorRequirement> match_fields;
  bool operator==(const NodeSelectorTerm&) const = default;
};

struct NodeSelector {
  std::optional<std::vector<NodeSelectorTerm>> node_selector_terms;
  bool operator==(const NodeSelector&) const = default;
};

struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;
  bool operator==(const PreferredSchedulingTerm&) const = default;
};

struct NodeAffinity {
  std::optional<NodeSelector> required;            // requiredDuringSchedulingIgnoredDuringExecution
  std::vector<PreferredSchedulingTerm> preferred;  // preferredDuring…
  bool operator==(const NodeAffinity&) const = default;
};

struct NodeAffinityArgs {
  std::optional<NodeAffinity> added_affinity;
  bool operator==(const NodeAffinityArgs&) const = default;
};

struct TopologySpreadConstraint {
  int32_t max_skew = 0;
  std::string topology_key;
  std::string when_unsatisfiable;
  bool has_label_selector = false;  // never legal here, so its content is only type-checked
  std::optional<int32_t> min_domains;
  std::optional<std::string> node_affinity_policy;
  std::optional<std::string> node_taints_policy;
  std::vector<std::string> match_label_keys;
  bool operator==(const TopologySpreadConstraint&) const = default;
};

struct PodTopologySpreadArgs {
  std::vector<TopologySpreadConstraint> default_constraints;
  std::string defaulting_type;  // "System" when defaulted, or "List"
  bool operator==(const PodTopologySpreadArgs&) const = default;
};

struct VolumeBindingArgs {
  int64_t bind_timeout_seconds = 600;
  std::optional<std::vector<UtilizationShapePoint>>
      shape;  // absent and [] differ with the gate off
  bool operator==(const VolumeBindingArgs&) const = default;
};

struct DynamicResourcesArgs {
  std::optional<Duration> filter_timeout;
  std::optional<Duration> binding_timeout;
  bool operator==(const DynamicResourcesArgs&) const = default;
};

// Arguments of a plugin without an argument type of its own: compact JSON text, keys sorted.
struct RawArgs {
  std::string json;
  bool operator==(const RawArgs&) const = default;
};

// monostate: none given.
using PluginArgs =
    std::variant<std::monostate, RawArgs, DefaultPreemptionArgs, DynamicResourcesArgs,
                 InterPodAffinityArgs, NodeAffinityArgs, NodeResourcesBalancedAllocationArgs,
                 NodeResourcesFitArgs, PodTopologySpreadArgs, VolumeBindingArgs>;

}  // namespace ks::config
