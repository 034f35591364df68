// SPDX-License-Identifier: Apache-2.0
#pragma once
// A whole scheduler whose API calls about preemption are taken down in one list.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/rig.h"
#include "testing/deltas.h"
#include "testing/fake_owner_listers.h"
#include "testing/test_plugins.h"

namespace ks::scheduler {

using PreemptionTexts = std::vector<std::string>;

inline testing::PodBuilder CpuPod(const std::string& name, int32_t priority,
                                  const std::string& cpu) {
  return testing::MakePod().Name(name).Priority(priority).Req({{"cpu", cpu}});
}
// On n1.
inline testing::PodBuilder Running(const std::string& name, int32_t priority,
                                   const std::string& cpu) {
  return CpuPod(name, priority, cpu).Node("n1");
}
inline testing::NodeBuilder CpuNode(const std::string& name, const std::string& cpu,
                                    const std::string& pods = "110") {
  return testing::MakeNode().Name(name).Allocatable({{"cpu", cpu}, {"pods", pods}});
}

// Gives the pod the condition DisruptionTarget, as DefaultPreemption writes it.
inline testing::PodBuilder& Preempted(testing::PodBuilder& pod) {
  return pod.Terminating().Condition(
      {.type = "DisruptionTarget", .status = "True", .reason = "PreemptionByScheduler"});
}

class PreemptionRig : public Rig {
 public:
  using Rig::Rig;

  void SetBudgets(std::vector<api::PodDisruptionBudgetPtr> budgets) {
    scheduler->Post(OwnerDeltas(std::vector<api::Delta<api::PodDisruptionBudget>>{
        testing::Replace<api::PodDisruptionBudget>(std::move(budgets))}));
  }
  // Victims in the order of their calls so far.
  PreemptionTexts Victims() const {
    PreemptionTexts names;
    for (const auto& call : api.evictions) names.push_back(call.pod->meta.name);
    return names;
  }
  // Answers the oldest eviction. `leaves`: the pod is gone then, as without grace period.
  void AnswerOne(framework::EvictionOutcome outcome = framework::EvictionOutcome::kEvicted,
                 bool leaves = true) {
    api::ApiError error;
    error.message = "boom";
    const bool failed = outcome == framework::EvictionOutcome::kFailed;
    const api::PodPtr victim =
        api.AnswerEviction(outcome, failed ? std::optional<api::ApiError>(error) : std::nullopt);
    ASSERT_NE(victim, nullptr) << "no eviction is under way";
    if (leaves && !failed) DeletePod(victim);
    Settle();
  }
  // All evictions succeed at once, also those that follow.
  void AnswerAll() {
    while (std::any_of(api.evictions.begin(), api.evictions.end(),
                       [](const auto& call) { return call.done != nullptr; })) {
      AnswerOne();
    }
  }
  // "<pod> <note>" of the events with the reason Preempted.
  PreemptionTexts PreemptedEvents() const {
    PreemptionTexts texts;
    for (const framework::PodEvent& event : api.events) {
      if (event.reason != "Preempted") continue;
      EXPECT_EQ(event.action, "Preempting");
      EXPECT_FALSE(event.warning);
      const bool by_group = event.note.find("podgroup ") != std::string::npos;
      EXPECT_EQ(api::MetaOf(event.related) != nullptr, by_group) << event.note;
      texts.push_back(event.regarding->meta.name + ": " + event.note);
    }
    return texts;
  }
  // The node that status patches say last; "-" when none says any.
  std::string Nomination(const std::string& pod) const {
    std::string node = "-";
    for (const auto& patch : api.patches) {
      if (patch.pod->meta.name == pod && patch.change.nominated_node_name) {
        node = *patch.change.nominated_node_name;
      }
    }
    return node;
  }
  // The pod as its status patches leave it, seen by the scheduler.
  void ShowNomination(const testing::PodBuilder& pod, const std::string& node) {
    testing::PodBuilder nominated = pod;
    UpsertPod(nominated.NominatedNode(node).ResourceVersion("nominated").Obj());
    Settle();
  }
};

}  // namespace ks::scheduler
