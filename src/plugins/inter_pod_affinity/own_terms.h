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
#include "plugins/inter_pod_affinity/term_counts.h"
#include "plugins/inter_pod_affinity/terms.h"
#include "plugins/kit/cross_pod/counting_reader.h"
#include "plugins/kit/cross_pod/topology.h"

namespace ks::plugins {

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
  std::vector<CountsKey> anti_affinity;  // one a term, or one for many of a key
  // The same with what each count weighs; for anti-affinity it, or the count, is negative.
  std::vector<std::pair<CountsKey, int64_t>> preferred;
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
  CountingHelp help_;
  const OwnTermsPtr none_ = std::make_shared<const OwnTerms>();
  BoundedCache<SpecKey, Compiled, absl::Hash<SpecKey>> compiled_;
  BoundedCache<CountsKey, TermCounts, CountsKeyHash> counts_;
};

}  // namespace ks::plugins
