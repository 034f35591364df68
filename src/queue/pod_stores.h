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
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "framework/queued_pod.h"
#include "queue/backoff.h"
#include "queue/heap.h"
#include "queue/parked_pods.h"

namespace ks::queue {

enum class Store : uint8_t {
  kNone,
  kActive,
  kBackoff,       // rejected by plugins
  kErrorBackoff,  // failed with an error
  kUnschedulable,
};
// The names of logs; both backoff heaps read alike.
std::string_view StoreLogName(Store store);

// One stored pod.
struct Record {
  framework::QueuedPodPtr pod;
  ParkedClass* parked = nullptr;  // in the unschedulable map
  uint32_t index = 0;             // place in its heap or class
  Store store = Store::kNone;
  bool gated = false;  // in the unschedulable map: a plugin holds it at PreEnqueue

  // For operators: the label of the event that brought it to its store, and of the event that last
  // made it worth another attempt, with the plugin whose hint said so (empty: no hint was asked).
  Symbol moved_by{};
  Symbol woken_by{};
  Symbol woken_plugin{};
};

// pending_pods and queued_entities; both count alike while every entity is one pod.
struct PendingCounts {
  size_t active = 0;
  size_t backoff = 0;
  size_t unschedulable = 0;
  size_t gated = 0;

  // "activeQ:1; backoffQ:2; unschedulableEntities:3".
  std::string Summary() const;
};

// Invariant: a key is in one store at most.
// Threads: one at a time. Lifetime: records are valid until erased.
class PodStores {
 public:
  using Less =
      std::function<bool(const framework::QueuedEntity& a, const framework::QueuedEntity& b)>;

  // `less` is QueueSort.
  PodStores(const Less& less, const BackoffOptions& backoff);

  // By namespace and name; null when not stored.
  Record* Find(const api::ObjectMeta& meta) { return Find(meta.ns, meta.name); }
  Record* Find(Symbol ns, std::string_view name);
  const Record* Find(Symbol ns, std::string_view name) const;
  // By "namespace/name".
  const Record* Find(std::string_view pod_key) const;
  const framework::QueuedPod* FindPod(std::string_view pod_key) const {
    const Record* record = Find(pod_key);
    return record == nullptr ? nullptr : record->pod.get();
  }
  Store StoreOf(std::string_view pod_key) const;
  // The record of the pod's namespace and name, in no store if it is new. A known one gets the new
  // pod and stays in its store, at a place that is right only after the next Put.
  Record& Create(framework::QueuedPodPtr pod);
  // Takes the record out of its store and forgets it.
  void Erase(Record& record);
  // Exchanges the pod object for another version of the same pod; the record keeps its store and
  // its order is right again.
  void SetPod(Record& record, const api::PodPtr& pod);

  // From whatever store it is in; into its own one it only finds its right place. `store` must not
  // be kNone. `plugins` (RequeueRules::PluginsOf) is used for the unschedulable map.
  void Put(Record& record, Store store, uint64_t plugins = 0);
  // Takes the record out of its store but keeps it.
  void Detach(Record& record);

  Record* ActiveTop() const { return active_.Top(); }
  Record* BackoffTop() const { return backoff_.Top(); }
  Record* ErrorBackoffTop() const { return error_backoff_.Top(); }
  // In no particular order.
  std::span<Record* const> Active() const { return active_.items(); }
  std::span<Record* const> Backoff() const { return backoff_.items(); }
  std::span<Record* const> ErrorBackoff() const { return error_backoff_.items(); }
  const ParkedPods& Unschedulable() const { return unschedulable_; }
  // How many pods of the unschedulable map a plugin holds at PreEnqueue.
  size_t gated_count() const { return gated_count_; }
  size_t size() const { return records_.size(); }
  PendingCounts Counts() const;

  // All pods, in no particular order. For dumps.
  std::vector<api::PodPtr> Pods() const;
  // Those of one store.
  std::vector<framework::QueuedPodPtr> PodsIn(Store store) const;
  // All pods, store by store; the records are valid until the next change.
  void ForEach(const std::function<void(const Record& record)>& visit) const;

 private:
  // Namespace and name.
  struct Key {
    Symbol ns;
    std::string_view name;
    friend bool operator==(Key, Key) = default;
  };
  static Key KeyOf(const Record& record) {
    const api::ObjectMeta& meta = record.pod->pod()->meta;
    return {meta.ns, meta.name};
  }
  // Records are found by the key that stands in their pod.
  struct Hash {
    using is_transparent = void;
    size_t operator()(Key key) const {
      return std::hash<std::string_view>()(key.name) ^ (key.ns.id() * 0x9e3779b97f4a7c15ULL);
    }
    size_t operator()(const std::unique_ptr<Record>& record) const {
      return (*this)(KeyOf(*record));
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const std::unique_ptr<Record>& a, Key key) const { return KeyOf(*a) == key; }
    bool operator()(const std::unique_ptr<Record>& a, const std::unique_ptr<Record>& b) const {
      return KeyOf(*a) == KeyOf(*b);
    }
  };

  void SetGated(Record& record, bool gated);
  void Fix(Record& record);

  absl::flat_hash_set<std::unique_ptr<Record>, Hash, Equal> records_;
  IndexedHeap<Record> active_;
  IndexedHeap<Record> backoff_;
  IndexedHeap<Record> error_backoff_;
  ParkedPods unschedulable_;
  size_t gated_count_ = 0;
};

}  // namespace ks::queue
