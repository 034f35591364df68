// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/terms.h"

#include <algorithm>
#include <string_view>

namespace ks::plugins {
namespace {

void SortOnce(std::vector<Symbol>* names) {
  std::sort(names->begin(), names->end());
  names->erase(std::unique(names->begin(), names->end()), names->end());
}

Result<AffinityTerm> ParseTerm(const api::PodAffinityTerm& spec, const Symbol& ns) {
  AffinityTerm term;
  Result<api::LabelSelector> labels = api::LabelSelector::Compile(spec.label_selector);
  if (!labels.ok()) return labels.error();
  Result<api::LabelSelector> namespaces = api::LabelSelector::Compile(spec.namespace_selector);
  if (!namespaces.ok()) return namespaces.error();
  term.labels = std::move(labels).value();
  term.namespace_selector = std::move(namespaces).value();
  term.namespaces = spec.namespaces;
  if (term.namespaces.empty() && !spec.namespace_selector) term.namespaces.push_back(ns);
  SortOnce(&term.namespaces);
  term.key = spec.topology_key;
  return term;
}

Result<AffinityTerm> ParseListed(const api::PodAffinityTerm& spec, const Symbol& ns) {
  return ParseTerm(spec, ns);
}
Result<WeightedAffinityTerm> ParseListed(const api::WeightedPodAffinityTerm& spec,
                                         const Symbol& ns) {
  Result<AffinityTerm> term = ParseTerm(spec.term, ns);
  if (!term.ok()) return term.error();
  return WeightedAffinityTerm{std::move(term).value(), spec.weight};
}

// Adds what is wrong with the list, if anything, to `errors`.
template <class Parsed, class Written>
std::vector<Parsed> ParseList(const std::vector<Written>& list, const Symbol& ns,
                              std::string_view name, std::vector<std::string>* errors) {
  std::vector<Parsed> terms;
  terms.reserve(list.size());
  for (const Written& spec : list) {
    Result<Parsed> term = ParseListed(spec, ns);
    if (!term.ok()) {
      errors->push_back(std::string(name) + ": " + term.error().message);
      return {};
    }
    terms.push_back(std::move(term).value());
  }
  return terms;
}

const api::PodAffinity& OrEmpty(const std::optional<api::PodAffinity>& affinity) {
  static const api::PodAffinity empty;
  return affinity ? *affinity : empty;
}

}  // namespace

bool AffinityTerm::Matches(const api::Pod& pod, const api::LabelMap& namespace_labels) const {
  return (std::binary_search(namespaces.begin(), namespaces.end(), pod.meta.ns) ||
          namespace_selector.Matches(namespace_labels)) &&
         labels.Matches(pod.meta.labels);
}

bool HasRequiredTerms(const api::PodSpec& spec) {
  return !OrEmpty(spec.pod_affinity).required.empty() ||
         !OrEmpty(spec.pod_anti_affinity).required.empty();
}

bool HasPreferredTerms(const api::PodSpec& spec) {
  return !OrEmpty(spec.pod_affinity).preferred.empty() ||
         !OrEmpty(spec.pod_anti_affinity).preferred.empty();
}

PodTerms ParseTerms(const api::PodSpec& spec, const Symbol& ns, std::string* error) {
  const api::PodAffinity& affinity = OrEmpty(spec.pod_affinity);
  const api::PodAffinity& anti_affinity = OrEmpty(spec.pod_anti_affinity);
  std::vector<std::string> errors;
  PodTerms terms;
  terms.required_affinity =
      ParseList<AffinityTerm>(affinity.required, ns, "requiredAffinityTerms", &errors);
  terms.required_anti_affinity =
      ParseList<AffinityTerm>(anti_affinity.required, ns, "requiredAntiAffinityTerms", &errors);
  terms.preferred_affinity =
      ParseList<WeightedAffinityTerm>(affinity.preferred, ns, "preferredAffinityTerms", &errors);
  terms.preferred_anti_affinity = ParseList<WeightedAffinityTerm>(
      anti_affinity.preferred, ns, "preferredAntiAffinityTerms", &errors);
  if (error != nullptr) *error = api::JoinProblems(errors);
  return terms;
}

bool ExpandNamespaces(const framework::OwnerListers& listers, AffinityTerm* term) {
  if (term->namespace_selector.MatchesNothing() || term->namespace_selector.Empty()) return false;
  for (const api::NamespacePtr& candidate : listers.Namespaces()) {
    if (!term->namespace_selector.Matches(candidate->meta.labels)) continue;
    term->namespaces.emplace_back(candidate->meta.name);
  }
  SortOnce(&term->namespaces);
  term->namespace_selector = api::LabelSelector();
  return true;
}

bool MatchesAll(const std::vector<AffinityTerm>& terms, const api::Pod& pod,
                const api::LabelMap& namespace_labels) {
  return !terms.empty() && std::all_of(terms.begin(), terms.end(), [&](const AffinityTerm& term) {
    return term.Matches(pod, namespace_labels);
  });
}

bool MatchesAny(const std::vector<AffinityTerm>& terms, const api::Pod& pod,
                const api::LabelMap& namespace_labels) {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const AffinityTerm& term) { return term.Matches(pod, namespace_labels); });
}

}  // namespace ks::plugins
