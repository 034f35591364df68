// SPDX-License-Identifier: Apache-2.0
#pragma once
// The (anti-)affinity terms of a pod, parsed, and what they match.
//
// Upstream: docs/spec/plugins-crosspod.md section 2.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/pod.h"
#include "api/selector.h"
#include "framework/owner_listers.h"

namespace ks::plugins {

// Two equal terms match the same pods at the same places, whoever has them.
struct AffinityTerm {
  api::LabelSelector labels;
  std::vector<Symbol> namespaces;         // ascending by id, each once
  api::LabelSelector namespace_selector;  // the null one: only `namespaces` count
  Symbol key;

  // `namespace_labels` are those of the pod's namespace; empty when it is not known.
  bool Matches(const api::Pod& pod, const api::LabelMap& namespace_labels) const;

  friend bool operator==(const AffinityTerm&, const AffinityTerm&) = default;
};

template <class H>
H AbslHashValue(H state, const AffinityTerm& term) {
  for (const api::LabelSelector* selector : {&term.labels, &term.namespace_selector}) {
    state = H::combine(std::move(state), selector->MatchesNothing());
    for (const api::Requirement& requirement : selector->requirements()) {
      const size_t many = requirement.many_values ? requirement.many_values->hash() : 0;
      state =
          H::combine(std::move(state), requirement.key, requirement.op, requirement.values, many);
    }
  }
  return H::combine(std::move(state), term.namespaces, term.key);
}

struct WeightedAffinityTerm {
  AffinityTerm term;
  int32_t weight = 0;

  friend bool operator==(const WeightedAffinityTerm&, const WeightedAffinityTerm&) = default;
};

// A list that has a malformed term is empty.
struct PodTerms {
  std::vector<AffinityTerm> required_affinity;
  std::vector<AffinityTerm> required_anti_affinity;
  std::vector<WeightedAffinityTerm> preferred_affinity;
  std::vector<WeightedAffinityTerm> preferred_anti_affinity;
};

// The pod's affinity or anti-affinity is a non-null object, even {}.
inline bool HasAffinity(const api::PodSpec& spec) {
  return spec.pod_affinity.has_value() || spec.pod_anti_affinity.has_value();
}
bool HasRequiredTerms(const api::PodSpec& spec);
bool HasPreferredTerms(const api::PodSpec& spec);

// The terms of a pod of namespace `ns`. `error`, if not null, gets upstream's text of all malformed
// lists, empty when there is none.
PodTerms ParseTerms(const api::PodSpec& spec, const Symbol& ns, std::string* error);

// Replaces a namespace selector by the names of all namespaces that it matches now; {} stays, as it
// also matches those that are not known. Whether there was anything to replace.
bool ExpandNamespaces(const framework::OwnerListers& listers, AffinityTerm* term);

// False when there is no term.
bool MatchesAll(const std::vector<AffinityTerm>& terms, const api::Pod& pod,
                const api::LabelMap& namespace_labels);
bool MatchesAny(const std::vector<AffinityTerm>& terms, const api::Pod& pod,
                const api::LabelMap& namespace_labels);

}  // namespace ks::plugins
