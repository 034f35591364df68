// SPDX-License-Identifier: Apache-2.0
#include "queue/scheduling_queue.h"

#include <algorithm>
#include <utility>

#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "queue/return_decision.h"

namespace ks::queue {
namespace {

using framework::ClusterEvent;
using framework::EventObject;
using framework::EventResource;
using framework::QueuedPod;
using framework::QueuedPodPtr;

constexpr Duration kLeftoverFlushPeriod = std::chrono::seconds(30);

constexpr ClusterEvent kForceActivate{.custom_label = framework::kLabelForceActivate};

constexpr framework::ClusterEvent kUnschedulableTimeout{.custom_label =
                                                            framework::kLabelUnschedulableTimeout};
constexpr framework::ClusterEvent kConfigurationReload{.custom_label =
                                                           framework::kLabelConfigurationReload};

// A member of a group, if there are groups.
bool IsMember(const GroupQueue* groups, const api::Pod& pod) {
  return groups != nullptr && GroupQueue::IsMember(pod);
}

// The record is that of a pod or a member.
void Forget(PodStores& stores, GroupQueue* groups, Record& record) {
  if (MemberRecord* member = AsMember(record)) {
    groups->Remove(*member);
  } else {
    stores.Erase(record);
  }
}

// The attempt has failed: what the pod remembers of it, apart from the plugins.
void NoteFailure(QueuedPod& pod, TimePoint now) {
  if (pod.HasRejectingPlugins()) {
    ++pod.unschedulable_count;
    pod.consecutive_errors_count = 0;
  } else {
    ++pod.consecutive_errors_count;
  }
  pod.timestamp = now;
  pod.backoff_expiration.reset();
  pod.was_flushed_from_unschedulable = false;
  pod.flush_timestamp.reset();
}

// The pod's own change may be what it waits for.
void UpdateParked(RequeueRules& rules, Placement& placement, Record& record,
                  const api::PodPtr& old_pod, const api::PodPtr& new_pod) {
  for (const ClusterEvent& event :
       framework::PodUpdateEvents(*old_pod, *new_pod, EventResource::kTargetPod)) {
    if (KS_CANARY_UNHEARD(event.Label())) continue;
    EventEffect& effect = placement.EffectOf(event.Label());
    ++effect.events;
    effect.hint_runs -= rules.hint_runs();
    const EventObject old_object = old_pod;
    const EventObject new_object = new_pod;
    const Answer answer = DecideFor(rules, record, {event, old_object, new_object});
    effect.hint_runs += rules.hint_runs();
    if (answer.strategy == Strategy::kSkip) {
      KS_LOG(
          5, "Event is not making entity schedulable",
          {{"type", EntityType(record)}, {"entity", EntityName(record)}, {"event", event.Label()}});
      continue;
    }
    placement.NoteWoken(record, event.Label(), answer);
    placement.Place(record, answer.strategy, event.Label());
    if (record.store == Store::kUnschedulable) continue;
    effect.woken += static_cast<int64_t>(record.entity().PodCount());
    KS_LOG(5, "Entity moved to an internal scheduling queue because the Pod is updated",
           {{"type", EntityType(record)},
            {"entity", EntityName(record)},
            {"pod", new_pod->meta.Key()},
            {"event", event.Label()},
            {"queue", StoreLogName(record.store)}});
    return;
  }
}

// A member that waits aside for its group is passed over.
void ActivateEntity(Placement& placement, Record& entity, bool pop_from_backoff) {
  if (entity.store == Store::kActive || entity.kind == RecordKind::kMember) return;
  const bool passed_pre_enqueue = entity.store != Store::kUnschedulable && pop_from_backoff;
  if (passed_pre_enqueue || placement.RunPreEnqueue(entity)) {
    placement.PutActive(entity, std::nullopt, framework::kLabelForceActivate);
  } else {
    placement.PutUnschedulable(entity, std::nullopt, framework::kLabelForceActivate);
  }
  KS_CHECK(entity.store == Store::kActive || entity.gated, "a pod was not activated");
}

}  // namespace

SchedulingQueue::SchedulingQueue(SchedulingQueueOptions options)
    : clock_(*options.clock),
      unschedulable_max_(options.unschedulable_max),
      pop_from_backoff_(options.pop_from_backoff),
      hint_observer_(std::move(options.observers.hint)),
      rules_(clock_, std::move(options.profiles), hint_observer_, options.groups),
      placement_(rules_,
                 {.initial = options.backoff_initial,
                  .max = options.backoff_max,
                  .one_second_windows = options.pop_from_backoff},
                 options.pop_from_backoff, std::move(options.observers)),
      stores_(placement_.stores()),
      nominator_({.informer = std::move(options.informer),
                  .stored = [this](const api::Pod& pod) -> api::PodPtr {
                    const Record* record = stores_.Find(pod.meta);
                    return record == nullptr ? nullptr : record->pod->pod();
                  }}) {
  if (options.groups == nullptr) return;
  groups_ = std::make_unique<GroupQueue>(GroupQueue::Parts{.clock = clock_,
                                                           .placement = placement_,
                                                           .in_flight = in_flight_,
                                                           .nominator = nominator_,
                                                           .states = *options.groups});
}

SchedulingQueue::~SchedulingQueue() = default;

void SchedulingQueue::Add(const api::PodPtr& pod) {
  KS_CHECK(!rules_.profiles.empty(), "a pod comes before the profiles");
  auto queued = std::make_shared<QueuedPod>(pod);
  last_add_ = std::max(clock_.Now(), last_add_ + Duration(1));
  queued->timestamp = last_add_;
  nominator_.AddNominatedPod(pod, std::nullopt);
  const bool is_member = IsMember(groups_.get(), *pod);
  if (Record* known = stores_.Find(pod->meta)) {
    placement_.CountUnschedulable(*known->pod, -1);
    if (is_member || known->kind == RecordKind::kMember) Forget(stores_, groups_.get(), *known);
  }
  if (is_member) {
    groups_->Add(std::move(queued));
  } else {
    placement_.Place(stores_.Create(std::move(queued)), std::nullopt,
                     framework::kLabelUnscheduledPodAdd);
  }
  nominator_.PodStored(pod);
  KS_DCHECK(stores_.StoreOf(pod->meta.Key()) != Store::kNone, "an added pod is in no store");
}

// By value: the store's own pointer becomes the new pod on the way.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
void SchedulingQueue::Update(api::PodPtr old_pod, const api::PodPtr& new_pod) {
  if (in_flight_.Contains(new_pod->meta.uid)) {
    KS_LOG(6,
           "The pod doesn't need to be queued for now because it's being scheduled and will be "
           "queued back if necessary",
           {{"pod", new_pod->meta.Key()}});
    for (const ClusterEvent& event :
         framework::PodUpdateEvents(*old_pod, *new_pod, EventResource::kTargetPod)) {
      in_flight_.AddEvent({.event = event, .old_object = old_pod, .new_object = new_pod});
    }
    return;
  }
  Record* record = stores_.Find(new_pod->meta);
  if (record == nullptr) {
    Add(new_pod);
    return;
  }
  const api::PodPtr stored = record->pod->pod();
  const bool other_group = groups_ != nullptr && !GroupQueue::SameGroup(*stored, *new_pod);
  if (stored->meta.uid != new_pod->meta.uid || other_group) {
    // Deleted and created again: the old record must not stay behind anywhere.
    log::Error("pod UID mismatch, expected " + stored->meta.uid + ", got " + new_pod->meta.uid,
               "Failed to update pod in an entity",
               {{"type", "pod"}, {"entity", record->pod->Key()}, {"pod", new_pod->meta.Key()}});
    Delete(*stored);
    Add(new_pod);
    return;
  }
  KS_CHECK(old_pod->meta.name == new_pod->meta.name, "an update is that of another pod");
  stores_.SetPod(*record, new_pod);
  if (&EntityOf(*record) != record) Placement::NoteUnasked(*AsMember(*record));
  nominator_.Update(*old_pod, new_pod);
  nominator_.PodStored(new_pod);
  if (record->store == Store::kUnschedulable) {
    UpdateParked(rules_.requeue, placement_, EntityOf(*record), old_pod, new_pod);
  }
  KS_CHECK(record->store != Store::kNone && record->pod->pod() == new_pod,
           "an updated pod is not stored as it is now");
}

void SchedulingQueue::Delete(const api::Pod& pod) {
  nominator_.DeleteNominatedPodIfExists(pod);
  Record* record = stores_.Find(pod.meta);
  if (record == nullptr) return;
  placement_.CountUnschedulable(*record->pod, -1);
  Forget(stores_, groups_.get(), *record);
  KS_DCHECK(stores_.Find(pod.meta) == nullptr, "a deleted pod is in no store");
}

Popped SchedulingQueue::Pop() {
  for (;;) {
    Record* record =
        large_turns_.MayBegin(clock_) ? stores_.Active().Top() : stores_.Active().TopSparing();
    const bool from_backoff = record == nullptr && pop_from_backoff_;
    if (from_backoff) record = stores_.BackoffTop();
    if (record == nullptr) return {};
    Popped popped;
    if (record->store == Store::kActive && record->large) large_turns_.Begin(clock_.Now());
    if (GroupRecord* group = AsGroup(*record)) {
      popped.group = groups_->Take(*group);
    } else {
      popped.pod = Take(*record);
    }
    if (!popped) continue;
    ++scheduling_cycle_;
    if (from_backoff) placement_.CountPopFromBackoff();
    return popped;
  }
}

// Out of its store and into flight; null: it is there already.
QueuedPodPtr SchedulingQueue::Take(Record& record) {
  QueuedPodPtr pod = record.pod;
  const WokenBy woken{.event = record.woken_by, .plugin = record.woken_plugin};
  stores_.Erase(record);
  KS_DCHECK(stores_.Find(pod->pod()->meta) == nullptr, "a popped pod is in no store");
  nominator_.PodLeft(*pod->pod());
  if (groups_ != nullptr) groups_->ForgetLastPopped();
  ++pod->attempts;
  if (!in_flight_.AddPod(pod->pod(), woken)) {
    const std::string key = pod->pod()->meta.Key();
    log::Error("the same pod is tracked in multiple places in the scheduler: " + key,
               "Discarding the popped entity", {{"type", "pod"}, {"entity", key}});
    return nullptr;
  }
  placement_.CountUnschedulable(*pod, -1);
  return pod;
}

void SchedulingQueue::Done(std::string_view uid) {
  in_flight_.Done(uid);
  KS_DCHECK(!in_flight_.Contains(uid), "a pod is in flight after its end");
}

Result<void> SchedulingQueue::AddUnschedulableIfNotPresent(const QueuedPodPtr& pod) {
  const std::string uid = pod->pod()->meta.uid;
  const bool is_member = IsMember(groups_.get(), *pod->pod());
  if (groups_ != nullptr && !is_member) groups_->ForgetLastPopped();
  if (const Record* present = stores_.Find(pod->pod()->meta)) {
    in_flight_.Done(uid);
    return Error{"Pod " + pod->pod()->meta.Key() + " is already present in " +
                 std::string(StorePlace(present->store))};
  }
  NoteFailure(*pod, clock_.Now());
  placement_.CountUnschedulable(*pod, 1);
  if (is_member) {
    in_flight_.Done(uid);
    groups_->Add(pod);
    nominator_.PodStored(pod->pod());
    return {};
  }

  const ReturnDecision decision = DecideOnReturn(rules_.requeue, in_flight_, *pod);
  const Strategy strategy = decision.answer.strategy;
  Record& record = stores_.Create(pod);
  const WokenBy woken = in_flight_.WokenOf(uid);
  record.woken_by = woken.event;
  record.woken_plugin = woken.plugin;
  if (!decision.event.empty()) placement_.NoteWoken(record, decision.event, decision.answer);
  placement_.Place(record, strategy, framework::kLabelScheduleAttemptFailure);
  KS_LOG(3, "Pod moved to an internal scheduling queue",
         {{"pod", pod->pod()->meta.Key()},
          {"event", framework::kLabelScheduleAttemptFailure},
          {"queue", StoreLogName(record.store)},
          {"schedulingCycle", scheduling_cycle_},
          {"hint", static_cast<int>(strategy)},
          {"unschedulable plugins", PluginsText(*pod)}});
  in_flight_.Done(uid);
  nominator_.PodStored(pod->pod());
  KS_CHECK(record.store != Store::kNone, "a pod that came back is in no store");
  return {};
}

void SchedulingQueue::LookAgain(const api::PodPtr& pod, std::string_view label) {
  KS_CHECK(!label.empty(), "an event without a name");
  Record* record = stores_.Find(pod->meta);
  if (record == nullptr) {
    if (!in_flight_.Contains(pod->meta.uid)) return;
    in_flight_.AddEvent({.event = {.custom_label = label}, .old_object = {}, .new_object = pod});
    return;
  }
  if (record->store != Store::kUnschedulable) return;
  Record& entity = EntityOf(*record);
  EventEffect& effect = placement_.EffectOf(label);
  ++effect.events;
  const Answer answer{.strategy = Strategy::kAfterBackoff};
  placement_.NoteWoken(entity, label, answer);
  placement_.Place(entity, answer.strategy, label);
  if (entity.store != Store::kUnschedulable) {
    effect.woken += static_cast<int64_t>(entity.entity().PodCount());
  }
  KS_CHECK(entity.store != Store::kNone, "a pod that was looked at again is in no store");
}

void SchedulingQueue::Activate(const std::vector<api::PodPtr>& pods) {
  for (const api::PodPtr& pod : pods) {
    if (Record* record = stores_.Find(pod->meta)) {
      ActivateEntity(placement_, EntityOf(*record), pop_from_backoff_);
    } else if (in_flight_.Contains(pod->meta.uid)) {
      in_flight_.AddEvent({.event = kForceActivate, .old_object = {}, .new_object = pod});
    }
  }
}

void SchedulingQueue::ActivateGroup(const framework::PodGroupKey& root) {
  if (groups_ == nullptr) return;
  if (GroupRecord* group = groups_->Find(root)) {
    ActivateEntity(placement_, *group, pop_from_backoff_);
  }
  const bool tells = groups_->last_popped() == root && !in_flight_.empty() &&
                     !in_flight_.EndsWith(framework::kLabelForceActivate);
  if (!tells) return;
  in_flight_.AddEvent({.event = kForceActivate, .old_object = {}, .new_object = {}});
}

PendingCounts SchedulingQueue::pending() const {
  PendingCounts counts = stores_.Counts();
  counts.has_groups = groups_ != nullptr;
  return counts;
}

void SchedulingQueue::StartTimers() {
  KS_CHECK(!closed_, "a closed queue has no timers");
  next_leftover_flush_ = clock_.Now();
}

std::optional<TimePoint> SchedulingQueue::NextTimer() const {
  if (!next_leftover_flush_.has_value()) return std::nullopt;
  TimePoint next = *next_leftover_flush_;
  for (const Record* head : {stores_.BackoffTop(), stores_.ErrorBackoffTop()}) {
    if (head == nullptr) continue;
    // Flushes come at whole seconds, and the second in which a backoff ends still counts.
    const TimePoint end = BackoffExpiration(placement_.backoff(), head->entity());
    next = std::min<TimePoint>(
        next, std::chrono::floor<std::chrono::seconds>(end) + std::chrono::seconds(1));
  }
  return next;
}

void SchedulingQueue::RunTimers() {
  if (!next_leftover_flush_.has_value()) return;
  FlushBackoffCompleted();
  if (clock_.Now() < *next_leftover_flush_) return;
  FlushUnschedulableLeftover();
  next_leftover_flush_ = clock_.Now() + kLeftoverFlushPeriod;
  KS_CHECK(*next_leftover_flush_ > clock_.Now(), "the next flush lies in the past");
}

void SchedulingQueue::FlushBackoffCompleted() {
  const TimePoint now = clock_.Now();
  for (const Store store : {Store::kBackoff, Store::kErrorBackoff}) {
    if (KS_CANARY(BackoffTimerLost) && store == Store::kErrorBackoff) return;
    for (;;) {
      Record* head = store == Store::kBackoff ? stores_.BackoffTop() : stores_.ErrorBackoffTop();
      if (head == nullptr || IsBackingOff(placement_.backoff(), head->entity(), now)) break;
      if (pop_from_backoff_ || placement_.RunPreEnqueue(*head)) {
        placement_.PutActive(*head, std::nullopt, framework::kLabelBackoffComplete);
      } else {
        placement_.PutUnschedulable(*head, std::nullopt, framework::kLabelBackoffComplete);
      }
    }
  }
}

void SchedulingQueue::Close() {
  in_flight_.Clear();
  KS_CHECK(in_flight_.empty(), "a closed queue has pods in flight");
  closed_ = true;
  next_leftover_flush_.reset();
  KS_LOG(2, "Scheduling queue is closed");
}

void SchedulingQueue::MoveAllToActiveOrBackoff(const framework::ClusterEvent& event,
                                               const framework::EventObject& old_object,
                                               const framework::EventObject& new_object,
                                               const PreCheck& precheck) {
  if (!rules_.requeue.IsInteresting(event)) return;
  if (KS_CANARY_UNHEARD(event.Label())) return;
  const EventWithObjects whole{event, old_object, new_object};
  const int64_t runs_before = rules_.requeue.hint_runs();
  WakeUp search(rules_.requeue, stores_.Unschedulable(), whole, precheck);
  search.Run();
  PlaceWoken(whole, search.woken(), rules_.requeue.hint_runs() - runs_before);
}

void SchedulingQueue::PlaceWoken(const EventWithObjects& event, const std::vector<Woken>& pods,
                                 int64_t hint_runs) {
  const std::string label = event.event.Label();
  EventEffect& effect = placement_.EffectOf(label);
  ++effect.events;
  effect.hint_runs += hint_runs;
  for (const Woken& woken : pods) {
    placement_.NoteArriving(*woken.record);  // a pod that is gated again arrives anew
    placement_.NoteWoken(*woken.record, label, woken.answer);
    placement_.Place(*woken.record, woken.answer.strategy, label);
    KS_CHECK(!woken.record->arriving, "a pod that was woken was put into no store");
    if (woken.record->store != Store::kUnschedulable) {
      effect.woken += static_cast<int64_t>(woken.record->entity().PodCount());
    }
  }
  if (in_flight_.empty()) return;
  KS_LOG(5, "Event received while entities are in flight", {{"event", label}});
  in_flight_.AddEvent(
      {.event = event.event, .old_object = event.old_object, .new_object = event.new_object});
}

void SchedulingQueue::FlushUnschedulableLeftover() {
  const TimePoint now = clock_.Now();
  const framework::EventObject none;
  const EventWithObjects timeout{kUnschedulableTimeout, none, none};
  const PreCheck all;
  WakeUp search(rules_.requeue, stores_.Unschedulable(), timeout, all);
  const auto look_at = [&](Record& record) {
    framework::QueuedEntity& entity = record.entity();
    const TimePoint since =
        std::max(entity.timestamp, entity.flush_timestamp.value_or(entity.timestamp));
    if (now - since <= unschedulable_max_) return;
    entity.was_flushed_from_unschedulable = true;
    entity.flush_timestamp = now;
    search.WakeOne(record, DecideFor(rules_.requeue, record, timeout));
  };
  stores_.Unschedulable().ForEach([&](Record& record) {
    if (record.kind == RecordKind::kPod) look_at(record);
  });
  for (Record* group : stores_.ParkedGroups()) look_at(*group);
  if (!search.woken().empty()) PlaceWoken(timeout, search.woken(), 0);
}

// A new configuration comes into force: nothing stored or in flight is lost.
void SchedulingQueue::Reconfigure(Settings settings) {
  KS_CHECK(!settings.profiles.empty(), "a queue needs a profile");
  constexpr Store kStores[] = {Store::kActive, Store::kBackoff, Store::kErrorBackoff,
                               Store::kUnschedulable};
  const size_t size = stores_.size();
  if (groups_ != nullptr) groups_->Suspend();
  std::vector<std::pair<framework::QueuedPodPtr, Store>> stored;
  for (const Store store : kStores) {
    for (framework::QueuedPodPtr& pod : stores_.PodsIn(store)) {
      stored.emplace_back(std::move(pod), store);
    }
  }

  rules_.profiles = std::move(settings.profiles);
  rules_.requeue = RequeueRules(rules_.profiles, clock_, hint_observer_, rules_.groups);
  placement_.StartAnew(settings.backoff_initial, settings.backoff_max);

  for (auto& [pod, store] : stored) {
    pod->backoff_expiration.reset();  // by the former backoff times
    const auto strategy = store == Store::kActive ? std::optional<Strategy>()
                                                  : std::optional(Strategy::kAfterBackoff);
    placement_.Place(stores_.Create(std::move(pod)), strategy,
                     framework::kLabelConfigurationReload);
  }
  if (groups_ != nullptr) groups_->Resume();
  KS_CHECK(stores_.size() == size, "a pod was lost in a reconfiguration");
  if (!in_flight_.empty()) in_flight_.AddEvent({.event = kConfigurationReload});
}

}  // namespace ks::queue
