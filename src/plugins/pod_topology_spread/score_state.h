// SPDX-License-Identifier: Apache-2.0
#pragma once
// What Score reads: the counts of the soft constraints, and how much each weighs.
//
// Upstream: docs/spec/plugins-crosspod.md 4.8.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "plugins/pod_topology_spread/spread_counter.h"
#include "plugins/pod_topology_spread/spread_plan.h"

namespace ks::plugins {

// Counts the domains of a set of nodes; keeps its arrays from one use to the next.
// Threads: the scheduling thread.
class DomainMarks {
 public:
  // Forgets all marks. `domains`: how many there can be.
  void Start(size_t domains);
  // Requires: domain >= 0.
  void Mark(int32_t domain);
  size_t marked() const { return marked_; }

 private:
  std::vector<uint32_t> rounds_;  // by domain: the round in which it was marked last
  uint32_t round_ = 0;
  size_t marked_ = 0;
};

// Threads: immutable once made. Lifetime: within the attempt, as the counters go on counting.
class SpreadScoreState final : public framework::StateData {
 public:
  // `nodes`: the feasible ones, or one of each place; nodes[i] stands for counts[i] of them, for
  // itself where there are no counts. Requires: plan->soft is without error.
  SpreadScoreState(std::shared_ptr<const SpreadPlan> plan, SpreadCounters& counters,
                   const framework::Snapshot& snapshot,
                   std::span<const framework::NodeInfo* const> nodes,
                   std::span<const size_t> counts, DomainMarks& marks);

  // The node lacks a key that all nodes must have.
  bool Ignores(const framework::NodeInfo& node) const;
  // Raw. 0 for ignored nodes.
  int64_t Score(const framework::NodeInfo& node) const;
  // As framework::PlaceWisePlugin.
  bool FindPlaces(std::vector<uint64_t>* basis) const;
  void AppendPlace(const framework::NodeInfo& node, std::vector<int64_t>* place) const;

 private:
  struct Constraint {
    std::shared_ptr<const SpreadCounter> counter;
    std::shared_ptr<const Topology> hostnames;  // of a constraint on the hostname; else null
    const Topology* topology = nullptr;
    double weight = 0;
    double offset = 0;  // maxSkew - 1

    bool CountsNodes() const { return hostnames != nullptr; }
    // The node has no value of the key, but is in the domain of the empty one.
    bool IsMissing(const framework::NodeInfo& node, int32_t domain) const {
      return topology->value(domain).empty() && !node.node()->meta.labels.Contains(topology->key());
    }
  };

  void Weigh(std::span<const framework::NodeInfo* const> nodes, std::span<const size_t> counts,
             DomainMarks& marks);
  size_t CountDomains(const Topology& topology, std::span<const framework::NodeInfo* const> nodes,
                      DomainMarks& marks) const;

  const std::shared_ptr<const SpreadPlan> plan_;
  const bool require_all_;
  std::vector<Constraint> constraints_;
};

}  // namespace ks::plugins
