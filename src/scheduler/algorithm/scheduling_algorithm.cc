// SPDX-License-Identifier: Apache-2.0
#include "scheduler/algorithm/scheduling_algorithm.h"

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "scheduler/algorithm/attempt_trace.h"
#include "scheduler/algorithm/selection.h"
#include "scheduler/metrics/scheduler_metrics.h"

namespace ks::scheduler {

using framework::Code;
using framework::Diagnosis;
using framework::Status;

SchedulingAlgorithm::SchedulingAlgorithm(const framework::Snapshot& snapshot,
                                         Parallelizer& parallelizer,
                                         int32_t percentage_of_nodes_to_score)
    : snapshot_(snapshot),
      parallelizer_(parallelizer),
      search_(snapshot, parallelizer, percentage_of_nodes_to_score) {}

void SchedulingAlgorithm::SchedulePod(Attempt& attempt, Batching* batching) {
  KS_CHECK(attempt.search != nullptr, "an attempt without a search space");
  SearchSpace& search = *attempt.search;
  ScheduleResult& result = attempt.result;
  KS_CHECK(result.node == nullptr, "an attempt chooses twice");
  search.scores.keep_details |= batching != nullptr && Batching::WantsDetails(attempt.batch);
  AttemptTrace trace(trace_clock_, *attempt.pod);
  result.status = FindNodesThatFit(attempt, batching);
  trace.Step("Computing predicates done");
  if (!result.status.ok()) {
    result.fit_error = result.status.IsRejected() && !snapshot_.nodes().empty();
    return;
  }
  if (!search.is_ranked) {
    result.evaluated_nodes = search.feasible.size() + search.diagnosis.nodes.explicit_count();
    result.feasible_nodes = search.feasible.size();
    if (search.feasible.size() == 0) {
      result.status = Status(Code::kUnschedulable, {});
      result.fit_error = true;
      return;
    }
    if (search.feasible.size() > 1) {
      result.status = Score(attempt);
      trace.Step("Prioritizing done");
      if (!result.status.ok()) return;
    }
    result.node = Pick(search);
  }
  if (batching != nullptr) batching->Store(attempt.batch, result.node->name(), search);
}

// A rejected status comes from PreFilter: all nodes then share it.
Status SchedulingAlgorithm::FindNodesThatFit(Attempt& attempt, Batching* batching) {
  Status status = PreFilter(attempt);
  if (!status.ok()) return status;
  if (batching != nullptr) batching->Hint(attempt.state, *attempt.pod, &attempt.batch);
  if (NominatedNodeFits(attempt)) return Status();
  if (!attempt.batch.hint.empty() && NodeFits(attempt.batch.hint, attempt)) return Status();
  if (PickRanked(attempt)) return Status();
  return Search(attempt);
}

// Whoever wants to know more than the best few nodes has them visited: scores by plugin, rankings
// for batching, and why nodes were rejected if none fits.
bool SchedulingAlgorithm::PickRanked(Attempt& attempt) {
  SearchSpace& search = *attempt.search;
  if (search.scores.keep_details || search.diagnosis.nodes.explicit_count() > 0) return false;
  const framework::RankedWindow* window = search_.FindRanked(attempt);
  if (window == nullptr) return false;
  search.is_ranked = true;
  const std::span<const framework::NodeInfo* const> nodes = snapshot_.nodes();
  ScheduleResult& result = attempt.result;
  result.evaluated_nodes = window->feasible() + window->rejected();
  result.feasible_nodes = window->feasible();
  result.node = nodes[window->AtRank(PickBest(*window))];
  if (attempt.decision == 0) return true;
  std::array<framework::RankedWindow::Ranked, SearchSpace::kBestRanked> best{};
  const size_t count = window->FindBest(best);
  for (size_t i = 0; i < count; ++i) {
    search.best_ranked.push_back({nodes[best[i].index], best[i].total});
  }
  return true;
}

Status SchedulingAlgorithm::PreFilter(Attempt& attempt) {
  SearchSpace& search = *attempt.search;
  Diagnosis& diagnosis = search.diagnosis;
  search.feasible.Clear();
  search.failed.clear();
  search.is_ranked = false;
  search.best_ranked.clear();
  const size_t num_nodes =
      attempt.placement == nullptr ? snapshot_.nodes().size() : attempt.placement->nodes.size();
  diagnosis.nodes.Reset(snapshot_.nodes().size());
  diagnosis.num_all_nodes = num_nodes;
  diagnosis.unschedulable_plugins.clear();
  diagnosis.pending_plugins.clear();
  diagnosis.pre_filter_message.clear();
  diagnosis.post_filter_message.clear();
  if (num_nodes == 0) {
    return Status::WithError(Code::kUnschedulableAndUnresolvable, std::string(kNoNodesText));
  }
  framework::PreFilterOutcome outcome =
      attempt.framework.RunPreFilterPlugins(attempt.state, *attempt.pod);
  diagnosis.unschedulable_plugins = std::move(outcome.narrowing_plugins);
  if (outcome.status.ok()) {
    search.node_names = std::move(outcome.nodes);
    return Status();
  }
  if (!outcome.status.IsRejected()) return std::move(outcome.status);
  diagnosis.nodes.set_absent(outcome.status);
  diagnosis.pre_filter_message = outcome.status.Message();
  if (!outcome.status.plugin().empty()) {
    diagnosis.unschedulable_plugins.emplace(outcome.status.plugin());
  }
  return std::move(outcome.status);
}

// The nominated node alone; the start index does not move, and PreFilter's node set is not
// consulted (docs/spec/cycle.md section 8).
bool SchedulingAlgorithm::NominatedNodeFits(Attempt& attempt) {
  const std::string_view name = attempt.nominated_node();
  return !name.empty() && NodeFits(name, attempt);
}

bool SchedulingAlgorithm::NodeFits(std::string_view name, Attempt& attempt) {
  const framework::Framework& framework = attempt.framework;
  const api::Pod& pod = *attempt.pod;
  const framework::NodeInfo* node = snapshot_.Find(name);
  if (node == nullptr || (attempt.placement != nullptr && !attempt.placement->Holds(node))) {
    KS_LOG(3, "Evaluation failed on nominated node", {{"pod", pod.meta.Key()}, {"node", name}});
    return false;
  }
  const framework::PointTimer timer = framework.StartTimer(framework::MetricPoint::kFilter);
  const Status status = framework.RunFilterPluginsWithNominatedPods(attempt.state, pod, *node);
  if (framework.plugins().HasFilterPlugins()) {
    timer.Stop(status.IsRejected() ? Code::kSuccess : status.code());
  }
  if (status.ok()) {
    attempt.search->feasible.Add(node, node->slot());
    return true;
  }
  if (status.IsRejected()) {
    attempt.search->diagnosis.AddNodeStatus(node->index(), status);
  } else {
    log::Error(status.Message(), "Evaluation failed on nominated node",
               {{"pod", pod.meta.Key()}, {"node", node->name()}});
  }
  return false;
}

Status SchedulingAlgorithm::Search(Attempt& attempt) {
  const LoopWorkers shown(metrics_, SchedulerMetrics::Loop::kFilter, parallelizer_.threads());
  return search_.FindFeasible(attempt);
}

Status SchedulingAlgorithm::Score(Attempt& attempt) {
  const framework::Framework& framework = attempt.framework;
  SearchSpace& search = *attempt.search;
  if (!framework.plugins().HasScorePlugins()) {
    search.scores.totals.assign(search.feasible.size(), 1);
    return Status();
  }
  Status status = framework.RunPreScorePlugins(attempt.state, *attempt.pod, search.feasible.nodes);
  if (!status.ok()) return status;
  const LoopWorkers shown(metrics_, SchedulerMetrics::Loop::kScore, 1);
  return framework.score_points().RunScorePlugins(
      attempt.state, *attempt.pod, search.feasible.nodes, search.feasible.slots, &search.scores);
}

const framework::NodeInfo* SchedulingAlgorithm::Pick(const SearchSpace& search) {
  const std::vector<const framework::NodeInfo*>& nodes = search.feasible.nodes;
  KS_CHECK(nodes.size() == 1 || search.scores.totals.size() == nodes.size(),
           "a node is picked by the scores of others");
  return nodes.size() == 1 ? nodes.front() : nodes[PickBest(search.scores.totals)];
}

}  // namespace ks::scheduler
