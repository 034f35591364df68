// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/hints.h"

#include <algorithm>
#include <string>

#include "plugins/hinting.h"
#include "plugins/inter_pod_affinity/terms.h"

namespace ks::plugins {
namespace {

using framework::EventObject;
using framework::EventResource;
using framework::QueueingHint;
using Terms = std::vector<AffinityTerm>;

// Selectors for namespaces are asked about a namespace without labels (trap T25).
const api::LabelMap kNoLabels;

Result<PodTerms> TermsOf(const api::Pod& pod) {
  std::string error;
  PodTerms terms = ParseTerms(*pod.spec, pod.meta.ns, &error);
  if (!error.empty()) return Error{error};
  return terms;
}

Result<QueueingHint> AfterUpdate(const PodTerms& terms, const api::Pod& before,
                                 const api::Pod& after) {
  if (!IsPlaced(before)) return QueueingHint::kSkip;
  const Terms& affinity = terms.required_affinity;
  const Terms& anti_affinity = terms.required_anti_affinity;
  return QueueIf(
      (!MatchesAll(affinity, before, kNoLabels) && MatchesAll(affinity, after, kNoLabels)) ||
      (MatchesAny(anti_affinity, before, kNoLabels) &&
       !MatchesAny(anti_affinity, after, kNoLabels)));
}

Result<QueueingHint> AfterDelete(const api::Pod& pod, const PodTerms& terms,
                                 const api::Pod& deleted) {
  if (MatchesAny(terms.required_anti_affinity, deleted, kNoLabels)) return QueueingHint::kQueue;
  const Result<PodTerms> its = TermsOf(deleted);
  if (!its.ok()) return its.error();
  return QueueIf(MatchesAny(its.value().required_anti_affinity, pod, kNoLabels));
}

Result<QueueingHint> AfterPodChange(const api::Pod& pod, const EventObject& old_object,
                                    const EventObject& new_object) {
  const auto* before = ObjectOf<api::Pod>(old_object);
  const auto* after = ObjectOf<api::Pod>(new_object);
  const api::Pod* changed = after != nullptr ? after : before;
  if (changed == nullptr) return QueueingHint::kQueue;
  if (!IsPlaced(*changed)) return QueueingHint::kSkip;
  const Result<PodTerms> terms = TermsOf(pod);
  if (!terms.ok()) return terms.error();
  if (before != nullptr && after != nullptr) return AfterUpdate(terms.value(), *before, *after);
  if (after == nullptr) return AfterDelete(pod, terms.value(), *before);
  return QueueIf(MatchesAll(terms.value().required_affinity, *after, kNoLabels));
}

// Whether the value of the key, if any, is another one than `other` has.
bool Changed(const Symbol* value, const Symbol* other) {
  return value != nullptr && (other == nullptr || *value != *other);
}

Result<QueueingHint> AfterNodeChange(const api::Pod& pod, const EventObject& old_object,
                                     const EventObject& new_object) {
  const auto* before = ObjectOf<api::Node>(old_object);
  const auto* after = ObjectOf<api::Node>(new_object);
  if (after == nullptr) return QueueingHint::kQueue;
  const Result<PodTerms> parsed = TermsOf(pod);
  if (!parsed.ok()) return parsed.error();
  const Terms& affinity = parsed.value().required_affinity;
  const Terms& anti_affinity = parsed.value().required_anti_affinity;
  static const api::LabelMap nothing;
  const api::LabelMap& old_labels = before == nullptr ? nothing : before->meta.labels;
  const api::LabelMap& new_labels = after->meta.labels;
  const bool nearer = std::any_of(affinity.begin(), affinity.end(), [&](const AffinityTerm& term) {
    return Changed(new_labels.Find(term.key), old_labels.Find(term.key));
  });
  if (before == nullptr) return QueueIf(nearer || !anti_affinity.empty());
  return QueueIf(nearer || std::any_of(anti_affinity.begin(), anti_affinity.end(),
                                       [&](const AffinityTerm& term) {
                                         return Changed(old_labels.Find(term.key),
                                                        new_labels.Find(term.key));
                                       }));
}

}  // namespace

std::vector<framework::EventRegistration> InterPodAffinityEvents() {
  return {
      {{EventResource::kAssignedPod,
        framework::kActionAdd | framework::kActionDelete | framework::kActionUpdatePodLabel,
        {}},
       AfterPodChange,
       framework::HintScope::kLabels},
      {{EventResource::kTargetPod, framework::kActionUpdatePodLabel, {}}, {}},
      {{EventResource::kNode, framework::kActionAdd | framework::kActionUpdateNodeLabel, {}},
       AfterNodeChange,
       framework::HintScope::kSpec},
  };
}

}  // namespace ks::plugins
