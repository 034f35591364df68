// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the parts of the scheduling thread share: the state it owns and the ways out. A bundle of
// references, nothing else.

#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "framework/api_writer.h"
#include "framework/handle.h"
#include "framework/pod_requests.h"
#include "framework/runtime/pods_in_prebind.h"
#include "framework/runtime/profiles.h"
#include "framework/runtime/runtime.h"
#include "framework/runtime/waiting_pods.h"
#include "queue/scheduling_queue.h"
#include "scheduler/cluster_state.h"
#include "scheduler/inbox.h"
#include "tracing/pod_traces.h"

namespace ks::scheduler {

class SchedulerMetrics;

using framework::Profiles;

class DecisionRing;
class ExtenderSet;
class SearchSpaces;

// Counts since start. Threads: the scheduling thread.
struct SchedulerStats {
  uint64_t attempts = 0;
  uint64_t scheduled = 0;      // assumed on a node and handed to the binding cycle
  uint64_t unschedulable = 0;  // failed attempts that plugins rejected
  uint64_t errors = 0;         // failed attempts of any other kind
  uint64_t bound = 0;
  uint64_t binding_failures = 0;
};

struct GatedBehavior {
  bool groups_have_policies;  // gate PodGroupPreemptionPolicy
  bool queues_resizes;        // gate InPlacePodVerticalScalingSchedulerPreemption
};

// Threads: the scheduling thread. Lifetime: everything outlives the context's users.
struct Context {
  ClusterState& cluster;
  queue::SchedulingQueue& queue;
  framework::Nominator& nominator;
  framework::WaitingPods& waiting_pods;
  framework::PodsInPreBind& pods_in_pre_bind;
  framework::ApiWriter& api;
  const Profiles& profiles;
  const Clock& clock;
  Random& random;
  Inbox& inbox;
  SchedulerStats& stats;
  DecisionRing& decisions;
  SearchSpaces& search_spaces;
  const config::Configuration& configuration;     // in force
  const std::shared_ptr<ExtenderSet>& extenders;  // in force; null: none
  framework::FrameworkMetrics* metrics;           // null: nothing is measured
  SchedulerMetrics* scheduler_metrics;            // null: nothing is measured
  tracing::PodTraces* traces;                     // null: nothing is traced
  std::stop_token stopping;                       // whoever waits gives up then
  GatedBehavior gated;

  // Null when no profile has that scheduler name.
  const framework::Framework* ProfileFor(const api::Pod& pod) const {
    const auto it = profiles.find(pod.spec->scheduler_name.str());
    return it == profiles.end() ? nullptr : it->second.get();
  }
  // The pod is on a node and is queued all the same: it waits for room for its resize
  // (docs/spec/queue.md section 17).
  bool WaitsForResize(const api::Pod& pod) const {
    return gated.queues_resizes && !pod.node_name.empty() && framework::HasDeferredResize(pod);
  }
  // The pod is one for the queue. Says nothing about whose it is.
  bool IsQueued(const api::Pod& pod) const { return pod.node_name.empty() || WaitsForResize(pod); }
  // Moves the pods that plugins asked for to the active queue; each is moved once.
  void ActivateRequestedPods(framework::CycleState& state) const {
    if (state.pods_to_activate == nullptr) return;
    const std::vector<api::PodPtr> activated = state.pods_to_activate->Take();
    if (!activated.empty()) queue.Activate(activated);
  }
};

}  // namespace ks::scheduler
