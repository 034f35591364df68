// SPDX-License-Identifier: Apache-2.0
// What a cluster event does to parked pods: docs/spec/queue.md 7.9, 7.10, 8.1 and 8.2. Groups,
// buckets and classes of pods are passed over as a whole, so the cost is that of the hints that
// have to run and of the pods that move.

#include <algorithm>

#include "base/canary.h"
#include "base/logging.h"
#include "queue/scheduling_queue.h"

namespace ks::queue {
namespace {

constexpr framework::ClusterEvent kUnschedulableTimeout{.custom_label =
                                                            framework::kLabelUnschedulableTimeout};

bool Passes(const SchedulingQueue::PreCheck& precheck, const Record& record) {
  return !precheck || precheck(*record.pod->pod());
}

// The first pod that the pre-check lets pass; null: none. Hints run for such pods only.
const api::Pod* FirstPassing(const ParkedClass& of_labels,
                             const SchedulingQueue::PreCheck& precheck) {
  for (const Record* record : of_labels.pods) {
    if (Passes(precheck, *record)) return record->pod->pod().get();
  }
  return nullptr;
}
const api::Pod* FirstPassing(const ParkedBucket& bucket,
                             const SchedulingQueue::PreCheck& precheck) {
  for (const ParkedClass* of_labels : bucket.classes) {
    if (const api::Pod* pod = FirstPassing(*of_labels, precheck)) return pod;
  }
  return nullptr;
}

template <class Visit>
void ForEachIn(const ParkedClass& of_labels, Visit visit) {
  for (Record* record : of_labels.pods) visit(*record);
}
template <class Visit>
void ForEachIn(const ParkedBucket& bucket, Visit visit) {
  for (const ParkedClass* of_labels : bucket.classes) ForEachIn(*of_labels, visit);
}

}  // namespace

void SchedulingQueue::MoveAllToActiveOrBackoff(const framework::ClusterEvent& event,
                                               const framework::EventObject& old_object,
                                               const framework::EventObject& new_object,
                                               const PreCheck& precheck) {
  if (!rules_.IsInteresting(event)) return;
  if (KS_CANARY_UNHEARD(event.Label())) return;
  const EventWithObjects whole{event, old_object, new_object};
  const int64_t runs_before = rules_.hint_runs();
  woken_.clear();
  FindWoken(whole, precheck);
  PlaceWoken(whole, rules_.hint_runs() - runs_before);
}

// Fills woken_; moves nothing yet, because the index must not change under the search.
void SchedulingQueue::FindWoken(const EventWithObjects& event, const PreCheck& precheck) {
  const uint64_t plugins = rules_.PluginsFor(event.event);
  for (const auto& group : stores_.Unschedulable().groups()) {
    if ((group->plugins & plugins) == 0 || group->buckets.empty()) continue;
    const Symbol gate = group->rejection.gating_plugin;
    if (!gate.empty() && !rules_.OpensGate(gate.view(), event.event)) continue;
    FindWokenIn(*group, event, precheck);
  }
}

void SchedulingQueue::FindWokenIn(const ParkedGroup& group, const EventWithObjects& event,
                                  const PreCheck& precheck) {
  const bool one_by_one = event.event.IsWildcard() || group.plugins == RequeueRules::kAllPlugins ||
                          !rules_.HasProfile(group.rejection.scheduler_name);
  if (!one_by_one) {
    const RequeueRules::Inquiry inquiry = rules_.Inquire(group.rejection, event);
    // The log tells of every pod that an event does not help.
    if (inquiry.claim() != nullptr && !log::Enabled(5)) {
      for (Record* record : stores_.Unschedulable().UsersOf(group, *inquiry.claim())) {
        AskOne(*record, inquiry, {}, precheck);
      }
      return;
    }
    for (const ParkedBucket* bucket : group.buckets) FindWokenIn(*bucket, inquiry, precheck);
    return;
  }
  for (const ParkedBucket* bucket : group.buckets) {
    ForEachIn(*bucket, [&](Record& record) {
      if (!Passes(precheck, record)) return;
      WakeOne(record,
              rules_.DecideWhy(*record.pod, event.event, event.old_object, event.new_object),
              event.event);
    });
  }
}

void SchedulingQueue::FindWokenIn(const ParkedBucket& bucket, const RequeueRules::Inquiry& inquiry,
                                  const PreCheck& precheck) {
  const api::Pod* pod = FirstPassing(bucket, precheck);
  if (pod == nullptr) return;
  const Answer by_spec = inquiry.AskSpec(*pod);
  if (inquiry.SettledBySpec(by_spec)) {
    Wake(bucket, by_spec, inquiry.event(), precheck);
    return;
  }
  for (const ParkedClass* of_labels : bucket.classes) {
    FindWokenIn(*of_labels, inquiry, by_spec, precheck);
  }
}

void SchedulingQueue::FindWokenIn(const ParkedClass& of_labels,
                                  const RequeueRules::Inquiry& inquiry, Answer by_spec,
                                  const PreCheck& precheck) {
  const api::Pod* pod = FirstPassing(of_labels, precheck);
  if (pod == nullptr) return;
  const Answer by_labels = inquiry.AskLabels(*pod, by_spec);
  if (inquiry.SettledByLabels(by_labels)) {
    Wake(of_labels, by_labels, inquiry.event(), precheck);
    return;
  }
  for (Record* record : of_labels.pods) AskOne(*record, inquiry, by_labels, precheck);
}

void SchedulingQueue::AskOne(Record& record, const RequeueRules::Inquiry& inquiry, Answer so_far,
                             const PreCheck& precheck) {
  if (!Passes(precheck, record)) return;
  WakeOne(record, inquiry.AskPod(*record.pod->pod(), so_far), inquiry.event());
}

template <class Parked>
void SchedulingQueue::Wake(const Parked& parked, Answer answer,
                           const framework::ClusterEvent& event, const PreCheck& precheck) {
  if (answer.strategy == Strategy::kSkip && !log::Enabled(5)) return;
  ForEachIn(parked, [&](Record& record) {
    if (Passes(precheck, record)) WakeOne(record, answer, event);
  });
}

void SchedulingQueue::WakeOne(Record& record, Answer answer, const framework::ClusterEvent& event) {
  if (answer.strategy != Strategy::kSkip) {
    woken_.push_back({&record, answer});
    return;
  }
  KS_LOG(5, "Event is not making entity schedulable",
         {{"type", "pod"}, {"entity", record.pod->pod()->meta.Key()}, {"event", event.Label()}});
}

void SchedulingQueue::PlaceWoken(const EventWithObjects& event, int64_t hint_runs) {
  const std::string label = event.event.Label();
  EventEffect& effect = EffectOf(label);
  ++effect.events;
  effect.hint_runs += hint_runs;
  for (const Woken& woken : woken_) {
    stores_.Detach(*woken.record);  // a pod that is gated again arrives anew
    NoteWoken(*woken.record, label, woken.answer);
    Place(*woken.record, woken.answer.strategy, label);
    if (woken.record->store != Store::kUnschedulable) ++effect.woken;
  }
  if (in_flight_.empty()) return;
  KS_LOG(5, "Event received while entities are in flight", {{"event", label}});
  in_flight_.AddEvent(
      {.event = event.event, .old_object = event.old_object, .new_object = event.new_object});
}

void SchedulingQueue::FlushUnschedulableLeftover() {
  const TimePoint now = clock_.Now();
  const framework::EventObject none;
  woken_.clear();
  stores_.Unschedulable().ForEach([&](Record& record) {
    framework::QueuedPod& pod = *record.pod;
    const TimePoint since = std::max(pod.timestamp, pod.flush_timestamp.value_or(pod.timestamp));
    if (now - since <= unschedulable_max_) return;
    pod.was_flushed_from_unschedulable = true;
    pod.flush_timestamp = now;
    WakeOne(record, rules_.DecideWhy(pod, kUnschedulableTimeout, none, none),
            kUnschedulableTimeout);
  });
  if (woken_.empty()) return;
  PlaceWoken({kUnschedulableTimeout, none, none}, 0);
}

}  // namespace ks::queue
