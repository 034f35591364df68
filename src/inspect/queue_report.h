// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where every pending pod stands and why, for operators. Two steps: a quick look on the scheduling
// thread, which copies small records, and the rest (order, filter, text) on any thread.
//
// Upstream: none; docs/spec/queue.md for the terms.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/pod.h"
#include "base/clock.h"
#include "framework/name_set.h"
#include "framework/pod_group_state.h"
#include "queue/queue_stats.h"
#include "scheduler/scheduler.h"

namespace ks::inspect {

enum class QueuePart : uint8_t {
  kActive,
  kBackoff,
  kInFlight,       // being scheduled, or extenders are asked about it
  kWaiting,        // has a node, Permit holds it
  kBinding,        // has a node, its binding is under way
  kUnschedulable,  // waits for an event
  kGated,          // a plugin holds it before it may be scheduled
  kIncomplete,     // its pod group, or a group above that, is not known
  kPending,        // came while its pod group was being scheduled
};
// "active", "backoff", "inFlight", "waiting", "binding", "unschedulable", "gated", "incomplete",
// "pending".
std::string_view QueuePartText(QueuePart part);
std::optional<QueuePart> ParseQueuePart(std::string_view text);

// A tree of groups of pods, whose members are queued together. The counters are those of its entity
// in the queue; 0 while none is there.
struct QueuedGroup {
  framework::PodGroupKey root;  // of members whose root is not known: their PodGroup
  int32_t priority = 0;
  int64_t attempts = 0;
  int64_t unschedulable_attempts = 0;
  int64_t errors_in_a_row = 0;
};

// One pending pod, or one that waits for its resize. What has no meaning in its part is empty. Of a
// member of a pod group: part, position, backoff, gate and events are those of the group.
struct QueueEntry {
  api::PodPtr pod;
  std::shared_ptr<const QueuedGroup> group{};  // null: a pod by itself
  QueuePart part = QueuePart::kActive;
  // From 1, in the order in which pods of the part are taken; 0: the part has no order. Pods of the
  // backoff part are taken when their backoff is over, or when no pod is active.
  size_t position = 0;
  int64_t attempts = 0;
  int64_t unschedulable_attempts = 0;  // that plugins rejected
  int64_t errors_in_a_row = 0;
  TimePoint since{};  // of its creation in the queue or its last failure
  std::optional<TimePoint> backoff_end;
  framework::NameSet rejected_by;
  framework::NameSet pending_for;  // plugins that said Pending, or hold it at Permit
  Symbol gated_by{};
  Symbol last_event{};     // that brought it to its part
  Symbol woken_by{};       // the last event that made it worth another attempt
  Symbol woken_by_hint{};  // the plugin whose hint said so
  // Where it goes (waiting, binding), to which it is nominated, or where it waits for its resize.
  std::string node;
};

struct QueueReport {
  TimePoint time{};
  bool synced = false;
  queue::PendingCounts counts;
  size_t in_flight = 0;
  size_t waiting = 0;
  size_t binding = 0;
  std::vector<QueueEntry> entries;
};

// Costs a copy of about 150 bytes a pending pod. Threads: the scheduling thread.
QueueReport CollectQueue(scheduler::Scheduler& scheduler);
// One pod, without its position; absent: it is not pending. Threads: the scheduling thread.
std::optional<QueueEntry> FindInQueue(scheduler::Scheduler& scheduler, const api::Pod& pod);

// Orders the entries: part by part, by position, else by namespace and name; sets the positions.
// The order of active pods is PrioritySort's, the only QueueSort there is.
void SortQueue(QueueReport* report);

struct QueueFilter {
  std::string ns;      // empty: all
  std::string pod;     // "namespace/name"; empty: all
  std::string plugin;  // that rejects, holds or gates; empty: all
  std::optional<QueuePart> part;
  size_t limit = 500;  // pods shown; the counts are those of all
};

struct AnsweringReplica;

// {"time", "standby", "synced", "counts": {...}, "rejectedBy": [{"plugin", "pods"}], "matching",
// "pods": [...]}. The members of a group in one part are one of "pods": {"podGroup", "queue",
// "position", …, "members": [...]}. Requires: sorted.
std::string QueueJson(const QueueReport& report, const QueueFilter& filter,
                      const AnsweringReplica& replica);
// One of "pods".
std::string QueueEntryJson(const QueueEntry& entry);

}  // namespace ks::inspect
