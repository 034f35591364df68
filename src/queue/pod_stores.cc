// SPDX-License-Identifier: Apache-2.0
#include "queue/pod_stores.h"

#include <utility>

#include "base/check.h"

namespace ks::queue {

std::string_view StoreLogName(Store store) {
  switch (store) {
    case Store::kActive:
      return "Active";
    case Store::kBackoff:
    case Store::kErrorBackoff:
      return "Backoff";
    case Store::kUnschedulable:
      return "Unschedulable";
    case Store::kNone:
      break;
  }
  return {};
}

PodStores::PodStores(const Less& less, const BackoffOptions& backoff)
    : active_([less](const Record& a, const Record& b) { return less(*a.pod, *b.pod); }),
      backoff_([less, backoff](const Record& a, const Record& b) {
        const TimePoint end_a = BackoffExpiration(backoff, *a.pod);
        const TimePoint end_b = BackoffExpiration(backoff, *b.pod);
        return end_a != end_b ? end_a < end_b : less(*a.pod, *b.pod);
      }),
      error_backoff_([backoff](const Record& a, const Record& b) {
        return BackoffExpiration(backoff, *a.pod) < BackoffExpiration(backoff, *b.pod);
      }) {}

Record* PodStores::Find(Symbol ns, std::string_view name) {
  const auto it = records_.find(Key{ns, name});
  return it == records_.end() ? nullptr : it->get();
}

const Record* PodStores::Find(Symbol ns, std::string_view name) const {
  const auto it = records_.find(Key{ns, name});
  return it == records_.end() ? nullptr : it->get();
}

Record& PodStores::Create(framework::QueuedPodPtr pod) {
  if (Record* known = Find(pod->pod()->meta)) {
    const bool parked = known->parked != nullptr;
    if (parked) unschedulable_.Remove(*known);
    known->pod = std::move(pod);
    known->woken_by = known->woken_plugin = {};
    if (parked) unschedulable_.Add(*known, ~uint64_t{0});  // new, so any event moves it
    return *known;
  }
  auto record = std::make_unique<Record>();
  record->pod = std::move(pod);
  return **records_.insert(std::move(record)).first;
}

void PodStores::Erase(Record& record) {
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
    Fix(record);
    return;
  }
  const uint64_t plugins = record.parked->bucket->group->plugins;
  unschedulable_.Remove(record);
  record.pod->set_pod(pod);
  unschedulable_.Add(record, plugins);
}

void PodStores::Put(Record& record, Store store, uint64_t plugins) {
  if (record.store == store && store != Store::kUnschedulable) {
    Fix(record);
    return;
  }
  Detach(record);
  record.store = store;
  switch (store) {
    case Store::kActive:
      active_.Push(&record);
      return;
    case Store::kBackoff:
      backoff_.Push(&record);
      return;
    case Store::kErrorBackoff:
      error_backoff_.Push(&record);
      return;
    case Store::kUnschedulable:
      unschedulable_.Add(record, plugins);
      SetGated(record, !record.pod->gating_plugin.empty());
      return;
    case Store::kNone:
      break;
  }
  KS_CHECK(false, "a pod is put into no store");
}

void PodStores::Detach(Record& record) {
  switch (record.store) {
    case Store::kNone:
      return;
    case Store::kActive:
      active_.Remove(&record);
      break;
    case Store::kBackoff:
      backoff_.Remove(&record);
      break;
    case Store::kErrorBackoff:
      error_backoff_.Remove(&record);
      break;
    case Store::kUnschedulable:
      SetGated(record, false);
      unschedulable_.Remove(record);
      break;
  }
  record.store = Store::kNone;
}

void PodStores::Fix(Record& record) {
  switch (record.store) {
    case Store::kActive:
      return active_.Fix(&record);
    case Store::kBackoff:
      return backoff_.Fix(&record);
    case Store::kErrorBackoff:
      return error_backoff_.Fix(&record);
    case Store::kUnschedulable:
    case Store::kNone:
      return;
  }
}

void PodStores::SetGated(Record& record, bool gated) {
  if (record.gated == gated) return;
  record.gated = gated;
  if (gated) {
    ++gated_count_;
  } else {
    --gated_count_;
  }
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

std::vector<framework::QueuedPodPtr> PodStores::PodsIn(Store store) const {
  std::vector<framework::QueuedPodPtr> pods;
  if (store == Store::kUnschedulable) {
    pods.reserve(Unschedulable().size());
    Unschedulable().ForEach([&pods](const Record& record) { pods.push_back(record.pod); });
    return pods;
  }
  std::span<Record* const> records;
  if (store == Store::kActive) records = Active();
  if (store == Store::kBackoff) records = Backoff();
  if (store == Store::kErrorBackoff) records = ErrorBackoff();
  pods.reserve(records.size());
  for (const Record* record : records) pods.push_back(record->pod);
  return pods;
}

void PodStores::ForEach(const std::function<void(const Record& record)>& visit) const {
  std::vector<const Record*> records;
  records.reserve(size());
  for (const std::span<Record* const> heap : {Active(), Backoff(), ErrorBackoff()}) {
    records.insert(records.end(), heap.begin(), heap.end());
  }
  Unschedulable().ForEach([&records](const Record& record) { records.push_back(&record); });
  for (const Record* record : records) visit(*record);
}

std::vector<api::PodPtr> PodStores::Pods() const {
  std::vector<api::PodPtr> pods;
  pods.reserve(size());
  ForEach([&pods](const Record& record) { pods.push_back(record.pod->pod()); });
  return pods;
}

std::string PendingCounts::Summary() const {
  return "activeQ:" + std::to_string(active) + "; backoffQ:" + std::to_string(backoff) +
         "; unschedulableEntities:" + std::to_string(unschedulable + gated);
}

PendingCounts PodStores::Counts() const {
  return {.active = Active().size(),
          .backoff = Backoff().size() + ErrorBackoff().size(),
          .unschedulable = Unschedulable().size() - gated_count_,
          .gated = gated_count_};
}

}  // namespace ks::queue
