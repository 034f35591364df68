// SPDX-License-Identifier: Apache-2.0
#pragma once
// Placement: into which store a pod or a group goes, asking PreEnqueue on the way, and what is
// counted and noted of it. When they move is decided in SchedulingQueue and GroupQueue.
//
// Upstream: docs/spec/queue.md sections 6, 7 and 18.2.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/symbol.h"
#include "framework/queued_pod.h"
#include "queue/backoff.h"
#include "queue/pod_stores.h"
#include "queue/profile_hooks.h"
#include "queue/queue_stats.h"
#include "queue/requeue_rules.h"

namespace ks::queue {

// What the profiles want, exchanged as a whole.
struct Rules {
  Rules(const Clock& of, ProfileHooksByName by_name, const HintObserver& observer,
        const framework::PodGroupStates* of_groups)
      : clock(of),
        groups(of_groups),
        profiles(std::move(by_name)),
        requeue(profiles, clock, observer, groups) {}

  const Clock& clock;
  const framework::PodGroupStates* const groups;  // may be null
  ProfileHooksByName profiles;                    // by scheduler name
  RequeueRules requeue;
};

// Which placements queue_incoming_entities_total counts.
enum class Counting : uint8_t {
  kNews,  // those into another store than the strategy's own
  kAll,
};

// Records are those of pods and groups; members move with their group.
// Threads: the scheduling thread. Lifetime: the rules outlive it.
class Placement {
 public:
  Placement(const Rules& rules, const BackoffOptions& backoff, bool pop_from_backoff,
            QueueObservers observers);
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  // Forgets every pod; the rules may be other ones now.
  void StartAnew(Duration backoff_initial, Duration backoff_max);

  PodStores& stores() { return stores_; }
  const PodStores& stores() const { return stores_; }
  const BackoffOptions& backoff() const { return backoff_; }
  const QueueStats& stats() const { return stats_; }

  // Where the pod or group is placed next it arrives anew, even in its own store.
  static void NoteArriving(Record& record) { record.arriving = true; }
  // The member is in a group and new there, or has changed: PreEnqueue has to be asked about it.
  static void NoteUnasked(MemberRecord& member);
  // ProfileHooks::gate_changes_alone.
  bool GateChangesAlone(const api::Pod& pod) const;
  // Without a strategy the pod goes to the active heap unless it is gated. `label`: the event that
  // brought it about, here and below.
  void Place(Record& record, std::optional<Strategy> strategy, std::string_view label,
             Counting counting = Counting::kNews);
  void PutActive(Record& record, std::optional<Strategy> strategy, std::string_view label);
  // A pod that is in the map already only gets its present state noted: no arrival.
  void PutUnschedulable(Record& record, std::optional<Strategy> strategy, std::string_view label);
  // False when a plugin gates the pod, which then counts as rejected by it. A group is gated when a
  // member is; those are asked whose answers may be other ones now.
  bool RunPreEnqueue(Record& record);

  // For operators: the event that made the pod worth another attempt.
  void NoteWoken(Record& record, std::string_view label, const Answer& answer);
  EventEffect& EffectOf(std::string_view label);
  // queue_incoming_pods_total and queue_incoming_entities_total. A pod was taken from backoff.
  void CountPopFromBackoff();
  // The pod's plugins reject one pod more, or less.
  void CountUnschedulable(const framework::QueuedPod& pod, int64_t by);

 private:
  PodStores NewStores() const;
  bool RunPreEnqueue(framework::QueuedPod& pod);
  bool AskGroup(GroupRecord& group);
  const MemberRecord* AskOneForAll(GroupRecord& group);
  void Put(Record& record, Store store);
  void PutBackoff(Record& record, std::optional<Strategy> strategy, std::string_view label);
  void CountArrival(const Record& record, Store store, std::optional<Strategy> strategy,
                    std::string_view label);
  void NoteMoved(Record& record, std::string_view label);
  // The record is where it was to go.
  void Tell(const Record& record) const;

  const Rules& rules_;
  const bool pop_from_backoff_;
  const QueueObservers observers_;
  BackoffOptions backoff_;
  PodStores stores_;
  QueueStats stats_;
  std::string last_label_;  // the one that was interned last
  Symbol last_label_symbol_;
};

}  // namespace ks::queue
