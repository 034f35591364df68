// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which nodes would have room for a pod without their lower-priority pods.
//
// Upstream: docs/spec/preemption.md section 4.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/plugin_args.h"
#include "framework/diagnosis.h"
#include "framework/handle.h"
#include "framework/preemption_explainer.h"
#include "plugins/default_preemption/lowest_priorities.h"
#include "plugins/default_preemption/selection.h"

namespace ks::plugins {

// What looking for candidates came to.
struct Candidates {
  std::vector<Candidate> found;  // those without violations first
  size_t place = 0;              // where the search began
  // Valid when none was found.
  std::vector<std::string> errors;  // different ones, in order
  std::string fit_error;            // "0/<nodes> nodes are available: …"
};

// `C` of upstream: how many candidates are wanted out of `nodes`.
size_t WantedCandidates(size_t nodes, const config::DefaultPreemptionArgs& args);

// Threads: the scheduling thread. Lifetime: the handle outlives it.
class CandidateSearch {
 public:
  CandidateSearch(const framework::Handle& handle, const config::DefaultPreemptionArgs& args)
      : handle_(handle), args_(args) {}

  // Tries the nodes that `statuses` calls Unschedulable, one after another, around from a random
  // one, or from `place`; from the first one when all of them are wanted, or an observer (may be
  // null) is told.
  Candidates Find(const framework::CycleState& state, const api::Pod& preemptor,
                  const framework::NodeStatuses& statuses, framework::PreemptionObserver* observer,
                  std::optional<size_t> place = std::nullopt);

 private:
  const framework::Handle& handle_;
  const config::DefaultPreemptionArgs args_;
  LowestPriorities lowest_;
};

}  // namespace ks::plugins
