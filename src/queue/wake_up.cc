// SPDX-License-Identifier: Apache-2.0
#include "queue/wake_up.h"

#include <algorithm>

#include "base/logging.h"

namespace ks::queue {
namespace {

bool Passes(const PreCheck& precheck, const Record& record) {
  return !precheck || precheck(*record.pod->pod());
}

// The first pod that the pre-check lets pass; null: none. Hints run for such pods only.
const api::Pod* FirstPassing(const ParkedClass& of_labels, const PreCheck& precheck) {
  for (const Record* record : of_labels.pods) {
    if (Passes(precheck, *record)) return record->pod->pod().get();
  }
  return nullptr;
}
const api::Pod* FirstPassing(const ParkedBucket& bucket, const PreCheck& precheck) {
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

void WakeUp::Run() {
  const uint64_t plugins = rules_.PluginsFor(event_.event);
  for (const auto& group : parked_.groups()) {
    if ((group->plugins & plugins) == 0 || group->buckets.empty()) continue;
    const Symbol gate = group->rejection.gating_plugin;
    if (!gate.empty() && !rules_.OpensGate(gate.view(), event_.event)) continue;
    LookInto(*group);
  }
}

void WakeUp::LookInto(const ParkedGroup& group) {
  const bool one_by_one = event_.event.IsWildcard() || group.plugins == RequeueRules::kAllPlugins ||
                          !rules_.HasProfile(group.rejection.scheduler_name);
  if (!one_by_one) {
    const RequeueRules::Inquiry inquiry = rules_.Inquire(group.rejection, event_);
    // The log tells of every pod that an event does not help.
    if (inquiry.claim() != nullptr && !log::Enabled(5)) {
      for (Record* record : parked_.UsersOf(group, *inquiry.claim())) {
        AskOne(*record, inquiry, {});
      }
      return;
    }
    for (const ParkedBucket* bucket : group.buckets) LookInto(*bucket, inquiry);
    return;
  }
  for (const ParkedBucket* bucket : group.buckets) {
    ForEachIn(*bucket, [&](Record& record) {
      if (!Passes(precheck_, record)) return;
      WakeOne(record,
              rules_.DecideWhy(*record.pod, event_.event, event_.old_object, event_.new_object));
    });
  }
}

void WakeUp::LookInto(const ParkedBucket& bucket, const RequeueRules::Inquiry& inquiry) {
  const api::Pod* pod = FirstPassing(bucket, precheck_);
  if (pod == nullptr) return;
  const Answer by_spec = inquiry.AskSpec(*pod);
  if (inquiry.SettledBySpec(by_spec)) {
    Wake(bucket, by_spec);
    return;
  }
  for (const ParkedClass* of_labels : bucket.classes) {
    LookInto(*of_labels, inquiry, by_spec);
  }
}

void WakeUp::LookInto(const ParkedClass& of_labels, const RequeueRules::Inquiry& inquiry,
                      Answer by_spec) {
  const api::Pod* pod = FirstPassing(of_labels, precheck_);
  if (pod == nullptr) return;
  const Answer by_labels = inquiry.AskLabels(*pod, by_spec);
  if (inquiry.SettledByLabels(by_labels)) {
    Wake(of_labels, by_labels);
    return;
  }
  for (Record* record : of_labels.pods) AskOne(*record, inquiry, by_labels);
}

void WakeUp::AskOne(Record& record, const RequeueRules::Inquiry& inquiry, Answer so_far) {
  if (!Passes(precheck_, record)) return;
  WakeOne(record, inquiry.AskPod(*record.pod->pod(), so_far));
}

template <class Parked>
void WakeUp::Wake(const Parked& parked, Answer answer) {
  if (answer.strategy == Strategy::kSkip && !log::Enabled(5)) return;
  ForEachIn(parked, [&](Record& record) {
    if (Passes(precheck_, record)) WakeOne(record, answer);
  });
}

void WakeUp::WakeOne(Record& record, Answer answer) {
  if (answer.strategy != Strategy::kSkip) {
    woken_.push_back({&record, answer});
    return;
  }
  KS_LOG(5, "Event is not making entity schedulable",
         {{"type", "pod"},
          {"entity", record.pod->pod()->meta.Key()},
          {"event", event_.event.Label()}});
}

}  // namespace ks::queue
