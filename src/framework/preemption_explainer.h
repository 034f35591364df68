// SPDX-License-Identifier: Apache-2.0
#pragma once
// PreemptionExplainer: what preemption would do for a pod, without doing it.
//
// Upstream: docs/spec/preemption.md sections 2 to 9; docs/spec/explain.md, "Preemption".

#include <string_view>

#include "framework/plugin.h"
#include "framework/preemption_extender.h"

namespace ks::framework {

// Who wants to know what happens on the way. Threads: the scheduling thread.
class PreemptionObserver {
 public:
  virtual ~PreemptionObserver() = default;

  // A node was tried in vain.
  virtual void OnRejected(std::string_view node, const Status& status) = 0;
  // The pod fits on the node without the victims: the most important one first, terminating ones
  // included.
  virtual void OnCandidate(std::string_view node, const Victims& victims) = 0;
  // The candidate that would be carried out, if extenders left it, which are not asked.
  virtual void OnChosen(std::string_view node, const Victims& victims) = 0;
};

// What a PostFilter plugin that preempts offers beside.
class PreemptionExplainer {
 public:
  virtual ~PreemptionExplainer() = default;
  // As PostFilter, but evicts nobody and counts nothing, and tries nodes from the first of the
  // snapshot on, so that the answer repeats. Extenders are asked.
  virtual PostFilterResult Explain(CycleState& state, const api::PodPtr& pod,
                                   const NodeStatuses& statuses, PreemptionObserver& observer) = 0;
};

}  // namespace ks::framework
