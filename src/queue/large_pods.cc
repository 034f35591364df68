// SPDX-License-Identifier: Apache-2.0
#include "queue/large_pods.h"

#include <chrono>
#include <cstddef>
#include <vector>

namespace ks::queue {
namespace {

// Entries. Specs that people or controllers write have some dozens.
constexpr size_t kLarge = 256;
// Of the time, for large pods: one part of so many.
constexpr int kParts = 5;
// An attempt that is as fast as those of others is no reason to wait.
constexpr Duration kFast = std::chrono::milliseconds(2);

size_t EntriesOf(const std::vector<api::SelectorRequirement>& requirements) {
  size_t entries = requirements.size();
  for (const api::SelectorRequirement& requirement : requirements) {
    entries += requirement.values.size();
  }
  return entries;
}

size_t EntriesOf(const std::optional<api::LabelSelectorSpec>& selector) {
  return selector ? selector->match_labels.size() + EntriesOf(selector->match_expressions) : 0;
}

size_t EntriesOf(const api::PodAffinityTerm& term) {
  return 1 + term.namespaces.size() + EntriesOf(term.label_selector) +
         EntriesOf(term.namespace_selector);
}

size_t EntriesOf(const std::optional<api::PodAffinity>& affinity) {
  if (!affinity) return 0;
  size_t entries = 0;
  for (const api::PodAffinityTerm& term : affinity->required) entries += EntriesOf(term);
  for (const api::WeightedPodAffinityTerm& each : affinity->preferred) {
    entries += EntriesOf(each.term);
  }
  return entries;
}

size_t EntriesOf(const api::NodeSelectorTerm& term) {
  return 1 + EntriesOf(term.match_expressions) + EntriesOf(term.match_fields);
}

size_t EntriesOf(const std::optional<api::NodeAffinity>& affinity) {
  if (!affinity) return 0;
  size_t entries = 0;
  if (affinity->required) {
    for (const api::NodeSelectorTerm& term : affinity->required->terms) entries += EntriesOf(term);
  }
  for (const api::PreferredSchedulingTerm& each : affinity->preferred) {
    entries += EntriesOf(each.preference);
  }
  return entries;
}

size_t EntriesOf(const std::vector<api::Container>& containers) {
  size_t entries = containers.size();
  for (const api::Container& container : containers) {
    entries += container.ports.size() + container.claims.size() + container.requests.size() +
               container.limits.size();
  }
  return entries;
}

size_t EntriesOf(const std::vector<api::TopologySpreadConstraint>& constraints) {
  size_t entries = constraints.size();
  for (const api::TopologySpreadConstraint& constraint : constraints) {
    entries += EntriesOf(constraint.label_selector) + constraint.match_label_keys.size();
  }
  return entries;
}

}  // namespace

bool IsLarge(const api::PodSpec& spec) {
  const size_t entries = spec.scheduling_gates.size() + spec.node_selector.size() +
                         EntriesOf(spec.node_affinity) + EntriesOf(spec.pod_affinity) +
                         EntriesOf(spec.pod_anti_affinity) + spec.tolerations.size() +
                         EntriesOf(spec.topology_spread_constraints) + EntriesOf(spec.containers) +
                         EntriesOf(spec.init_containers) + spec.overhead.size() +
                         spec.resource_claims.size() + spec.volumes.size();
  return entries > kLarge;
}

bool LargeTurns::MayBegin(const Clock& clock) {
  if (!began_ && !next_) return true;
  const TimePoint now = clock.Now();
  if (began_) {
    const Duration took = now - *began_;
    began_.reset();
    next_.reset();
    if (took > kFast) next_ = now + (kParts - 1) * took;
  }
  if (next_ && now < *next_) return false;
  next_.reset();
  return true;
}

}  // namespace ks::queue
