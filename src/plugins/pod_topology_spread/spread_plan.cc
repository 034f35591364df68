// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/spread_plan.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace ks::plugins {
namespace {

constexpr size_t kMaxPlans = 1024;

Symbol HostnameKey() {
  static const Symbol key(kHostnameKey);
  return key;
}

bool SameSelector(const SpreadConstraint& a, const SpreadConstraint& b) {
  return a.selector.labels == b.selector.labels &&
         a.selector.requirements == b.selector.requirements;
}

// The keys of all constraints but `own`, which the domain itself asks for.
std::vector<Symbol> RequiredKeys(const SpreadConstraints& constraints, Symbol own) {
  std::vector<Symbol> keys;
  for (const SpreadConstraint& constraint : constraints) {
    if (constraint.topology_key != own) keys.push_back(constraint.topology_key);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

CounterSpec DomainCounter(const SpreadPhase& phase, const SpreadConstraint& constraint, Symbol ns,
                          const std::shared_ptr<const NodeInclusion>& inclusion) {
  return {.ns = ns,
          .selector = constraint.selector,
          .topology_key = constraint.topology_key,
          .missing_is_empty = !phase.require_all,
          .required_keys = phase.require_all
                               ? RequiredKeys(phase.constraints, constraint.topology_key)
                               : std::vector<Symbol>(),
          .honor_affinity = constraint.honor_affinity && inclusion->has_affinity(),
          .honor_taints = constraint.honor_taints,
          .inclusion = inclusion};
}

CounterSpec NodeCounter(const SpreadConstraint& constraint, Symbol ns,
                        const std::shared_ptr<const NodeInclusion>& inclusion) {
  return {.ns = ns,
          .selector = constraint.selector,
          .topology_key = {},
          .required_keys = {},
          .inclusion = inclusion};
}

// Which constraint's counter serves constraint `i`. A soft constraint on the hostname only asks for
// the pods of each node, which every counter of its selector knows.
size_t CounterSource(const SpreadPhase& phase, SpreadAction action, size_t i) {
  const SpreadConstraint& constraint = phase.constraints[i];
  if (action != SpreadAction::kScheduleAnyway || constraint.topology_key != HostnameKey()) return i;
  for (size_t other = 0; other < phase.constraints.size(); ++other) {
    if (phase.constraints[other].topology_key != HostnameKey() &&
        SameSelector(constraint, phase.constraints[other])) {
      return other;
    }
  }
  return i;
}

}  // namespace

size_t SpreadPlans::KeyHash::operator()(const Key& key) const {
  size_t hash = std::hash<const void*>()(key.spec.get());
  const auto mix = [&hash](size_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL; };
  mix(key.ns.id());
  for (const auto& [name, value] : key.labels) {
    mix(name.id());
    mix(value.id());
  }
  mix(std::hash<std::string>()(key.owner_name));
  mix(key.owners_version);
  return hash;
}

std::shared_ptr<const SpreadPlan> SpreadPlans::Of(const api::Pod& pod,
                                                  const framework::OwnerListers& listers) {
  return plans_.GetOrMake(KeyOf(pod, listers), kMaxPlans, [&] { return Make(pod, listers); });
}

SpreadPlans::Key SpreadPlans::KeyOf(const api::Pod& pod,
                                    const framework::OwnerListers& listers) const {
  Key key;
  key.spec = pod.spec;
  key.ns = pod.meta.ns;
  const auto& own = pod.spec->topology_spread_constraints;
  if (!own.empty()) {
    const bool by_label =
        match_label_keys_ && std::any_of(own.begin(), own.end(),
                                         [](const auto& c) { return !c.match_label_keys.empty(); });
    if (by_label) key.labels = pod.meta.labels;
    return key;
  }
  key.labels = pod.meta.labels;
  key.owners_version = listers.version();
  if (const api::OwnerReference* owner = pod.meta.Controller()) {
    key.owner_api_version = owner->api_version;
    key.owner_kind = owner->kind;
    key.owner_name = owner->name;
  }
  return key;
}

std::shared_ptr<SpreadPlan> SpreadPlans::Make(const api::Pod& pod,
                                              const framework::OwnerListers& listers) const {
  const auto inclusion = std::make_shared<const NodeInclusion>(*pod.spec, lt_and_gt_);
  auto plan = std::make_shared<SpreadPlan>();
  plan->hard = MakePhase(pod, listers, SpreadAction::kDoNotSchedule, inclusion);
  plan->soft = MakePhase(pod, listers, SpreadAction::kScheduleAnyway, inclusion);
  return plan;
}

SpreadPhase SpreadPlans::MakePhase(const api::Pod& pod, const framework::OwnerListers& listers,
                                   SpreadAction action,
                                   const std::shared_ptr<const NodeInclusion>& inclusion) const {
  SpreadPhase phase;
  if (pod.spec->topology_spread_constraints.empty()) {
    phase.constraints = defaults_.For(pod, listers, action);
    phase.require_all = action == SpreadAction::kDoNotSchedule || !defaults_.IsSystem();
  } else {
    Result<SpreadConstraints> own = OwnConstraints(pod, action, match_label_keys_);
    if (!own.ok()) {
      phase.error = own.error().message;
      return phase;
    }
    phase.constraints = std::move(own).value();
  }
  for (size_t i = 0; i < phase.constraints.size(); ++i) {
    const SpreadConstraint& source = phase.constraints[CounterSource(phase, action, i)];
    const bool per_node =
        action == SpreadAction::kScheduleAnyway && source.topology_key == HostnameKey();
    CounterSpec spec = per_node ? NodeCounter(source, pod.meta.ns, inclusion)
                                : DomainCounter(phase, source, pod.meta.ns, inclusion);
    std::string key = CounterKey(spec, *pod.spec);
    const auto known = std::find(phase.keys.begin(), phase.keys.end(), key);
    phase.counter_of.push_back(static_cast<size_t>(known - phase.keys.begin()));
    if (known != phase.keys.end()) continue;
    phase.keys.push_back(std::move(key));
    phase.counters.push_back(std::move(spec));
  }
  return phase;
}

}  // namespace ks::plugins
