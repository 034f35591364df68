// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/hints.h"

#include <algorithm>
#include <memory>
#include <string>

#include <absl/container/flat_hash_map.h>

#include "plugins/inter_pod_affinity/terms.h"
#include "plugins/kit/cross_pod/refutation.h"
#include "plugins/kit/hinting.h"

namespace ks::plugins {
namespace {

using framework::EventObject;
using framework::EventResource;
using framework::QueueingHint;
using Terms = std::vector<AffinityTerm>;

// Selectors for namespaces are asked about a namespace without labels (trap T25).
const api::LabelMap kNoLabels;

using WrittenTerms = std::vector<api::PodAffinityTerm>;

const WrittenTerms& Required(const std::optional<api::PodAffinity>& affinity) {
  static const WrittenTerms none;
  return affinity.has_value() ? affinity->required : none;
}

bool LookSound(const std::optional<api::PodAffinity>& affinity) {
  if (!affinity.has_value()) return true;
  const auto sound = [](const api::PodAffinityTerm& term) {
    return LooksSound(term.label_selector) && LooksSound(term.namespace_selector);
  };
  return std::all_of(affinity->required.begin(), affinity->required.end(), sound) &&
         std::all_of(affinity->preferred.begin(), affinity->preferred.end(),
                     [&sound](const auto& weighted) { return sound(weighted.term); });
}
// Else the pod's terms have to be parsed, for their error.
bool LookSound(const api::Pod& pod) {
  return LookSound(pod.spec->pod_affinity) && LookSound(pod.spec->pod_anti_affinity);
}

// The same, remembered for specs of many terms: each event asks about each pod that waits.
// Threads: the scheduling thread.
class SoundSpecs {
 public:
  bool LookSound(const api::Pod& pod) {
    if (TermsOf(pod.spec->pod_affinity) + TermsOf(pod.spec->pod_anti_affinity) < kMany) {
      return plugins::LookSound(pod);
    }
    if (known_.size() >= kMost) known_.clear();
    Known& known = known_[pod.spec.get()];
    if (known.spec.expired()) known = {.spec = pod.spec, .sound = plugins::LookSound(pod)};
    return known.sound;
  }

 private:
  static constexpr size_t kMany = 32;
  static constexpr size_t kMost = 4096;
  struct Known {
    std::weak_ptr<const api::PodSpec> spec;  // expired: another one may have its address
    bool sound = false;
  };

  static size_t TermsOf(const std::optional<api::PodAffinity>& affinity) {
    return affinity ? affinity->required.size() + affinity->preferred.size() : 0;
  }

  absl::flat_hash_map<const api::PodSpec*, Known> known_;
};

// Whether some term, or each of them, cannot match the pod, by its labels as written.
bool SomeCannotMatch(const WrittenTerms& terms, const Symbol& ns, const api::Pod& pod) {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const api::PodAffinityTerm& term) { return CannotMatch(term, ns, pod); });
}
bool NoneCanMatch(const WrittenTerms& terms, const Symbol& ns, const api::Pod& pod) {
  return std::all_of(terms.begin(), terms.end(),
                     [&](const api::PodAffinityTerm& term) { return CannotMatch(term, ns, pod); });
}

// The change cannot help; `before` or `after` is null as in the event.
bool CannotHelp(const api::Pod& pod, const api::Pod* before, const api::Pod* after,
                SoundSpecs& specs) {
  if (!specs.LookSound(pod) || (after == nullptr && !specs.LookSound(*before))) return false;
  const WrittenTerms& affinity = Required(pod.spec->pod_affinity);
  const WrittenTerms& anti_affinity = Required(pod.spec->pod_anti_affinity);
  const Symbol ns = pod.meta.ns;
  const bool comes_near =
      after != nullptr && !affinity.empty() && !SomeCannotMatch(affinity, ns, *after);
  const bool goes_far = before != nullptr && !NoneCanMatch(anti_affinity, ns, *before);
  if (comes_near || goes_far) return false;
  if (before == nullptr || after != nullptr) return true;
  return NoneCanMatch(Required(before->spec->pod_anti_affinity), before->meta.ns, pod);
}

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
                                    const EventObject& new_object, SoundSpecs& specs) {
  const auto* before = ObjectOf<api::Pod>(old_object);
  const auto* after = ObjectOf<api::Pod>(new_object);
  const api::Pod* changed = after != nullptr ? after : before;
  if (changed == nullptr) return QueueingHint::kQueue;
  if (!IsPlaced(*changed) || CannotHelp(pod, before, after, specs)) {
    return QueueingHint::kSkip;
  }
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

// Only the keys of the terms matter.
Result<QueueingHint> AfterNodeChange(const api::Pod& pod, const EventObject& old_object,
                                     const EventObject& new_object, SoundSpecs& specs) {
  const auto* before = ObjectOf<api::Node>(old_object);
  const auto* after = ObjectOf<api::Node>(new_object);
  if (after == nullptr) return QueueingHint::kQueue;
  if (!specs.LookSound(pod)) {
    if (const Result<PodTerms> parsed = TermsOf(pod); !parsed.ok()) return parsed.error();
  }
  const WrittenTerms& affinity = Required(pod.spec->pod_affinity);
  const WrittenTerms& anti_affinity = Required(pod.spec->pod_anti_affinity);
  static const api::LabelMap nothing;
  const api::LabelMap& old_labels = before == nullptr ? nothing : before->meta.labels;
  const api::LabelMap& new_labels = after->meta.labels;
  const auto some_changed = [](const WrittenTerms& terms, const api::LabelMap& is,
                               const api::LabelMap& was) {
    return std::any_of(terms.begin(), terms.end(), [&](const api::PodAffinityTerm& term) {
      return Changed(is.Find(term.topology_key), was.Find(term.topology_key));
    });
  };
  const bool nearer = some_changed(affinity, new_labels, old_labels);
  if (before == nullptr) return QueueIf(nearer || !anti_affinity.empty());
  return QueueIf(nearer || some_changed(anti_affinity, old_labels, new_labels));
}

void AddTopologyKeys(const api::PodSpec& spec, framework::NodeLabelReads* reads) {
  if (!LookSound(spec.pod_affinity) || !LookSound(spec.pod_anti_affinity)) reads->others = true;
  for (const auto* affinity : {&spec.pod_affinity, &spec.pod_anti_affinity}) {
    for (const api::PodAffinityTerm& term : Required(*affinity)) {
      reads->keys.push_back(term.topology_key);
    }
  }
}

// Whether the term looks at pods of the namespace before the change or after it, and not both. An
// unknown namespace has no labels.
bool Turns(const AffinityTerm& term, const api::LabelMap& before, const api::LabelMap& after) {
  return term.namespace_selector.Matches(before) != term.namespace_selector.Matches(after);
}

// Upstream has no such event. The selectors may be the pod's, or, in its own namespace, those of
// pods that repel it.
Result<QueueingHint> AfterNamespaceChange(const api::Pod& pod, const EventObject& old_object,
                                          const EventObject& new_object) {
  const auto* before = ObjectOf<api::Namespace>(old_object);
  const auto* after = ObjectOf<api::Namespace>(new_object);
  if (before == nullptr && after == nullptr) return QueueingHint::kQueue;
  const std::string& name = (after != nullptr ? after : before)->meta.name;
  if (name == pod.meta.ns.view()) return QueueingHint::kQueue;
  const Result<PodTerms> terms = TermsOf(pod);
  if (!terms.ok()) return terms.error();
  const api::LabelMap& old_labels = before == nullptr ? kNoLabels : before->meta.labels;
  const api::LabelMap& new_labels = after == nullptr ? kNoLabels : after->meta.labels;
  const auto turns = [&](const AffinityTerm& term) { return Turns(term, old_labels, new_labels); };
  const Terms& affinity = terms.value().required_affinity;
  const Terms& anti_affinity = terms.value().required_anti_affinity;
  return QueueIf(std::any_of(affinity.begin(), affinity.end(), turns) ||
                 std::any_of(anti_affinity.begin(), anti_affinity.end(), turns));
}

}  // namespace

std::vector<framework::EventRegistration> InterPodAffinityEvents() {
  const auto with_specs = [specs = std::make_shared<SoundSpecs>()](auto hint) {
    return [specs, hint](const api::Pod& pod, const EventObject& old_object,
                         const EventObject& new_object) {
      return hint(pod, old_object, new_object, *specs);
    };
  };
  return {
      {{EventResource::kAssignedPod,
        framework::kActionAdd | framework::kActionDelete | framework::kActionUpdatePodLabel,
        {}},
       with_specs(AfterPodChange),
       framework::HintScope::kLabels},
      {{EventResource::kTargetPod, framework::kActionUpdatePodLabel, {}}, {}},
      {{EventResource::kNode, framework::kActionAdd | framework::kActionUpdateNodeLabel, {}},
       with_specs(AfterNodeChange),
       framework::HintScope::kSpec,
       AddTopologyKeys},
      {{EventResource::kNamespace, framework::kActionAll, {}},
       AfterNamespaceChange,
       framework::HintScope::kLabels},
  };
}

}  // namespace ks::plugins
