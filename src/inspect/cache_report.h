// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the cache holds, for operators, and how it differs from another account of the same cluster:
// the informers' (SIGUSR2) or the API server's.
//
// Upstream: docs/spec/operations.md 1.4; the comparison with the API server is kubesched's own.

#include <compare>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "base/clock.h"
#include "framework/node_info.h"
#include "framework/resource.h"
#include "inspect/answering_replica.h"
#include "scheduler/scheduler.h"

namespace ks::inspect {

struct CachedNode {
  std::string name;
  api::NodePtr node;  // null: pods of the node are known, the node is not (any more)
  framework::Resource allocatable;
  framework::Resource requested;
  size_t pod_count = 0;
  std::vector<framework::PodInfoPtr> pods;  // if they are wanted
  std::vector<api::PodPtr> nominated;
};

struct CacheDump {
  TimePoint time{};
  bool synced = false;
  size_t pods = 0;  // on all nodes, also those left out
  size_t assumed_pods = 0;
  std::vector<CachedNode> nodes;          // ascending by name
  std::set<std::string> assumed;          // uids of pods in `nodes`
  std::vector<api::PodPtr> pending;       // in the queue and in flight, if they are wanted
  std::set<std::string> scheduler_names;  // that have a profile
};

// What of the cache. The scheduling thread stands still for as long as it takes: about half a
// microsecond a node, and a tenth a pod that is wanted.
struct CacheQuestion {
  std::string_view node{};  // this one only; empty: all
  bool pods = true;         // of the nodes
  bool pending = true;
};
// Threads: the scheduling thread.
CacheDump CollectCache(const scheduler::Scheduler& scheduler, const CacheQuestion& question = {});

// One thing that two accounts of a cluster do not agree upon.
struct CacheDifference {
  // "missedNode", "redundantNode", "missedPod", "redundantPod" (missed: the cache lacks it),
  // "podOnOtherNode", "requested".
  std::string_view kind;
  std::string object;  // node; namespace/name of a pod; "node resource"
  std::string uid;     // of a pod
  std::string cached;  // what the cache says, where both say something
  std::string other;

  // Not the values: they may go on changing.
  bool SameAs(const CacheDifference& b) const {
    return kind == b.kind && object == b.object && uid == b.uid;
  }
};

struct ClusterAccount {
  std::vector<api::NodePtr> nodes;
  std::vector<api::PodPtr> pods;  // without those that are Succeeded or Failed
};
ClusterAccount InformerAccount(const scheduler::Scheduler& scheduler);

// By kind, then object. Pods that were assumed and have no node in `other` yet are no difference,
// nor are pending pods of other schedulers and pending pods that are being deleted. Requires: a
// dump of everything. Threads: any.
std::vector<CacheDifference> Compare(const CacheDump& dump, const ClusterAccount& other);

// Those of `before` that are there `after`, too.
std::vector<CacheDifference> Lasting(const std::vector<CacheDifference>& before,
                                     const std::vector<CacheDifference>& after);

// What --compare came to.
struct CacheComparison {
  int rounds = 0;
  size_t nodes = 0;  // that the API server listed
  size_t pods = 0;
  std::vector<CacheDifference> differences;
};

struct CacheJsonOptions {
  bool list_nodes = true;
  bool list_pods = false;
  std::string label{};                          // of the nodes, whose value is told; empty: none
  const CacheComparison* comparison = nullptr;  // null: none was made
};
std::string CacheJson(const CacheDump& dump, const CacheJsonOptions& options,
                      const AnsweringReplica& replica);

// The texts of SIGUSR2 (operations.md 1.4): one line a pod, some lines a node.
std::string PodLine(const api::Pod& pod);
std::string NodeLines(const CacheDump& dump);

}  // namespace ks::inspect
