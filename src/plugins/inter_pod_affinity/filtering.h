// SPDX-License-Identifier: Apache-2.0
#pragma once
// What PreFilter prepares for the nodes: upstream's three tables as views of counters that are kept
// anyway, and the differences that simulations make to them.
//
// Upstream: docs/spec/plugins-crosspod.md sections 3.2 to 3.4 and 3.9.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "plugins/inter_pod_affinity/existing_terms.h"
#include "plugins/inter_pod_affinity/own_terms.h"
#include "plugins/inter_pod_affinity/tally.h"

namespace ks::plugins {

// An entry's place in a table: a topology pair, or one node by its slot.
struct TablePlace {
  Symbol key;
  Symbol value;
  uint32_t slot = 0;

  friend bool operator==(const TablePlace&, const TablePlace&) = default;
};

// How a simulation's table differs from the one of PreFilter. A handful of entries.
class TableDifferences {
 public:
  struct Entry {
    TablePlace place;
    int64_t difference = 0;  // never 0
  };

  void Add(const TablePlace& place, int64_t difference);
  int64_t At(const TablePlace& place) const;
  bool empty() const { return entries_.empty(); }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// Counters of the pod's own terms of one key.
struct OwnTable {
  Symbol key;
  const Topology* topology = nullptr;
  bool per_node = false;  // each node that has the key is a place of its own
  std::vector<TermCountsPtr> counts;
  int64_t fixed = 0;  // what is counted without counters

  // Requires: the node has the key.
  int64_t At(const framework::NodeInfo& node) const;
  // As framework::PlaceWisePlugin.
  bool FindPlaces(std::vector<uint64_t>* basis) const;
  void AppendPlace(const framework::NodeInfo& node, std::vector<int64_t>* place) const;
};

// The same for a cycle and all its simulations. Threads: immutable. Lifetime: the attempt.
struct FilterTables {
  OwnTermsPtr own;
  const api::LabelMap* namespace_labels = nullptr;  // of the pod's namespace
  const ExistingTerms* existing_terms = nullptr;
  bool matches_itself = false;  // all its own required affinity terms

  std::vector<TallySum> existing;                      // table E by key
  std::shared_ptr<const IncomingSums> existing_owner;  // of its tallies; may be null
  std::vector<OwnTable> affinity;                      // table A by key, one counter each
  std::vector<OwnTable> anti_affinity;                 // table N by key
  // All required affinity terms are of the per-node key: then table A is not asked for emptiness,
  // but `matching_pods`, those of the whole cluster.
  bool affinity_per_node = false;
  int64_t matching_pods = 0;

  // As they are now, for this node.
  FilterTables Fixed(const framework::NodeInfo& node) const;
};

enum class FilterVerdict : uint8_t { kPasses, kAffinity, kAntiAffinity, kExistingAntiAffinity };

// Threads: Filter by workers at the same time; a clone may be changed by one worker.
class FilterState final : public framework::StateData {
 public:
  explicit FilterState(std::shared_ptr<const FilterTables> tables) : tables_(std::move(tables)) {}

  std::shared_ptr<framework::StateData> Clone(
      const std::shared_ptr<framework::StateData>&) const override {
    return std::make_shared<FilterState>(*this);
  }

  std::shared_ptr<framework::StateData> Fix(const std::shared_ptr<framework::StateData>&,
                                            const framework::NodeInfo& node) override {
    auto fixed = std::make_shared<FilterState>(*this);
    fixed->tables_ = std::make_shared<const FilterTables>(tables_->Fixed(node));
    return fixed;
  }

  // In upstream's order of checks.
  FilterVerdict Filter(const framework::NodeInfo& node) const;
  // `other` joins (+1) or leaves (-1) the node; `pod` is the incoming one.
  void Simulate(const api::Pod& pod, const api::Pod& other, const framework::NodeInfo& node,
                int sign);
  // As framework::PlaceWisePlugin.
  bool FindPlaces(std::vector<uint64_t>* basis) const;
  void AppendPlace(const framework::NodeInfo& node, std::vector<int64_t>* place) const;

 private:
  bool SatisfiesAffinity(const framework::NodeInfo& node) const;
  bool SatisfiesAntiAffinity(const framework::NodeInfo& node) const;
  bool SatisfiesExisting(const framework::NodeInfo& node) const;
  bool NobodyMatchesAffinity() const;

  std::shared_ptr<const FilterTables> tables_;
  TableDifferences existing_;
  TableDifferences affinity_;
  TableDifferences anti_affinity_;
  int64_t matching_pods_ = 0;  // difference
};

}  // namespace ks::plugins
