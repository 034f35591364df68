// SPDX-License-Identifier: Apache-2.0
#pragma once
// What preemption would do for a pod (PreemptionExplainer) or a group of pods
// (GroupPreemptionExplainer), without doing it.
//
// Upstream: docs/spec/preemption.md sections 2 to 9, and 18; docs/spec/explain.md, "Preemption".

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "framework/group_plugins.h"
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

// Who would leave the cluster for a group of pods.
struct GroupVictims {
  std::vector<api::PodPtr> pods;  // the most important one first, terminating ones included
  int64_t pdb_violations = 0;
  size_t disruptions = 0;  // victims that go together as a group, or alone from a group
};

// What a PodGroupPostFilter plugin that preempts offers beside.
class GroupPreemptionExplainer {
 public:
  virtual ~GroupPreemptionExplainer() = default;
  // As PodGroupPostFilter, but evicts nobody and counts nothing. Sets *victims with Success.
  virtual GroupPostFilterResult ExplainGroup(const GroupPreemptor& preemptor,
                                             GroupVictims* victims) = 0;
};

}  // namespace ks::framework
