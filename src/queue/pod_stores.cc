// SPDX-License-Identifier: Apache-2.0
#include "queue/pod_stores.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "queue/large_pods.h"

namespace ks::queue {
namespace {

// Whether its place in the unschedulable map is right still.
bool StaysParked(const Record& record) {
  return record.kind == RecordKind::kGroup || IsOf(record.parked->bucket->group->rejection, record);
}

// A large pod, or a group with one.
bool HoldsLarge(const Record& record) {
  if (record.kind == RecordKind::kMember) return false;  // its group is asked
  if (record.kind == RecordKind::kPod) return IsLarge(*record.pod->pod()->spec);
  const std::vector<MemberRecord*>& members = static_cast<const GroupRecord&>(record).members;
  return std::any_of(members.begin(), members.end(),
                     [](const MemberRecord* member) { return IsLarge(*member->pod->pod()->spec); });
}

// The pod, or the members of the group.
void VisitPods(Record& record, const std::function<void(const Record& record)>& visit) {
  const GroupRecord* group = AsGroup(record);
  if (group == nullptr) {
    visit(record);
    return;
  }
  for (const MemberRecord* member : group->members) visit(*member);
}

}  // namespace

std::string_view StoreLogName(Store store) {
  switch (store) {
    case Store::kActive:
      return "Active";
    case Store::kBackoff:
    case Store::kErrorBackoff:
      return "Backoff";
    case Store::kUnschedulable:
      return "Unschedulable";
    case Store::kIncomplete:
    case Store::kPending:
    case Store::kNone:
      break;
  }
  return {};
}

std::string_view StorePlace(Store store) {
  switch (store) {
    case Store::kActive:
      return "the active queue";
    case Store::kBackoff:
    case Store::kErrorBackoff:
      return "the backoff queue";
    default:
      return "unschedulable queue";
  }
}

std::string_view EntityType(const Record& record) {
  return record.kind == RecordKind::kGroup ? "podgroup" : "pod";
}

std::string EntityName(const Record& record) {
  if (record.kind != RecordKind::kGroup) return record.pod->pod()->meta.Key();
  return static_cast<const GroupRecord&>(record).group->root().Name();
}

ActiveHeaps::ActiveHeaps(const Less& less)
    : less_(less),
      large_([less](const Record& a, const Record& b) { return less(a.entity(), b.entity()); }),
      others_([less](const Record& a, const Record& b) { return less(a.entity(), b.entity()); }) {}

Record* ActiveHeaps::Top() const {
  Record* large = large_.Top();
  Record* other = others_.Top();
  if (large == nullptr || other == nullptr) return large == nullptr ? other : large;
  return less_(large->entity(), other->entity()) ? large : other;
}

Record* ActiveHeaps::TopSparing() const {
  Record* other = others_.Top();
  Record* top = Top();
  if (other == nullptr || top == other) return top;
  return other->entity().Priority() >= top->entity().Priority() ? other : top;
}

PodStores::PodStores(const Less& less, const BackoffOptions& backoff,
                     ParkedPods::PluginsOf plugins_of)
    : active_(less),
      backoff_([less, backoff](const Record& a, const Record& b) {
        const TimePoint end_a = BackoffExpiration(backoff, a.entity());
        const TimePoint end_b = BackoffExpiration(backoff, b.entity());
        return end_a != end_b ? end_a < end_b : less(a.entity(), b.entity());
      }),
      error_backoff_([backoff](const Record& a, const Record& b) {
        return BackoffExpiration(backoff, a.entity()) < BackoffExpiration(backoff, b.entity());
      }),
      unschedulable_(std::move(plugins_of)) {}

Record* PodStores::Find(const Symbol& ns, std::string_view name) {
  const auto it = records_.find(Key{ns, name});
  return it == records_.end() ? nullptr : it->get();
}

const Record* PodStores::Find(const Symbol& ns, std::string_view name) const {
  const auto it = records_.find(Key{ns, name});
  return it == records_.end() ? nullptr : it->get();
}

Record& PodStores::Create(framework::QueuedPodPtr pod) {
  if (Record* known = Find(pod->pod()->meta)) {
    const bool parked = known->parked != nullptr;
    if (parked) unschedulable_.Remove(*known);
    known->pod = std::move(pod);
    known->woken_by = known->woken_plugin = {};
    if (parked) unschedulable_.Add(*known);
    return *known;
  }
  Owned record(new Record());
  record->pod = std::move(pod);
  return **records_.insert(std::move(record)).first;
}

MemberRecord& PodStores::CreateMember(framework::QueuedPodPtr pod) {
  auto record = std::make_unique<MemberRecord>();
  record->kind = RecordKind::kMember;
  record->pod = std::move(pod);
  MemberRecord& member = *record;
  const bool inserted = records_.insert(Owned(record.release())).second;
  KS_CHECK(inserted, "a member is stored twice");
  return member;
}

void PodStores::Erase(Record& record) {
  KS_CHECK(&EntityOf(record) == &record, "a member is erased from within its group");
  Detach(record);
  const auto found = records_.find(KeyOf(record));
  KS_CHECK(found != records_.end() && found->get() == &record, "a record is erased twice");
  records_.erase(found);
}

void PodStores::SetPod(Record& record, const api::PodPtr& pod) {
  KS_CHECK((KeyOf(record) == Key{pod->meta.ns, pod->meta.name}),
           "a record is given a pod of another name");
  if (record.parked == nullptr) {
    record.pod->set_pod(pod);
    if (IndexedHeap<Record>* heap = HeapOf(record, record.store)) heap->Fix(&record);
    return;
  }
  unschedulable_.Remove(record);
  record.pod->set_pod(pod);
  unschedulable_.Add(record);
}

void PodStores::Put(Record& record, Store store) {
  KS_CHECK(store != Store::kNone, "a pod is put into no store");
  if (record.store == store && store != Store::kUnschedulable) {
    if (IndexedHeap<Record>* heap = HeapOf(record, store)) heap->Fix(&record);
    return;
  }
  if (record.store == store && StaysParked(record)) {
    SetGated(record, !EntityOf(record).entity().gating_plugin.empty());
    return;
  }
  Detach(record);
  record.store = store;
  if (store == Store::kActive) record.large = HoldsLarge(record);
  Count(record, true);
  if (std::vector<Record*>* list = ListOf(record, store)) {
    record.index = static_cast<uint32_t>(list->size());
    list->push_back(&record);
  } else if (IndexedHeap<Record>* heap = HeapOf(record, store)) {
    heap->Push(&record);
  } else if (store == Store::kUnschedulable) {
    unschedulable_.Add(record);
  }
  if (store == Store::kUnschedulable) {
    SetGated(record, !EntityOf(record).entity().gating_plugin.empty());
  }
}

void PodStores::Detach(Record& record) {
  if (GroupRecord* group = AsGroup(record)) {
    for (MemberRecord* member : group->members) DetachOne(*member);
  }
  DetachOne(record);
}

void PodStores::DetachOne(Record& record) {
  const Store store = record.store;
  if (store == Store::kNone) return;
  SetGated(record, false);
  if (std::vector<Record*>* list = ListOf(record, store)) {
    (*list)[record.index] = list->back();
    (*list)[record.index]->index = record.index;
    list->pop_back();
  } else if (IndexedHeap<Record>* heap = HeapOf(record, store)) {
    heap->Remove(&record);
  } else if (store == Store::kUnschedulable) {
    unschedulable_.Remove(record);
  }
  Count(record, false);
  record.store = Store::kNone;
}

// Null: the record is in no heap there.
IndexedHeap<Record>* PodStores::HeapOf(const Record& record, Store store) {
  if (record.kind == RecordKind::kMember) return nullptr;
  if (store == Store::kActive) return &active_.Of(record);
  if (store == Store::kBackoff) return &backoff_;
  return store == Store::kErrorBackoff ? &error_backoff_ : nullptr;
}

// Null: the record is in no list there.
std::vector<Record*>* PodStores::ListOf(const Record& record, Store store) {
  if (store == Store::kIncomplete) return &incomplete_;
  if (store == Store::kPending) return &pending_;
  const bool parked_group = store == Store::kUnschedulable && record.kind == RecordKind::kGroup;
  return parked_group ? &parked_groups_ : nullptr;
}

void PodStores::Count(const Record& record, bool arrives) {
  if (record.kind == RecordKind::kPod) return;  // counted by its store
  Sizes& sizes = record.kind == RecordKind::kGroup ? groups_ : members_;
  sizes.in[static_cast<size_t>(record.store)] += arrives ? 1 : size_t(-1);
}

void PodStores::SetGated(Record& record, bool gated) {
  if (record.gated == gated) return;
  record.gated = gated;
  const size_t by = gated ? 1 : size_t(-1);
  if (record.kind != RecordKind::kGroup) gated_count_ += by;
  if (record.kind == RecordKind::kGroup) groups_.gated += by;
  if (record.kind == RecordKind::kMember) members_.gated += by;
}

const Record* PodStores::Find(std::string_view pod_key) const {
  const size_t slash = pod_key.find('/');
  if (slash == std::string_view::npos) return Find(Symbol(), pod_key);
  return Find(Symbol(pod_key.substr(0, slash)), pod_key.substr(slash + 1));
}

Store PodStores::StoreOf(std::string_view pod_key) const {
  const Record* record = Find(pod_key);
  return record == nullptr ? Store::kNone : record->store;
}

void PodStores::ForEachIn(Store store,
                          const std::function<void(const Record& record)>& visit) const {
  std::span<Record* const> records;
  std::span<Record* const> more;
  if (store == Store::kActive) records = active_.others();
  if (store == Store::kActive) more = active_.large();
  if (store == Store::kBackoff) records = backoff_.items();
  if (store == Store::kErrorBackoff) records = error_backoff_.items();
  if (store == Store::kUnschedulable) unschedulable_.ForEach(visit);
  if (store == Store::kIncomplete) records = incomplete_;
  if (store == Store::kPending) records = pending_;
  for (const std::span<Record* const> each : {records, more}) {
    for (Record* record : each) VisitPods(*record, visit);
  }
}

std::vector<framework::QueuedPodPtr> PodStores::PodsIn(Store store) const {
  std::vector<framework::QueuedPodPtr> pods;
  ForEachIn(store, [&pods](const Record& record) { pods.push_back(record.pod); });
  return pods;
}

void PodStores::ForEach(const std::function<void(const Record& record)>& visit) const {
  for (const Store store : {Store::kActive, Store::kBackoff, Store::kErrorBackoff,
                            Store::kUnschedulable, Store::kIncomplete, Store::kPending}) {
    ForEachIn(store, visit);
  }
}

std::vector<api::PodPtr> PodStores::Pods() const {
  std::vector<api::PodPtr> pods;
  pods.reserve(size());
  ForEach([&pods](const Record& record) { pods.push_back(record.pod->pod()); });
  return pods;
}

std::string PendingCounts::Summary() const {
  std::string text = "activeQ:" + std::to_string(active) + "; backoffQ:" + std::to_string(backoff) +
                     "; unschedulableEntities:" + std::to_string(unschedulable + gated);
  if (!has_groups) return text;
  return text + "; pendingPodGroupMemberPods:" + std::to_string(pending) +
         "; incompletePodGroupPods:" + std::to_string(incomplete);
}

PendingCounts::Groups PodStores::Sizes::Counts() const {
  const auto of = [this](Store store) { return in[static_cast<size_t>(store)]; };
  return {.active = of(Store::kActive),
          .backoff = of(Store::kBackoff) + of(Store::kErrorBackoff),
          .unschedulable = of(Store::kUnschedulable) - gated,
          .gated = gated};
}

PendingCounts PodStores::Counts() const {
  const PendingCounts::Groups groups = groups_.Counts();
  const PendingCounts::Groups members = members_.Counts();
  // In the heaps groups stand for their members; in the map it is the other way round.
  return {.active = active_.size() - groups.active + members.active,
          .backoff = backoff_.size() + error_backoff_.size() - groups.backoff + members.backoff,
          .unschedulable = unschedulable_.size() - gated_count_,
          .gated = gated_count_,
          .incomplete = incomplete_.size(),
          .pending = pending_.size(),
          .groups = groups,
          .members = members};
}

}  // namespace ks::queue
