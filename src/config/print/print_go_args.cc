// SPDX-License-Identifier: Apache-2.0
// Arguments as upstream's error messages show them. Upstream: docs/spec/config.md section 3.7.

#include "base/clock.h"
#include "config/print/print_args.h"

namespace ks::config {
namespace {

void AppendStrings(std::string_view key, const std::vector<std::string>& list, JsonBuilder& out) {
  out.Key(key);
  if (list.empty()) {
    out.Null();
    return;
  }
  out.BeginArray();
  for (const std::string& element : list) out.Text(element);
  out.EndArray();
}

void AppendResources(const std::vector<ResourceSpec>& resources, JsonBuilder& out) {
  out.Key("Resources").BeginArray();
  for (const ResourceSpec& resource : resources) {
    out.BeginObject().Key("Name").Text(resource.name);
    out.Key("Weight").Number(resource.weight).EndObject();
  }
  out.EndArray();
}

void AppendShape(const std::optional<std::vector<UtilizationShapePoint>>& shape, JsonBuilder& out) {
  out.Key("Shape");
  if (!shape) {
    out.Null();
    return;
  }
  out.BeginArray();
  for (const UtilizationShapePoint& point : *shape) {
    out.BeginObject().Key("Utilization").Number(point.utilization);
    out.Key("Score").Number(point.score).EndObject();
  }
  out.EndArray();
}

void AppendDuration(std::string_view key, const std::optional<Duration>& value, JsonBuilder& out) {
  out.Key(key);
  if (value) {
    out.Text(FormatDuration(*value));
  } else {
    out.Null();
  }
}

struct Appender {
  JsonBuilder& out;

  void operator()(const std::monostate&) const { out.Null(); }
  void operator()(const RawArgs& args) const { out.Json(JsonForHtml(args.json)); }

  void operator()(const DefaultPreemptionArgs& args) const {
    out.BeginObject();
    out.Key("MinCandidateNodesPercentage").Number(args.min_candidate_nodes_percentage);
    out.Key("MinCandidateNodesAbsolute").Number(args.min_candidate_nodes_absolute).EndObject();
  }
  void operator()(const DynamicResourcesArgs& args) const {
    out.BeginObject();
    AppendDuration("FilterTimeout", args.filter_timeout, out);
    AppendDuration("BindingTimeout", args.binding_timeout, out);
    out.EndObject();
  }
  void operator()(const InterPodAffinityArgs& args) const {
    out.BeginObject().Key("HardPodAffinityWeight").Number(args.hard_pod_affinity_weight);
    out.Key("IgnorePreferredTermsOfExistingPods")
        .Bool(args.ignore_preferred_terms_of_existing_pods);
    out.EndObject();
  }
  void operator()(const NodeAffinityArgs& args) const {
    out.BeginObject().Key("AddedAffinity");
    if (args.added_affinity) {
      AppendAffinity(*args.added_affinity, out);
    } else {
      out.Null();
    }
    out.EndObject();
  }
  void operator()(const NodeResourcesBalancedAllocationArgs& args) const {
    out.BeginObject();
    AppendResources(args.resources, out);
    out.EndObject();
  }
  void operator()(const NodeResourcesFitArgs& args) const {
    const ScoringStrategy strategy = args.scoring_strategy.value_or(ScoringStrategy{});
    out.BeginObject();
    AppendStrings("IgnoredResources", args.ignored_resources, out);
    AppendStrings("IgnoredResourceGroups", args.ignored_resource_groups, out);
    out.Key("ScoringStrategy").BeginObject().Key("Type").Text(strategy.type);
    AppendResources(strategy.resources, out);
    out.Key("RequestedToCapacityRatio");
    if (strategy.ratio_shape) {
      out.BeginObject();
      AppendShape(strategy.ratio_shape, out);
      out.EndObject();
    } else {
      out.Null();
    }
    out.EndObject().EndObject();
  }
  void operator()(const PodTopologySpreadArgs& args) const {
    out.BeginObject().Key("DefaultConstraints");
    if (args.default_constraints.empty()) {
      out.Null();
    } else {
      AppendConstraints(args.default_constraints, out);
    }
    out.Key("DefaultingType").Text(args.defaulting_type).EndObject();
  }
  void operator()(const VolumeBindingArgs& args) const {
    out.BeginObject().Key("BindTimeoutSeconds").Number(args.bind_timeout_seconds);
    AppendShape(args.shape, out);
    out.EndObject();
  }
};

}  // namespace

std::string GoArgsJson(const PluginArgs& args) {
  JsonBuilder out;
  std::visit(Appender{out}, args);
  return out.Take();
}

}  // namespace ks::config
