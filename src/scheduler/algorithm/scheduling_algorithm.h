// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chooses a node for one pod: PreFilter, nominated node first, Filter, PreScore, Score, pick.
// Changes nothing but its own scratch space and the rotating start index; assuming the pod is the
// caller's step.
//
// Upstream: docs/spec/cycle.md sections 6 to 12.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "framework/diagnosis.h"
#include "framework/runtime/runtime.h"
#include "scheduler/algorithm/batching.h"
#include "scheduler/algorithm/node_search.h"

namespace ks::scheduler {

// Why nothing is placed in a cluster without nodes.
inline constexpr std::string_view kNoNodesText = "no nodes available to schedule pods";

// What choosing came to. Exactly one of: a node, or a failed status.
struct ScheduleResult {
  framework::Status status;  // success with a node
  const framework::NodeInfo* node = nullptr;
  size_t evaluated_nodes = 0;
  size_t feasible_nodes = 0;
  bool fit_error =
      false;  // no node was feasible: `diagnosis` of the call says why, and PostFilter may run
};

class SchedulerMetrics;

// Threads: the scheduling thread. Lifetime: snapshot, parallelizer and metrics outlive it.
class SchedulingAlgorithm {
 public:
  SchedulingAlgorithm(const framework::Snapshot& snapshot, Parallelizer& parallelizer,
                      int32_t percentage_of_nodes_to_score);

  // Requires: the snapshot was refreshed. `diagnosis` is reset here and filled when no node is
  // feasible. `batching`: of the framework's profile, null to do without; `attempt` is its
  // account of this attempt then.
  ScheduleResult SchedulePod(const framework::Framework& framework, framework::CycleState& state,
                             const api::Pod& pod, framework::Diagnosis* diagnosis,
                             Batching* batching = nullptr, BatchAttempt* attempt = nullptr);

  // The steps of SchedulePod one by one, for an attempt that waits between them
  // (extender_attempts.h). Same requirements.
  //
  // Resets the diagnosis, runs PreFilter. Rejected: the diagnosis says why; success: `narrowed` is
  // for Search.
  framework::Status PreFilter(const framework::Framework& framework, framework::CycleState& state,
                              const api::Pod& pod, framework::Diagnosis* diagnosis,
                              std::optional<std::set<std::string>>* narrowed);
  // Both leave what fits in feasible(). The first: whether the pod is nominated to a node and fits
  // there.
  bool NominatedNodeFits(const framework::Framework& framework, const framework::CycleState& state,
                         const api::Pod& pod, framework::Diagnosis* diagnosis);
  framework::Status Search(const framework::Framework& framework,
                           const framework::CycleState& state, const api::Pod& pod,
                           const std::optional<std::set<std::string>>& narrowed,
                           framework::Diagnosis* diagnosis);
  // Valid until the next call and the next refresh of the snapshot.
  const FeasibleNodes& feasible() const { return feasible_; }

  void set_percentage_of_nodes_to_score(int32_t percentage) {
    search_.set_percentage_of_nodes_to_score(percentage);
  }
  // Whether an extender filters or scores: then more than one feasible node is wanted even without
  // a Score plugin (docs/spec/cycle.md 9.2 rule 5).
  void set_extenders_choose(bool choose) { search_.set_extenders_choose(choose); }
  // Of the next SchedulePod alone: keep the scores by plugin, whatever batching wants. The decision
  // is the same and takes longer.
  void KeepScoresByPlugin() { keep_details_ = true; }
  // Null: nothing is shown.
  void set_metrics(SchedulerMetrics* metrics) { metrics_ = metrics; }
  size_t next_start_node_index() const { return search_.next_start_node_index(); }
  // Scores of the last SchedulePod that scored; totals are empty when it chose without scoring.
  const framework::NodeScores& last_scores() const { return scores_; }

 private:
  framework::Status FindNodesThatFit(const framework::Framework& framework,
                                     framework::CycleState& state, const api::Pod& pod,
                                     framework::Diagnosis* diagnosis, Batching* batching,
                                     BatchAttempt* attempt);
  bool NodeFits(const std::string& name, const framework::Framework& framework,
                const framework::CycleState& state, const api::Pod& pod,
                framework::Diagnosis* diagnosis);
  framework::Status Prioritize(const framework::Framework& framework, framework::CycleState& state,
                               const api::Pod& pod);

  const framework::Snapshot& snapshot_;
  const Parallelizer& parallelizer_;
  SchedulerMetrics* metrics_ = nullptr;
  NodeSearch search_;
  FeasibleNodes feasible_;
  framework::NodeScores scores_;
  bool keep_details_ = false;
};

}  // namespace ks::scheduler
