// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/candidates.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "plugins/default_preemption/dry_run.h"
#include "plugins/default_preemption/unit_dry_run.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::NodeInfo;
using framework::Status;

const Status& NotHelpful() {
  static const Status status(Code::kUnschedulableAndUnresolvable,
                             {"Preemption is not helpful for scheduling"});
  return status;
}

// The candidates in the order found, and what is said about the other nodes that were tried.
class Findings {
 public:
  explicit Findings(size_t wanted) : wanted_(wanted) {}

  // Whether enough candidates are found.
  bool Add(const NodeInfo& node, DryRun run) {
    if (!run.status.ok()) {
      if (run.status.code() == Code::kError) AddError(run.status.ErrorText());
      reasons_.Add(run.status, 1);
      return false;
    }
    auto& list = run.victims.pdb_violations == 0 ? clean_ : violating_;
    if (list.size() < wanted_) list.push_back({node.name(), std::move(run.victims)});
    return !clean_.empty() && clean_.size() + violating_.size() >= wanted_;
  }
  void AddNodesWithoutVictims(size_t nodes) { reasons_.Add(NoVictims(), nodes); }

  Candidates Take(size_t all_nodes) {
    Candidates result;
    result.found = std::move(clean_);
    std::move(violating_.begin(), violating_.end(), std::back_inserter(result.found));
    if (!result.found.empty()) return result;
    result.errors = std::move(errors_);
    reasons_.Add(NotHelpful(), all_nodes - reasons_.nodes());
    result.fit_error = reasons_.Text(all_nodes);
    return result;
  }

 private:
  void AddError(std::string text) {
    if (std::find(errors_.begin(), errors_.end(), text) == errors_.end()) {
      errors_.push_back(std::move(text));
    }
  }

  const size_t wanted_;
  std::vector<Candidate> clean_;
  std::vector<Candidate> violating_;
  std::vector<std::string> errors_;
  framework::ReasonCounts reasons_;
};

void Tell(framework::PreemptionObserver& observer, const NodeInfo& node, const DryRun& run) {
  if (run.status.ok()) {
    observer.OnCandidate(node.name(), run.victims);
  } else {
    observer.OnRejected(node.name(), run.status);
  }
}

}  // namespace

size_t WantedCandidates(size_t nodes, const config::DefaultPreemptionArgs& args) {
  const auto absolute = static_cast<size_t>(args.min_candidate_nodes_absolute);
  const size_t share = nodes * static_cast<size_t>(args.min_candidate_nodes_percentage) / 100;
  return std::min(nodes, std::max(absolute, share));
}

Candidates CandidateSearch::Find(const framework::CycleState& state, const api::Pod& preemptor,
                                 const framework::NodeStatuses& statuses,
                                 framework::PreemptionObserver* observer,
                                 std::optional<size_t> place) {
  const std::vector<uint32_t> tried = statuses.NodesForCode(Code::kUnschedulable);
  const size_t wanted = WantedCandidates(tried.size(), args_);
  Findings findings(wanted);
  const framework::Snapshot& snapshot = handle_.snapshot();
  std::optional<VictimUnits> units;
  if (handle_.gates().Enabled(config::Gate::kGenericWorkload)) {
    units.emplace(snapshot, handle_.pod_groups());
  } else {
    lowest_.Refresh(snapshot);
  }
  const std::span<const uint32_t> slots = snapshot.node_slots();
  const int32_t priority = preemptor.Priority();
  size_t begin = 0;
  if (wanted < tried.size() && observer == nullptr) {
    begin = place ? *place % tried.size() : handle_.random().Below(tried.size());
  }
  size_t without_victims = 0;
  for (size_t i = 0; i < tried.size(); ++i) {
    const size_t at = begin + i;
    const uint32_t index = tried[at < tried.size() ? at : at - tried.size()];
    const NodeInfo& node = *snapshot.nodes()[index];
    if (!units && !lowest_.HasBelow(slots[index], priority)) {
      ++without_victims;
      if (observer != nullptr) observer->OnRejected(node.name(), NoVictims());
      continue;
    }
    DryRun run = units ? RunWithoutLowerUnits(handle_, state, preemptor, node, *units)
                       : RunWithoutLowerPods(handle_, state, preemptor, node);
    if (observer != nullptr) Tell(*observer, node, run);
    if (findings.Add(node, std::move(run))) break;
  }
  findings.AddNodesWithoutVictims(without_victims);
  Candidates candidates = findings.Take(statuses.size());
  candidates.place = begin;
  return candidates;
}

}  // namespace ks::plugins
