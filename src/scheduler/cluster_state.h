// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the scheduler knows of the cluster: the objects as the API server last showed them, and the
// cache of nodes with the pods that run or are assumed there.
//
// Upstream: docs/spec/cache.md section 13.

#include <memory>

#include "api/node.h"
#include "api/pod.h"
#include "cache/cache.h"
#include "cache/device_stores.h"
#include "cache/group_stores.h"
#include "cache/object_store.h"
#include "cache/owner_stores.h"
#include "cache/pod_groups.h"
#include "cache/storage_stores.h"
#include "framework/handle.h"
#include "framework/optional_kinds.h"
#include "scheduler/inbox.h"

namespace ks::scheduler {

class EventRouter;

// The informer's pods, for plugins. Lifetime: the store outlives it.
class InformerPods final : public framework::PodLister {
 public:
  explicit InformerPods(const cache::ObjectStore<api::Pod>& pods) : pods_(pods) {}
  api::PodPtr FindPod(std::string_view key) const override { return pods_.Get(key); }

 private:
  const cache::ObjectStore<api::Pod>& pods_;
};

// The informer's nodes, for plugins. Lifetime: the store outlives it.
class InformerNodes final : public framework::NodeLister {
 public:
  explicit InformerNodes(const cache::ObjectStore<api::Node>& nodes) : nodes_(nodes) {}
  api::NodePtr FindNode(std::string_view name) const override { return nodes_.Get(name); }

 private:
  const cache::ObjectStore<api::Node>& nodes_;
};

// Threads: the scheduling thread.
struct ClusterState {
  // `gates`: whether there are groups of pods, and trees of them.
  explicit ClusterState(const config::FeatureGates& gates);
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  // Takes the changes over and tells `router` of each.
  void Apply(const PodDeltas& deltas, EventRouter& router);
  void Apply(const NodeDeltas& deltas, EventRouter& router);
  void Apply(const OwnerDeltas& deltas, EventRouter& router);
  void Apply(const StorageDeltas& deltas, EventRouter& router);
  void Apply(const DeviceDeltas& deltas, EventRouter& router);
  void Apply(const GroupDeltas& deltas, EventRouter& router);
  // Tells `router` of what plugins changed of claims of devices.
  void TellDeviceChanges(EventRouter& router);

  // Groups with their members; none while the gate GenericWorkload is off.
  const framework::PodGroupStates& group_states() const {
    return members == nullptr ? framework::NoPodGroupStates() : *members;
  }

  // The first full state of these kinds was taken over.
  bool Synced(const framework::OptionalKinds& kinds) const {
    return owners.Synced(kinds) && storage.Synced(kinds) && devices.Synced(kinds) &&
           groups.Synced(kinds);
  }
  // The same, of pods and nodes, too.
  bool AllSynced(const framework::OptionalKinds& kinds) const {
    return pods_synced && nodes_synced && Synced(kinds);
  }
  // Whole objects are asked for that are not kept yet: until the next full state.
  bool whole_objects_missing() const { return whole_pods_missing || whole_nodes_missing; }

  cache::GroupStores groups;
  const std::unique_ptr<cache::PodGroups> members;  // of groups; null: gate GenericWorkload is off
  cache::Cache cache;
  cache::OwnerStores owners;
  cache::StorageStores storage;
  cache::DeviceStores devices;
  cache::ObjectStore<api::Pod> pods;
  cache::ObjectStore<api::Node> nodes;
  const InformerPods pod_lister{pods};
  const InformerNodes node_lister{nodes};
  bool pods_synced = false;
  bool nodes_synced = false;
  bool whole_pods_missing = false;
  bool whole_nodes_missing = false;
};

}  // namespace ks::scheduler
