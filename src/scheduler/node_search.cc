// SPDX-License-Identifier: Apache-2.0
#include "scheduler/node_search.h"

#include <algorithm>
#include <utility>

#include "scheduler/selection.h"

namespace ks::scheduler {
namespace {

using framework::Code;
using framework::NodeInfo;
using framework::Status;

// Nodes evaluated per step. One block is all that a search of K = 100 to 500 nodes usually needs;
// with workers the blocks are larger, so that waking them pays.
constexpr size_t kBlockNodes = 64;
constexpr size_t kParallelBlockNodes = 4096;

std::string JoinNames(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ' ';
    text += name;
  }
  return text;
}

}  // namespace

NodeSearch::NodeSearch(const framework::Snapshot& snapshot, Parallelizer& parallelizer,
                       int32_t percentage_of_nodes_to_score)
    : snapshot_(snapshot), parallelizer_(parallelizer), percentage_(percentage_of_nodes_to_score) {}

std::span<const NodeInfo* const> NodeSearch::Candidates(
    const std::optional<std::set<std::string>>& narrowed, framework::Diagnosis* diagnosis) {
  if (!narrowed) return snapshot_.nodes();
  narrowed_nodes_.clear();
  for (const std::string& name : *narrowed) {
    if (const NodeInfo* node = snapshot_.Find(name)) narrowed_nodes_.push_back(node);
  }
  diagnosis->nodes.set_absent(Status(
      Code::kUnschedulableAndUnresolvable,
      {"node(s) didn't satisfy plugin(s) [" + JoinNames(diagnosis->unschedulable_plugins) + "]"}));
  return narrowed_nodes_;
}

size_t NodeSearch::Wanted(const framework::Framework& framework, size_t candidates) const {
  // Without a score plugin one feasible node is as good as another (9.2 rule 5).
  if (!framework.HasScorePlugins()) return 1;
  return NumFeasibleNodesToFind(candidates, framework.percentage_of_nodes_to_score(), percentage_);
}

Status NodeSearch::FindFeasible(const framework::Framework& framework,
                                const framework::CycleState& state, const api::Pod& pod,
                                const std::optional<std::set<std::string>>& narrowed,
                                framework::Diagnosis* diagnosis,
                                std::vector<const NodeInfo*>* feasible) {
  feasible->clear();
  const auto candidates = Candidates(narrowed, diagnosis);
  const size_t wanted = Wanted(framework, candidates.size());
  Status status;
  if (!framework.HasFilterPlugins()) {
    for (size_t i = 0; i < std::min(wanted, candidates.size()); ++i) {
      feasible->push_back(candidates[(start_ + i) % candidates.size()]);
    }
  } else {
    const framework::PointTimer timer = framework.StartTimer(framework::MetricPoint::kFilter);
    status = Search(framework, state, pod, candidates, wanted, diagnosis, feasible);
    timer.Stop(status.code());
  }
  // The statuses counted here include that of a nominated node tried before (9.3).
  start_ =
      (start_ + feasible->size() + diagnosis->nodes.explicit_count()) % snapshot_.nodes().size();
  return status;
}

Status NodeSearch::Search(const framework::Framework& framework, const framework::CycleState& state,
                          const api::Pod& pod, std::span<const NodeInfo* const> candidates,
                          size_t wanted, framework::Diagnosis* diagnosis,
                          std::vector<const NodeInfo*>* feasible) {
  const size_t total = candidates.size();
  const bool parallel = parallelizer_.threads() > 1 && total >= kParallelBlockNodes;
  const size_t block_nodes = parallel ? kParallelBlockNodes : kBlockNodes;
  for (size_t begin = 0; begin < total; begin += block_nodes) {
    const size_t count = std::min(block_nodes, total - begin);
    block_.resize(std::max(block_.size(), count));
    const auto node_at = [&](size_t i) { return candidates[(start_ + begin + i) % total]; };
    parallelizer_.Run(count, [&](size_t from, size_t to) {
      framework::Framework::FilterBatch batch(framework, state, pod);
      for (size_t i = from; i < to; ++i) block_[i] = batch.Run(*node_at(i));
    });
    for (size_t i = 0; i < count; ++i) {
      const NodeInfo* node = node_at(i);
      Status& status = block_[i];
      if (status.ok()) {
        // The search ends at the feasible node after the last wanted one; that node is not counted
        // (9.4).
        if (feasible->size() == wanted) return Status();
        feasible->push_back(node);
      } else if (status.IsRejected()) {
        diagnosis->AddNodeStatus(node->index(), status);
      } else {
        return std::move(status);
      }
    }
  }
  return Status();
}

}  // namespace ks::scheduler
