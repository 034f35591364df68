// SPDX-License-Identifier: Apache-2.0
#include "api/pod_size.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ks::api {
namespace {

constexpr size_t kSymbol = 100;    // its text and its place in the table
constexpr size_t kResource = 200;  // a name and a quantity
constexpr size_t kEntry = 64;      // what a list's element is beside its texts

// A class, so that each sees the others.
struct Rough {
  static size_t Bytes(const std::string& text) { return sizeof text + text.size(); }

  template <class T>
  static size_t Bytes(const std::vector<T>& list) {
    size_t sum = 0;
    for (const T& element : list) sum += Bytes(element);
    return sum;
  }
  template <class T>
  static size_t Bytes(const std::optional<T>& value) {
    return value ? Bytes(*value) : 0;
  }

  static size_t Bytes(const std::pair<std::string, std::string>& label) {
    return Bytes(label.first) + Bytes(label.second);
  }
  static size_t Bytes(const SelectorRequirement& requirement) {
    return kEntry + Bytes(requirement.key) + Bytes(requirement.values);
  }
  static size_t Bytes(const LabelSelectorSpec& selector) {
    return Bytes(selector.match_labels) + Bytes(selector.match_expressions);
  }
  static size_t Bytes(const NodeSelectorTerm& term) {
    return kEntry + Bytes(term.match_expressions) + Bytes(term.match_fields);
  }
  static size_t Bytes(const NodeSelectorSpec& selector) { return Bytes(selector.terms); }
  static size_t Bytes(const PreferredSchedulingTerm& term) { return Bytes(term.preference); }
  static size_t Bytes(const NodeAffinity& affinity) {
    return Bytes(affinity.required) + Bytes(affinity.preferred);
  }
  static size_t Bytes(const PodAffinityTerm& term) {
    return kEntry + kSymbol * (1 + term.namespaces.size()) + Bytes(term.label_selector) +
           Bytes(term.namespace_selector);
  }
  static size_t Bytes(const WeightedPodAffinityTerm& weighted) { return Bytes(weighted.term); }
  static size_t Bytes(const PodAffinity& affinity) {
    return Bytes(affinity.required) + Bytes(affinity.preferred);
  }
  static size_t Bytes(const TopologySpreadConstraint& constraint) {
    return kEntry + kSymbol + Bytes(constraint.label_selector) + Bytes(constraint.match_label_keys);
  }
  static size_t Bytes(const ContainerPort& port) { return kEntry + Bytes(port.host_ip); }
  static size_t Bytes(const ContainerClaim& claim) {
    return Bytes(claim.name) + Bytes(claim.request);
  }
  static size_t Bytes(const Container& container) {
    return sizeof container + Bytes(container.image) + Bytes(container.ports) +
           Bytes(container.claims) +
           kResource * (container.requests.size() + container.limits.size());
  }
  static size_t Bytes(const PodResourceClaim& claim) {
    return Bytes(claim.name) + Bytes(claim.resource_claim_name) +
           Bytes(claim.resource_claim_template_name);
  }
  static size_t Bytes(const Volume& volume) {
    return sizeof volume + Bytes(volume.name) + Bytes(volume.id) + Bytes(volume.pool) +
           Bytes(volume.monitors);
  }
};

}  // namespace

size_t RoughBytes(const PodSpec& spec) {
  return sizeof spec + Rough::Bytes(spec.scheduling_gates) +
         2 * kSymbol * spec.node_selector.size() + Rough::Bytes(spec.node_affinity) +
         Rough::Bytes(spec.pod_affinity) + Rough::Bytes(spec.pod_anti_affinity) +
         (kEntry + 2 * kSymbol) * spec.tolerations.size() +
         Rough::Bytes(spec.topology_spread_constraints) + Rough::Bytes(spec.containers) +
         Rough::Bytes(spec.init_containers) + kResource * spec.overhead.size() +
         Rough::Bytes(spec.resource_claims) + Rough::Bytes(spec.volumes);
}

size_t RoughBytesWithoutSpec(const Pod& pod) {
  size_t sum =
      sizeof pod + 2 * kSymbol * pod.meta.labels.size() +
      Rough::Bytes(pod.status.conditions->types()) + kEntry * pod.meta.owner_references->size() +
      kResource *
          (pod.status.resources->containers.size() + pod.status.resources->init_containers.size());
  for (const auto& [key, value] : pod.meta.annotations) sum += kSymbol + Rough::Bytes(value);
  return sum + (pod.raw == nullptr ? 0 : pod.raw->size());
}

}  // namespace ks::api
