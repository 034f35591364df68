// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/own_terms.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "api/pod_size.h"

namespace ks::plugins {
namespace {

constexpr size_t kMaxCompiled = 256;
constexpr size_t kMaxCounts = 8192;
constexpr size_t kMaxCountsBytes = size_t{64} << 20;
constexpr size_t kMaxCompiledBytes = size_t{32} << 20;

// Terms of one key. More are counted together, so that an attempt asks one counter; so many or
// fewer one by one, so that templates share them.
constexpr size_t kMostCountedAlone = 8;

CountsKey KeyFor(std::vector<CountedTerm> terms, const Symbol& key) {
  return {std::make_shared<CountedTerms>(std::move(terms)), key};
}

using Weighted = std::vector<std::pair<const AffinityTerm*, int64_t>>;

// What to count for terms with weights, with what each count weighs.
std::vector<std::pair<CountsKey, int64_t>> KeysFor(const Weighted& weighted) {
  std::unordered_map<Symbol, std::vector<CountedTerm>> by_key;
  for (const auto& [term, weight] : weighted) by_key[term->key].push_back({{*term}, weight});
  std::vector<std::pair<CountsKey, int64_t>> keys;
  for (auto& [key, terms] : by_key) {
    if (terms.size() > kMostCountedAlone) {
      keys.emplace_back(KeyFor(std::move(terms), key), 1);
      continue;
    }
    for (CountedTerm& term : terms) {
      const int64_t weight = std::exchange(term.weight, 1);
      keys.emplace_back(KeyFor({std::move(term)}, key), weight);
    }
  }
  return keys;
}

OwnTermsPtr Compile(const api::Pod& pod, const framework::OwnerListers& listers) {
  auto own = std::make_shared<OwnTerms>();
  own->terms = ParseTerms(*pod.spec, pod.meta.ns, &own->error);
  const auto expand = [&](AffinityTerm& term) {
    if (ExpandNamespaces(listers, &term)) own->expanded = true;
  };
  PodTerms& terms = own->terms;
  for (AffinityTerm& term : terms.required_affinity) expand(term);
  Weighted repelling;
  for (AffinityTerm& term : terms.required_anti_affinity) {
    expand(term);
    repelling.emplace_back(&term, 1);
  }
  for (auto& [key, weight] : KeysFor(repelling)) own->anti_affinity.push_back(std::move(key));
  Weighted preferring;
  for (WeightedAffinityTerm& preferred : terms.preferred_affinity) {
    expand(preferred.term);
    preferring.emplace_back(&preferred.term, preferred.weight);
  }
  for (WeightedAffinityTerm& preferred : terms.preferred_anti_affinity) {
    expand(preferred.term);
    preferring.emplace_back(&preferred.term, -int64_t{preferred.weight});
  }
  own->preferred = KeysFor(preferring);
  if (terms.required_affinity.empty()) return own;
  const auto all =
      std::make_shared<CountedTerms>(std::vector<CountedTerm>{{terms.required_affinity, 1}});
  for (const AffinityTerm& term : terms.required_affinity) {
    const CountsKey key{all, term.key};
    if (std::find(own->affinity.begin(), own->affinity.end(), key) != own->affinity.end()) continue;
    own->affinity.push_back(key);
  }
  return own;
}

}  // namespace

OwnTermsPtr OwnTermsCache::TermsOf(const api::Pod& pod, const framework::OwnerListers& listers) {
  if (!HasAffinity(*pod.spec)) return none_;
  const auto& entry = compiled_.GetOrMake(
      {pod.spec.get(), pod.meta.ns}, {.values = kMaxCompiled, .bytes = kMaxCompiledBytes},
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
  const TermCountsPtr& counts = counts_.GetOrMake(
      key, {.values = kMaxCounts, .bytes = kMaxCountsBytes},
      [&] {
        auto made = std::make_shared<TermCounts>(topology, help_, key.terms);
        made->Refresh(snapshot);
        return made;
      },
      [](const TermCounts& each) { return each.MemoryBytes(); });
  counts->Refresh(snapshot);
  return counts;
}

}  // namespace ks::plugins
