// SPDX-License-Identifier: Apache-2.0
#pragma once
// explain for a running scheduler: one pod against the state as it is between two attempts. Changes
// nothing (what_if.h); extenders are not asked.
//
// Upstream: docs/spec/explain.md.

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "framework/resource.h"
#include "inspect/answering_replica.h"
#include "inspect/cluster_copy.h"
#include "inspect/explain.h"
#include "inspect/queue_report.h"

namespace ks::inspect {

// How much of a resource is missing where a reason of NodeResourcesFit says so.
struct Shortage {
  Symbol resource;
  int64_t needed = 0;  // milli for cpu, bytes, units
  int64_t free = 0;
  std::string node;  // that has so much free
};
// Absent: the reason is another one. `request`: framework::PodRequest of the pod. What the node
// counts for a pod that waits there for its resize is free for it.
std::optional<Shortage> ShortageOf(std::string_view reason, const api::Pod& pod,
                                   const framework::Resource& request,
                                   const framework::NodeInfo& node);

struct ExplainQuestion {
  std::string pod;   // "namespace/name"
  std::string node;  // verdicts of this node only; empty: all
  ExplainPreemption preemption = ExplainPreemption::kNo;
  bool suggest = false;  // a copy is taken along for SuggestFor
};

struct LiveExplanation {
  // Of a member of a group that waits, and for suggestions: for what is added away from the
  // scheduling thread.
  std::shared_ptr<const ClusterCopy> copy{};
  // Its plugin names live as long as the process: they are the registry's.
  Explanation explanation;
  TimePoint time{};
  api::PodPtr pod;                // as the API server last showed it, or as it is assumed
  std::string bound_to;           // its node: it is explained as if it were pending and not there
  bool waits_for_resize = false;  // … unless this: then as its next attempt there sees it
  bool terminating = false;
  bool extenders_left_out = false;  // some extender would be asked about it
  std::optional<QueueEntry> queue;  // where it stands
  std::optional<scheduler::Decision> last_decision;
  struct NodeShortage {
    std::string reason;
    std::string plugin;
    Shortage most;  // that of the node with the most free
  };
  std::vector<NodeShortage> shortages;  // of the nodes in the explanation, by reason and plugin
};

// Refuses with 404 for a pod or node that is not known and a pod of another scheduler, 503 before
// the caches are filled. Threads: the scheduling thread.
std::variant<LiveExplanation, Refusal> ExplainLive(scheduler::Scheduler& scheduler,
                                                   const ExplainQuestion& question);

// The object of docs/spec/explain.md with a further field "live": {"time", "standby", "identity",
// "boundTo", "nominatedNode", "notes": [...], "queue", "lastDecision", "shortages"}.
std::string LiveExplanationJson(const LiveExplanation& live, const AnsweringReplica& replica);

// Suggestions for a pod that has no node and fits nowhere, if they were asked for. Requires: the
// explanation is of all nodes. Threads: any.
void SuggestFor(LiveExplanation* live, const ExplainQuestion& question);
// The groups of `live.copy` explained, as far as `live` is a member. Threads: any.
void ExplainGroupOf(LiveExplanation* live, ExplainPreemption preemption = ExplainPreemption::kNo);
// A group of the copy, with a further field "live": {"time", "standby", "identity", "notes"}.
// Refuses as GroupExplainer::Explain. Threads: any.
std::variant<std::string, Refusal> LiveGroupJson(
    const ClusterCopy& copy, const framework::PodGroupKey& group, const AnsweringReplica& replica,
    ExplainPreemption preemption = ExplainPreemption::kNo);

}  // namespace ks::inspect
