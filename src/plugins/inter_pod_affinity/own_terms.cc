// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/own_terms.h"

#include <algorithm>

#include "api/pod_size.h"

namespace ks::plugins {
namespace {

constexpr size_t kMaxCompiled = 256;
constexpr size_t kMaxCountsBytes = size_t{64} << 20;
// The size of a counter: its node, its domain (one a node at most, as a rule), and the rest.
constexpr size_t kBytesPerNode = 24;
constexpr size_t kBytesPerCounter = 512;
constexpr size_t kSmall = size_t{16} << 10;
constexpr size_t kMaxCompiledBytes = size_t{32} << 20;
constexpr size_t kBytesPerValue = 100;  // of a selector: a symbol's text and its place
// So many are enough to leave out most pods.
constexpr size_t kFewLabels = 8;

CountsKey KeyFor(const AffinityTerm& term) {
  return {std::make_shared<CountedTerms>(std::vector<AffinityTerm>{term}), term.key};
}

OwnTermsPtr Compile(const api::Pod& pod, const framework::OwnerListers& listers) {
  auto own = std::make_shared<OwnTerms>();
  own->terms = ParseTerms(*pod.spec, pod.meta.ns, &own->error);
  const auto expand = [&](AffinityTerm& term) {
    if (ExpandNamespaces(listers, &term)) own->expanded = true;
  };
  PodTerms& terms = own->terms;
  for (AffinityTerm& term : terms.required_affinity) expand(term);
  for (AffinityTerm& term : terms.required_anti_affinity) {
    expand(term);
    own->anti_affinity.push_back(KeyFor(term));
  }
  for (WeightedAffinityTerm& preferred : terms.preferred_affinity) {
    expand(preferred.term);
    own->preferred.emplace_back(KeyFor(preferred.term), preferred.weight);
  }
  for (WeightedAffinityTerm& preferred : terms.preferred_anti_affinity) {
    expand(preferred.term);
    own->preferred.emplace_back(KeyFor(preferred.term), -int64_t{preferred.weight});
  }
  if (terms.required_affinity.empty()) return own;
  const auto all = std::make_shared<CountedTerms>(terms.required_affinity);
  for (const AffinityTerm& term : terms.required_affinity) {
    const CountsKey key{all, term.key};
    if (std::find(own->affinity.begin(), own->affinity.end(), key) != own->affinity.end()) continue;
    own->affinity.push_back(key);
  }
  return own;
}

}  // namespace

CountedTerms::CountedTerms(std::vector<AffinityTerm> terms) : terms_(std::move(terms)) {
  for (AffinityTerm& term : terms_) term.key = Symbol();
  hash_ = absl::HashOf(terms_);
  size_t values = 0;
  for (const AffinityTerm& term : terms_) {
    values += 1 + term.namespaces.size();
    for (const api::Requirement& requirement : term.labels.requirements()) {
      values += 1 + requirement.values.size();
    }
  }
  memory_bytes_ = values * kBytesPerValue;
}

bool CountedTerms::Match(const api::Pod& pod) const {
  static const api::LabelMap no_labels;
  return MatchesAll(terms_, pod, no_labels);
}

std::vector<framework::Label> CountedTerms::NeededLabels() const {
  std::vector<framework::Label> labels;
  for (const AffinityTerm& term : terms_) {
    framework::AppendNeededLabels(term.labels, &labels);
    if (labels.size() >= kFewLabels) break;
  }
  return labels;
}

OwnTermsPtr OwnTermsCache::TermsOf(const api::Pod& pod, const framework::OwnerListers& listers) {
  if (!HasAffinity(*pod.spec)) return none_;
  const auto& entry = compiled_.GetOrMake(
      {pod.spec.get(), pod.meta.ns},
      {.values = kMaxCompiled, .bytes = kMaxCompiledBytes, .small = kSmall},
      [&] {
        auto made = std::make_shared<Compiled>();
        made->spec = pod.spec;
        made->bytes = 2 * api::RoughBytes(*pod.spec);  // as written, and compiled
        return made;
      },
      [](const Compiled& each) { return each.bytes; });
  const bool outdated =
      entry->terms != nullptr && entry->terms->expanded && entry->version != listers.version();
  if (entry->terms == nullptr || outdated) {
    entry->terms = Compile(pod, listers);
    entry->version = listers.version();
  }
  return entry->terms;
}

TermCountsPtr OwnTermsCache::CountsOf(const CountsKey& key, const framework::Snapshot& snapshot) {
  const TopologyPtr topology = topologies_.Get(key.key, snapshot);
  const size_t capacity = kMaxCountsBytes / (snapshot.slots() * kBytesPerNode + kBytesPerCounter);
  const TermCountsPtr& counts = counts_.GetOrMake(
      key, {.values = capacity, .bytes = kMaxCountsBytes, .small = kSmall},
      [&] { return std::make_shared<TermCounts>(topology, label_changes_, key.terms); },
      [](const TermCounts& each) { return each.MemoryBytes(); });
  counts->Refresh(snapshot);
  return counts;
}

}  // namespace ks::plugins
