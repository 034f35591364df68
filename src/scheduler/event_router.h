// SPDX-License-Identifier: Apache-2.0
#pragma once
// Routes what the API server reports into cache and queue: which pods are accounted, which are
// queued, which cluster events wake others.
//
// Upstream: docs/spec/cache.md section 11, docs/spec/queue.md sections 3 and 11.

#include "cache/object_store.h"
#include "scheduler/context.h"

namespace ks::scheduler {

// Threads: the scheduling thread. Lifetime: `context` outlives it.
class EventRouter {
 public:
  explicit EventRouter(Context& context) : context_(context) {}

  void OnPodAdd(const api::PodPtr& pod);
  void OnPodUpdate(const api::PodPtr& old_pod, const api::PodPtr& new_pod);
  // `unknown`: the final state was missed; `pod` is the last one seen.
  void OnPodDelete(const api::PodPtr& pod, bool unknown);

  void OnNodeAdd(const api::NodePtr& node);
  void OnNodeUpdate(const api::NodePtr& old_node, const api::NodePtr& new_node);
  void OnNodeDelete(const api::NodePtr& node);

  // One framework::ActionType.
  void OnServiceChange(uint32_t action);
  // The same; the objects as OwnerStores::Observers has them.
  void OnNamespaceChange(uint32_t action, const api::NamespacePtr& former,
                         const api::NamespacePtr& latter);
  // The same of one of the kinds of cache::StorageStores or cache::DeviceStores.
  void OnObjectChange(framework::EventResource resource, uint32_t action,
                      const framework::EventObject& old_object,
                      const framework::EventObject& new_object);

  // Null before: it is new; null after: it is gone.
  void OnGroupChange(const api::PodGroupPtr& before, const api::PodGroupPtr& after);
  void OnGroupChange(const api::CompositePodGroupPtr& before,
                     const api::CompositePodGroupPtr& after);

 private:
  bool IsOurs(const api::Pod& pod) const { return context_.ProfileFor(pod) != nullptr; }
  // Whether the pod is queued although it is on a node.
  bool IsQueuedForResize(const api::Pod& pod) const {
    return context_.WaitsForResize(pod) && IsOurs(pod);
  }
  // The same of the last state of a pod, which may be that of a resize that no update has shown.
  bool MayBeQueued(const api::Pod& pod) const {
    return context_.IsQueued(pod) || (context_.gated.queues_resizes &&
                                      context_.queue.stores().FindPod(pod.meta.Key()) != nullptr);
  }
  void TellQueue(const api::ObjectMeta& group, bool composite, uint32_t action);
  void AddPending(const api::PodPtr& pod);
  void AddAssigned(const api::PodPtr& pod);
  void UpdateAssigned(const api::PodPtr& old_pod, const api::PodPtr& new_pod);
  void UpdateResize(const api::PodPtr& old_pod, const api::PodPtr& new_pod);
  void DeleteAssigned(const api::PodPtr& pod);
  void UpdatePending(const api::PodPtr& old_pod, const api::PodPtr& new_pod);
  void DeletePending(const api::PodPtr& pod);
  void DeleteAssumed(const api::Pod& pod);
  void NominationFreed(const api::PodPtr& pod);
  void NominationsLost(const api::Node& node, const api::Node* former);

  Context& context_;
};

}  // namespace ks::scheduler
