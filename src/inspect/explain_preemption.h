// SPDX-License-Identifier: Apache-2.0
#pragma once
// What preemption would do for a pod, or a group of pods, that fits nowhere, as data.
//
// Upstream: docs/spec/explain.md, "Preemption"; docs/spec/preemption.md (the rules).

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/preemption_explainer.h"
#include "framework/runtime/runtime.h"

namespace ks::inspect {

struct VictimVerdict {
  std::string pod;  // namespace/name
  int32_t priority = 0;
  bool terminating = false;  // leaves anyway: nothing is asked of the API server
};

// A node whose pods preemption tried to do without.
struct TriedNode {
  std::string name;
  std::vector<VictimVerdict> victims;  // empty: the node does not help
  int64_t violations = 0;              // of PodDisruptionBudgets
  std::string_view code;               // static text; empty with victims
  std::vector<std::string> reasons;
};

struct PreemptionVerdict {
  std::string node;             // nominated; empty: none
  std::string_view nomination;  // "override", "clear" or "none": nothing changes
  std::string_view code;        // of PostFilter; static text
  std::string message;          // of PostFilter
  std::string event;            // the whole text of the FailedScheduling event
  std::vector<VictimVerdict> victims;
  int64_t violations = 0;
  std::vector<TriedNode> tried;  // ascending by name
};

struct GroupVictimVerdict {
  VictimVerdict victim;
  std::string node;   // that it leaves
  std::string group;  // PodGroupKey::Text of its PodGroup; empty: none
};

struct GroupPreemptionVerdict {
  std::string_view code;  // of PodGroupPostFilter; static text
  std::string message;    // of PodGroupPostFilter: what it adds to the PodGroup's condition
  std::string placement;  // in which the members would go; empty: nowhere, or there is no choice
  // Members that would be nominated, with their nodes, in their order.
  std::vector<std::pair<std::string, std::string>> nominated;
  std::vector<GroupVictimVerdict> victims;  // the most important one first
  int64_t violations = 0;                   // of PodDisruptionBudgets
  size_t disruptions = 0;                   // as framework::GroupVictims
};

// Takes down one dry run. Threads: the scheduling thread.
class PreemptionLog final : public framework::PreemptionObserver {
 public:
  void OnRejected(std::string_view node, const framework::Status& status) override;
  void OnCandidate(std::string_view node, const framework::Victims& victims) override;
  void OnChosen(std::string_view node, const framework::Victims& victims) override;

  // Runs PostFilter on a failed attempt's outcome, whose `diagnosis` gets the message. Requires:
  // the framework has PostFilter plugins.
  PreemptionVerdict Run(const framework::Framework& framework, framework::CycleState& state,
                        const api::PodPtr& pod, framework::Diagnosis* diagnosis);

 private:
  PreemptionVerdict verdict_;
};

GroupVictimVerdict GroupVictimOf(const api::Pod& victim);

}  // namespace ks::inspect
