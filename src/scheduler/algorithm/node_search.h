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

#include "framework/diagnosis.h"
#include "framework/runtime/runtime.h"
#include "scheduler/algorithm/parallelizer.h"

namespace ks::scheduler {

// slots[i] belongs to nodes[i].
struct FeasibleNodes {
  std::vector<const framework::NodeInfo*> nodes;
  std::vector<uint32_t> slots;

  size_t size() const { return nodes.size(); }
  void Clear() {
    nodes.clear();
    slots.clear();
  }
  void Add(const framework::NodeInfo* node, uint32_t slot) {
    nodes.push_back(node);
    slots.push_back(slot);
  }
};

// Threads: the scheduling thread. Lifetime: snapshot and parallelizer outlive it.
class NodeSearch {
 public:
  NodeSearch(const framework::Snapshot& snapshot, Parallelizer& parallelizer,
             int32_t percentage_of_nodes_to_score);

  // Fills `feasible` (in search order) and its slots, and the node statuses of `diagnosis`, and
  // advances the start index. `narrowed`: names from PreFilter, absent: all nodes. An error status
  // ends the search; statuses collected so far stay.
  framework::Status FindFeasible(const framework::Framework& framework,
                                 const framework::CycleState& state, const api::Pod& pod,
                                 const std::optional<std::set<std::string>>& narrowed,
                                 framework::Diagnosis* diagnosis, FeasibleNodes* feasible);

  void set_percentage_of_nodes_to_score(int32_t percentage) { percentage_ = percentage; }
  void set_extenders_choose(bool choose) { extenders_choose_ = choose; }
  // S of 9.3: index in the node list where the next search begins.
  size_t next_start_node_index() const { return start_; }

 private:
  // Nodes with their slots, in list order.
  struct NodeList {
    std::span<const framework::NodeInfo* const> nodes;
    std::span<const uint32_t> slots;
  };
  struct Run;

  NodeList Candidates(const std::optional<std::set<std::string>>& narrowed,
                      framework::Diagnosis* diagnosis);
  size_t Wanted(const framework::Framework& framework, size_t candidates) const;
  framework::Status Search(const Run& run);
  framework::Status SearchBlocks(const Run& run, size_t begin);

  const framework::Snapshot& snapshot_;
  Parallelizer& parallelizer_;
  int32_t percentage_;
  bool extenders_choose_ = false;  // some extender filters or scores
  size_t start_ = 0;
  // Scratch space, kept between searches.
  std::vector<const framework::NodeInfo*> narrowed_nodes_;
  std::vector<uint32_t> narrowed_slots_;
  std::vector<framework::Status> block_;
};

}  // namespace ks::scheduler
