// SPDX-License-Identifier: Apache-2.0
#include "queue/wake_up.h"

#include <algorithm>
#include <type_traits>

#include "base/logging.h"

namespace ks::queue {
namespace {

template <class Visit>
void ForEachIn(const ParkedClass& of_labels, Visit visit) {
  for (Record* record : of_labels.pods) visit(*record);
}
template <class Visit>
void ForEachIn(const ParkedBucket& bucket, Visit visit) {
  for (const ParkedClass* of_labels : bucket.classes) ForEachIn(*of_labels, visit);
}

}  // namespace

Answer DecideFor(RequeueRules& rules, const Record& record, const EventWithObjects& event) {
  const auto decide = [&](const Record& of) {
    return rules.DecideWhy(*of.pod, event.event, event.old_object, event.new_object);
  };
  if (record.kind != RecordKind::kGroup) return decide(record);
  Answer most;
  for (const MemberRecord* member : static_cast<const GroupRecord&>(record).members) {
    const Answer answer = decide(*member);
    if (answer.strategy > most.strategy) most = answer;
    if (most.strategy == Strategy::kImmediately) break;
  }
  return most;
}

// A group passes when one of its members does.
bool WakeUp::Passes(const Record& record) {
  if (!precheck_) return true;
  const Record& entity = EntityOf(record);
  if (entity.kind != RecordKind::kGroup) return precheck_(*record.pod);
  return AnswerOf(static_cast<const GroupRecord&>(entity)).passes;
}

WakeUp::GroupAnswer& WakeUp::AnswerOf(const GroupRecord& group) {
  const auto [it, added] = groups_.try_emplace(&group);
  if (added) {
    it->second.passes = !precheck_ || std::any_of(group.members.begin(), group.members.end(),
                                                  [this](const MemberRecord* member) {
                                                    return precheck_(*member->pod);
                                                  });
  }
  return it->second;
}

// The first pod that the pre-check lets pass; null: none. Hints run for such pods only.
template <class Parked>
const api::Pod* WakeUp::FirstPassing(const Parked& parked) {
  if constexpr (std::is_same_v<Parked, ParkedBucket>) {
    for (const ParkedClass* of_labels : parked.classes) {
      if (const api::Pod* pod = FirstPassing(*of_labels)) return pod;
    }
  } else {
    for (const Record* record : parked.pods) {
      if (Passes(*record)) return record->pod->pod().get();
    }
  }
  return nullptr;
}

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
      LookIntoUsers(group, inquiry);
      return;
    }
    if (const LabelChange* change = inquiry.label_change();
        change != nullptr && !log::Enabled(5) &&
        !ParkedPods::MayMatter(group, change->readers, change->labels)) {
      return;
    }
    for (const ParkedBucket* bucket : group.buckets) LookInto(*bucket, inquiry);
    return;
  }
  for (const ParkedBucket* bucket : group.buckets) {
    ForEachIn(*bucket, [&](Record& record) {
      if (!Passes(record)) return;
      WakeOne(record, DecideFor(rules_, record, event_));
    });
  }
}

// Members of one tree of pod groups pass together and get one answer.
void WakeUp::LookIntoUsers(const ParkedGroup& group, const RequeueRules::Inquiry& inquiry) {
  const std::string& claim = *inquiry.claim();
  if (inquiry.of_tree()) {
    Record* const member = parked_.FirstUserOf(group, claim);
    if (member == nullptr) return;
    // Otherwise it may be one of another tree, whose root has the same name.
    if (static_cast<const GroupRecord&>(EntityOf(*member)).answers.ChangeTogether()) {
      AskOne(*member, inquiry, {});
      return;
    }
  }
  for (Record* record : parked_.UsersOf(group, claim)) AskOne(*record, inquiry, {});
}

void WakeUp::LookInto(const ParkedBucket& bucket, const RequeueRules::Inquiry& inquiry) {
  const api::Pod* pod = FirstPassing(bucket);
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
                      const Answer& by_spec) {
  const api::Pod* pod = FirstPassing(of_labels);
  if (pod == nullptr) return;
  const Answer by_labels = inquiry.AskLabels(*pod, by_spec);
  if (inquiry.SettledByLabels(by_labels)) {
    Wake(of_labels, by_labels);
    return;
  }
  for (Record* record : of_labels.pods) AskOne(*record, inquiry, by_labels);
}

void WakeUp::AskOne(Record& record, const RequeueRules::Inquiry& inquiry, Answer so_far) {
  if (!Passes(record)) return;
  // What its group has heard already is as good as this member's own answer.
  if (GroupRecord* group = AsGroup(EntityOf(record))) {
    so_far = std::max(so_far, AnswerOf(*group).answer,
                      [](const Answer& a, const Answer& b) { return a.strategy < b.strategy; });
  }
  WakeOne(record, inquiry.AskPod(*record.pod->pod(), so_far));
}

template <class Parked>
void WakeUp::Wake(const Parked& parked, const Answer& answer) {
  if (answer.strategy == Strategy::kSkip && !log::Enabled(5)) return;
  ForEachIn(parked, [&](Record& record) {
    if (Passes(record)) WakeOne(record, answer);
  });
}

void WakeUp::WakeOne(Record& record, const Answer& answer) {
  Record& entity = EntityOf(record);
  if (answer.strategy == Strategy::kSkip) {
    KS_LOG(5, "Event is not making entity schedulable",
           {{"type", EntityType(entity)},
            {"entity", EntityName(entity)},
            {"event", event_.event.Label()}});
    return;
  }
  GroupRecord* group = AsGroup(entity);
  if (group == nullptr) {
    woken_.push_back({&record, answer});
    return;
  }
  GroupAnswer& known = AnswerOf(*group);
  if (answer.strategy <= known.answer.strategy) return;
  if (known.answer.strategy == Strategy::kSkip) {
    known.place = woken_.size();
    woken_.push_back({group, answer});
  }
  known.answer = woken_[known.place].answer = answer;
}

}  // namespace ks::queue
