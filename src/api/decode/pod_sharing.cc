// SPDX-License-Identifier: Apache-2.0
#include "api/decode/pod_sharing.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text_hash.h"

namespace ks::api {

namespace {

void Mix(size_t& hash, size_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
}
void Mix(size_t& hash, std::string_view text) { Mix(hash, HashText(text)); }
void Mix(size_t& hash, const ResourceList& list) {
  for (const auto& [name, quantity] : list) {
    Mix(hash, name.id());
    Mix(hash, static_cast<size_t>(quantity.MilliValue()));
  }
}
void Mix(size_t& hash, const std::optional<LabelSelectorSpec>& selector) {
  if (!selector) return;
  for (const auto& [key, value] : selector->match_labels) {
    Mix(hash, key);
    Mix(hash, value);
  }
  Mix(hash, selector->match_expressions.size());
}
void Mix(size_t& hash, const std::optional<PodAffinity>& affinity) {
  if (!affinity) return;
  for (const PodAffinityTerm& term : affinity->required) {
    Mix(hash, term.topology_key.id());
    Mix(hash, term.label_selector);
  }
  for (const WeightedPodAffinityTerm& weighted : affinity->preferred) {
    Mix(hash, weighted.term.topology_key.id());
    Mix(hash, weighted.term.label_selector);
  }
}

// The hashes are over what usually tells templates apart; equal values have equal ones.
size_t HashOf(const PodSpec& spec) {
  size_t hash = spec.scheduler_name.id();
  Mix(hash, static_cast<size_t>(spec.priority.value_or(0)));
  for (const auto* const containers : {&spec.containers, &spec.init_containers}) {
    for (const Container& container : *containers) {
      Mix(hash, container.name);
      Mix(hash, container.image);
      Mix(hash, container.requests);
      Mix(hash, container.limits);
    }
  }
  for (const auto& [key, value] : spec.node_selector) Mix(hash, key.id() * 31 + value.id());
  for (const Toleration& toleration : spec.tolerations) Mix(hash, toleration.key.id());
  for (const TopologySpreadConstraint& constraint : spec.topology_spread_constraints) {
    Mix(hash, constraint.topology_key.id());
    Mix(hash, constraint.label_selector);
  }
  Mix(hash, spec.pod_affinity);
  Mix(hash, spec.pod_anti_affinity);
  for (const Volume& volume : spec.volumes) Mix(hash, volume.id);
  return hash;
}

size_t HashOf(const PodResourceStatus& status) {
  size_t hash = status.present ? 1 : 0;
  const auto mix = [&hash](const std::optional<ResourceList>& list) {
    if (list) Mix(hash, *list);
  };
  for (const auto* const statuses : {&status.containers, &status.init_containers}) {
    for (const ContainerStatus& container : *statuses) {
      Mix(hash, container.name);
      mix(container.allocated_resources);
      mix(container.resources_requests);
    }
  }
  mix(status.allocated);
  mix(status.requests);
  return hash;
}

size_t HashOf(const PodConditions& conditions) {
  size_t hash = 0;
  for (const std::string& type : conditions.types()) Mix(hash, type);
  return hash;
}

size_t HashOf(const OwnerReferences& owners) {
  size_t hash = 0;
  for (const OwnerReference& owner : owners) Mix(hash, owner.uid);
  return hash;
}

}  // namespace

template <class T>
std::weak_ptr<const T>& LatelySeen<T>::SlotOf(const T& value) {
  if (slots_.empty()) slots_.resize(kSlots);
  return slots_[HashOf(value) % kSlots];
}

// A weak pointer keeps the control block, so that the value must not live inside it (no
// make_shared).
template <class T>
std::shared_ptr<const T> LatelySeen<T>::Share(T&& value) {
  std::weak_ptr<const T>& slot = SlotOf(value);
  if (std::shared_ptr<const T> known = slot.lock(); known && *known == value) return known;
  std::shared_ptr<const T> shared(new T(std::move(value)));
  slot = shared;
  return shared;
}

template <class T>
void LatelySeen<T>::Share(SharedValue<T>& value) {
  std::weak_ptr<const T>& slot = SlotOf(*value);
  if (std::shared_ptr<const T> known = slot.lock(); known && *known == *value) {
    value = SharedValue(std::move(known));
  } else {
    slot = value.ptr();
  }
}

void PodSharing::Finish(Pod& pod, PodSpec&& spec, PodResourceStatus&& resources,
                        PodConditions&& conditions) {
  pod.spec = specs_.Share(std::move(spec));
  if (!pod.node_name.empty()) conditions.Drop(kPodScheduled);
  PodStatus& status = pod.status;
  if (resources != PodResourceStatus()) {
    status.resources = SharedValue(resources_.Share(std::move(resources)));
  }
  if (!conditions.types().empty()) {
    status.conditions = SharedValue(conditions_.Share(std::move(conditions)));
  }
  if (!pod.meta.owner_references->empty()) owners_.Share(pod.meta.owner_references);
}

}  // namespace ks::api
