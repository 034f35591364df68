// SPDX-License-Identifier: Apache-2.0
#include "inspect/explain.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "framework/diagnosis.h"
#include "scheduler/algorithm/scheduling_algorithm.h"

namespace ks::inspect {
namespace {

using framework::Code;
using framework::NodeInfo;
using framework::Status;

// One attempt, with every node's status kept.
class Attempt {
 public:
  Attempt(const framework::Framework& framework, const api::PodPtr& pod,
          ExplainPreemption preemption)
      : framework_(framework),
        pod_ptr_(pod),
        pod_(*pod),
        preemption_(preemption),
        nodes_(framework.snapshot().nodes()) {
    diagnosis_.nodes.Reset(nodes_.size());
    diagnosis_.num_all_nodes = nodes_.size();
    statuses_.resize(nodes_.size());
    evaluated_.resize(nodes_.size());
  }

  void Run(Explanation* out) {
    FindFeasible();
    if (error_.ok() || nominated_ != nullptr) Score();
    // What fails beside a nominated node that fits is never met: it is chosen at once.
    if (nominated_ != nullptr) error_ = Status();
    if (!error_.ok()) {
      out->result = Verdict::kError;
      out->message = error_.ErrorText();
      return;
    }
    out->result = feasible_.empty() ? Verdict::kUnschedulable : Verdict::kSchedulable;
    if (feasible_.empty()) {
      out->message = diagnosis_.Text();
    } else {
      SetBestNodes(out);
    }
    out->unschedulable_plugins = diagnosis_.unschedulable_plugins;
    if (nominated_ != nullptr) out->nominated_node = nominated_->name();
    SetNodes(out);
    if (feasible_.empty() && preemption_ == ExplainPreemption::kYes &&
        framework_.HasPostFilterPlugins()) {
      out->preemption = PreemptionLog().Run(framework_, state_, pod_ptr_, &diagnosis_);
    }
  }

 private:
  void FindFeasible() {
    framework::PreFilterOutcome outcome = framework_.RunPreFilterPlugins(state_, pod_);
    diagnosis_.unschedulable_plugins = std::move(outcome.narrowing_plugins);
    if (!outcome.status.ok()) {
      RejectAll(outcome.status);
      return;
    }
    TryNominatedNode();
    for (const NodeInfo* node : Candidates(outcome.nodes)) Filter(*node);
  }

  void RejectAll(const Status& status) {
    if (!status.IsRejected()) {
      error_ = status;
      return;
    }
    diagnosis_.nodes.set_absent(status);
    diagnosis_.pre_filter_message = status.Message();
    if (!status.plugin().empty()) diagnosis_.unschedulable_plugins.emplace(status.plugin());
  }

  // It need not be in PreFilter's node set. Its errors are only logged (docs/spec/cycle.md 8).
  void TryNominatedNode() {
    if (pod_.status.nominated_node_name.empty()) return;
    const NodeInfo* node = framework_.snapshot().Find(pod_.status.nominated_node_name);
    if (node == nullptr) return;
    const Status status = framework_.RunFilterPluginsWithNominatedPods(state_, pod_, *node);
    if (!status.ok() && !status.IsRejected()) return;
    if (status.ok()) nominated_ = node;
    Record(*node, status);
  }

  std::vector<const NodeInfo*> Candidates(const std::optional<std::set<std::string>>& narrowed) {
    if (!narrowed) return {nodes_.begin(), nodes_.end()};
    std::vector<const NodeInfo*> candidates;
    for (const std::string& name : *narrowed) {
      if (const NodeInfo* node = framework_.snapshot().Find(name)) candidates.push_back(node);
    }
    diagnosis_.nodes.set_absent(framework::NotInNodeSet(diagnosis_.unschedulable_plugins));
    return candidates;
  }

  void Filter(const NodeInfo& node) {
    if (&node == nominated_) return;
    const Status status = framework_.RunFilterPluginsWithNominatedPods(state_, pod_, node);
    if (!status.ok() && !status.IsRejected() && error_.ok()) error_ = status;
    Record(node, status);
  }

  void Record(const NodeInfo& node, const Status& status) {
    if (status.ok()) feasible_.push_back(&node);
    if (status.IsRejected()) diagnosis_.AddNodeStatus(node.index(), status);
    statuses_[node.index()] = status;
    evaluated_[node.index()] = true;
  }

  void Score() {
    if (feasible_.empty()) return;
    if (!framework_.HasScorePlugins()) {
      scores_.totals.assign(feasible_.size(), 1);
      return;
    }
    scores_.keep_details = true;
    Status status = framework_.RunPreScorePlugins(state_, pod_, feasible_);
    if (status.ok()) status = framework_.RunScorePlugins(state_, pod_, feasible_, &scores_);
    if (status.ok()) return;
    // An attempt would not have scored a single node.
    scores_.details.clear();
    scores_.totals.assign(feasible_.size(), 0);
    if (feasible_.size() > 1) error_ = std::move(status);
  }

  void SetBestNodes(Explanation* out) const {
    const std::vector<int64_t>& totals = scores_.totals;
    const int64_t best = *std::max_element(totals.begin(), totals.end());
    for (size_t i = 0; i < totals.size(); ++i) {
      if (totals[i] == best) out->best_nodes.push_back(feasible_[i]->name());
    }
    std::sort(out->best_nodes.begin(), out->best_nodes.end());
  }

  void SetNodes(Explanation* out) const {
    out->nodes.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      out->nodes[i].name = nodes_[i]->name();
      SetStatus(i, out->result, &out->nodes[i]);
    }
    SetScores(out);
    std::sort(out->nodes.begin(), out->nodes.end(),
              [](const NodeVerdict& a, const NodeVerdict& b) { return a.name < b.name; });
  }

  void SetStatus(size_t index, Verdict result, NodeVerdict* node) const {
    if (!evaluated_[index] && result == Verdict::kSchedulable) {
      node->code = kNotInPreFilterResult;
      return;
    }
    const Status* status = evaluated_[index] ? &statuses_[index] : &diagnosis_.nodes.absent();
    node->feasible = status->ok();
    if (node->feasible) return;
    node->plugin = status->plugin();
    node->code = framework::CodeText(status->code());
    node->reasons = status->reasons();
  }

  // The verdicts are still in the order of the snapshot.
  void SetScores(Explanation* out) const {
    std::vector<const framework::NodeScores::PluginScores*> plugins;
    for (const auto& plugin : scores_.details) plugins.push_back(&plugin);
    std::sort(plugins.begin(), plugins.end(),
              [](const auto* a, const auto* b) { return a->plugin < b->plugin; });
    for (size_t i = 0; i < feasible_.size(); ++i) {
      NodeVerdict& node = out->nodes[feasible_[i]->index()];
      node.total = scores_.totals[i];
      for (const auto* plugin : plugins) {
        node.scores.push_back({.plugin = plugin->plugin,
                               .raw = plugin->raw[i],
                               .weighted = plugin->normalized[i] * plugin->weight});
      }
    }
  }

  const framework::Framework& framework_;
  const api::PodPtr& pod_ptr_;
  const api::Pod& pod_;
  const ExplainPreemption preemption_;
  const std::span<const NodeInfo* const> nodes_;
  framework::CycleState state_;
  framework::Diagnosis diagnosis_;
  std::vector<Status> statuses_;           // by node index
  std::vector<bool> evaluated_;            // by node index
  std::vector<const NodeInfo*> feasible_;  // in the order in which an attempt finds them
  const NodeInfo* nominated_ = nullptr;    // of the pod, when it fits
  framework::NodeScores scores_;
  Status error_;  // the first that an attempt over all nodes would meet
};

}  // namespace

std::string_view VerdictText(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSchedulable:
      return "Schedulable";
    case Verdict::kUnschedulable:
      return "Unschedulable";
    case Verdict::kGated:
      return "Gated";
    case Verdict::kError:
      break;
  }
  return "Error";
}

Explanation Explain(const framework::Framework& framework, const api::PodPtr& pod,
                    ExplainPreemption preemption) {
  Explanation out{.pod = pod->meta.Key(), .profile = framework.ProfileName()};
  const Status gate = framework.RunPreEnqueuePlugins(*pod, {});
  if (!gate.ok()) {
    out.result = Verdict::kGated;
    out.message = gate.Message();
  } else if (framework.snapshot().nodes().empty()) {
    out.result = Verdict::kUnschedulable;
    out.message = scheduler::kNoNodesText;
  } else {
    Attempt(framework, pod, preemption).Run(&out);
  }
  return out;
}

}  // namespace ks::inspect
