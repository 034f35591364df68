// SPDX-License-Identifier: Apache-2.0
#include "scheduler/algorithm/node_search.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "scheduler/algorithm/selection.h"

namespace ks::scheduler {
namespace {

using framework::NodeInfo;
using framework::Status;

// A search usually ends within its first hundreds of nodes: those are evaluated one by one. Waking
// workers pays only where most nodes are rejected, and then for large blocks.
constexpr size_t kSequentialNodes = 2048;
constexpr size_t kBlockNodes = 4096;

}  // namespace

NodeSearch::NodeSearch(const framework::Snapshot& snapshot, Parallelizer& parallelizer,
                       int32_t percentage_of_nodes_to_score)
    : snapshot_(snapshot), parallelizer_(parallelizer), percentage_(percentage_of_nodes_to_score) {}

void NodeSearch::Narrow(const NodeInfo* node) {
  narrowed_nodes_.push_back(node);
  narrowed_slots_.push_back(node->slot());
}

NodeSearch::NodeList NodeSearch::Candidates(const Attempt& attempt) {
  SearchSpace& search = *attempt.search;
  const framework::Placement* within = attempt.placement;
  if (!search.node_names && within == nullptr) {
    return {snapshot_.nodes(), snapshot_.node_slots()};
  }
  narrowed_nodes_.clear();
  narrowed_slots_.clear();
  if (!search.node_names) {
    for (const NodeInfo* node : within->nodes) Narrow(node);
    return {narrowed_nodes_, narrowed_slots_};
  }
  for (const std::string& name : *search.node_names) {
    const NodeInfo* node = snapshot_.Find(name);
    if (node != nullptr && (within == nullptr || within->Holds(node))) Narrow(node);
  }
  framework::Diagnosis& diagnosis = search.diagnosis;
  diagnosis.nodes.set_absent(framework::NotInNodeSet(diagnosis.unschedulable_plugins));
  return {narrowed_nodes_, narrowed_slots_};
}

size_t NodeSearch::Wanted(const framework::Framework& framework, size_t candidates) const {
  // Without a score plugin one feasible node is as good as another (9.2 rule 5).
  if (!framework.plugins().HasScorePlugins() && !extenders_choose_) return 1;
  return NumFeasibleNodesToFind(candidates, framework.percentage_of_nodes_to_score(), percentage_);
}

// One search: candidates from `start` on, around the end of the list.
struct NodeSearch::Run {
  const Attempt& attempt;
  NodeList candidates;
  size_t start;
  size_t wanted;
  SearchSpace& search;

  size_t total() const { return candidates.nodes.size(); }
  size_t Place(size_t i) const { return (start + i) % total(); }

  enum class Next : uint8_t { kGoOn, kEnd };
  // What the node's status means for the search; an Error status is for the caller.
  Next Take(size_t place, const Status& status) const {
    if (status.ok()) {
      // The search ends at the feasible node after the last wanted one; that node is not counted
      // (9.4).
      if (search.feasible.size() == wanted) return Next::kEnd;
      search.feasible.Add(candidates.nodes[place], candidates.slots[place]);
      return Next::kGoOn;
    }
    if (!status.IsRejected()) return Next::kEnd;
    search.diagnosis.AddNodeStatus(candidates.nodes[place]->index(), status);
    return Next::kGoOn;
  }

  framework::Framework::FilterBatch Batch() const {
    return {attempt.framework, attempt.state, *attempt.pod};
  }
};

void NodeSearch::FilterAllNodes(Attempt& attempt) {
  SearchSpace& search = *attempt.search;
  const NodeInfo* nominated = search.feasible.size() == 0 ? nullptr : search.feasible.nodes.front();
  const NodeList candidates = Candidates(attempt);
  framework::Framework::FilterBatch batch(attempt.framework, attempt.state, *attempt.pod);
  for (size_t i = 0; i < candidates.nodes.size(); ++i) {
    const NodeInfo* node = candidates.nodes[i];
    if (node == nominated) continue;
    const Status status = batch.Run(*node);
    if (status.ok()) {
      search.feasible.Add(node, candidates.slots[i]);
    } else if (status.IsRejected()) {
      search.diagnosis.AddNodeStatus(node->index(), status);
    } else {
      search.failed.emplace_back(node, status);
    }
  }
}

const framework::RankedWindow* NodeSearch::FindRanked(Attempt& attempt) {
  const SearchSpace& search = *attempt.search;
  const framework::Framework& framework = attempt.framework;
  const size_t nodes = snapshot_.nodes().size();
  const bool all_nodes = !search.node_names && attempt.placement == nullptr;
  if (nodes < least_ranked_nodes_ || !all_nodes) return nullptr;
  if (!framework.plugins().HasFilterPlugins() || !framework.plugins().HasScorePlugins()) {
    return nullptr;
  }
  KS_CHECK(search.diagnosis.nodes.explicit_count() == 0, "a status that the ranking does not know");
  // There may be fewer nodes than in the attempt before.
  const framework::RankedWindow* window =
      framework.RankWindow(attempt.state, *attempt.pod, start_ % nodes, Wanted(framework, nodes));
  if (window != nullptr) start_ = (start_ + window->feasible() + window->rejected()) % nodes;
  return window;
}

Status NodeSearch::FindFeasible(Attempt& attempt) {
  const framework::Framework& framework = attempt.framework;
  SearchSpace& search = *attempt.search;
  search.feasible.Clear();
  const NodeList candidates = Candidates(attempt);
  const size_t wanted = Wanted(framework, candidates.nodes.size());
  const Run run{attempt, candidates, start_, wanted, search};
  Status status;
  if (!framework.plugins().HasFilterPlugins()) {
    for (size_t i = 0; i < std::min(wanted, run.total()); ++i) {
      (void)run.Take(run.Place(i), Status());
    }
  } else {
    const framework::PointTimer timer = framework.StartTimer(framework::MetricPoint::kFilter);
    status = Search(run);
    timer.Stop(status.code());
  }
  // The statuses counted here include that of a nominated node tried before (9.3).
  const size_t all =
      attempt.placement == nullptr ? snapshot_.nodes().size() : attempt.placement->nodes.size();
  KS_CHECK(all > 0, "a search among no nodes");
  KS_CHECK(search.feasible.size() <= wanted, "more nodes are found than were wanted");
  start_ = (start_ + search.feasible.size() + search.diagnosis.nodes.explicit_count()) % all;
  return status;
}

Status NodeSearch::Search(const Run& run) {
  const bool parallel = parallelizer_.threads() > 1;
  const size_t end = parallel ? std::min(run.total(), kSequentialNodes) : run.total();
  framework::Framework::FilterBatch batch = run.Batch();
  size_t place = run.total() == 0 ? 0 : run.Place(0);
  for (size_t i = 0; i < end; ++i) {
    Status status = batch.RunListed(*run.candidates.nodes[place], run.candidates.slots[place]);
    if (run.Take(place, status) == Run::Next::kEnd) {
      return status.ok() ? Status() : std::move(status);
    }
    if (++place == run.total()) place = 0;
  }
  return end == run.total() ? Status() : SearchBlocks(run, end);
}

// The rest of the search, from the candidate `begin` on.
Status NodeSearch::SearchBlocks(const Run& run, size_t begin) {
  for (; begin < run.total(); begin += kBlockNodes) {
    const size_t count = std::min(kBlockNodes, run.total() - begin);
    block_.resize(std::max(block_.size(), count));
    parallelizer_.Run(count, [&](size_t from, size_t to) {
      framework::Framework::FilterBatch batch = run.Batch();
      for (size_t i = from; i < to; ++i) {
        const size_t place = run.Place(begin + i);
        block_[i] = batch.RunListed(*run.candidates.nodes[place], run.candidates.slots[place]);
      }
    });
    for (size_t i = 0; i < count; ++i) {
      if (run.Take(run.Place(begin + i), block_[i]) == Run::Next::kEnd) {
        return block_[i].ok() ? Status() : std::move(block_[i]);
      }
    }
  }
  return Status();
}

}  // namespace ks::scheduler
