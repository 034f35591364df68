// SPDX-License-Identifier: Apache-2.0
#pragma once
// What preemption has to choose: a plain search over every node that preemption may help, without
// any of src/plugins/default_preemption. Whether a pod fits is asked of the profile's filters; that
// those are right is the business of oracle.h and of the differential runs.
//
// Upstream: docs/spec/preemption.md sections 3 to 9.

#include <cstdint>
#include <string>
#include <vector>

#include "api/workloads.h"
#include "framework/handle.h"

namespace ks::sim {

// A budget and what is left of it.
struct Budget {
  api::PodDisruptionBudgetPtr object;
  int64_t left = 0;
};

struct PreemptionCandidate {
  std::string node;
  std::vector<api::PodPtr> victims;  // most important first
  int64_t violations = 0;
};

struct PreemptionAnswer {
  std::string not_eligible;  // why; empty: eligible
  std::vector<PreemptionCandidate> candidates;
  bool errors = false;  // of some node
};

// Requires: within a PostFilter call, of this state and these statuses.
PreemptionAnswer SearchPreemption(framework::Handle& handle, const framework::CycleState& state,
                                  const api::Pod& pod, const framework::NodeStatuses& statuses,
                                  const std::vector<Budget>& budgets);

// Empty: no candidate is better than `chosen`. Else which one, and by what.
std::string WhyNotBest(const PreemptionAnswer& answer, const PreemptionCandidate& chosen,
                       TimePoint now);

}  // namespace ks::sim
