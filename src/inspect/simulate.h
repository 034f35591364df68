// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where pods that do not exist yet would go: a running scheduler's state is copied, and the
// production code decides on the copy (cluster_trial.h), one pod or group of pods after the other.
// The scheduler notices the copying and nothing else.
//
// Not simulated: preemption, extenders, Permit and binding, what admission would fill in (a
// priority class's number, limits, the node affinity of volumes).
//
// Upstream: none; it has no such thing.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/pod.h"
#include "base/result.h"
#include "inspect/answering_replica.h"
#include "inspect/cluster_copy.h"
#include "inspect/cluster_trial.h"

namespace ks::inspect {

inline constexpr size_t kMostSimulatedPods = 5000;

// Pods made from manifests, in the order of the texts, with the objects that own them. Claims are
// those of the texts, and one a pod for each template of the texts that it names; groups are those
// of the texts, each an addition.
struct SimulatedPods : AddedObjects {
  // A group that pods name and the texts do not have, but Workloads of its namespace. Counts where
  // the cluster has none of the name.
  struct MadeGroup {
    framework::PodGroupKey key;
    std::optional<cache::GroupDeltas> object{};  // absent: no template is known for it
    std::string why_none;
  };
  std::vector<MadeGroup> made_groups;
  struct Source {
    std::string title;  // "Deployment default/web"
    size_t begin = 0;   // in `pods`
    size_t count = 0;
  };
  std::vector<Source> sources;
};

// JSON or YAML: Pod, Deployment, ReplicaSet, StatefulSet, ReplicationController, Job, or Lists and
// several documents of them, with the ResourceClaims and ResourceClaimTemplates that they name,
// and the PodGroups and CompositePodGroups that pods are members of, or the Workloads whose
// templates such groups are made of (workload_templates.h). Missing are filled in: namespace
// default, scheduler name default-scheduler. `replicas`: of each object but Pods, instead of its
// own number; negative: its own. Errors name the document, the object and the field; a kind that
// has no pods is one.
Result<SimulatedPods> ReadManifests(std::string text, int64_t replicas = -1);

struct Simulation {
  TimePoint time{};
  bool extenders_left_out = false;
  std::vector<SimulatedPlacement> placements;  // of the pods, in their order
  // The trees of groups that pods are members of, with all of their queued members, in the order in
  // which they were decided: each when its first pod was its turn.
  std::vector<GroupPlacement> groups;
};
// Error: a profile cannot be built. Threads: any; takes as long as building a cache of that size
// and deciding the pods.
Result<Simulation> Simulate(const ClusterCopy& cluster, const SimulatedPods& pods);

// {"time", "standby", "identity", "notes", "sources": [{"source", "pods", "placed", "nodes":
// [{"node", "pods"}]}], "pods": [{"pod", "source", "result", "node", "feasibleNodes", "message",
// "rejectedBy"}], "podGroups": [{"podGroup", "result", "message", "groups", "members": [{"pod",
// "result", "node", "message"}]}]}; the last only where there are groups.
std::string SimulationJson(const Simulation& simulation, const SimulatedPods& pods,
                           const AnsweringReplica& replica);

}  // namespace ks::inspect
