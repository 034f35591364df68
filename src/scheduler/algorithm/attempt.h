// SPDX-License-Identifier: Apache-2.0
#pragma once
// One attempt to schedule one pod, from its pop to its end: everything that the steps on the way
// know of it. Each step takes it by reference and fills in its part, from top to bottom.
//
//   begun ─► search ─► score ─► assumed ─► Reserve ─► Permit ─► PreBind ─► Bind ─► bound
//     │  (extenders)     │         │          │         │ (waits) │(waits)   │(waits)
//     └──────────────────┴─────────┴──────────┴─────────┴─────────┴──────────┴────► failed
//
// Upstream: docs/spec/cycle.md sections 4 to 17. The way of a whole pod: docs/life_of_a_pod.md.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "framework/nomination.h"
#include "framework/queued_pod.h"
#include "framework/runtime/prebind_runner.h"
#include "framework/runtime/runtime.h"
#include "scheduler/algorithm/search_space.h"
#include "tracing/attempt_spans.h"

namespace ks::scheduler {

class ExtenderSet;

// What choosing a node came to. Exactly one of: a node, or a failed status.
struct ScheduleResult {
  framework::Status status{};  // success with a node
  const framework::NodeInfo* node = nullptr;
  size_t evaluated_nodes = 0;
  size_t feasible_nodes = 0;
  bool fit_error = false;  // no node was feasible: the diagnosis says why, and PostFilter may run
};

// The attempt's part in opportunistic batching (batching.h).
struct BatchAttempt {
  int64_t cycle = 0;        // number of the attempt: queue::SchedulingQueue::scheduling_cycle()
  std::string signature{};  // empty: the pod has none
  std::string hint{};       // name of a node to try first; empty: none
};

// A copy of the pod on the node.
api::PodPtr OnNode(const api::Pod& pod, const std::string& node_name);

// Threads: the scheduling thread. Lifetime: the framework and the spaces outlive it.
struct Attempt {
  // What is asked, not tried, may do without a queued pod (`queued` is null then).
  Attempt(const framework::Framework& of, api::PodPtr of_pod, SearchSpaces& spaces)
      : framework(of), pod(std::move(of_pod)), search(spaces.Lend()) {}

  // ---- from the beginning ----
  const framework::Framework& framework;
  const api::PodPtr pod;  // as it was popped
  framework::QueuedPodPtr queued{};
  std::shared_ptr<ExtenderSet> extenders{};  // in force at the beginning; null: none
  uint64_t decision = 0;                     // number in the decision ring; 0: not recorded
  TimePoint began{};
  std::unique_ptr<tracing::AttemptSpans> spans{};  // null: the pod's trace is not recorded
  framework::CycleState state{};

  // ---- while a node is chosen ----
  SearchSpaces::Loan search;  // null from the end of Reserve and Permit on
  // The nodes that its group is to be placed within; null: all. Borrowed while a node is chosen.
  const framework::Placement* placement = nullptr;
  BatchAttempt batch{};
  ScheduleResult result{};

  // ---- on the way to the node ----
  api::PodPtr assumed{};              // a copy of `pod` on the node; null: no node yet
  std::string expected_on{};          // its nomination, which the assumption ended; empty: none
  framework::PermitOutcome permit{};  // Success or Wait
  TimePoint wait_start{};             // at Permit
  bool may_be_canceled = false;       // registered as a pod in PreBind
  framework::PointTimer pre_bind_timer{};
  std::unique_ptr<framework::PreBindRunner> pre_bind{};

  // Requires: assumed.
  const std::string& node() const { return assumed->node_name.str(); }
  // The object that the attempt stands for now.
  const api::PodPtr& current() const { return assumed == nullptr ? pod : assumed; }
  // Empty: it is nominated to none. Valid until the next nomination.
  std::string_view nominated_node() const {
    return framework::NominatedNode(*pod, framework.handle().nominator());
  }
};

}  // namespace ks::scheduler
