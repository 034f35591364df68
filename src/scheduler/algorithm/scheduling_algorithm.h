// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chooses a node for one pod, as steps over its attempt: PreFilter, the nominated or hinted node,
// the search, scores, the pick. Changes nothing but the attempt and the rotating start index;
// assuming the pod is the caller's step.
//
// Upstream: docs/spec/cycle.md sections 6 to 12.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "scheduler/algorithm/attempt.h"
#include "scheduler/algorithm/batching.h"
#include "scheduler/algorithm/node_search.h"

namespace ks::scheduler {

// Why nothing is placed in a cluster without nodes.
inline constexpr std::string_view kNoNodesText = "no nodes available to schedule pods";

class SchedulerMetrics;

// Threads: the scheduling thread. Lifetime: snapshot, parallelizer, clock and metrics outlive it.
class SchedulingAlgorithm {
 public:
  SchedulingAlgorithm(const framework::Snapshot& snapshot, Parallelizer& parallelizer,
                      int32_t percentage_of_nodes_to_score);

  // All steps in a row; sets the attempt's result, and its diagnosis when no node is feasible.
  // `batching`: of the framework's profile; null: without. Requires: the snapshot was refreshed.
  void SchedulePod(Attempt& attempt, Batching* batching = nullptr);

  // The steps one by one, in the order of time, for an attempt that pauses between them or that
  // looks at every node. Requires: as SchedulePod.
  //
  // Resets the search space. Rejected: the diagnosis says by whom. Success: the node names are set.
  framework::Status PreFilter(Attempt& attempt);
  // Whether the pod is nominated to a node and fits there: that node alone is feasible then.
  bool NominatedNodeFits(Attempt& attempt);
  framework::Status Search(Attempt& attempt);
  // Asks about every node, for explaining; see NodeSearch::FilterAllNodes.
  void SearchAllNodes(Attempt& attempt) { search_.FilterAllNodes(attempt); }
  // Fills in the scores of the feasible nodes.
  framework::Status Score(Attempt& attempt);
  // Requires: there is a feasible node; if there are several, they have scores.
  static const framework::NodeInfo* Pick(const SearchSpace& search);

  void set_percentage_of_nodes_to_score(int32_t percentage) {
    search_.set_percentage_of_nodes_to_score(percentage);
  }
  // Whether an extender filters or scores: then more than one feasible node is wanted even without
  // a Score plugin (docs/spec/cycle.md 9.2 rule 5).
  void set_extenders_choose(bool choose) { search_.set_extenders_choose(choose); }
  // See NodeSearch.
  void set_least_ranked_nodes(size_t nodes) { search_.set_least_ranked_nodes(nodes); }
  // Null: nothing is shown.
  void set_metrics(SchedulerMetrics* metrics) { metrics_ = metrics; }
  // By it slow attempts are noticed and told in the log (attempt_trace.h). Null: none is.
  void set_trace_clock(const Clock* clock) { trace_clock_ = clock; }
  size_t next_start_node_index() const { return search_.next_start_node_index(); }

 private:
  framework::Status FindNodesThatFit(Attempt& attempt, Batching* batching);
  // Searches, scores and picks in one, by what is remembered. False: nothing has happened.
  bool PickRanked(Attempt& attempt);
  bool NodeFits(std::string_view name, Attempt& attempt);

  const framework::Snapshot& snapshot_;
  const Parallelizer& parallelizer_;
  SchedulerMetrics* metrics_ = nullptr;
  const Clock* trace_clock_ = nullptr;
  NodeSearch search_;
};

}  // namespace ks::scheduler
