// SPDX-License-Identifier: Apache-2.0
#include "config/read/decode_args.h"

#include <utility>
#include <variant>

#include "config/read/routing.h"
#include "config/types.h"

namespace ks::config {
namespace {

// Every object may say its kind; routing has read it.
const Field kApiVersionField = {"apiVersion", {}};
const Field kKindField = {"kind", {}};

void DecodeResources(Decoder& d, const Value& value, std::vector<ResourceSpec>& target) {
  d.List(value, "v1.ResourceSpec", target, [&](const Value& item, ResourceSpec& spec) {
    d.Struct(item, "ResourceSpec", "v1.ResourceSpec",
             {{"name", [&](const Value& v) { d.String(v, spec.name); }},
              {"weight", [&](const Value& v) { d.Int64(v, spec.weight); }}});
  });
}

void DecodeShape(Decoder& d, const Value& value, std::vector<UtilizationShapePoint>& target) {
  constexpr std::string_view kType = "v1.UtilizationShapePoint";
  d.List(value, kType, target, [&](const Value& item, UtilizationShapePoint& point) {
    d.Struct(item, "UtilizationShapePoint", kType,
             {{"utilization", [&](const Value& v) { d.Int32(v, point.utilization); }},
              {"score", [&](const Value& v) { d.Int32(v, point.score); }}});
  });
}

void DecodeStrategy(Decoder& d, const Value& value, ScoringStrategy& target) {
  const auto ratio = [&](const Value& v, std::vector<UtilizationShapePoint>& shape) {
    d.Struct(v, "RequestedToCapacityRatioParam", "v1.RequestedToCapacityRatioParam",
             {{"shape", [&](const Value& s) { DecodeShape(d, s, shape); }}});
  };
  d.Struct(value, "ScoringStrategy", "v1.ScoringStrategy",
           {{"type", [&](const Value& v) { d.String(v, target.type, "v1.ScoringStrategyType"); }},
            {"resources", [&](const Value& v) { DecodeResources(d, v, target.resources); }},
            {"requestedToCapacityRatio",
             [&](const Value& v) { d.Optional(v, target.ratio_shape, ratio); }}});
}

void DecodeRequirements(Decoder& d, const Value& value,
                        std::vector<NodeSelectorRequirement>& target) {
  constexpr std::string_view kType = "v1.NodeSelectorRequirement";
  d.List(value, kType, target, [&](const Value& item, NodeSelectorRequirement& requirement) {
    const auto values = [&](const Value& v) {
      d.Optional(v, requirement.values,
                 [&](const Value& list, std::vector<std::string>& out) { d.Strings(list, out); });
    };
    d.Struct(item, "NodeSelectorRequirement", kType,
             {{"key", [&](const Value& v) { d.String(v, requirement.key); }},
              {"operator",
               [&](const Value& v) { d.String(v, requirement.op, "v1.NodeSelectorOperator"); }},
              {"values", values}});
  });
}

void DecodeTerm(Decoder& d, const Value& value, NodeSelectorTerm& target) {
  d.Struct(
      value, "NodeSelectorTerm", "v1.NodeSelectorTerm",
      {{"matchExpressions",
        [&](const Value& v) { DecodeRequirements(d, v, target.match_expressions); }},
       {"matchFields", [&](const Value& v) { DecodeRequirements(d, v, target.match_fields); }}});
}

void DecodeSelector(Decoder& d, const Value& value, NodeSelector& target) {
  const auto terms = [&](const Value& list, std::vector<NodeSelectorTerm>& out) {
    d.List(list, "v1.NodeSelectorTerm", out,
           [&](const Value& item, NodeSelectorTerm& term) { DecodeTerm(d, item, term); });
  };
  d.Struct(value, "NodeSelector", "v1.NodeSelector",
           {{"nodeSelectorTerms",
             [&](const Value& v) { d.Optional(v, target.node_selector_terms, terms); }}});
}

void DecodePreferred(Decoder& d, const Value& value, std::vector<PreferredSchedulingTerm>& target) {
  constexpr std::string_view kType = "v1.PreferredSchedulingTerm";
  d.List(value, kType, target, [&](const Value& item, PreferredSchedulingTerm& term) {
    d.Struct(item, "PreferredSchedulingTerm", kType,
             {{"weight", [&](const Value& v) { d.Int32(v, term.weight); }},
              {"preference", [&](const Value& v) { DecodeTerm(d, v, term.preference); }}});
  });
}

void DecodeAffinity(Decoder& d, const Value& value, NodeAffinity& target) {
  const auto required = [&](const Value& v, NodeSelector& out) { DecodeSelector(d, v, out); };
  d.Struct(value, "NodeAffinity", "v1.NodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution",
             [&](const Value& v) { d.Optional(v, target.required, required); }},
            {"preferredDuringSchedulingIgnoredDuringExecution",
             [&](const Value& v) { DecodePreferred(d, v, target.preferred); }}});
}

// Selectors are never legal here, so only their types are looked at.
void CheckLabelSelector(Decoder& d, const Value& value) {
  constexpr std::string_view kRequirement = "v1.LabelSelectorRequirement";
  const auto requirement = [&](const Value& item, std::string& text) {
    std::vector<std::string> values;
    d.Struct(item, "LabelSelectorRequirement", kRequirement,
             {{"key", [&](const Value& v) { d.String(v, text); }},
              {"operator", [&](const Value& v) { d.String(v, text, "v1.LabelSelectorOperator"); }},
              {"values", [&](const Value& v) { d.Strings(v, values); }}});
  };
  std::vector<std::string> texts;
  d.Struct(
      value, "LabelSelector", "v1.LabelSelector",
      {{"matchLabels", [&](const Value& v) { d.StringMap(v); }},
       {"matchExpressions", [&](const Value& v) { d.List(v, kRequirement, texts, requirement); }}});
}

void DecodeConstraint(Decoder& d, const Value& value, TopologySpreadConstraint& target) {
  const auto policy = [&](const Value& v, std::string& out) {
    d.String(v, out, "v1.NodeInclusionPolicy");
  };
  const auto int32 = [&](const Value& v, int32_t& out) { d.Int32(v, out); };
  d.Struct(value, "TopologySpreadConstraint", "v1.TopologySpreadConstraint",
           {{"maxSkew", [&](const Value& v) { d.Int32(v, target.max_skew); }},
            {"topologyKey", [&](const Value& v) { d.String(v, target.topology_key); }},
            {"whenUnsatisfiable",
             [&](const Value& v) {
               d.String(v, target.when_unsatisfiable, "v1.UnsatisfiableConstraintAction");
             }},
            {"labelSelector",
             [&](const Value& v) {
               target.has_label_selector = !v.IsNull();
               CheckLabelSelector(d, v);
             }},
            {"minDomains", [&](const Value& v) { d.Optional(v, target.min_domains, int32); }},
            {"nodeAffinityPolicy",
             [&](const Value& v) { d.Optional(v, target.node_affinity_policy, policy); }},
            {"nodeTaintsPolicy",
             [&](const Value& v) { d.Optional(v, target.node_taints_policy, policy); }},
            {"matchLabelKeys", [&](const Value& v) { d.Strings(v, target.match_label_keys); }}});
}

void DecodeArgs(Decoder& d, const Value& value, DefaultPreemptionArgs& args) {
  d.Struct(value, "DefaultPreemptionArgs", "",
           {kApiVersionField,
            kKindField,
            {"minCandidateNodesPercentage",
             [&](const Value& v) { d.Int32(v, args.min_candidate_nodes_percentage); }},
            {"minCandidateNodesAbsolute",
             [&](const Value& v) { d.Int32(v, args.min_candidate_nodes_absolute); }}});
}

void DecodeArgs(Decoder& d, const Value& value, DynamicResourcesArgs& args) {
  const auto time = [&](const Value& v, Duration& out) { d.Time(v, out); };
  d.Struct(
      value, "DynamicResourcesArgs", "",
      {kApiVersionField,
       kKindField,
       {"filterTimeout", [&](const Value& v) { d.Optional(v, args.filter_timeout, time); }},
       {"bindingTimeout", [&](const Value& v) { d.Optional(v, args.binding_timeout, time); }}});
}

void DecodeArgs(Decoder& d, const Value& value, InterPodAffinityArgs& args) {
  d.Struct(value, "InterPodAffinityArgs", "",
           {kApiVersionField,
            kKindField,
            {"hardPodAffinityWeight",
             [&](const Value& v) { d.Int32(v, args.hard_pod_affinity_weight); }},
            {"ignorePreferredTermsOfExistingPods",
             [&](const Value& v) { d.Bool(v, args.ignore_preferred_terms_of_existing_pods); }}});
}

void DecodeArgs(Decoder& d, const Value& value, NodeAffinityArgs& args) {
  const auto affinity = [&](const Value& v, NodeAffinity& out) { DecodeAffinity(d, v, out); };
  d.Struct(value, "NodeAffinityArgs", "",
           {kApiVersionField, kKindField, {"addedAffinity", [&](const Value& v) {
                                             d.Optional(v, args.added_affinity, affinity);
                                           }}});
}

void DecodeArgs(Decoder& d, const Value& value, NodeResourcesBalancedAllocationArgs& args) {
  d.Struct(value, "NodeResourcesBalancedAllocationArgs", "",
           {kApiVersionField, kKindField, {"resources", [&](const Value& v) {
                                             DecodeResources(d, v, args.resources);
                                           }}});
}

void DecodeArgs(Decoder& d, const Value& value, NodeResourcesFitArgs& args) {
  const auto strategy = [&](const Value& v, ScoringStrategy& out) { DecodeStrategy(d, v, out); };
  d.Struct(value, "NodeResourcesFitArgs", "",
           {kApiVersionField,
            kKindField,
            {"ignoredResources", [&](const Value& v) { d.Strings(v, args.ignored_resources); }},
            {"ignoredResourceGroups",
             [&](const Value& v) { d.Strings(v, args.ignored_resource_groups); }},
            {"scoringStrategy",
             [&](const Value& v) { d.Optional(v, args.scoring_strategy, strategy); }}});
}

void DecodeArgs(Decoder& d, const Value& value, PodTopologySpreadArgs& args) {
  constexpr std::string_view kType = "v1.TopologySpreadConstraint";
  const auto constraint = [&](const Value& item, TopologySpreadConstraint& out) {
    DecodeConstraint(d, item, out);
  };
  d.Struct(value, "PodTopologySpreadArgs", "",
           {kApiVersionField,
            kKindField,
            {"defaultConstraints",
             [&](const Value& v) { d.List(v, kType, args.default_constraints, constraint); }},
            {"defaultingType", [&](const Value& v) {
               d.String(v, args.defaulting_type, "v1.PodTopologySpreadConstraintsDefaulting");
             }}});
}

void DecodeArgs(Decoder& d, const Value& value, VolumeBindingArgs& args) {
  const auto shape = [&](const Value& v, std::vector<UtilizationShapePoint>& out) {
    DecodeShape(d, v, out);
  };
  d.Struct(value, "VolumeBindingArgs", "",
           {kApiVersionField,
            kKindField,
            {"bindTimeoutSeconds", [&](const Value& v) { d.Int64(v, args.bind_timeout_seconds); }},
            {"shape", [&](const Value& v) { d.Optional(v, args.shape, shape); }}});
}

template <class T>
void DecodeInto(Decoder& decoder, const Value& value, PluginArgs& args) {
  T decoded;
  DecodeArgs(decoder, value, decoded);
  args = std::move(decoded);
}

struct ArgsKind {
  std::string_view kind;
  void (*decode)(Decoder& decoder, const Value& value, PluginArgs& args);
};

constexpr ArgsKind kArgsKinds[] = {
    {"DefaultPreemptionArgs", DecodeInto<DefaultPreemptionArgs>},
    {"DynamicResourcesArgs", DecodeInto<DynamicResourcesArgs>},
    {"InterPodAffinityArgs", DecodeInto<InterPodAffinityArgs>},
    {"NodeAffinityArgs", DecodeInto<NodeAffinityArgs>},
    {"NodeResourcesBalancedAllocationArgs", DecodeInto<NodeResourcesBalancedAllocationArgs>},
    {"NodeResourcesFitArgs", DecodeInto<NodeResourcesFitArgs>},
    {"PodTopologySpreadArgs", DecodeInto<PodTopologySpreadArgs>},
    {"VolumeBindingArgs", DecodeInto<VolumeBindingArgs>},
};

const ArgsKind* FindKind(std::string_view kind) {
  for (const ArgsKind& each : kArgsKinds) {
    if (each.kind == kind) return &each;
  }
  return nullptr;
}

void WrongKind(const std::string& plugin, const std::string& kind, const Value& value,
               const std::string& path, DecodedArgs& result) {
  const std::string group = "." + std::string(kGroup);
  const std::string text = "args for plugin " + plugin + " were not of type " + plugin + "Args" +
                           group + ", got " + kind + group;
  result.findings.push_back({.path = path,
                             .message = text,
                             .place = value.place,
                             .hint = "kind may be left out of args"});
  if (!result.fatal) result.fatal = text;
}

}  // namespace

bool DecodeArgsOfKind(Decoder& decoder, std::string_view kind, const Value& value,
                      PluginArgs& args) {
  const ArgsKind* known = FindKind(kind);
  if (known != nullptr) known->decode(decoder, value, args);
  return known != nullptr;
}

DecodedArgs DecodePluginArgs(const std::string& plugin, const Value* value, Syntax syntax,
                             const std::string& path, SourceMap& source) {
  DecodedArgs result;
  const bool absent = value == nullptr || value->IsNull();
  const ArgsKind* wanted = FindKind(plugin + "Args");
  if (wanted == nullptr) {
    if (!absent) result.args = RawArgs{.json = CompactJson(*value, syntax)};
    return result;
  }
  const Value none;
  const Value& args = absent ? none : *value;
  const std::string prefix = "decoding args for plugin " + plugin + ": ";
  const std::string text = CompactJson(args, syntax);
  std::variant<std::string, Finding> routed = KindOf(args, syntax, text, wanted->kind);
  if (Finding* error = std::get_if<Finding>(&routed)) {
    result.fatal = prefix + error->message;
    error->path = path + (error->path.empty() ? "" : "." + error->path);
    if (error->message.starts_with("no kind")) {
      error->hint = "apiVersion and kind may be left out of args";
    }
    result.findings.push_back(std::move(*error));
    return result;
  }
  const std::string& kind = std::get<std::string>(routed);
  Decoder decoder(syntax, path, source);
  DecodeArgsOfKind(decoder, kind, args, result.args);
  if (!decoder.type_errors().empty()) result.fatal = prefix + decoder.type_errors().front().message;
  result.findings = decoder.type_errors();
  if (kind != wanted->kind) {
    WrongKind(plugin, kind, args, path, result);
    return result;
  }
  for (const Finding& error : decoder.strict_errors()) {
    result.strict.push_back(error.message);
    result.findings.push_back(error);
  }
  return result;
}

}  // namespace ks::config
