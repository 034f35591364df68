// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gives nodes to pods and groups of pods in a copy of a cluster: the production code decides, one
// after the other, the earlier ones assumed and their volumes and devices reserved.
//
// Not done: preemption, extenders, Permit and binding.
//
// Upstream: docs/spec/cycle.md (the rules), docs/spec/pod-groups.md (of groups).

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "cache/pod_groups.h"
#include "inspect/cluster_copy.h"
#include "inspect/explain.h"
#include "inspect/what_if.h"
#include "scheduler/group_algorithm.h"

namespace ks::inspect {

// Objects that the copied cluster does not have, or has otherwise.
struct AddedObjects {
  std::vector<api::PodPtr> pods;
  std::vector<cache::OwnerDeltas> owners;
  std::vector<api::ResourceClaimPtr> claims;
  std::vector<cache::GroupDeltas> groups;
};

struct SimulatedPlacement {
  Verdict result = Verdict::kError;
  std::string node;     // of a schedulable pod
  std::string message;  // why not: as Explanation::message
  std::vector<std::string> unschedulable_plugins;
  size_t feasible_nodes = 0;
};

// What an attempt of a tree of groups comes to. A message is that of the PodGroup's condition
// before PostFilter adds to it.
struct GroupPlacement {
  // A group of the tree.
  struct Group {
    framework::PodGroupKey key;
    Verdict result = Verdict::kError;
    std::string message;
    std::optional<int32_t> wanted;  // minCount, of a composite minGroupCount; absent: policy basic
    size_t scheduled = 0;           // members that were on nodes before
    size_t queued = 0;              // members that the attempt is about
  };
  struct Member {
    framework::QueuedPodPtr queued;
    framework::PodGroupKey group;  // its PodGroup
    SimulatedPlacement placement{};
    bool tried = false;     // an attempt comes to it before it ends
    bool searched = false;  // a node was looked for
    bool fits = false;      // … and found, whatever became of its group
    // Why none was found, and who rejected it then.
    std::string own_cause{};
    std::vector<std::string> own_plugins{};
  };
  framework::PodGroupKey root;
  std::string profile;
  Verdict result = Verdict::kError;
  std::string message;
  std::vector<Group> groups;    // from the top; none: the root is not known
  std::vector<Member> members;  // in the order in which they are tried
};

// What preemption would do for a tree of groups that fits nowhere.
struct GroupPreemptionTrial {
  // Null, or told of each placement that is tried without the pods of lower priority.
  scheduler::PlacementObserver* observer = nullptr;
  std::optional<framework::GroupPostFilterResult> result{};  // absent: it is not asked
  framework::GroupVictims victims{};
};

// All nodes are looked at, whatever percentageOfNodesToScore says. Threads: one at a time; takes as
// long as building a cache of that size. Lifetime: the copy outlives it.
class ClusterTrial {
 public:
  // `added` counts in place of what has the same name. Error: a profile cannot be built.
  static Result<std::unique_ptr<ClusterTrial>> Make(const ClusterCopy& cluster,
                                                    const AddedObjects& added = {});
  ~ClusterTrial();
  ClusterTrial(const ClusterTrial&) = delete;
  ClusterTrial& operator=(const ClusterTrial&) = delete;

  // Decides one pod, which is no queued member of a group.
  SimulatedPlacement Place(const api::PodPtr& pod);

  // Every plugin on every node, for one pod without a node; nothing is kept. Threads: as Place.
  Explanation Explain(const api::PodPtr& pod);
  // As the last question saw it.
  const framework::Snapshot& snapshot() const { return cache_; }
  // Adds the node, or makes it so. Its pods stay.
  void SetNode(const api::NodePtr& node);
  // Requires: SetNode added it.
  void RemoveNode(const api::Node& node);

  // Whether groups of pods are scheduled together, and the pod is such a member, on no node.
  bool IsQueuedMember(const api::Pod& pod) const;
  // The top of the tree that the group belongs to; absent: not known.
  std::optional<framework::PodGroupKey> RootOf(const framework::PodGroupKey& group) const;
  // Decides all queued members of the tree, as one attempt does. Those that get nodes are queued no
  // more. `observer`: null, or told of each placement. `preemption`: null, or what is to be filled.
  GroupPlacement PlaceGroup(const framework::PodGroupKey& root,
                            scheduler::PlacementObserver* observer = nullptr,
                            GroupPreemptionTrial* preemption = nullptr);

 private:
  class Nominations;
  class NoObjects;
  explicit ClusterTrial(const ClusterCopy& cluster);

  Result<void> Prepare(const AddedObjects& added);
  void ApplyGroups(const std::vector<cache::GroupDeltas>& added);
  void AddMembers(const std::vector<api::PodPtr>& added);
  void Decide(const framework::Framework& framework, const api::PodPtr& pod,
              SimulatedPlacement* placement);
  api::PodPtr Assume(const api::Pod& pod, const std::string& node, SimulatedPlacement* placement);
  void Reserve(scheduler::Attempt& attempt, SimulatedPlacement* placement);
  void WriteClaims(const api::Pod& pod);

  const framework::PodGroupStates& states() const;
  scheduler::GroupPlan PlanOf(const framework::PodGroupKey& group) const;
  void Describe(const scheduler::GroupPlan& plan, GroupPlacement* placement) const;
  bool RunPreEnqueue(GroupPlacement* placement) const;
  Result<const framework::Framework*> Agree(const GroupPlacement& placement) const;
  scheduler::GroupAlgorithm AlgorithmOf(const framework::Framework& framework,
                                        scheduler::PlacementObserver* observer);
  scheduler::GroupResult Search(const framework::Framework& framework,
                                const scheduler::GroupPlan& plan,
                                scheduler::PlacementObserver* observer, GroupPlacement* placement);
  void Preempt(const framework::Framework& framework, const scheduler::GroupPlan& plan,
               scheduler::GroupResult& result, GroupPreemptionTrial* preemption);
  void Settle(const scheduler::GroupResult& group, scheduler::MemberResult& result,
              GroupPlacement::Member* member);

  const ClusterCopy& cluster_;
  const config::FeatureGates gates_;
  const std::unique_ptr<Nominations> nominations_;
  const std::unique_ptr<NoObjects> no_objects_;
  cache::GroupStores groups_;
  const std::unique_ptr<cache::PodGroups> members_;  // null: the gate GenericWorkload is off
  cache::Cache cache_;
  cache::OwnerStores owners_;
  cache::StorageStores storage_;
  cache::DeviceStores devices_;
  scheduler::Parallelizer parallelizer_{1};
  scheduler::SchedulingAlgorithm algorithm_{cache_, parallelizer_, 100};
  scheduler::SearchSpaces spaces_;
  Random random_{0};
  std::unique_ptr<WhatIf> what_if_;
  // By PodGroupKey::Text, in the order in which they are tried.
  std::map<std::string, std::vector<framework::QueuedPodPtr>, std::less<>> queued_;
};

}  // namespace ks::inspect
