// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search for feasible nodes: sampling, rotating start, stop rule. The result is that of a
// sequential search at any parallelism: after the first nodes, blocks of candidates are evaluated
// by workers and merged in order.
//
// Upstream: docs/spec/cycle.md section 9.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "framework/runtime/runtime.h"
#include "scheduler/algorithm/attempt.h"
#include "scheduler/algorithm/parallelizer.h"

namespace ks::scheduler {

// Threads: the scheduling thread. Lifetime: snapshot and parallelizer outlive it.
class NodeSearch {
 public:
  NodeSearch(const framework::Snapshot& snapshot, Parallelizer& parallelizer,
             int32_t percentage_of_nodes_to_score);

  // Fills in which nodes of the attempt's node names are feasible, and the statuses of the others:
  // from the rotating start on until enough nodes are feasible. Advances the start, and forgets a
  // nominated node that was feasible; an error status ends the search, statuses collected so far
  // stay.
  framework::Status FindFeasible(Attempt& attempt);
  // The same search by what is remembered, without going through the nodes: those that fit, ranked,
  // and the start advanced. Null: FindFeasible is to be called; the start has not moved. Requires:
  // no node of the attempt has a status yet.
  const framework::RankedWindow* FindRanked(Attempt& attempt);
  // The same for every node, from the first one on, beside a nominated node that was feasible.
  // Failures are kept by node, the start stays.
  void FilterAllNodes(Attempt& attempt);

  void set_percentage_of_nodes_to_score(int32_t percentage) { percentage_ = percentage; }
  void set_extenders_choose(bool choose) { extenders_choose_ = choose; }
  // From this number of nodes on FindRanked tries.
  void set_least_ranked_nodes(size_t nodes) { least_ranked_nodes_ = nodes; }
  // Ranking costs a little for every change of a node and saves a visit of the window: it pays
  // where windows have hundreds of nodes.
  static constexpr size_t kLeastRankedNodes = 1000;

  // S of 9.3: index in the node list where the next search begins.
  size_t next_start_node_index() const { return start_; }

 private:
  // Nodes with their slots, in list order.
  struct NodeList {
    std::span<const framework::NodeInfo* const> nodes;
    std::span<const uint32_t> slots;
  };
  struct Run;

  NodeList Candidates(const Attempt& attempt);
  void Narrow(const framework::NodeInfo* node);
  size_t Wanted(const framework::Framework& framework, size_t candidates) const;
  framework::Status Search(const Run& run);
  framework::Status SearchBlocks(const Run& run, size_t begin);

  const framework::Snapshot& snapshot_;
  Parallelizer& parallelizer_;
  int32_t percentage_;
  bool extenders_choose_ = false;  // some extender filters or scores
  size_t least_ranked_nodes_ = kLeastRankedNodes;
  size_t start_ = 0;
  // Scratch space, kept between searches.
  std::vector<const framework::NodeInfo*> narrowed_nodes_;
  std::vector<uint32_t> narrowed_slots_;
  std::vector<framework::Status> block_;
};

}  // namespace ks::scheduler
