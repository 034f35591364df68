// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where pods that do not exist yet would go: a running scheduler's state is copied, and the
// production code decides on the copy, one pod after the other, the earlier ones assumed and their
// volumes and devices reserved. The scheduler notices the copying and nothing else.
//
// Not simulated: preemption, extenders, Permit and binding, what admission would fill in (a
// priority class's number, limits, the node affinity of volumes).
//
// Upstream: none; it has no such thing.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "base/result.h"
#include "cache/device_stores.h"
#include "cache/group_stores.h"
#include "cache/owner_stores.h"
#include "cache/storage_stores.h"
#include "inspect/answering_replica.h"
#include "inspect/explain.h"
#include "scheduler/scheduler.h"

namespace ks::inspect {

inline constexpr size_t kMostSimulatedPods = 5000;

// Pods made from manifests, in the order of the texts, with the objects that own them.
struct SimulatedPods {
  struct Source {
    std::string title;  // "Deployment default/web"
    size_t begin = 0;   // in `pods`
    size_t count = 0;
  };
  std::vector<Source> sources;
  std::vector<api::PodPtr> pods;
  std::vector<cache::OwnerDeltas> owners;
  // Those of the texts, and one a pod for each template of the texts that it names. Claims of the
  // same names in the cluster count in their place.
  std::vector<api::ResourceClaimPtr> claims;
  // Those of the texts, each an addition. They, too, count in place of the cluster's.
  std::vector<cache::GroupDeltas> groups;
};

// JSON or YAML: Pod, Deployment, ReplicaSet, StatefulSet, ReplicationController, Job, or Lists and
// several documents of them, with the ResourceClaims and ResourceClaimTemplates that they name,
// and the PodGroups and CompositePodGroups that pods are members of.
// Missing are filled in: namespace default, scheduler name
// default-scheduler. `replicas`: of each object but Pods, instead of its own number; negative: its
// own. Errors name the document, the object and the field; a kind that has no pods is one.
Result<SimulatedPods> ReadManifests(std::string text, int64_t replicas = -1);

// What deciding reads, at one moment. Threads: like a value; what it points to lives as long as the
// process, but for the clock, registry and gates of the options.
struct ClusterCopy {
  TimePoint time{};
  config::Configuration configuration;
  const framework::Registry* registry = nullptr;
  const Clock* clock = nullptr;
  const config::FeatureGates* gates = nullptr;
  std::vector<api::NodePtr> nodes;  // in list order
  std::vector<api::PodPtr> pods;    // bound and assumed ones
  std::map<std::string, std::vector<framework::PodInfoPtr>, std::less<>> nominated;  // by node
  cache::OwnerStores owners;
  cache::StorageStores storage;
  cache::DeviceStores devices;
  cache::GroupStores groups;
};
// Refuses with 503 before the caches are filled. Costs a shared pointer a pod. Threads: the
// scheduling thread.
std::variant<ClusterCopy, Refusal> CopyCluster(scheduler::Scheduler& scheduler);

struct SimulatedPlacement {
  Verdict result = Verdict::kError;
  std::string node;     // of a schedulable pod
  std::string message;  // why not: as Explanation::message
  std::vector<std::string> unschedulable_plugins;
  size_t feasible_nodes = 0;
};
struct Simulation {
  TimePoint time{};
  bool extenders_left_out = false;
  std::vector<SimulatedPlacement> placements;  // of the pods, in their order
};
// All nodes are looked at, whatever percentageOfNodesToScore says. Error: a profile cannot be
// built. Threads: any; takes as long as building a cache of that size and deciding the pods.
Result<Simulation> Simulate(const ClusterCopy& cluster, const SimulatedPods& pods);

// {"time", "standby", "identity", "notes", "sources": [{"source", "pods", "placed", "nodes":
// [{"node", "pods"}]}], "pods": [{"pod", "source", "result", "node", "feasibleNodes", "message",
// "rejectedBy"}]}.
std::string SimulationJson(const Simulation& simulation, const SimulatedPods& pods,
                           const AnsweringReplica& replica);

}  // namespace ks::inspect
