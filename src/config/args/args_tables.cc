// SPDX-License-Identifier: Apache-2.0
// The tables of all types of plugin arguments, and of the structures in them, in the order of
// plugin_args.h; fields in upstream's order. Upstream: docs/spec/config.md section 4.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <variant>

#include "base/clock.h"
#include "config/args/args_rules.h"
#include "config/args/field_table.h"
#include "config/args/field_walk.h"
#include "config/args_type.h"

namespace ks::config {

// Structures in arguments.

template <>
constexpr auto kFieldTable<ResourceSpec> =
    TableOf<ResourceSpec>({.name = "ResourceSpec"}, FieldOf("name", &ResourceSpec::name),
                          FieldOf("weight", &ResourceSpec::weight));

template <>
constexpr auto kFieldTable<UtilizationShapePoint> = TableOf<UtilizationShapePoint>(
    {.name = "UtilizationShapePoint"}, FieldOf("utilization", &UtilizationShapePoint::utilization),
    FieldOf("score", &UtilizationShapePoint::score));

namespace {

using Shape = std::vector<UtilizationShapePoint>;

// Upstream has a structure of one field around ScoringStrategy::ratio_shape.
struct RatioParam {
  std::optional<Shape> shape;
};

void DecodeRatio(Decoder& decoder, const Value& value, std::optional<Shape>& target);
void AppendRatio(const std::optional<Shape>& value, Style style, JsonBuilder& out);

}  // namespace

template <>
constexpr auto kFieldTable<RatioParam> =
    TableOf<RatioParam>({.name = "RequestedToCapacityRatioParam"},
                        FieldOf("shape", &RatioParam::shape, {.print = Print::kIfNotEmpty}));

template <>
constexpr auto kFieldTable<ScoringStrategy> = TableOf<ScoringStrategy>(
    {.name = "ScoringStrategy"},
    FieldOf("type", &ScoringStrategy::type,
            {.type = "v1.ScoringStrategyType", .print = Print::kIfNotEmpty}),
    FieldOf("resources", &ScoringStrategy::resources, {.print = Print::kIfNotEmpty}),
    FieldOf("requestedToCapacityRatio", &ScoringStrategy::ratio_shape,
            {.print = Print::kIfGiven, .decode = DecodeRatio, .append = AppendRatio}));

template <>
constexpr auto kFieldTable<NodeSelectorRequirement> = TableOf<NodeSelectorRequirement>(
    {.name = "NodeSelectorRequirement", .of_pod_api = true},
    FieldOf("key", &NodeSelectorRequirement::key),
    FieldOf("operator", &NodeSelectorRequirement::op, {.type = "v1.NodeSelectorOperator"}),
    FieldOf("values", &NodeSelectorRequirement::values, {.print = Print::kIfNotEmpty}));

template <>
constexpr auto kFieldTable<NodeSelectorTerm> = TableOf<NodeSelectorTerm>(
    {.name = "NodeSelectorTerm", .of_pod_api = true},
    FieldOf("matchExpressions", &NodeSelectorTerm::match_expressions,
            {.print = Print::kIfNotEmpty}),
    FieldOf("matchFields", &NodeSelectorTerm::match_fields, {.print = Print::kIfNotEmpty}));

template <>
constexpr auto kFieldTable<NodeSelector> =
    TableOf<NodeSelector>({.name = "NodeSelector", .of_pod_api = true},
                          FieldOf("nodeSelectorTerms", &NodeSelector::node_selector_terms));

template <>
constexpr auto kFieldTable<PreferredSchedulingTerm> =
    TableOf<PreferredSchedulingTerm>({.name = "PreferredSchedulingTerm", .of_pod_api = true},
                                     FieldOf("weight", &PreferredSchedulingTerm::weight),
                                     FieldOf("preference", &PreferredSchedulingTerm::preference));

template <>
constexpr auto kFieldTable<NodeAffinity> =
    TableOf<NodeAffinity>({.name = "NodeAffinity", .of_pod_api = true},
                          FieldOf("requiredDuringSchedulingIgnoredDuringExecution",
                                  &NodeAffinity::required, {.print = Print::kIfGiven}),
                          FieldOf("preferredDuringSchedulingIgnoredDuringExecution",
                                  &NodeAffinity::preferred, {.print = Print::kIfNotEmpty}));

namespace {

void DecodeLabelSelector(Decoder& decoder, const Value& value, bool& given);

}  // namespace

template <>
constexpr auto kFieldTable<TopologySpreadConstraint> = TableOf<TopologySpreadConstraint>(
    {.name = "TopologySpreadConstraint", .of_pod_api = true},
    FieldOf("maxSkew", &TopologySpreadConstraint::max_skew),
    FieldOf("topologyKey", &TopologySpreadConstraint::topology_key),
    FieldOf("whenUnsatisfiable", &TopologySpreadConstraint::when_unsatisfiable,
            {.type = "v1.UnsatisfiableConstraintAction"}),
    FieldOf("labelSelector", &TopologySpreadConstraint::has_label_selector,
            {.print = Print::kNever, .decode = DecodeLabelSelector}),
    FieldOf("minDomains", &TopologySpreadConstraint::min_domains, {.print = Print::kIfGiven}),
    FieldOf("nodeAffinityPolicy", &TopologySpreadConstraint::node_affinity_policy,
            {.type = "v1.NodeInclusionPolicy", .print = Print::kIfGiven}),
    FieldOf("nodeTaintsPolicy", &TopologySpreadConstraint::node_taints_policy,
            {.type = "v1.NodeInclusionPolicy", .print = Print::kIfGiven}),
    FieldOf("matchLabelKeys", &TopologySpreadConstraint::match_label_keys,
            {.print = Print::kIfNotEmpty}));

// Rules and exceptions that the tables name.
namespace {

void DecodeRatio(Decoder& decoder, const Value& value, std::optional<Shape>& target) {
  std::optional<RatioParam> ratio;
  DecodeValue(decoder, value, "", ratio);
  if (ratio) target = ratio->shape.value_or(Shape());
}

void AppendRatio(const std::optional<Shape>& value, Style style, JsonBuilder& out) {
  if (value) {
    AppendStruct(RatioParam{*value}, style, out);
  } else {
    out.Null();
  }
}

// Selectors are never legal here, so only their types are looked at.
void DecodeLabelSelector(Decoder& decoder, const Value& value, bool& given) {
  given = !value.IsNull();
  constexpr std::string_view kRequirement = "v1.LabelSelectorRequirement";
  const auto requirement = [&](const Value& item, std::string& text) {
    std::vector<std::string> values;
    decoder.Struct(
        item, "LabelSelectorRequirement", kRequirement,
        {{"key", [&](const Value& v) { decoder.String(v, text); }},
         {"operator", [&](const Value& v) { decoder.String(v, text, "v1.LabelSelectorOperator"); }},
         {"values", [&](const Value& v) { decoder.Strings(v, values); }}});
  };
  std::vector<std::string> texts;
  decoder.Struct(value, "LabelSelector", "v1.LabelSelector",
                 {{"matchLabels", [&](const Value& v) { decoder.StringMap(v); }},
                  {"matchExpressions",
                   [&](const Value& v) { decoder.List(v, kRequirement, texts, requirement); }}});
}

void CheckPercentage(const int32_t& value, const std::string& path, const FeatureGates& /*gates*/,
                     Report& report) {
  report.Range(path, value, 0, 100);
}

// 4.1.

void CheckAbsolute(const int32_t& value, const std::string& path, const FeatureGates& /*gates*/,
                   Report& report) {
  if (value < 0) report.InvalidNumber(path, value, "not in valid range [0, inf)");
}

void CheckNotBothZero(const DefaultPreemptionArgs& args, const std::string& path,
                      const FeatureGates& /*gates*/, Report& report) {
  const int32_t percentage = args.min_candidate_nodes_percentage;
  const int32_t absolute = args.min_candidate_nodes_absolute;
  if (percentage != 0 || absolute != 0) return;
  report.InvalidNumber(path + ".minCandidateNodesPercentage", percentage,
                       "cannot be zero at the same time as minCandidateNodesAbsolute");
  report.InvalidNumber(path + ".minCandidateNodesAbsolute", absolute,
                       "cannot be zero at the same time as minCandidateNodesPercentage");
}

// 4.6.
void CompleteDefaultingType(std::string& type, const FeatureGates& /*gates*/) {
  if (type.empty()) type = "System";
}

// 4.7.

void CheckBindTimeout(const int64_t& seconds, const std::string& path,
                      const FeatureGates& /*gates*/, Report& report) {
  if (seconds >= 0) return;
  report.InvalidNumber(path, seconds, "invalid BindTimeoutSeconds, should not be a negative value");
}

void CompleteVolumeShape(std::optional<Shape>& shape, const FeatureGates& gates) {
  const bool absent = !shape || shape->empty();
  if (absent && gates.Enabled(Gate::kStorageCapacityScoring)) shape = {{0, 10}, {100, 0}};
}

void CheckVolumeShape(const std::optional<Shape>& shape, const std::string& path,
                      const FeatureGates& gates, Report& report) {
  if (gates.Enabled(Gate::kStorageCapacityScoring)) {
    CheckShape(shape.value_or(Shape()), path, report);
  } else if (shape) {
    JsonBuilder json;
    AppendOptional(shape, Style::kGo, json);
    report.Invalid(path, json.Take(),
                   "unexpected field `shape`, remove it or turn on the feature gate "
                   "StorageCapacityScoring");
  }
}

void CompleteFilterTimeout(std::optional<Duration>& timeout, const FeatureGates& gates) {
  if (timeout || !gates.Enabled(Gate::kDRASchedulerFilterTimeout)) return;
  timeout = std::chrono::seconds(10);
}

void CheckFilterTimeout(const std::optional<Duration>& timeout, const std::string& path,
                        const FeatureGates& gates, Report& report) {
  if (!timeout) return;
  if (!gates.Enabled(Gate::kDRASchedulerFilterTimeout)) {
    report.Forbidden(path, "DRASchedulingFilterTimeout feature gate is disabled");
  } else if (*timeout < Duration::zero()) {
    report.InvalidText(path, FormatDuration(*timeout), "must be zero or positive");
  }
}

bool HasBindingTimeout(const FeatureGates& gates) {
  return gates.Enabled(Gate::kDRADeviceBindingConditions) &&
         gates.Enabled(Gate::kDRAResourceClaimDeviceStatus);
}

void CompleteBindingTimeout(std::optional<Duration>& timeout, const FeatureGates& gates) {
  if (!timeout && HasBindingTimeout(gates)) timeout = std::chrono::minutes(10);
}

void CheckBindingTimeout(const std::optional<Duration>& timeout, const std::string& path,
                         const FeatureGates& gates, Report& report) {
  if (!timeout) return;
  if (!HasBindingTimeout(gates)) {
    report.Forbidden(
        path,
        "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled");
  } else if (*timeout < std::chrono::seconds(1)) {
    report.InvalidText(path, FormatDuration(*timeout), "must be at least 1 second");
  }
}

}  // namespace

// Arguments.

template <>
constexpr auto kFieldTable<DefaultPreemptionArgs> = TableOf<DefaultPreemptionArgs>(
    {.name = "DefaultPreemptionArgs", .check = CheckNotBothZero},
    FieldOf("minCandidateNodesPercentage", &DefaultPreemptionArgs::min_candidate_nodes_percentage,
            {.check = CheckPercentage}),
    FieldOf("minCandidateNodesAbsolute", &DefaultPreemptionArgs::min_candidate_nodes_absolute,
            {.check = CheckAbsolute}));

template <>
constexpr auto kFieldTable<InterPodAffinityArgs> = TableOf<InterPodAffinityArgs>(
    {.name = "InterPodAffinityArgs"},
    FieldOf("hardPodAffinityWeight", &InterPodAffinityArgs::hard_pod_affinity_weight,
            {.check = CheckPercentage}),
    FieldOf("ignorePreferredTermsOfExistingPods",
            &InterPodAffinityArgs::ignore_preferred_terms_of_existing_pods));

template <>
constexpr auto kFieldTable<NodeResourcesFitArgs> = TableOf<NodeResourcesFitArgs>(
    // Upstream looks for these under the wrong key when it validates the file (trap T7).
    {.name = "NodeResourcesFitArgs", .checked_by_factory = true},
    FieldOf("ignoredResources", &NodeResourcesFitArgs::ignored_resources,
            {.print = Print::kIfNotEmpty, .check = CheckIgnoredResources}),
    FieldOf("ignoredResourceGroups", &NodeResourcesFitArgs::ignored_resource_groups,
            {.print = Print::kIfNotEmpty, .check = CheckIgnoredGroups}),
    FieldOf("scoringStrategy", &NodeResourcesFitArgs::scoring_strategy,
            {.print = Print::kIfGiven, .complete = CompleteStrategy, .check = CheckStrategy}));

template <>
constexpr auto kFieldTable<NodeResourcesBalancedAllocationArgs> =
    TableOf<NodeResourcesBalancedAllocationArgs>(
        {.name = "NodeResourcesBalancedAllocationArgs"},
        FieldOf("resources", &NodeResourcesBalancedAllocationArgs::resources,
                {.print = Print::kIfNotEmpty,
                 .complete = CompleteResources,
                 .check = CheckBalancedResources}));

template <>
constexpr auto kFieldTable<NodeAffinityArgs> = TableOf<NodeAffinityArgs>(
    {.name = "NodeAffinityArgs"}, FieldOf("addedAffinity", &NodeAffinityArgs::added_affinity,
                                          {.print = Print::kIfGiven, .check = CheckAddedAffinity}));

template <>
constexpr auto kFieldTable<PodTopologySpreadArgs> = TableOf<PodTopologySpreadArgs>(
    {.name = "PodTopologySpreadArgs", .check = CheckSpread},
    FieldOf("defaultConstraints", &PodTopologySpreadArgs::default_constraints,
            {.print = Print::kIfNotEmpty}),
    FieldOf("defaultingType", &PodTopologySpreadArgs::defaulting_type,
            {.type = "v1.PodTopologySpreadConstraintsDefaulting",
             .print = Print::kIfNotEmpty,
             .complete = CompleteDefaultingType}));

template <>
constexpr auto kFieldTable<VolumeBindingArgs> = TableOf<VolumeBindingArgs>(
    {.name = "VolumeBindingArgs"},
    FieldOf("bindTimeoutSeconds", &VolumeBindingArgs::bind_timeout_seconds,
            {.check = CheckBindTimeout}),
    FieldOf(
        "shape", &VolumeBindingArgs::shape,
        {.print = Print::kIfNotEmpty, .complete = CompleteVolumeShape, .check = CheckVolumeShape}));

template <>
constexpr auto kFieldTable<DynamicResourcesArgs> = TableOf<DynamicResourcesArgs>(
    {.name = "DynamicResourcesArgs"},
    FieldOf("filterTimeout", &DynamicResourcesArgs::filter_timeout,
            {.complete = CompleteFilterTimeout, .check = CheckFilterTimeout}),
    FieldOf("bindingTimeout", &DynamicResourcesArgs::binding_timeout,
            {.print = Print::kIfGiven,
             .complete = CompleteBindingTimeout,
             .check = CheckBindingTimeout}));

// What follows from the tables.
namespace {

template <class Args>
constexpr ArgsType MakeArgsType() {
  constexpr std::string_view kKindOfArgs = TableFor<Args>().facts.name;
  static_assert(kKindOfArgs.ends_with("Args"), "arguments are called as their plugin, and Args");
  return {
      .plugin = kKindOfArgs.substr(0, kKindOfArgs.size() - std::string_view("Args").size()),
      .kind = kKindOfArgs,
      .checked_by_factory = TableFor<Args>().facts.checked_by_factory,
      .make = [] { return PluginArgs(Args()); },
      .decode = [](Decoder& decoder, const Value& value,
                   PluginArgs& args) { DecodeArgs(decoder, value, args.emplace<Args>()); },
      .complete = [](PluginArgs& args,
                     const FeatureGates& gates) { CompleteFields(std::get<Args>(args), gates); },
      .check = [](const PluginArgs& args, const std::string& path, const FeatureGates& gates,
                  Report& report) { CheckFields(std::get<Args>(args), path, gates, report); },
      .append =
          [](const PluginArgs& args, JsonBuilder& out) {
            out.BeginObject().Key("kind").Text(TableFor<Args>().facts.name);
            out.Key("apiVersion").Text(kApiVersion);
            AppendFields(std::get<Args>(args), Style::kFile, out);
            out.EndObject();
          },
      .append_go = [](const PluginArgs& args,
                      JsonBuilder& out) { AppendStruct(std::get<Args>(args), Style::kGo, out); },
  };
}

// One for each alternative of PluginArgs behind the two that are no types of arguments.
template <class Variant>
struct TypesOf;
template <class... Args>
struct TypesOf<std::variant<std::monostate, RawArgs, Args...>> {
  static constexpr std::array kTypes = {MakeArgsType<Args>()...};
};
constexpr auto& kArgsTypes = TypesOf<PluginArgs>::kTypes;
constexpr size_t kUntyped = std::variant_size_v<PluginArgs> - kArgsTypes.size();

static_assert(std::ranges::is_sorted(kArgsTypes, {}, &ArgsType::plugin),
              "keep the alternatives of PluginArgs sorted by name");

}  // namespace

std::span<const ArgsType> ArgsTypes() { return kArgsTypes; }

const ArgsType* FindArgsType(std::string_view plugin) {
  const auto* const found = std::ranges::find(kArgsTypes, plugin, &ArgsType::plugin);
  return found == kArgsTypes.end() ? nullptr : found;
}

const ArgsType* FindArgsKind(std::string_view kind) {
  const auto* const found = std::ranges::find(kArgsTypes, kind, &ArgsType::kind);
  return found == kArgsTypes.end() ? nullptr : found;
}

const ArgsType* ArgsTypeOf(const PluginArgs& args) {
  return args.index() < kUntyped ? nullptr : &kArgsTypes[args.index() - kUntyped];
}

}  // namespace ks::config
