// SPDX-License-Identifier: Apache-2.0
#include "queue/placement.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/logging.h"

namespace ks::queue {
namespace {

// The store that a strategy names; an insertion there is no news for queue_incoming_entities_total.
bool IsOwnStore(Strategy strategy, Store store) {
  switch (strategy) {
    case Strategy::kSkip:
      return store == Store::kUnschedulable;
    case Strategy::kAfterBackoff:
      return store == Store::kBackoff || store == Store::kErrorBackoff;
    case Strategy::kImmediately:
      return store == Store::kActive;
  }
  return false;
}

void Increase(std::map<std::string, int64_t, std::less<>>& counters, std::string_view label,
              size_t by = 1) {
  const auto it = counters.find(label);
  if (it != counters.end()) {
    it->second += static_cast<int64_t>(by);
  } else {
    counters.emplace(label, static_cast<int64_t>(by));
  }
}

// That of the first profile; empty without profiles.
const PodStores::Less& QueueSort(const ProfileHooksByName& profiles) {
  static const PodStores::Less none;
  if (profiles.empty()) return none;
  KS_CHECK(profiles.begin()->second.less != nullptr, "a profile needs a QueueSort");
  return profiles.begin()->second.less;
}

// Members that are not in the store yet, or may be filed in the wrong place there.
const std::vector<MemberRecord*>& MembersToPut(const GroupRecord& group, Store store) {
  return group.store != store ? group.members : group.answers.ToFile(group.members);
}

}  // namespace

Placement::Placement(const Rules& rules, const BackoffOptions& backoff, bool pop_from_backoff,
                     QueueObservers observers)
    : rules_(rules),
      pop_from_backoff_(pop_from_backoff),
      observers_(std::move(observers)),
      backoff_(backoff),
      stores_(NewStores()) {}

PodStores Placement::NewStores() const {
  return PodStores(
      QueueSort(rules_.profiles), backoff_,
      [&rules = rules_](const framework::QueuedPod& pod) { return rules.requeue.PluginsOf(pod); });
}

void Placement::StartAnew(Duration backoff_initial, Duration backoff_max) {
  backoff_.initial = backoff_initial;
  backoff_.max = backoff_max;
  stores_ = NewStores();
}

EventEffect& Placement::EffectOf(std::string_view label) {
  const auto it = stats_.effects.find(label);
  return it != stats_.effects.end()
             ? it->second
             : stats_.effects.emplace(std::string(label), EventEffect()).first->second;
}

// Labels come in runs and are few, so that they can be kept as symbols.
void Placement::NoteMoved(Record& record, std::string_view label) {
  if (label != last_label_) {
    last_label_ = label;
    last_label_symbol_ = Symbol(label);
  }
  record.moved_by = last_label_symbol_;
}

void Placement::Tell(const Record& record) const {
  if (!observers_.moved) return;
  const Symbol plugin = record.woken_by == record.moved_by ? record.woken_plugin : Symbol();
  const auto tell = [&](const Record& of) {
    observers_.moved({.pod = *of.pod->pod(),
                      .store = of.store,
                      .gated = of.gated,
                      .event = record.moved_by,
                      .plugin = plugin});
  };
  if (record.kind != RecordKind::kGroup) return tell(record);
  for (const MemberRecord* member : static_cast<const GroupRecord&>(record).members) tell(*member);
}

void Placement::NoteWoken(Record& record, std::string_view label, const Answer& answer) {
  NoteMoved(record, label);
  record.woken_by = record.moved_by;
  record.woken_plugin = answer.plugin;
}

// Without a strategy the pod goes to the active heap unless it is gated.
void Placement::Place(Record& record, std::optional<Strategy> strategy, std::string_view label,
                      Counting counting) {
  const auto counted = counting == Counting::kAll ? std::nullopt : strategy;
  if (strategy == Strategy::kSkip) {
    PutUnschedulable(record, counted, label);
    return;
  }
  const bool backing_off = strategy == Strategy::kAfterBackoff &&
                           IsBackingOff(backoff_, record.entity(), rules_.clock.Now());
  // With popping from backoff a pod there is as good as active, so it has to pass PreEnqueue first.
  if (backing_off && !pop_from_backoff_) {
    PutBackoff(record, counted, label);
    return;
  }
  if (!RunPreEnqueue(record)) {
    PutUnschedulable(record, counted, label);
  } else if (backing_off) {
    PutBackoff(record, counted, label);
  } else {
    PutActive(record, counted, label);
  }
}

void Placement::NoteUnasked(MemberRecord& member) {
  KS_CHECK(member.group != nullptr, "a member is asked for a group that it is not in");
  member.group->answers.NoteUnasked(member);
}

bool Placement::GateChangesAlone(const api::Pod& pod) const {
  const auto profile = rules_.profiles.find(pod.spec->scheduler_name.view());
  if (profile == rules_.profiles.end()) return false;
  const ProfileHooks& hooks = profile->second;
  return hooks.pre_enqueue && (!hooks.gate_changes_alone || hooks.gate_changes_alone(pod));
}

void Placement::Put(Record& record, Store store) {
  record.arriving = false;
  GroupRecord* const group = AsGroup(record);
  if (group == nullptr) {
    stores_.Put(record, store);
    return;
  }
  const std::vector<MemberRecord*>& moving = MembersToPut(*group, store);
  stores_.Put(record, store);
  for (MemberRecord* member : moving) stores_.Put(*member, store);
  group->answers.NoteFiled();
}

void Placement::PutBackoff(Record& record, std::optional<Strategy> strategy,
                           std::string_view label) {
  const Store store =
      record.entity().HasRejectingPlugins() ? Store::kBackoff : Store::kErrorBackoff;
  Put(record, store);
  NoteMoved(record, label);
  CountArrival(record, store, strategy, label);
  Tell(record);
  KS_LOG(5, "Entity moved to an internal scheduling queue",
         {{"type", EntityType(record)},
          {"entity", EntityName(record)},
          {"event", label},
          {"queue", StoreLogName(store)}});
}

void Placement::PutActive(Record& record, std::optional<Strategy> strategy,
                          std::string_view label) {
  const auto start_clock = [now = rules_.clock.Now()](framework::QueuedEntity& entity) {
    if (!entity.initial_attempt_timestamp) entity.initial_attempt_timestamp = now;
  };
  start_clock(record.entity());
  if (GroupRecord* group = AsGroup(record)) {
    for (MemberRecord* member : MembersToPut(*group, Store::kActive)) start_clock(*member->pod);
  }
  Put(record, Store::kActive);
  NoteMoved(record, label);
  CountArrival(record, Store::kActive, strategy, label);
  Tell(record);
  KS_LOG(5, "Entity moved to an internal scheduling queue",
         {{"type", EntityType(record)},
          {"entity", EntityName(record)},
          {"event", label},
          {"queue", StoreLogName(Store::kActive)}});
}

// A pod that is in the map already only gets its present state noted: no arrival.
void Placement::PutUnschedulable(Record& record, std::optional<Strategy> strategy,
                                 std::string_view label) {
  const bool arrives = record.store != Store::kUnschedulable || record.arriving;
  Put(record, Store::kUnschedulable);
  if (!arrives) return;
  NoteMoved(record, label);
  CountArrival(record, Store::kUnschedulable, strategy, label);
  Tell(record);
  if (record.gated) {
    KS_LOG(5, "Entity moved to an internal scheduling queue, because it is gated",
           {{"type", EntityType(record)},
            {"entity", EntityName(record)},
            {"event", label},
            {"queue", StoreLogName(Store::kUnschedulable)}});
  }
}

bool Placement::RunPreEnqueue(Record& record) {
  GroupRecord* const group = AsGroup(record);
  return group == nullptr ? RunPreEnqueue(*record.pod) : AskGroup(*group);
}

bool Placement::AskGroup(GroupRecord& group) {
  Symbol& gate = group.group->gating_plugin;
  const Symbol former = gate;
  const MemberRecord* const spokesman = AskOneForAll(group);
  const auto& asked = spokesman == nullptr ? group.members : group.answers.unasked();
  for (MemberRecord* member : asked) RunPreEnqueue(*member->pod);

  const Symbol common = (spokesman == nullptr ? asked.front() : spokesman)->pod->gating_plugin;
  gate = common;
  bool alike = true;
  for (const MemberRecord* member : asked) {
    if (gate.empty()) gate = member->pod->gating_plugin;
    if (member->pod->gating_plugin != common) alike = false;
  }
  group.answers.NoteAsked({.everybody = spokesman == nullptr || gate != former, .alike = alike});
  if (gate.empty()) return true;
  group.group->was_flushed_from_unschedulable = false;
  return false;
}

// Asks one of the members that were asked before. Null: all of them have to be.
const MemberRecord* Placement::AskOneForAll(GroupRecord& group) {
  if (!group.answers.OneSpeaksForAll()) return nullptr;
  const auto known = std::find_if(group.members.begin(), group.members.end(),
                                  [](const MemberRecord* member) { return !member->unasked; });
  if (known == group.members.end()) return nullptr;
  framework::QueuedPod& pod = *(*known)->pod;
  const Symbol former = pod.gating_plugin;
  RunPreEnqueue(pod);
  return pod.gating_plugin == former ? *known : nullptr;
}

// False when a plugin gates the pod, which then counts as rejected by it.
bool Placement::RunPreEnqueue(framework::QueuedPod& pod) {
  const std::string_view profile_name = pod.pod()->spec->scheduler_name.view();
  const auto profile = rules_.profiles.find(profile_name);
  if (profile == rules_.profiles.end() || !profile->second.pre_enqueue) {
    pod.gating_plugin = {};
    return true;
  }
  const TimePoint start = observers_.pre_enqueue ? rules_.clock.Now() : TimePoint();
  const framework::Status status =
      profile->second.pre_enqueue(*pod.pod(), pod.gating_plugin.view());
  if (observers_.pre_enqueue) observers_.pre_enqueue(profile_name, rules_.clock.Now() - start);
  if (status.ok()) {
    pod.gating_plugin = {};
    return true;
  }
  if (status.IsRejected()) {
    KS_LOG(4, "Status after running PreEnqueue plugin",
           {{"pod", pod.pod()->meta.Key()},
            {"plugin", status.plugin()},
            {"status", status.Message()}});
  } else {
    log::Error(status.Message(), "Unexpected error running PreEnqueue plugin",
               {{"pod", pod.pod()->meta.Key()}, {"plugin", status.plugin()}});
  }
  pod.was_flushed_from_unschedulable = false;
  // The gate that held it before is among its plugins.
  if (pod.gating_plugin == status.plugin()) return false;
  const std::string plugin(status.plugin());
  pod.gating_plugin = Symbol(plugin);
  const bool known = pod.pending_plugins.contains(plugin);
  if (pod.unschedulable_plugins.Insert(plugin) && !known) {
    ++stats_.unschedulable_pods[{plugin, std::string(profile_name)}];
  }
  return false;
}

void Placement::CountArrival(const Record& record, Store store, std::optional<Strategy> strategy,
                             std::string_view label) {
  StoreArrivals& arrivals = stats_.Of(store);
  Increase(arrivals.pods, label, record.entity().PodCount());
  (record.kind == RecordKind::kGroup ? arrivals.of_groups : arrivals.of_pods) = true;
  if (strategy.has_value() && IsOwnStore(*strategy, store)) return;
  Increase(record.kind == RecordKind::kGroup ? arrivals.groups : arrivals.entities, label);
}

void Placement::CountPopFromBackoff() {
  Increase(stats_.active.pods, framework::kLabelPopFromBackoffQ);
  Increase(stats_.active.entities, framework::kLabelPopFromBackoffQ);
  stats_.active.of_pods = true;
}

void Placement::CountUnschedulable(const framework::QueuedPod& pod, int64_t by) {
  if (!pod.HasRejectingPlugins()) return;
  const std::string profile(pod.pod()->spec->scheduler_name.view());
  for (const std::string& plugin : pod.unschedulable_plugins) {
    stats_.unschedulable_pods[{plugin, profile}] += by;
  }
  for (const std::string& plugin : pod.pending_plugins) {
    if (pod.unschedulable_plugins.contains(plugin)) continue;
    stats_.unschedulable_pods[{plugin, profile}] += by;
  }
}

}  // namespace ks::queue
