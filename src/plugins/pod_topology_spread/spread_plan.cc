// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/spread_plan.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "api/pod_size.h"
#include "base/text_hash.h"

namespace ks::plugins {
namespace {

constexpr size_t kMaxPlans = 1024;
constexpr size_t kMaxBytes = size_t{32} << 20;

using NodeInclusionPtr = std::shared_ptr<const NodeInclusion>;

Symbol HostnameKey() {
  static const Symbol key(kHostnameKey);
  return key;
}

bool SameSelector(const SpreadConstraint& a, const SpreadConstraint& b) {
  return a.selector.labels == b.selector.labels &&
         a.selector.requirements == b.selector.requirements;
}

// The keys of all constraints but `own`, which the domain itself asks for.
std::vector<Symbol> RequiredKeys(const SpreadConstraints& constraints, const Symbol& own) {
  std::vector<Symbol> keys;
  for (const SpreadConstraint& constraint : constraints) {
    if (constraint.topology_key != own) keys.push_back(constraint.topology_key);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

CounterSpec DomainCounter(const SpreadPhase& phase, const SpreadConstraint& constraint,
                          const Symbol& ns, const NodeInclusionPtr& inclusion) {
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

CounterSpec NodeCounter(const SpreadConstraint& constraint, const Symbol& ns,
                        const NodeInclusionPtr& inclusion) {
  return {.ns = ns,
          .selector = constraint.selector,
          .topology_key = {},
          .required_keys = {},
          .inclusion = inclusion};
}

// Gives the next constraint its counter, which the phase may have already.
void AddCounter(SpreadPhase& phase, CounterSpec spec, std::string key) {
  const auto known = std::find(phase.keys.begin(), phase.keys.end(), key);
  phase.counter_of.push_back(static_cast<size_t>(known - phase.keys.begin()));
  if (known != phase.keys.end()) return;
  phase.keys.push_back(std::move(key));
  phase.counters.push_back(std::move(spec));
}

// A constraint of the phase whose counter also serves the soft constraint `wanted`, which is on the
// hostname and so only asks for the pods of each node: every counter of its selector knows those.
const SpreadConstraint* SameCount(const SpreadPhase& phase, const SpreadConstraint& wanted,
                                  bool hard) {
  for (const SpreadConstraint& constraint : phase.constraints) {
    if ((hard || constraint.topology_key != HostnameKey()) && SameSelector(constraint, wanted)) {
      return &constraint;
    }
  }
  return nullptr;
}

void AddCounters(SpreadPlan& plan, const api::Pod& pod, const NodeInclusionPtr& inclusion) {
  const Symbol ns = pod.meta.ns;
  const auto add = [&](SpreadPhase& phase, CounterSpec spec) {
    std::string key = CounterKey(spec, *pod.spec);
    AddCounter(phase, std::move(spec), std::move(key));
  };
  for (const SpreadConstraint& constraint : plan.hard.constraints) {
    add(plan.hard, DomainCounter(plan.hard, constraint, ns, inclusion));
  }
  for (const SpreadConstraint& constraint : plan.soft.constraints) {
    if (constraint.topology_key != HostnameKey()) {
      add(plan.soft, DomainCounter(plan.soft, constraint, ns, inclusion));
    } else if (const auto* soft = SameCount(plan.soft, constraint, false)) {
      add(plan.soft, DomainCounter(plan.soft, *soft, ns, inclusion));
    } else if (const auto* hard = SameCount(plan.hard, constraint, true)) {
      add(plan.soft, DomainCounter(plan.hard, *hard, ns, inclusion));
    } else {
      add(plan.soft, NodeCounter(constraint, ns, inclusion));
    }
  }
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
  mix(HashText(key.owner_name));
  mix(key.owners_version);
  return hash;
}

std::shared_ptr<const SpreadPlan> SpreadPlans::Of(const api::Pod& pod,
                                                  const framework::OwnerListers& listers) {
  return plans_.GetOrMake(
      KeyOf(pod, listers), {.values = kMaxPlans, .bytes = kMaxBytes},
      [&] { return Make(pod, listers); }, [](const SpreadPlan& each) { return each.bytes; });
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
  auto plan = std::make_shared<SpreadPlan>();
  plan->hard = MakePhase(pod, listers, SpreadAction::kDoNotSchedule);
  plan->soft = MakePhase(pod, listers, SpreadAction::kScheduleAnyway);
  if (!plan->hard.constraints.empty() || !plan->soft.constraints.empty()) {
    AddCounters(*plan, pod, std::make_shared<const NodeInclusion>(*pod.spec, lt_and_gt_));
  }
  // As written, and compiled.
  plan->bytes = 2 * (api::RoughBytes(*pod.spec) + api::RoughBytesWithoutSpec(pod));
  return plan;
}

SpreadPhase SpreadPlans::MakePhase(const api::Pod& pod, const framework::OwnerListers& listers,
                                   SpreadAction action) const {
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
  return phase;
}

}  // namespace ks::plugins
