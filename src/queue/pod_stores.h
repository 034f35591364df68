// SPDX-License-Identifier: Apache-2.0
#pragma once
// PodStores: where the queue keeps its pods. It only keeps and orders; when a pod moves is decided
// in SchedulingQueue.
//
// Upstream: docs/spec/queue.md section 4.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/string_map.h"
#include "framework/queued_pod.h"
#include "queue/backoff.h"
#include "queue/heap.h"

namespace ks::queue {

enum class Store : uint8_t {
  kNone,
  kActive,
  kBackoff,       // rejected by plugins
  kErrorBackoff,  // failed with an error
  kUnschedulable,
};
// The names of logs and of the metric label `queue`; both backoff heaps read alike.
std::string_view StoreLogName(Store store);
std::string_view StoreLabel(Store store);

// One stored pod.
struct Record {
  framework::QueuedPodPtr pod;
  Store store = Store::kNone;
  size_t index = 0;  // place in its store
  // In the unschedulable map: the plugins that may move the pod (RequeueRules), and whether a
  // plugin holds it at PreEnqueue.
  uint64_t plugins = 0;
  bool gated = false;
};

// Invariant: a key is in one store at most.
// Threads: one at a time. Lifetime: records are valid until erased.
class PodStores {
 public:
  using Less =
      std::function<bool(const framework::QueuedEntity& a, const framework::QueuedEntity& b)>;

  // `less` is QueueSort.
  PodStores(const Less& less, const BackoffOptions& backoff);

  // By "pod/<namespace>/<name>"; null when not stored.
  Record* Find(std::string_view key);
  const Record* Find(std::string_view key) const;
  // The record of the pod's key, in no store if it is new; a known record keeps its place and gets
  // the new pod (call Fix).
  Record& Create(framework::QueuedPodPtr pod);
  // Takes the record out of its store and forgets it.
  void Erase(Record& record);

  // From whatever store it is in; into its own one it only restores the order. `store` must not be
  // kNone. `plugins` is used for the unschedulable map.
  void Put(Record& record, Store store, uint64_t plugins = 0);
  // Takes the record out of its store but keeps it.
  void Detach(Record& record);
  // Restores the order after the pod in the record has changed, and the gated count.
  void Fix(Record& record);

  Record* ActiveTop() const { return active_.Top(); }
  Record* BackoffTop() const { return backoff_.Top(); }
  Record* ErrorBackoffTop() const { return error_backoff_.Top(); }
  // In no particular order.
  std::span<Record* const> Active() const { return active_.items(); }
  std::span<Record* const> Backoff() const { return backoff_.items(); }
  std::span<Record* const> ErrorBackoff() const { return error_backoff_.items(); }
  std::span<Record* const> Unschedulable() const { return unschedulable_; }
  // Of the pods in the unschedulable map.
  size_t gated_count() const { return gated_count_; }
  size_t size() const { return records_.size(); }

 private:
  void SetGated(Record& record, bool gated);

  // Keys are views into the records' pods.
  absl::flat_hash_map<std::string_view, std::unique_ptr<Record>, StringHash, std::equal_to<>>
      records_;
  IndexedHeap<Record> active_;
  IndexedHeap<Record> backoff_;
  IndexedHeap<Record> error_backoff_;
  std::vector<Record*> unschedulable_;
  size_t gated_count_ = 0;
};

}  // namespace ks::queue
