// SPDX-License-Identifier: Apache-2.0
#pragma once
// PodStores: where the queue keeps its pods and groups of pods. It only keeps and orders; when they
// move is decided in SchedulingQueue and GroupQueue.
//
// Upstream: docs/spec/queue.md sections 4 and 18.1.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/text_hash.h"
#include "framework/queued_pod.h"
#include "queue/backoff.h"
#include "queue/gate_answers.h"
#include "queue/heap.h"
#include "queue/parked_pods.h"

namespace ks::queue {

enum class Store : uint8_t {
  kNone,
  kActive,
  kBackoff,       // rejected by plugins
  kErrorBackoff,  // failed with an error
  kUnschedulable,
  kIncomplete,  // members whose tree of groups is not known up to its root
  kPending,     // members that came while their group is being scheduled
};
// The names of logs; both backoff heaps read alike.
std::string_view StoreLogName(Store store);
// Where a stored entity stands in the way of a returning one: "the active queue".
std::string_view StorePlace(Store store);

enum class RecordKind : uint8_t {
  kPod,     // an entity by itself
  kMember,  // of a group: MemberRecord
  kGroup,   // GroupRecord
};

// One stored pod, or a group.
struct Record {
  framework::QueuedPodPtr pod;    // null: a group
  ParkedClass* parked = nullptr;  // in the unschedulable map; not for groups
  uint32_t index = 0;             // place in its heap, class or list
  Store store = Store::kNone;     // of a member in a group: that of the group
  bool gated = false;             // in the unschedulable map: a plugin holds it at PreEnqueue
  bool arriving = false;          // the next placement is an arrival, even where it is already
  bool large = false;             // in the active heaps: IsLarge, of a group a member
  RecordKind kind = RecordKind::kPod;

  // For operators: the label of the event that brought it to its store, and of the event that last
  // made it worth another attempt, with the plugin whose hint said so (empty: no hint was asked).
  Symbol moved_by{};
  Symbol woken_by{};
  Symbol woken_plugin{};

  // What heaps order and backoff counts. Not for members.
  framework::QueuedEntity& entity() const;
};

struct MemberRecord;

// A group in a store; its members stand for it in the unschedulable map.
struct GroupRecord : Record {
  framework::QueuedPodGroupPtr group;
  std::vector<MemberRecord*> members;  // in no particular order
  GateAnswers answers;                 // of PreEnqueue
};

// A member, in its group or alone.
struct MemberRecord : Record {
  GroupRecord* group = nullptr;  // null: incomplete or pending
  bool unasked = false;          // for GateAnswers, as is the next
  bool alone = false;
  uint32_t place = 0;       // in group->members
  uint32_t leaf_place = 0;  // among the members of its PodGroup, for GroupQueue
};

inline framework::QueuedEntity& Record::entity() const {
  if (kind != RecordKind::kGroup) return *pod;
  return *static_cast<const GroupRecord*>(this)->group;
}
// Null when it is none.
inline GroupRecord* AsGroup(Record& record) {
  return record.kind == RecordKind::kGroup ? static_cast<GroupRecord*>(&record) : nullptr;
}
inline MemberRecord* AsMember(Record& record) {
  return record.kind == RecordKind::kMember ? static_cast<MemberRecord*>(&record) : nullptr;
}
static_assert(sizeof(Record) <= 48, "there is one for each pending pod");

// What moves when the record does: the group of a member that is in one, else the record.
inline const Record& EntityOf(const Record& record) {
  if (record.kind != RecordKind::kMember) return record;
  const GroupRecord* group = static_cast<const MemberRecord&>(record).group;
  return group == nullptr ? record : *group;
}
inline Record& EntityOf(Record& record) {
  MemberRecord* member = AsMember(record);
  return member == nullptr || member->group == nullptr ? record : *member->group;
}
// "pod" or "podgroup", and "namespace/name": for logs.
std::string_view EntityType(const Record& record);
std::string EntityName(const Record& record);

// The active ones in the order of QueueSort, and large ones apart from the others (large_pods.h).
class ActiveHeaps {
 public:
  using Less =
      std::function<bool(const framework::QueuedEntity& a, const framework::QueuedEntity& b)>;
  explicit ActiveHeaps(const Less& less);

  // Null when empty. Of equal ones those that are not large come first.
  Record* Top() const;
  // The same, but large ones after all others of their priority.
  Record* TopSparing() const;
  // Where the record belongs.
  IndexedHeap<Record>& Of(const Record& record) { return record.large ? large_ : others_; }
  size_t size() const { return large_.size() + others_.size(); }
  std::span<Record* const> large() const { return large_.items(); }
  std::span<Record* const> others() const { return others_.items(); }

 private:
  Less less_;
  IndexedHeap<Record> large_;
  IndexedHeap<Record> others_;
};

// pending_pods and queued_entities.
struct PendingCounts {
  // Pods, members of groups included.
  size_t active = 0;
  size_t backoff = 0;
  size_t unschedulable = 0;
  size_t gated = 0;
  size_t incomplete = 0;
  size_t pending = 0;

  struct Groups {
    size_t active = 0;
    size_t backoff = 0;
    size_t unschedulable = 0;
    size_t gated = 0;
  };
  bool has_groups = false;  // they may exist
  Groups groups;
  Groups members;  // pods in them

  // "activeQ:1; backoffQ:2; unschedulableEntities:3", with groups also
  // "; pendingPodGroupMemberPods:4; incompletePodGroupPods:5".
  std::string Summary() const;
};

// Invariants: a key is in one store at most; a member in a group is where the group is.
// Threads: one at a time. Lifetime: records are valid until erased; a group's record belongs to
// GroupQueue and outlives its stay.
class PodStores {
 public:
  using Less = ActiveHeaps::Less;

  // `less` is QueueSort, `plugins_of` RequeueRules::PluginsOf.
  PodStores(const Less& less, const BackoffOptions& backoff, ParkedPods::PluginsOf plugins_of);

  // By namespace and name; null when not stored.
  Record* Find(const api::ObjectMeta& meta) { return Find(meta.ns, meta.name); }
  Record* Find(const Symbol& ns, std::string_view name);
  const Record* Find(const Symbol& ns, std::string_view name) const;
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
  // Requires: the key is not known.
  MemberRecord& CreateMember(framework::QueuedPodPtr pod);
  // Takes the record out of its store and forgets it. Requires: no group, nor a member in one.
  void Erase(Record& record);
  // Exchanges the pod object for another version of the same pod; the record keeps its store and
  // its order is right again.
  void SetPod(Record& record, const api::PodPtr& pod);

  // From whatever store it is in; into its own one it only finds its right place. `store` must not
  // be kNone. The members of a group are put after it, one by one.
  void Put(Record& record, Store store);
  // Takes the record out of its store but keeps it; a group with its members.
  void Detach(Record& record);

  const ActiveHeaps& Active() const { return active_; }
  Record* BackoffTop() const { return backoff_.Top(); }
  Record* ErrorBackoffTop() const { return error_backoff_.Top(); }
  const ParkedPods& Unschedulable() const { return unschedulable_; }
  // In no particular order: groups in the unschedulable map; members that are pending.
  std::span<Record* const> ParkedGroups() const { return parked_groups_; }
  std::span<Record* const> Pending() const { return pending_; }
  // Pods.
  size_t size() const { return records_.size(); }
  PendingCounts Counts() const;

  // All pods, members of groups included, in no particular order. For dumps.
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
    friend bool operator==(const Key&, const Key&) = default;
  };
  static Key KeyOf(const Record& record) {
    const api::ObjectMeta& meta = record.pod->pod()->meta;
    return {meta.ns, meta.name};
  }
  // Records of pods and of members.
  struct Deleter {
    void operator()(Record* record) const {
      if (record->kind == RecordKind::kMember) {
        delete static_cast<MemberRecord*>(record);
      } else {
        delete record;
      }
    }
  };
  using Owned = std::unique_ptr<Record, Deleter>;
  // Records are found by the key that stands in their pod.
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Key& key) const {
      return HashText(key.name) ^ (key.ns.id() * 0x9e3779b97f4a7c15ULL);
    }
    size_t operator()(const Owned& record) const { return (*this)(KeyOf(*record)); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Owned& a, const Key& key) const { return KeyOf(*a) == key; }
    bool operator()(const Owned& a, const Owned& b) const { return KeyOf(*a) == KeyOf(*b); }
  };

  // Groups, or pods in them.
  struct Sizes {
    std::array<size_t, 7> in{};  // by store
    size_t gated = 0;
    PendingCounts::Groups Counts() const;
  };

  void DetachOne(Record& record);
  void SetGated(Record& record, bool gated);
  void Count(const Record& record, bool arrives);
  IndexedHeap<Record>* HeapOf(const Record& record, Store store);
  std::vector<Record*>* ListOf(const Record& record, Store store);
  void ForEachIn(Store store, const std::function<void(const Record& record)>& visit) const;

  absl::flat_hash_set<Owned, Hash, Equal> records_;
  ActiveHeaps active_;
  IndexedHeap<Record> backoff_;
  IndexedHeap<Record> error_backoff_;
  ParkedPods unschedulable_;
  size_t gated_count_ = 0;  // pods of the unschedulable map
  std::vector<Record*> parked_groups_;
  std::vector<Record*> incomplete_;
  std::vector<Record*> pending_;
  Sizes groups_;
  Sizes members_;
};

}  // namespace ks::queue
