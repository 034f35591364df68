// SPDX-License-Identifier: Apache-2.0
#pragma once
// The terms of an incoming pod, compiled once per template, and counters of the pods that they
// match, kept as long as templates come that ask for them.
//
// Upstream: docs/spec/plugins-crosspod.md sections 2.2, 3.2 (tables A and N), 3.5 (own part of
// table W).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <absl/hash/hash.h>

#include "base/bounded_cache.h"
#include "framework/owner_listers.h"
#include "framework/snapshot.h"
#include "plugins/inter_pod_affinity/terms.h"
#include "plugins/kit/cross_pod/domain_counts.h"
#include "plugins/kit/cross_pod/topology.h"

namespace ks::plugins {

// Which pods a counter counts: those that match every one of these terms. By value, so that
// templates with the same wish share a counter. Threads: immutable.
class CountedTerms {
 public:
  explicit CountedTerms(std::vector<AffinityTerm> terms);

  bool Match(const api::Pod& pod) const;
  // Some that every pod has which matches, all of them unless they are many.
  std::vector<framework::Label> NeededLabels() const;
  size_t hash() const { return hash_; }
  size_t MemoryBytes() const { return memory_bytes_; }
  friend bool operator==(const CountedTerms& a, const CountedTerms& b) {
    return a.hash_ == b.hash_ && a.terms_ == b.terms_;
  }

 private:
  std::vector<AffinityTerm> terms_;  // expanded, keys blank
  size_t hash_;
  size_t memory_bytes_;
};
using CountedTermsPtr = std::shared_ptr<const CountedTerms>;

// How many such pods each domain holds.
class TermCounts final : public DomainCounts {
 public:
  TermCounts(TopologyPtr topology, framework::LabelChanges& changes, CountedTermsPtr terms)
      : DomainCounts(*topology, changes, terms->NeededLabels()),
        own_topology_(std::move(topology)),
        terms_(std::move(terms)) {}

  size_t MemoryBytes() const { return DomainCounts::MemoryBytes() + terms_->MemoryBytes(); }

 protected:
  int32_t CountOf(const framework::PodInfo& pod) const override {
    return terms_->Match(pod.pod()) ? 1 : 0;
  }

 private:
  const TopologyPtr own_topology_;
  const CountedTermsPtr terms_;
};
using TermCountsPtr = std::shared_ptr<TermCounts>;

// What names a counter.
struct CountsKey {
  CountedTermsPtr terms;
  Symbol key;

  friend bool operator==(const CountsKey& a, const CountsKey& b) {
    return a.key == b.key && (a.terms == b.terms || *a.terms == *b.terms);
  }
};

// Threads: immutable.
struct OwnTerms {
  PodTerms terms;     // namespace selectors expanded
  std::string error;  // of malformed lists; empty: none
  // Whether namespaces were looked at: then valid for one OwnerListers::version().
  bool expanded = false;

  std::vector<CountsKey> affinity;       // one a distinct key; pods that match all terms
  std::vector<CountsKey> anti_affinity;  // one a term
  std::vector<std::pair<CountsKey, int64_t>> preferred;  // with the weight, anti-affinity negative
};
using OwnTermsPtr = std::shared_ptr<const OwnTerms>;

// Threads: the scheduling thread; counters that were handed out may be read by workers while the
// cycle runs. Lifetime: `topologies` outlives it.
class OwnTermsCache {
 public:
  explicit OwnTermsCache(Topologies& topologies) : topologies_(topologies) {}

  OwnTermsPtr TermsOf(const api::Pod& pod, const framework::OwnerListers& listers);
  // Up to date with the snapshot.
  TermCountsPtr CountsOf(const CountsKey& key, const framework::Snapshot& snapshot);

 private:
  using SpecKey = std::pair<const api::PodSpec*, Symbol>;  // with the namespace
  struct Compiled {
    std::shared_ptr<const api::PodSpec> spec;  // keeps the address taken
    uint64_t version = 0;                      // of the listers
    OwnTermsPtr terms;
    size_t bytes = 0;
  };
  struct CountsKeyHash {
    size_t operator()(const CountsKey& key) const {
      return absl::HashOf(key.terms->hash(), key.key);
    }
  };

  Topologies& topologies_;
  framework::LabelChanges label_changes_;
  const OwnTermsPtr none_ = std::make_shared<const OwnTerms>();
  BoundedCache<SpecKey, Compiled, absl::Hash<SpecKey>> compiled_;
  BoundedCache<CountsKey, TermCounts, CountsKeyHash> counts_;
};

}  // namespace ks::plugins
