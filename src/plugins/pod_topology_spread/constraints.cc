// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/constraints.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace ks::plugins {
namespace {

constexpr std::string_view kHonor = "Honor";

std::string_view ActionText(SpreadAction action) {
  return action == SpreadAction::kDoNotSchedule ? "DoNotSchedule" : "ScheduleAnyway";
}

SpreadConstraint Soft(std::string_view key, int64_t max_skew) {
  return {.action = SpreadAction::kScheduleAnyway,
          .max_skew = max_skew,
          .topology_key = Symbol(key),
          .selector = {}};
}

SpreadConstraint Default(const config::TopologySpreadConstraint& given) {
  return {.action = given.when_unsatisfiable == ActionText(SpreadAction::kDoNotSchedule)
                        ? SpreadAction::kDoNotSchedule
                        : SpreadAction::kScheduleAnyway,
          .max_skew = given.max_skew,
          .topology_key = Symbol(given.topology_key),
          .selector = {},
          .min_domains = given.min_domains.value_or(1),
          .honor_affinity = given.node_affinity_policy.value_or(std::string(kHonor)) == kHonor,
          .honor_taints = given.node_taints_policy.value_or("") == kHonor};
}

// The labels of the pod under the listed keys; keys that it lacks do not count.
api::LabelMap LabelsOf(const api::Pod& pod, const std::vector<std::string>& keys) {
  api::LabelMap labels;
  for (const std::string& text : keys) {
    const Symbol key(text);
    const Symbol* value = pod.meta.labels.Find(key);
    if (value != nullptr) labels.Set(key, *value);
  }
  return labels;
}

}  // namespace

SpreadDefaults::SpreadDefaults(const config::PluginArgs& args) {
  const auto* given = std::get_if<config::PodTopologySpreadArgs>(&args);
  if (given == nullptr || given->defaulting_type == "System" || given->defaulting_type.empty()) {
    constraints_ = {Soft(kHostnameKey, 3), Soft("topology.kubernetes.io/zone", 5)};
    return;
  }
  system_ = false;
  for (const config::TopologySpreadConstraint& constraint : given->default_constraints) {
    constraints_.push_back(Default(constraint));
  }
}

bool SpreadDefaults::Has(SpreadAction action) const {
  return std::any_of(
      constraints_.begin(), constraints_.end(),
      [action](const SpreadConstraint& constraint) { return constraint.action == action; });
}

SpreadConstraints SpreadDefaults::For(const api::Pod& pod, const framework::OwnerListers& listers,
                                      SpreadAction action) const {
  SpreadConstraints constraints;
  if (!Has(action)) return constraints;
  const DerivedSelector selector = DeriveSelector(pod, listers);
  if (selector.Empty()) return constraints;
  for (const SpreadConstraint& constraint : constraints_) {
    if (constraint.action != action) continue;
    constraints.push_back(constraint);
    constraints.back().selector = selector;
  }
  return constraints;
}

Result<SpreadConstraints> OwnConstraints(const api::Pod& pod, SpreadAction action,
                                         bool match_label_keys) {
  SpreadConstraints constraints;
  for (const api::TopologySpreadConstraint& given : pod.spec->topology_spread_constraints) {
    if (given.when_unsatisfiable != ActionText(action)) continue;
    Result<api::LabelSelector> selector = api::LabelSelector::Compile(given.label_selector);
    if (!selector.ok()) return selector.error();
    SpreadConstraint constraint{.action = action,
                                .max_skew = given.max_skew,
                                .topology_key = given.topology_key,
                                .selector = {},
                                .min_domains = given.min_domains.value_or(1),
                                .honor_affinity = given.node_affinity_policy.empty() ||
                                                  given.node_affinity_policy == kHonor,
                                .honor_taints = given.node_taints_policy == kHonor};
    if (match_label_keys) constraint.selector.labels = LabelsOf(pod, given.match_label_keys);
    if (!selector->Empty()) constraint.selector.requirements = std::move(selector).value();
    constraints.push_back(std::move(constraint));
  }
  return constraints;
}

}  // namespace ks::plugins
