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

std::string_view StoreLabel(Store store) {
  switch (store) {
    case Store::kActive:
      return "active";
    case Store::kBackoff:
    case Store::kErrorBackoff:
      return "backoff";
    case Store::kUnschedulable:
      return "unschedulable";
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

Record* PodStores::Find(std::string_view key) {
  const auto it = records_.find(key);
  return it == records_.end() ? nullptr : it->second.get();
}

const Record* PodStores::Find(std::string_view key) const {
  const auto it = records_.find(key);
  return it == records_.end() ? nullptr : it->second.get();
}

Record& PodStores::Create(framework::QueuedPodPtr pod) {
  std::unique_ptr<Record> record;
  const auto it = records_.find(pod->Key());
  if (it == records_.end()) {
    record = std::make_unique<Record>();
  } else {
    record = std::move(it->second);
    records_.erase(it);  // its key lives in the old pod
  }
  record->pod = std::move(pod);
  Record& created = *record;
  records_.try_emplace(created.pod->Key(), std::move(record));
  return created;
}

void PodStores::Erase(Record& record) {
  Detach(record);
  records_.erase(records_.find(record.pod->Key()));
}

void PodStores::Put(Record& record, Store store, uint64_t plugins) {
  record.plugins = plugins;
  if (record.store == store) {
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
      record.index = unschedulable_.size();
      unschedulable_.push_back(&record);
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
      unschedulable_[record.index] = unschedulable_.back();
      unschedulable_[record.index]->index = record.index;
      unschedulable_.pop_back();
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
      return SetGated(record, !record.pod->gating_plugin.empty());
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

}  // namespace ks::queue
