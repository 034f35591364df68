// SPDX-License-Identifier: Apache-2.0
#include "scheduler/event_router.h"

#include <memory>
#include <variant>

#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "plugins/scheduler_rules.h"
#include "scheduler/freed_room.h"
#include "scheduler/metrics/scheduler_metrics.h"

namespace ks::scheduler {
namespace {

using framework::ClusterEvent;
using framework::EventObject;
using framework::EventResource;

constexpr ClusterEvent kAssignedPodAdd{EventResource::kAssignedPod, framework::kActionAdd, {}};
constexpr ClusterEvent kAssignedPodDelete{
    EventResource::kAssignedPod, framework::kActionDelete, {}};
constexpr ClusterEvent kAssignedPodUpdate{
    EventResource::kAssignedPod, framework::kActionUpdate, {}};
constexpr ClusterEvent kUnscheduledPodAdd{
    EventResource::kUnscheduledPod, framework::kActionAdd, {}};
constexpr ClusterEvent kUnscheduledPodUpdate{
    EventResource::kUnscheduledPod, framework::kActionUpdate, {}};
constexpr ClusterEvent kUnscheduledPodDelete{
    EventResource::kUnscheduledPod, framework::kActionDelete, {}};
constexpr ClusterEvent kNodeAdd{EventResource::kNode, framework::kActionAdd, {}};
constexpr ClusterEvent kNodeDelete{EventResource::kNode, framework::kActionDelete, {}};

template <class T>
uint32_t ActionOf(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& after) {
  if (before == nullptr) return framework::kActionAdd;
  return after == nullptr ? framework::kActionDelete : framework::kActionUpdate;
}

template <class T>
EventObject ObjectOf(const std::shared_ptr<const T>& object) {
  return object == nullptr ? EventObject() : EventObject(object);
}

template <class T>
bool SameName(const T& a, const T& b) {
  return a.meta.name == b.meta.name && a.meta.ns == b.meta.ns;
}

constexpr std::string_view kOfTwoObjects = "one change is told of two objects";
constexpr std::string_view kOfNothing = "a change of nothing is told";

void LogIfFailed(const Result<void>& result, std::string_view message, const std::string& object) {
  if (!result.ok()) log::Error(result.error().message, message, {{"object", object}});
}

}  // namespace

void EventRouter::OnPodAdd(const api::PodPtr& pod) {
  KS_CHECK(pod != nullptr && pod->spec != nullptr, kOfNothing);
  if (!pod->node_name.empty()) {
    if (IsQueuedForResize(*pod)) AddPending(pod);
    AddAssigned(pod);
  } else if (IsOurs(*pod)) {
    AddPending(pod);
  }
}

void EventRouter::AddPending(const api::PodPtr& pod) {
  KS_LOG(3, "Add event for unscheduled pod", {{"pod", pod->meta.Key()}});
  const EventTimer timer(context_.scheduler_metrics, kUnscheduledPodAdd);
  if (KS_CANARY(PendingAddUnheard)) return;
  cache::PodGroups* const members = context_.cluster.members.get();
  if (members != nullptr && pod->node_name.empty()) members->AddMember(pod);
  if (context_.traces != nullptr) context_.traces->Saw(*pod);
  context_.queue.Add(pod);
  if (members == nullptr) return;
  context_.queue.MoveAllToActiveOrBackoff(kUnscheduledPodAdd, std::monostate(), pod, nullptr);
}

void EventRouter::AddAssigned(const api::PodPtr& pod) {
  const EventTimer timer(context_.scheduler_metrics, kAssignedPodAdd);
  LogIfFailed(context_.cluster.cache.AddPod(pod), "Scheduler cache AddPod failed", pod->meta.Key());
  context_.queue.MoveAllToActiveOrBackoff(kAssignedPodAdd, std::monostate(), pod, nullptr);
}

void EventRouter::OnPodUpdate(const api::PodPtr& old_pod, const api::PodPtr& new_pod) {
  KS_CHECK(SameName(*old_pod, *new_pod), kOfTwoObjects);
  // Another uid is another pod that took the name; a bound pod that shows another node can only be
  // that, too. Treated as what it is, a deletion and an addition, where upstream would update under
  // the old identity (docs/spec/api.md 6.5).
  const bool replaced = old_pod->meta.uid != new_pod->meta.uid ||
                        (!old_pod->node_name.empty() && old_pod->node_name != new_pod->node_name);
  if (replaced) {
    OnPodDelete(old_pod, false);
    OnPodAdd(new_pod);
  } else if (!old_pod->node_name.empty()) {
    UpdateAssigned(old_pod, new_pod);
  } else if (!new_pod->node_name.empty()) {
    AddAssigned(new_pod);
    if (!IsOurs(*old_pod)) return;
    const EventTimer timer(context_.scheduler_metrics, kUnscheduledPodDelete);
    if (!KS_CANARY(PendingAssignmentUnheard)) context_.queue.Delete(*old_pod);
    if (context_.traces != nullptr) context_.traces->Left(*old_pod, "bound elsewhere");
    // Bound and deferred between two lists; upstream waits for the next change of the pod.
    if (context_.gated.queues_resizes) UpdateResize(old_pod, new_pod);
  } else if (IsOurs(*old_pod)) {
    UpdatePending(old_pod, new_pod);
  }
}

// A pod on a node begins, goes on or ceases to wait for room for its resize.
void EventRouter::UpdateResize(const api::PodPtr& old_pod, const api::PodPtr& new_pod) {
  const bool waited = IsQueuedForResize(*old_pod);
  const bool waits = IsQueuedForResize(*new_pod);
  if (waited && !waits) {
    if (KS_CANARY(ResizeEndUnseen)) return;
    KS_LOG(3, "Assigned pod is no longer deferred, removing from scheduling queue",
           {{"pod", new_pod->meta.Key()}});
    DeletePending(new_pod);
  } else if (waits && (waited || context_.queue.IsInFlight(new_pod->meta.uid))) {
    KS_LOG(3, "Assigned pod spec changed while deferred, updating scheduling queue",
           {{"pod", new_pod->meta.Key()}});
    context_.queue.Update(old_pod, new_pod);
  } else if (waits) {
    KS_LOG(3, "Assigned pod transitioned to deferred resize, adding to scheduling queue",
           {{"pod", new_pod->meta.Key()}});
    AddPending(new_pod);
  }
}

void EventRouter::UpdateAssigned(const api::PodPtr& old_pod, const api::PodPtr& new_pod) {
  if (context_.gated.queues_resizes) UpdateResize(old_pod, new_pod);
  const EventTimer timer(context_.scheduler_metrics, kAssignedPodUpdate);
  LogIfFailed(context_.cluster.cache.UpdatePod(*old_pod, new_pod),
              "Scheduler cache UpdatePod failed", new_pod->meta.Key());
  for (const ClusterEvent& event :
       framework::PodUpdateEvents(*old_pod, *new_pod, EventResource::kUnscheduledPod)) {
    const EventTimer change(
        event.actions == framework::kActionUpdate ? nullptr : context_.scheduler_metrics,
        {EventResource::kAssignedPod, event.actions, {}});
    context_.queue.MoveAllToActiveOrBackoff(event, old_pod, new_pod, nullptr);
  }
}

void EventRouter::UpdatePending(const api::PodPtr& old_pod, const api::PodPtr& new_pod) {
  if (old_pod->meta.resource_version == new_pod->meta.resource_version) return;
  const EventTimer timer(context_.scheduler_metrics, kUnscheduledPodUpdate);
  if (KS_CANARY(PendingUpdateUnheard)) return;
  if (context_.cluster.cache.IsAssumedPod(*new_pod)) {
    if (new_pod->meta.deletion_timestamp && !old_pod->meta.deletion_timestamp) {
      DeleteAssumed(*new_pod);
    }
    return;
  }
  if (context_.cluster.members != nullptr) context_.cluster.members->UpdateMember(new_pod);
  context_.queue.Update(old_pod, new_pod);
  const Symbol nominated = old_pod->status.nominated_node_name;
  if (!nominated.empty() && nominated != new_pod->status.nominated_node_name) {
    NominationFreed(old_pod);
  }
}

// A nomination went away: pods of at most its priority may use the room.
void EventRouter::NominationFreed(const api::PodPtr& pod) {
  if (KS_CANARY(NominationFreedUnheard)) return;
  context_.queue.MoveAllToActiveOrBackoff(kAssignedPodDelete, pod, std::monostate(),
                                          [&pod](const framework::QueuedPod& candidate) {
                                            return candidate.Priority() <= pod->Priority();
                                          });
}

void EventRouter::OnPodDelete(const api::PodPtr& pod, bool unknown) {
  // One on its way to its node may wait at Permit, which has to end: that is DeletePending's.
  const bool may_have_arrived = unknown && !context_.cluster.cache.IsAssumedPod(*pod);
  if (!pod->node_name.empty() || may_have_arrived) DeleteAssigned(pod);
  if ((unknown || MayBeQueued(*pod)) && IsOurs(*pod)) DeletePending(pod);
  context_.waiting_pods.RemoveUnheard(pod->meta.uid);
  KS_DCHECK(!context_.cluster.cache.GetPod(*pod).ok() || context_.cluster.cache.IsAssumedPod(*pod),
            "a deleted pod still takes room");
}

void EventRouter::DeleteAssigned(const api::PodPtr& pod) {
  const EventTimer timer(context_.scheduler_metrics, kAssignedPodDelete);
  // What the cache holds is removed, wherever the event says the pod was. A pod whose last seen
  // state is unassigned is not there.
  const Result<api::PodPtr> cached = context_.cluster.cache.GetPod(*pod);
  if (cached.ok()) {
    LogIfFailed(context_.cluster.cache.RemovePod(**cached), "Scheduler cache RemovePod failed",
                pod->meta.Key());
  } else if (!pod->node_name.empty()) {
    log::Error(cached.error().message, "Scheduler cache RemovePod failed",
               {{"object", pod->meta.Key()}});
  }
  context_.queue.MoveAllToActiveOrBackoff(
      kAssignedPodDelete, pod, std::monostate(),
      cached.ok() ? MayUseRoomOn(context_, (*cached)->node_name.view()) : queue::PreCheck());
}

void EventRouter::DeletePending(const api::PodPtr& pod) {
  const EventTimer timer(context_.scheduler_metrics, kUnscheduledPodDelete);
  if (KS_CANARY(PendingDeleteUnheard)) return;
  cache::PodGroups* const members = context_.cluster.members.get();
  if (members != nullptr && pod->node_name.empty()) members->RemoveMember(*pod);
  const std::string expected_on(context_.nominator.NodeOf(pod->meta.uid));
  context_.queue.Delete(*pod);
  if (context_.traces != nullptr) context_.traces->Left(*pod, "deleted");
  if (context_.cluster.cache.IsAssumedPod(*pod)) {
    DeleteAssumed(*pod);
    return;
  }
  if (!pod->status.nominated_node_name.empty()) {
    NominationFreed(pod);
  } else {
    TellThatNotExpected(context_, expected_on);
  }
}

// A pod that was deleted between decision and binding. Its own failure path cleans up when it waits
// at Permit; otherwise its room is given back at once and the binding is expected to fail at the
// API.
void EventRouter::DeleteAssumed(const api::Pod& pod) {
  const Result<api::PodPtr> cached = context_.cluster.cache.GetPod(pod);
  if (!cached.ok()) return;
  const api::PodPtr& assumed = *cached;
  if (KS_CANARY(DeletedPodKeepsRoom)) return;
  if (!context_.waiting_pods.RejectWaitingPod(assumed->meta.uid)) {
    LogIfFailed(context_.cluster.cache.RemoveAssumedPod(*assumed),
                "Scheduler cache RemovePod failed", assumed->meta.Key());
  }
  if (KS_CANARY(DeletedOnItsWayUnheard)) return;
  context_.queue.MoveAllToActiveOrBackoff(kAssignedPodDelete, assumed, std::monostate(), nullptr);
}

void EventRouter::OnNodeAdd(const api::NodePtr& node) {
  const EventTimer timer(context_.scheduler_metrics, kNodeAdd);
  context_.cluster.cache.AddNode(node);
  context_.queue.MoveAllToActiveOrBackoff(kNodeAdd, std::monostate(), node, nullptr);
}

void EventRouter::OnNodeUpdate(const api::NodePtr& old_node, const api::NodePtr& new_node) {
  KS_CHECK(SameName(*old_node, *new_node), kOfTwoObjects);
  context_.cluster.cache.UpdateNode(*old_node, new_node);
  for (const ClusterEvent& event : framework::NodeUpdateEvents(*old_node, *new_node)) {
    const EventTimer timer(context_.scheduler_metrics, event);
    context_.queue.MoveAllToActiveOrBackoff(event, old_node, new_node, nullptr);
  }
  NominationsLost(*new_node, old_node.get());
}

// The queue hears of it first (docs/spec/cache.md 11.3).
void EventRouter::OnNodeDelete(const api::NodePtr& node) {
  const EventTimer timer(context_.scheduler_metrics, kNodeDelete);
  context_.queue.MoveAllToActiveOrBackoff(kNodeDelete, node, std::monostate(), nullptr);
  LogIfFailed(context_.cluster.cache.RemoveNode(*node), "Scheduler cache RemoveNode failed",
              node->meta.name);
  NominationsLost(*node, nullptr);
}

// Some pods wait for room on a node which is gone (`former` is null), or refuses them from now on,
// whatever leaves it: nothing that happens there can help them, and they may preempt elsewhere.
void EventRouter::NominationsLost(const api::Node& node, const api::Node* former) {
  const auto nominated = context_.nominator.NominatedPodsForNode(node.meta.name);
  std::vector<std::string> keys;
  for (const framework::PodInfoPtr& info : nominated) keys.push_back(info->pod().meta.Key());
  for (const std::string& key : keys) {
    const api::PodPtr pod =
        context_.cluster.pods.Get(key);  // whole, also when it is being scheduled
    const framework::Framework* profile = pod == nullptr ? nullptr : context_.ProfileFor(*pod);
    if (profile == nullptr) continue;
    const bool lost = former == nullptr || (plugins::RefusesForGood(*profile, *pod, node) &&
                                            !plugins::RefusesForGood(*profile, *pod, *former));
    if (!lost) continue;
    context_.nominator.DeleteNominatedPodIfExists(*pod);
    context_.queue.LookAgain(pod, framework::kLabelNominatedNodeLost);
    NominationFreed(pod);
  }
}

// No plugin looks at the objects: whoever asks for Services wants every change of a selector.
void EventRouter::OnServiceChange(uint32_t action) {
  context_.queue.MoveAllToActiveOrBackoff({.resource = EventResource::kService, .actions = action},
                                          std::monostate(), std::monostate(), nullptr);
}

void EventRouter::OnNamespaceChange(uint32_t action, const api::NamespacePtr& former,
                                    const api::NamespacePtr& latter) {
  context_.queue.MoveAllToActiveOrBackoff(
      {.resource = EventResource::kNamespace, .actions = action, .custom_label = {}},
      ObjectOf(former), ObjectOf(latter), nullptr);
}

void EventRouter::OnObjectChange(EventResource resource, uint32_t action,
                                 const EventObject& old_object, const EventObject& new_object) {
  KS_CHECK(!std::holds_alternative<std::monostate>(old_object) ||
               !std::holds_alternative<std::monostate>(new_object),
           kOfNothing);
  const ClusterEvent event{.resource = resource, .actions = action, .custom_label = {}};
  const EventTimer timer(context_.scheduler_metrics, event);
  context_.queue.MoveAllToActiveOrBackoff(event, old_object, new_object, nullptr);
}

void EventRouter::TellQueue(const api::ObjectMeta& group, bool composite, uint32_t action) {
  queue::GroupQueue* const groups = context_.queue.groups();
  if (groups == nullptr) return;
  const framework::PodGroupKey key{group.ns, group.name, composite};
  if (action == framework::kActionAdd) groups->OnGroupAdd(key);
  if (action == framework::kActionUpdate) groups->OnGroupUpdate(key);
  if (action == framework::kActionDelete) groups->OnGroupDelete(key);
}

// Cache, then queue, then those that wait for it (docs/spec/cache.md 18.6).
void EventRouter::OnGroupChange(const api::PodGroupPtr& before, const api::PodGroupPtr& after) {
  KS_CHECK(before == nullptr || after == nullptr || SameName(*before, *after), kOfTwoObjects);
  if (cache::PodGroups* const members = context_.cluster.members.get()) {
    if (after == nullptr) {
      members->RemoveGroup(*before);
    } else {
      members->SetGroup(after);
    }
  }
  TellQueue((after == nullptr ? before : after)->meta, false, ActionOf(before, after));
  OnObjectChange(EventResource::kPodGroup, ActionOf(before, after), ObjectOf(before),
                 ObjectOf(after));
}

void EventRouter::OnGroupChange(const api::CompositePodGroupPtr& before,
                                const api::CompositePodGroupPtr& after) {
  KS_CHECK(before == nullptr || after == nullptr || SameName(*before, *after), kOfTwoObjects);
  TellQueue((after == nullptr ? before : after)->meta, true, ActionOf(before, after));
  OnObjectChange(EventResource::kCompositePodGroup, ActionOf(before, after), ObjectOf(before),
                 ObjectOf(after));
}

}  // namespace ks::scheduler
