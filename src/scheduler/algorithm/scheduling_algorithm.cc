// SPDX-License-Identifier: Apache-2.0
#include "scheduler/algorithm/scheduling_algorithm.h"

#include <utility>

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

ScheduleResult SchedulingAlgorithm::SchedulePod(const framework::Framework& framework,
                                                framework::CycleState& state, const api::Pod& pod,
                                                Diagnosis* diagnosis, Batching* batching,
                                                BatchAttempt* attempt) {
  ScheduleResult result;
  scores_.totals.clear();
  const bool batching_wants = batching != nullptr && Batching::WantsDetails(*attempt);
  scores_.keep_details = std::exchange(keep_details_, false) || batching_wants;
  AttemptTrace trace(RealClock(), pod);
  result.status = FindNodesThatFit(framework, state, pod, diagnosis, batching, attempt);
  trace.Step("Computing predicates done");
  if (!result.status.ok()) {
    result.fit_error = result.status.IsRejected() && !snapshot_.nodes().empty();
    return result;
  }
  result.evaluated_nodes = feasible_.size() + diagnosis->nodes.explicit_count();
  result.feasible_nodes = feasible_.size();
  if (feasible_.size() == 0) {
    result.status = Status(Code::kUnschedulable, {});
    result.fit_error = true;
    return result;
  }
  if (feasible_.size() == 1) {
    result.node = feasible_.nodes.front();
  } else {
    result.status = Prioritize(framework, state, pod);
    trace.Step("Prioritizing done");
    if (!result.status.ok()) return result;
    result.node = feasible_.nodes[PickBest(scores_.totals)];
  }
  if (batching != nullptr) batching->Store(*attempt, result.node->name(), feasible_, scores_);
  return result;
}

// Leaves the feasible nodes in feasible_. A rejected status comes from PreFilter: all nodes then
// share it.
Status SchedulingAlgorithm::FindNodesThatFit(const framework::Framework& framework,
                                             framework::CycleState& state, const api::Pod& pod,
                                             Diagnosis* diagnosis, Batching* batching,
                                             BatchAttempt* attempt) {
  std::optional<std::set<std::string>> narrowed;
  Status status = PreFilter(framework, state, pod, diagnosis, &narrowed);
  if (!status.ok()) return status;
  if (batching != nullptr) batching->Hint(state, pod, attempt);
  if (!pod.status.nominated_node_name.empty()) {
    if (NominatedNodeFits(framework, state, pod, diagnosis)) return Status();
  } else if (batching != nullptr && !attempt->hint.empty()) {
    if (NodeFits(attempt->hint, framework, state, pod, diagnosis)) return Status();
  }
  return Search(framework, state, pod, narrowed, diagnosis);
}

Status SchedulingAlgorithm::PreFilter(const framework::Framework& framework,
                                      framework::CycleState& state, const api::Pod& pod,
                                      Diagnosis* diagnosis,
                                      std::optional<std::set<std::string>>* narrowed) {
  feasible_.Clear();
  const size_t num_nodes = snapshot_.nodes().size();
  diagnosis->nodes.Reset(num_nodes);
  diagnosis->num_all_nodes = num_nodes;
  diagnosis->unschedulable_plugins.clear();
  diagnosis->pending_plugins.clear();
  diagnosis->pre_filter_message.clear();
  diagnosis->post_filter_message.clear();
  if (num_nodes == 0) {
    return Status::WithError(Code::kUnschedulableAndUnresolvable, std::string(kNoNodesText));
  }
  framework::PreFilterOutcome outcome = framework.RunPreFilterPlugins(state, pod);
  diagnosis->unschedulable_plugins = std::move(outcome.narrowing_plugins);
  if (outcome.status.ok()) {
    *narrowed = std::move(outcome.nodes);
    return Status();
  }
  if (!outcome.status.IsRejected()) return std::move(outcome.status);
  diagnosis->nodes.set_absent(outcome.status);
  diagnosis->pre_filter_message = outcome.status.Message();
  if (!outcome.status.plugin().empty()) {
    diagnosis->unschedulable_plugins.emplace(outcome.status.plugin());
  }
  return std::move(outcome.status);
}

Status SchedulingAlgorithm::Search(const framework::Framework& framework,
                                   const framework::CycleState& state, const api::Pod& pod,
                                   const std::optional<std::set<std::string>>& narrowed,
                                   Diagnosis* diagnosis) {
  const LoopWorkers shown(metrics_, SchedulerMetrics::Loop::kFilter, parallelizer_.threads());
  return search_.FindFeasible(framework, state, pod, narrowed, diagnosis, &feasible_);
}

// The nominated node alone; the start index does not move, and PreFilter's node set is not
// consulted (docs/spec/cycle.md section 8).
bool SchedulingAlgorithm::NominatedNodeFits(const framework::Framework& framework,
                                            const framework::CycleState& state, const api::Pod& pod,
                                            Diagnosis* diagnosis) {
  return NodeFits(pod.status.nominated_node_name, framework, state, pod, diagnosis);
}

bool SchedulingAlgorithm::NodeFits(const std::string& name, const framework::Framework& framework,
                                   const framework::CycleState& state, const api::Pod& pod,
                                   Diagnosis* diagnosis) {
  const framework::NodeInfo* node = snapshot_.Find(name);
  if (node == nullptr) {
    KS_LOG(3, "Evaluation failed on nominated node", {{"pod", pod.meta.Key()}, {"node", name}});
    return false;
  }
  const framework::PointTimer timer = framework.StartTimer(framework::MetricPoint::kFilter);
  const Status status = framework.RunFilterPluginsWithNominatedPods(state, pod, *node);
  if (framework.HasFilterPlugins()) {
    timer.Stop(status.IsRejected() ? Code::kSuccess : status.code());
  }
  if (status.ok()) {
    feasible_.Add(node, node->slot());
    return true;
  }
  if (status.IsRejected()) {
    diagnosis->AddNodeStatus(node->index(), status);
  } else {
    log::Error(status.Message(), "Evaluation failed on nominated node",
               {{"pod", pod.meta.Key()}, {"node", node->name()}});
  }
  return false;
}

Status SchedulingAlgorithm::Prioritize(const framework::Framework& framework,
                                       framework::CycleState& state, const api::Pod& pod) {
  if (!framework.HasScorePlugins()) {
    scores_.totals.assign(feasible_.size(), 1);
    return Status();
  }
  Status status = framework.RunPreScorePlugins(state, pod, feasible_.nodes);
  if (!status.ok()) return status;
  const LoopWorkers shown(metrics_, SchedulerMetrics::Loop::kScore, 1);
  return framework.RunScorePlugins(state, pod, feasible_.nodes, feasible_.slots, &scores_);
}

}  // namespace ks::scheduler
