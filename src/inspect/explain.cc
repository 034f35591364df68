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

// One attempt over all nodes, told instead of made.
class Explainer {
 public:
  Explainer(const framework::Framework& framework, const api::PodPtr& pod)
      : algorithm_(framework.handle().snapshot(), parallelizer_, 100),
        attempt_(framework, pod, spaces_) {}

  void Run(ExplainPreemption preemption, Explanation* out) {
    attempt_.search->scores.keep_details = true;
    FindFeasible();
    if (error_.ok() || nominated_ != nullptr) Score();
    // What fails beside a nominated node that fits is never met: it is chosen at once.
    if (nominated_ != nullptr) error_ = Status();
    if (!error_.ok()) {
      out->result = Verdict::kError;
      out->message = error_.ErrorText();
      return;
    }
    const bool fits = feasible().size() != 0;
    out->result = fits ? Verdict::kSchedulable : Verdict::kUnschedulable;
    if (fits) {
      SetBestNodes(out);
    } else {
      out->message = diagnosis().Text();
    }
    out->unschedulable_plugins = diagnosis().unschedulable_plugins;
    if (nominated_ != nullptr) out->nominated_node = nominated_->name();
    SetNodes(out);
    if (!fits && preemption == ExplainPreemption::kYes &&
        attempt_.framework.plugins().HasPostFilterPlugins()) {
      out->preemption =
          PreemptionLog().Run(attempt_.framework, attempt_.state, attempt_.pod, &diagnosis());
    }
  }

 private:
  framework::Diagnosis& diagnosis() { return attempt_.search->diagnosis; }
  const scheduler::FeasibleNodes& feasible() const { return attempt_.search->feasible; }
  const framework::NodeScores& scores() const { return attempt_.search->scores; }

  void FindFeasible() {
    Status status = algorithm_.PreFilter(attempt_);
    if (!status.ok()) {
      if (!status.IsRejected()) error_ = std::move(status);
      return;
    }
    if (algorithm_.NominatedNodeFits(attempt_)) nominated_ = feasible().nodes.front();
    algorithm_.SearchAllNodes(attempt_);
    const auto& failed = attempt_.search->failed;
    if (!failed.empty()) error_ = failed.front().second;
  }

  void Score() {
    if (feasible().size() == 0) return;
    Status status = algorithm_.Score(attempt_);
    if (status.ok()) return;
    // An attempt would not have scored a single node.
    attempt_.search->scores.details.clear();
    attempt_.search->scores.totals.assign(feasible().size(), 0);
    if (feasible().size() > 1) error_ = std::move(status);
  }

  void SetBestNodes(Explanation* out) const {
    const std::vector<int64_t>& totals = scores().totals;
    const int64_t best = *std::max_element(totals.begin(), totals.end());
    for (size_t i = 0; i < totals.size(); ++i) {
      if (totals[i] == best) out->best_nodes.push_back(feasible().nodes[i]->name());
    }
    std::sort(out->best_nodes.begin(), out->best_nodes.end());
  }

  void SetNodes(Explanation* out) {
    const std::span<const NodeInfo* const> nodes = attempt_.framework.handle().snapshot().nodes();
    out->nodes.resize(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) out->nodes[i].name = nodes[i]->name();
    for (const NodeInfo* node : feasible().nodes) out->nodes[node->index()].feasible = true;
    for (NodeVerdict& verdict : out->nodes) {
      const auto index = static_cast<uint32_t>(&verdict - out->nodes.data());
      if (verdict.feasible) continue;
      if (!diagnosis().nodes.IsExplicit(index) && out->result == Verdict::kSchedulable) {
        verdict.code = kNotInPreFilterResult;
      } else {
        SetStatus(diagnosis().nodes.Get(index), &verdict);
      }
    }
    for (const auto& [node, status] : attempt_.search->failed) {
      SetStatus(status, &out->nodes[node->index()]);
    }
    SetScores(out);
    SetAllocations(out);
    std::sort(out->nodes.begin(), out->nodes.end(),
              [](const NodeVerdict& a, const NodeVerdict& b) { return a.name < b.name; });
  }

  static void SetStatus(const Status& status, NodeVerdict* node) {
    node->plugin = status.plugin();
    node->code = framework::CodeText(status.code());
    node->reasons = status.reasons();
  }

  void SetAllocations(Explanation* out) const {
    const auto* explainer = attempt_.framework.plugins().device_explainer();
    if (explainer == nullptr) return;
    for (const NodeInfo* node : feasible().nodes) {
      out->nodes[node->index()].allocations = explainer->ExplainClaims(attempt_.state, *node);
    }
  }

  // The verdicts are still in the order of the snapshot.
  void SetScores(Explanation* out) const {
    std::vector<const framework::NodeScores::PluginScores*> plugins;
    for (const auto& plugin : scores().details) plugins.push_back(&plugin);
    std::sort(plugins.begin(), plugins.end(),
              [](const auto* a, const auto* b) { return a->plugin < b->plugin; });
    for (size_t i = 0; i < feasible().size(); ++i) {
      NodeVerdict& node = out->nodes[feasible().nodes[i]->index()];
      node.total = scores().totals[i];
      for (const auto* plugin : plugins) {
        node.scores.push_back({.plugin = plugin->plugin,
                               .raw = plugin->raw[i],
                               .weighted = plugin->normalized[i] * plugin->weight});
      }
    }
  }

  scheduler::SearchSpaces spaces_;
  scheduler::Parallelizer parallelizer_{1};
  scheduler::SchedulingAlgorithm algorithm_;
  scheduler::Attempt attempt_;
  const NodeInfo* nominated_ = nullptr;  // of the pod, when it fits
  Status error_;                         // the first that an attempt over all nodes would meet
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
  const Status gate = framework.queue_points().RunPreEnqueuePlugins(*pod, {});
  if (!gate.ok()) {
    out.result = Verdict::kGated;
    out.message = gate.Message();
  } else if (framework.handle().snapshot().nodes().empty()) {
    out.result = Verdict::kUnschedulable;
    out.message = scheduler::kNoNodesText;
  } else {
    Explainer(framework, pod).Run(preemption, &out);
  }
  return out;
}

}  // namespace ks::inspect
