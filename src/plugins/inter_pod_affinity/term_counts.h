// SPDX-License-Identifier: Apache-2.0
#pragma once
// TermCounts: how often some terms match the pods of each domain of their key, and of each node.
// There may be as many counters as a pod has terms, and most terms match few pods, so that what a
// counter takes depends on the pods that it counts, not on the cluster.
//
// Upstream: docs/spec/plugins-crosspod.md sections 3.2 (tables A and N), 3.5 (own part of table W).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "base/serial.h"
#include "framework/change_reader.h"
#include "framework/label_changes.h"
#include "framework/snapshot.h"
#include "plugins/inter_pod_affinity/place_table.h"
#include "plugins/inter_pod_affinity/terms.h"
#include "plugins/kit/cross_pod/counting_reader.h"
#include "plugins/kit/cross_pod/topology.h"

namespace ks::plugins {

// Terms that count together. Threads: immutable.
struct CountedTerm {
  std::vector<AffinityTerm> all;  // a pod must match every one
  int64_t weight = 1;             // of such a pod

  friend bool operator==(const CountedTerm&, const CountedTerm&) = default;
};

// What a counter counts: what these weigh that match a pod, summed up. By value, so that templates
// with the same wish share a counter. Threads: immutable.
class CountedTerms {
 public:
  explicit CountedTerms(std::vector<CountedTerm> terms);

  struct Match {
    int32_t terms = 0;
    int64_t weight = 0;  // of all that match

    bool operator==(const Match&) const = default;
  };
  Match Of(const api::Pod& pod) const;
  // Some that every pod has which matches, all of them unless they are many.
  std::vector<framework::Label> NeededLabels() const;
  size_t size() const { return terms_.size(); }
  size_t hash() const { return hash_; }
  size_t MemoryBytes() const { return memory_bytes_; }
  friend bool operator==(const CountedTerms& a, const CountedTerms& b) {
    return a.hash_ == b.hash_ && a.terms_ == b.terms_;
  }

 private:
  // Those that every pod has which this matches.
  static std::vector<framework::Label> NeededLabels(const CountedTerm& term);
  void Add(uint32_t number, const api::Pod& pod, Match* match) const;

  std::vector<CountedTerm> terms_;  // expanded, keys blank
  // Of many terms, by their number: by a label that a pod must have, and the rest.
  absl::flat_hash_map<framework::Label, std::vector<uint32_t>> by_label_;
  std::vector<uint32_t> others_;
  size_t hash_ = 0;
  size_t memory_bytes_ = 0;
};
using CountedTermsPtr = std::shared_ptr<const CountedTerms>;

// Threads: Refresh by the scheduling thread; the rest also by workers while a cycle runs.
// Lifetime: `help` outlives the last Refresh.
class TermCounts {
 public:
  TermCounts(TopologyPtr topology, CountingHelp& help, CountedTermsPtr terms);

  // Requires: the topology was refreshed for this snapshot.
  void Refresh(const framework::Snapshot& snapshot);

  const Topology& topology() const { return *topology_; }
  uint64_t serial() const { return serial_.value(); }
  // Weights. 0 for kNoDomain.
  int64_t Count(int32_t domain) const { return by_domain_.At(domain); }
  // On one listed node, whether it has the key or not.
  int64_t CountOn(uint32_t slot) const { return by_slot_.At(static_cast<int32_t>(slot)).weight; }
  size_t nonzero() const { return nonzero_; }  // domains whose count is not 0
  // Over all listed nodes, whether they have the key or not.
  int64_t total() const { return total_; }
  // Whether any term matches a pod on a node that has the key, whatever the sum is.
  bool AnyMatch() const { return matches_ > 0; }
  // Bytes held, roughly.
  size_t MemoryBytes() const;

 private:
  friend framework::ChangeReader;

  // What a node was counted with.
  struct OnSlot {
    int64_t weight = 0;
    int32_t matches = 0;
    int32_t domain = 0;  // 0 without matches

    friend bool operator==(const OnSlot&, const OnSlot&) = default;
  };

  void Restart(size_t slots);
  void OnNode(uint32_t slot, const framework::NodeInfo* node);
  void OnPod(uint32_t slot, const framework::PodInfo& pod, int sign);
  void Add(uint32_t slot, int32_t domain, int32_t matches, int64_t weight);

  const TopologyPtr topology_;
  const CountedTermsPtr terms_;
  const Serial serial_;
  uint64_t epoch_ = 0;  // of the topology
  CountingReader reader_;
  const framework::Snapshot* snapshot_ = nullptr;  // during Refresh
  PlaceTable<int64_t> by_domain_;
  PlaceTable<OnSlot> by_slot_;
  size_t nonzero_ = 0;
  int64_t total_ = 0;
  int64_t matches_ = 0;   // on nodes with the key
  bool counted_ = false;  // during a restart: all nodes are
};
using TermCountsPtr = std::shared_ptr<TermCounts>;

}  // namespace ks::plugins
