// SPDX-License-Identifier: Apache-2.0
#pragma once
// Nodes and pods of the demo and the measurements: made-up hardware, nothing runs on it. Everything
// carries the label kubesched.io/created-by=<label>, by which it is found and removed again.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/cluster/pod_manifest.h"

namespace ks::ctl {

struct NodeTemplate {
  int64_t cpu = 32;
  int64_t memory_gi = 128;
  int64_t pods = 110;
};

struct Workload {
  std::string label = "kubeschedctl-load";  // value of kOwnerLabel
  std::string ns = "default";
  std::string scheduler_name = "default-scheduler";
  size_t nodes = 100;
  size_t pods = 1000;
  size_t bound = 0;  // pods of the same kind that run already when the others are created
  PodKind kind = PodKind::kPlain;
  size_t zones = 3;
  size_t in_flight = 32;  // 1: objects are created one after another, in the order of their names
  NodeTemplate node;
  std::vector<PodTemplate> pod_sizes = {PodTemplate{}};  // pod i has size i modulo their number
};

// kOwnerLabel=<label>
std::string Selector(const Workload& workload);
std::string NodeName(size_t index);  // node-00000
std::string PodName(size_t index);   // pod-00000
std::string PodPath(const std::string& ns);

// The bodies. Nodes come with their status: the server keeps it on creation.
std::string NodeBody(const Workload& workload, size_t index);
std::string PodBody(const Workload& workload, size_t index);
// Pod bound-<index> on node index modulo nodes; its kOwnerLabel is <label>-bound.
std::string BoundPodBody(const Workload& workload, size_t index);

// Blocking. `done` (may be empty) is called for each object on a client thread. Errors name the
// request; objects that exist already are an error.
Result<void> CreateNodes(Cluster& cluster, const Workload& workload,
                         const std::function<void(size_t)>& done = {});
Result<void> CreatePods(Cluster& cluster, const Workload& workload,
                        const std::function<void(size_t)>& done = {});
Result<void> CreateBoundPods(Cluster& cluster, const Workload& workload);

// Removes all nodes and pods with the workload's label.
Result<void> RemoveWorkload(Cluster& cluster, const Workload& workload);

// Lists pods and nodes again and checks: every pod is bound, and no node holds more than its
// allocatable CPU, memory and pods. Returns one text per violation (at most 20).
Result<std::vector<std::string>> VerifyPlacement(Cluster& cluster, const Workload& workload);

}  // namespace ks::ctl
