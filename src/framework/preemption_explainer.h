// SPDX-License-Identifier: Apache-2.0
#pragma once
// PreemptionExplainer: what preemption would do for a pod, without doing it.
//
// Upstream: docs/spec/preemption.md sections 2 to 9.

#include "framework/plugin.h"
#include "framework/preemption_extender.h"

namespace ks::framework {

struct PreemptionFinding {
  PostFilterResult result;   // what PostFilter would answer
  Victims victims;           // on the chosen node; empty unless result.status is Success
  VictimsByNode candidates;  // that it was chosen from, itself among them
};

// Of a PostFilter plugin that preempts.
class PreemptionExplainer {
 public:
  virtual ~PreemptionExplainer() = default;
  // As PostFilter, but evicts nothing and counts nothing. Extenders are asked.
  virtual PreemptionFinding FindVictims(CycleState& state, const api::PodPtr& pod,
                                        const NodeStatuses& statuses) = 0;
};

}  // namespace ks::framework
