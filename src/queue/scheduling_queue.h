// SPDX-License-Identifier: Apache-2.0
#pragma once
// SchedulingQueue: which pod or group of pods is scheduled next, and when one that failed is looked
// at again. It owns the active heap, the backoff heaps, the unschedulable map, the in-flight log
// and the nominations. Not for deciding what a watch event means (event routing); what groups have
// of their own is in GroupQueue.
//
// Upstream: docs/spec/queue.md sections 1 to 9, 11, 12, 16, 18.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "base/clock.h"
#include "base/result.h"
#include "framework/events.h"
#include "framework/handle.h"
#include "framework/queued_pod.h"
#include "queue/backoff.h"
#include "queue/group_queue.h"
#include "queue/in_flight_log.h"
#include "queue/large_pods.h"
#include "queue/nominator.h"
#include "queue/placement.h"
#include "queue/pod_stores.h"
#include "queue/profile_hooks.h"
#include "queue/queue_stats.h"
#include "queue/requeue_rules.h"
#include "queue/wake_up.h"

namespace ks::queue {

struct SchedulingQueueOptions {
  const Clock* clock = nullptr;  // outlives the queue
  // By scheduler name. Empty: Reconfigure comes before the first pod.
  ProfileHooksByName profiles;
  Duration backoff_initial = std::chrono::seconds(1);
  Duration backoff_max = std::chrono::seconds(10);  // 0 switches backoff off
  Duration unschedulable_max = std::chrono::minutes(5);
  // Gate SchedulerPopFromBackoffQ.
  bool pop_from_backoff = true;
  // The informer's present copy of a pod, by namespace and name (nominations ask it). May be empty.
  std::function<api::PodPtr(const api::Pod& pod)> informer;
  QueueObservers observers;
  // Gate GenericWorkload: pods of groups wait by group. Null: they are pods like others. Outlives
  // the queue.
  const framework::PodGroupStates* groups = nullptr;
};

// What is to be scheduled next: one of them, or neither.
struct Popped {
  framework::QueuedPodPtr pod;
  framework::QueuedPodGroupPtr group;

  explicit operator bool() const { return pod != nullptr || group != nullptr; }
};

// Nothing here waits or starts a thread: Pop returns null when nothing is ready, and the owner
// calls RunTimers when NextTimer has come.
//
// Invariants: a pod is in one store at most, or in flight; in flight from Pop to Done.
// Threads: the scheduling thread. Lifetime: outlives the plugins that activate pods.
class SchedulingQueue final : public framework::PodActivator {
 public:
  explicit SchedulingQueue(SchedulingQueueOptions options);
  ~SchedulingQueue() override;
  SchedulingQueue(const SchedulingQueue&) = delete;
  SchedulingQueue& operator=(const SchedulingQueue&) = delete;

  // A new pending pod: nominated as its status says, then active, or gated. Pods added at one
  // reading of the clock get stamps one nanosecond apart, so that they keep their order.
  void Add(const api::PodPtr& pod);
  // A pending pod changed. In flight: its events are logged. Stored: replaced, and moved if its own
  // change may help. Otherwise, or when the uid changed: added. `old_pod` may be the stored
  // pointer.
  void Update(api::PodPtr old_pod, const api::PodPtr& new_pod);
  // A pending pod is gone, or was bound. A pod in flight stays so until Done.
  void Delete(const api::Pod& pod);

  // The next pod or group, in flight from now on; nothing when none is ready: the first in the
  // order of QueueSort, but for large ones whose attempts took long (large_pods.h). Without active
  // ones the head of the backoff heap is taken, however long it had to wait; groups are never taken
  // so.
  Popped Pop();
  // The pod is no longer in flight: no failure can bring it back. No-op for unknown uids.
  void Done(std::string_view uid);
  // Returns a popped pod after a failed attempt, its plugin sets filled with what rejected it and
  // its pod object the informer's copy; ends its flight in any case. A member of a group waits for
  // the return of its group, or joins it. Error: the key is stored already; nothing has changed
  // then.
  Result<void> AddUnschedulableIfNotPresent(const framework::QueuedPodPtr& pod);

  // A change of the cluster: parked pods that it may help leave the unschedulable map, and pods in
  // flight are told. `precheck`, if given, narrows the parked pods. Cheap when no plugin that
  // rejected a parked pod has registered the event.
  using PreCheck = queue::PreCheck;
  void MoveAllToActiveOrBackoff(const framework::ClusterEvent& event,
                                const framework::EventObject& old_object,
                                const framework::EventObject& new_object,
                                const PreCheck& precheck = {});
  // The pod may have become schedulable for a reason that no plugin knows of: out of the
  // unschedulable map after its backoff, unless gated. In flight it comes back the same way.
  // Unknown pods are passed over.
  void LookAgain(const api::PodPtr& pod, std::string_view label);
  // Straight to the active heap, past a running backoff, unless gated. Unknown pods are passed
  // over.
  void Activate(const std::vector<api::PodPtr>& pods) override;
  void ActivateGroup(const framework::PodGroupKey& root) override;

  // Timers. They run from StartTimers on; a standby does without.
  void StartTimers();
  // When RunTimers has work next; absent before StartTimers and after Close.
  std::optional<TimePoint> NextTimer() const;
  // What is due: the backoff flush, each whole second; the leftover flush, at the start and 30 s
  // after its last end.
  void RunTimers();
  // Pods whose backoff is over become active.
  void FlushBackoffCompleted();
  // Pods parked for longer than the maximum are looked at again.
  void FlushUnschedulableLeftover();

  // Other profiles and backoff times from now on; ends every use of the former hooks. Each stored
  // pod is placed anew under the new rules: active pods stay active and parked ones are looked at
  // again after their backoff, unless a plugin gates them now. Pods in flight are told, so that a
  // failed attempt under the former profile comes back, too. Requires: every stored pod's scheduler
  // name has a profile.
  struct Settings {
    ProfileHooksByName profiles;  // not empty
    Duration backoff_initial = std::chrono::seconds(1);
    Duration backoff_max = std::chrono::seconds(10);
  };
  void Reconfigure(Settings settings);

  // Drops all markers and stops the timers. Stored pods can still be popped.
  void Close();
  bool closed() const { return closed_; }

  // Null without groups.
  GroupQueue* groups() const { return groups_.get(); }

  PodNominator& nominator() { return nominator_; }
  const PodNominator& nominator() const { return nominator_; }

  // Where the pods are: all but those in flight.
  const PodStores& stores() const { return stores_; }
  PendingCounts pending() const;
  bool IsInFlight(std::string_view uid) const { return in_flight_.Contains(uid); }
  const InFlightLog& in_flight() const { return in_flight_; }
  const QueueStats& stats() const { return placement_.stats(); }
  // Successful pops so far.
  int64_t scheduling_cycle() const { return scheduling_cycle_; }
  // The end of the pod's backoff as its counters say now.
  TimePoint BackoffEnd(framework::QueuedEntity& entity) const {
    return BackoffExpiration(placement_.backoff(), entity);
  }

 private:
  framework::QueuedPodPtr Take(Record& record);
  void PlaceWoken(const EventWithObjects& event, const std::vector<Woken>& pods, int64_t hint_runs);

  const Clock& clock_;
  const Duration unschedulable_max_;
  const bool pop_from_backoff_;
  const HintObserver hint_observer_;

  Rules rules_;
  Placement placement_;
  PodStores& stores_;  // of placement_
  InFlightLog in_flight_;
  PodNominator nominator_;
  std::unique_ptr<GroupQueue> groups_;
  LargeTurns large_turns_;
  int64_t scheduling_cycle_ = 0;
  TimePoint last_add_{};
  bool closed_ = false;
  std::optional<TimePoint> next_leftover_flush_;
};

}  // namespace ks::queue
