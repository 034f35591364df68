// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cluster_state.h"

#include "base/canary.h"
#include "scheduler/event_router.h"

namespace ks::scheduler {

namespace {

// Deltas of one kind go to its store, and what they say to the router.
template <class T>
void ApplyTo(cache::ObjectStore<T>& store, const std::vector<api::Delta<T>>& deltas,
             cache::ObjectHandler<T>& handler, bool* synced, bool* whole_missing) {
  for (const api::Delta<T>& delta : deltas) {
    store.Apply(delta, handler);
    if (delta.type != api::Delta<T>::Type::kReplace) continue;
    *synced = true;
    *whole_missing = false;
  }
}

class PodHandler final : public cache::ObjectHandler<api::Pod> {
 public:
  explicit PodHandler(EventRouter& router) : router_(router) {}
  void Add(const api::PodPtr& pod) override { router_.OnPodAdd(pod); }
  void Update(const api::PodPtr& old_pod, const api::PodPtr& new_pod) override {
    router_.OnPodUpdate(old_pod, new_pod);
  }
  void Delete(const api::PodPtr& pod, bool unknown) override {
    if (KS_CANARY(RelistHidesDeletions) && unknown) return;
    router_.OnPodDelete(pod, unknown);
  }

 private:
  EventRouter& router_;
};

class NodeHandler final : public cache::ObjectHandler<api::Node> {
 public:
  explicit NodeHandler(EventRouter& router) : router_(router) {}
  void Add(const api::NodePtr& node) override { router_.OnNodeAdd(node); }
  void Update(const api::NodePtr& old_node, const api::NodePtr& new_node) override {
    router_.OnNodeUpdate(old_node, new_node);
  }
  void Delete(const api::NodePtr& node, bool /*unknown*/) override { router_.OnNodeDelete(node); }

 private:
  EventRouter& router_;
};

}  // namespace

ClusterState::ClusterState(const config::FeatureGates& gates)
    : members(gates.Enabled(config::Gate::kGenericWorkload)
                  ? std::make_unique<cache::PodGroups>(
                        groups, gates.Enabled(config::Gate::kCompositePodGroup))
                  : nullptr),
      cache(members.get()) {}

void ClusterState::Apply(const PodDeltas& deltas, EventRouter& router) {
  PodHandler handler(router);
  ApplyTo(pods, deltas, handler, &pods_synced, &whole_pods_missing);
}

void ClusterState::Apply(const NodeDeltas& deltas, EventRouter& router) {
  NodeHandler handler(router);
  ApplyTo(nodes, deltas, handler, &nodes_synced, &whole_nodes_missing);
}

void ClusterState::Apply(const OwnerDeltas& deltas, EventRouter& router) {
  owners.Apply(deltas, {.service = [&router](uint32_t action) { router.OnServiceChange(action); },
                        .of_namespace =
                            [&router](uint32_t action, const api::NamespacePtr& former,
                                      const api::NamespacePtr& latter) {
                              router.OnNamespaceChange(action, former, latter);
                            }});
}

void ClusterState::Apply(const StorageDeltas& deltas, EventRouter& router) {
  storage.Apply(deltas, [&router](framework::EventResource resource, uint32_t action,
                                  const framework::EventObject& old_object,
                                  const framework::EventObject& new_object) {
    router.OnObjectChange(resource, action, old_object, new_object);
  });
}

void ClusterState::Apply(const DeviceDeltas& deltas, EventRouter& router) {
  devices.Apply(deltas);
  TellDeviceChanges(router);
}

void ClusterState::Apply(const GroupDeltas& deltas, EventRouter& router) {
  const auto tell = [&router](const auto& before, const auto& after) {
    router.OnGroupChange(before, after);
  };
  groups.Apply(deltas, {.pod_group = tell, .composite = tell});
}

void ClusterState::TellDeviceChanges(EventRouter& router) {
  devices.TellChanges([&router](framework::EventResource resource, uint32_t action,
                                const framework::EventObject& old_object,
                                const framework::EventObject& new_object) {
    router.OnObjectChange(resource, action, old_object, new_object);
  });
}

}  // namespace ks::scheduler
