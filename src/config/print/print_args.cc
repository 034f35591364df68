// SPDX-License-Identifier: Apache-2.0
#include "config/print/print_args.h"

#include "base/clock.h"
#include "config/types.h"

namespace ks::config {
namespace {

void AppendStrings(std::string_view key, const std::vector<std::string>& list, JsonBuilder& out) {
  if (list.empty()) return;
  out.Key(key).BeginArray();
  for (const std::string& element : list) out.Text(element);
  out.EndArray();
}

void AppendText(std::string_view key, const std::optional<std::string>& text, JsonBuilder& out) {
  if (text) out.Key(key).Text(*text);
}

void AppendResources(const std::vector<ResourceSpec>& resources, JsonBuilder& out) {
  if (resources.empty()) return;
  out.Key("resources").BeginArray();
  for (const ResourceSpec& resource : resources) {
    out.BeginObject().Key("name").Text(resource.name);
    out.Key("weight").Number(resource.weight).EndObject();
  }
  out.EndArray();
}

void AppendShape(const std::vector<UtilizationShapePoint>& shape, JsonBuilder& out) {
  if (shape.empty()) return;
  out.Key("shape").BeginArray();
  for (const UtilizationShapePoint& point : shape) {
    out.BeginObject().Key("utilization").Number(point.utilization);
    out.Key("score").Number(point.score).EndObject();
  }
  out.EndArray();
}

void AppendRequirements(std::string_view key, const std::vector<NodeSelectorRequirement>& list,
                        JsonBuilder& out) {
  if (list.empty()) return;
  out.Key(key).BeginArray();
  for (const NodeSelectorRequirement& requirement : list) {
    out.BeginObject().Key("key").Text(requirement.key).Key("operator").Text(requirement.op);
    if (requirement.values) AppendStrings("values", *requirement.values, out);
    out.EndObject();
  }
  out.EndArray();
}

void AppendTerm(const NodeSelectorTerm& term, JsonBuilder& out) {
  out.BeginObject();
  AppendRequirements("matchExpressions", term.match_expressions, out);
  AppendRequirements("matchFields", term.match_fields, out);
  out.EndObject();
}

void AppendSelector(const NodeSelector& selector, JsonBuilder& out) {
  out.BeginObject().Key("nodeSelectorTerms");
  if (selector.node_selector_terms) {
    out.BeginArray();
    for (const NodeSelectorTerm& term : *selector.node_selector_terms) AppendTerm(term, out);
    out.EndArray();
  } else {
    out.Null();
  }
  out.EndObject();
}

void AppendStrategy(const ScoringStrategy& strategy, JsonBuilder& out) {
  out.Key("scoringStrategy").BeginObject();
  if (!strategy.type.empty()) out.Key("type").Text(strategy.type);
  AppendResources(strategy.resources, out);
  if (strategy.ratio_shape) {
    out.Key("requestedToCapacityRatio").BeginObject();
    AppendShape(*strategy.ratio_shape, out);
    out.EndObject();
  }
  out.EndObject();
}

void AppendConstraint(const TopologySpreadConstraint& constraint, JsonBuilder& out) {
  out.BeginObject().Key("maxSkew").Number(constraint.max_skew);
  out.Key("topologyKey").Text(constraint.topology_key);
  out.Key("whenUnsatisfiable").Text(constraint.when_unsatisfiable);
  if (constraint.min_domains) out.Key("minDomains").Number(*constraint.min_domains);
  AppendText("nodeAffinityPolicy", constraint.node_affinity_policy, out);
  AppendText("nodeTaintsPolicy", constraint.node_taints_policy, out);
  AppendStrings("matchLabelKeys", constraint.match_label_keys, out);
  out.EndObject();
}

// One Fields for each type: the fields behind kind and apiVersion.
void Fields(const DefaultPreemptionArgs& args, JsonBuilder& out) {
  out.Key("minCandidateNodesPercentage").Number(args.min_candidate_nodes_percentage);
  out.Key("minCandidateNodesAbsolute").Number(args.min_candidate_nodes_absolute);
}

void Fields(const DynamicResourcesArgs& args, JsonBuilder& out) {
  out.Key("filterTimeout");
  if (args.filter_timeout) {
    out.Text(FormatDuration(*args.filter_timeout));
  } else {
    out.Null();
  }
  if (args.binding_timeout) out.Key("bindingTimeout").Text(FormatDuration(*args.binding_timeout));
}

void Fields(const InterPodAffinityArgs& args, JsonBuilder& out) {
  out.Key("hardPodAffinityWeight").Number(args.hard_pod_affinity_weight);
  out.Key("ignorePreferredTermsOfExistingPods").Bool(args.ignore_preferred_terms_of_existing_pods);
}

void Fields(const NodeAffinityArgs& args, JsonBuilder& out) {
  if (!args.added_affinity) return;
  out.Key("addedAffinity");
  AppendAffinity(*args.added_affinity, out);
}

void Fields(const NodeResourcesBalancedAllocationArgs& args, JsonBuilder& out) {
  AppendResources(args.resources, out);
}

void Fields(const NodeResourcesFitArgs& args, JsonBuilder& out) {
  AppendStrings("ignoredResources", args.ignored_resources, out);
  AppendStrings("ignoredResourceGroups", args.ignored_resource_groups, out);
  if (args.scoring_strategy) AppendStrategy(*args.scoring_strategy, out);
}

void Fields(const PodTopologySpreadArgs& args, JsonBuilder& out) {
  if (!args.default_constraints.empty()) {
    out.Key("defaultConstraints");
    AppendConstraints(args.default_constraints, out);
  }
  if (!args.defaulting_type.empty()) out.Key("defaultingType").Text(args.defaulting_type);
}

void Fields(const VolumeBindingArgs& args, JsonBuilder& out) {
  out.Key("bindTimeoutSeconds").Number(args.bind_timeout_seconds);
  if (args.shape) AppendShape(*args.shape, out);
}

struct Appender {
  JsonBuilder& out;

  void operator()(const std::monostate&) const { out.Null(); }
  void operator()(const RawArgs& args) const { out.Json(JsonForHtml(args.json)); }
  template <class Args>
  void operator()(const Args& args) const {
    out.BeginObject().Key("kind").Text(Kind(args)).Key("apiVersion").Text(kApiVersion);
    Fields(args, out);
    out.EndObject();
  }

  static std::string_view Kind(const DefaultPreemptionArgs&) { return "DefaultPreemptionArgs"; }
  static std::string_view Kind(const DynamicResourcesArgs&) { return "DynamicResourcesArgs"; }
  static std::string_view Kind(const InterPodAffinityArgs&) { return "InterPodAffinityArgs"; }
  static std::string_view Kind(const NodeAffinityArgs&) { return "NodeAffinityArgs"; }
  static std::string_view Kind(const NodeResourcesBalancedAllocationArgs&) {
    return "NodeResourcesBalancedAllocationArgs";
  }
  static std::string_view Kind(const NodeResourcesFitArgs&) { return "NodeResourcesFitArgs"; }
  static std::string_view Kind(const PodTopologySpreadArgs&) { return "PodTopologySpreadArgs"; }
  static std::string_view Kind(const VolumeBindingArgs&) { return "VolumeBindingArgs"; }
};

}  // namespace

void AppendAffinity(const NodeAffinity& affinity, JsonBuilder& out) {
  out.BeginObject();
  if (affinity.required) {
    out.Key("requiredDuringSchedulingIgnoredDuringExecution");
    AppendSelector(*affinity.required, out);
  }
  if (!affinity.preferred.empty()) {
    out.Key("preferredDuringSchedulingIgnoredDuringExecution").BeginArray();
    for (const PreferredSchedulingTerm& term : affinity.preferred) {
      out.BeginObject().Key("weight").Number(term.weight).Key("preference");
      AppendTerm(term.preference, out);
      out.EndObject();
    }
    out.EndArray();
  }
  out.EndObject();
}

void AppendConstraints(const std::vector<TopologySpreadConstraint>& constraints, JsonBuilder& out) {
  out.BeginArray();
  for (const TopologySpreadConstraint& constraint : constraints) AppendConstraint(constraint, out);
  out.EndArray();
}

void AppendArgs(const PluginArgs& args, JsonBuilder& out) { std::visit(Appender{out}, args); }

}  // namespace ks::config
