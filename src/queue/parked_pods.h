// SPDX-License-Identifier: Apache-2.0
#pragma once
// ParkedPods: the unschedulable map, indexed so that an event costs nothing for pods that it cannot
// help. Pods with the same rejecting and gating plugins form a group: an event that none of these
// plugins has registered passes over the whole group. In a group, pods of one spec (pods of one
// template share their spec object) form a bucket, and pods of a bucket with the same namespace and
// labels a class: a hint that looks at nothing else is asked once for all of them. And pods are
// found by the claims that they use and by their tree of pod groups, since an event of a claim or a
// group seldom concerns any other pod. (The groups here have nothing to do with pod groups.) For
// changes of a node's labels a group knows which labels its buckets read.
//
// Upstream: docs/spec/queue.md sections 4 and 8; decision 0033.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "api/pod.h"
#include "framework/events.h"
#include "framework/name_set.h"
#include "framework/queued_pod.h"

namespace ks::queue {

struct Record;

// A ResourceClaim "namespace/name", so that it differs from every PersistentVolumeClaim.
inline std::string ResourceClaimId(const std::string& key) { return "resourceclaims/" + key; }

// What the pods of a group have in common. The gate of a member of a pod group is that of its
// entity.
struct Rejection {
  framework::NameSet unschedulable_plugins;
  framework::NameSet pending_plugins;
  Symbol gating_plugin;
  Symbol scheduler_name;

  friend bool operator==(const Rejection&, const Rejection&) = default;
};
template <class H>
H AbslHashValue(H state, const Rejection& rejection) {
  return H::combine(std::move(state), rejection.unschedulable_plugins, rejection.pending_plugins,
                    rejection.gating_plugin, rejection.scheduler_name);
}

bool IsOf(const Rejection& rejection, const Record& record);

struct ParkedBucket;
struct ParkedGroup;

// Pods of one bucket with the same namespace and labels. Never empty.
struct ParkedClass {
  ParkedBucket* bucket = nullptr;
  uint32_t index = 0;  // in the bucket
  size_t hash = 0;
  absl::InlinedVector<Record*, 2> pods;
};

// Pods of one group with the same spec object. Never empty.
struct ParkedBucket {
  ParkedGroup* group = nullptr;
  const api::PodSpec* spec = nullptr;
  uint32_t index = 0;  // in the group
  absl::InlinedVector<ParkedClass*, 2> classes;
};

using LabelReaders = absl::InlinedVector<const framework::NodeLabelReadsFn*, 2>;

// The labels of nodes that the buckets of a group read, counted. Readers are the hints that are
// asked after a change of labels; while there are none, nothing is counted.
// Threads: one at a time.
class ParkedLabelReads {
 public:
  void Add(const api::PodSpec& spec) { Count(spec, 1); }
  void Remove(const api::PodSpec& spec) { Count(spec, -1); }
  // Requires: nothing is counted yet.
  void SetReaders(LabelReaders readers) { readers_ = std::move(readers); }
  bool active() const { return !readers_.empty(); }
  // Whether a hint may have something to say when labels become these; empty: or are removed.
  bool MayMatter(const std::vector<api::LabelMap::Entry>& labels) const;

 private:
  void Count(const api::PodSpec& spec, int32_t change);

  LabelReaders readers_;
  absl::flat_hash_map<Symbol, int32_t> by_key_;
  absl::flat_hash_map<api::LabelMap::Entry, int32_t> additions_;
  int32_t others_ = 0;
};

struct ParkedGroup {
  Rejection rejection;
  uint64_t plugins = 0;  // RequeueRules::PluginsOf
  std::vector<ParkedBucket*> buckets;
  mutable ParkedLabelReads label_reads;  // made when first asked for
};

// Order of iteration is that of arrivals, disturbed by departures (the last takes the place of the
// one that leaves): the same operations give the same order.
// Threads: one at a time. Lifetime: records outlive their stay; while a record stays, its pod
// object is not exchanged.
class ParkedPods {
 public:
  // RequeueRules::PluginsOf, asked once for each rejection.
  using PluginsOf = std::function<uint64_t(const framework::QueuedPod& pod)>;

  explicit ParkedPods(PluginsOf plugins_of);
  ~ParkedPods();
  ParkedPods(ParkedPods&&) noexcept;
  ParkedPods& operator=(ParkedPods&&) noexcept;

  // Requires: it is not in here.
  void Add(Record& record);
  // Requires: it is in here.
  void Remove(Record& record);

  // Some of them may be empty.
  const std::vector<std::unique_ptr<ParkedGroup>>& groups() const { return groups_; }
  size_t size() const { return size_; }
  // Pods of the group that use the claim, by name: a PersistentVolumeClaim "namespace/name", or a
  // ResourceClaimId; or that belong to the entity with the key "podgroup/namespace/name".
  std::vector<Record*> UsersOf(const ParkedGroup& group, const std::string& claim) const;
  // The first of them; null: none.
  Record* FirstUserOf(const ParkedGroup& group, const std::string& claim) const;

  // Whether some of these readers, those of the group's plugins, may have something to say about a
  // pod of the group when labels of a node become these (empty: or are removed). The first call
  // goes through the group's buckets. Requires: the same readers every time.
  static bool MayMatter(const ParkedGroup& group, const LabelReaders& readers,
                        const std::vector<api::LabelMap::Entry>& labels);

  // Nothing may be added or removed meanwhile.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const auto& group : groups_) {
      for (const ParkedBucket* bucket : group->buckets) {
        for (const ParkedClass* of_labels : bucket->classes) {
          for (Record* record : of_labels->pods) visit(*record);
        }
      }
    }
  }

 private:
  struct Classes;
  struct ClaimUse {
    const ParkedGroup* group;
    std::string claim;  // or the key of an entity
    Record* record;     // null: before all others
  };
  // Pods that use one claim share the namespace.
  struct ClaimUseOrder {
    bool operator()(const ClaimUse& a, const ClaimUse& b) const;
  };

  ParkedGroup& GroupOf(const Record& record);
  ParkedBucket& BucketOf(ParkedGroup& group, const api::PodSpec* spec);
  ParkedClass& ClassOf(ParkedBucket& bucket, const api::Pod& pod);
  template <class Visit>
  void ForEachClaim(const ParkedGroup& group, Record& record, Visit visit);

  PluginsOf plugins_of_;
  std::vector<std::unique_ptr<ParkedGroup>> groups_;  // never removed: there are few
  absl::flat_hash_map<Rejection, ParkedGroup*> group_of_;
  absl::flat_hash_map<std::pair<const ParkedGroup*, const api::PodSpec*>,
                      std::unique_ptr<ParkedBucket>>
      buckets_;
  std::unique_ptr<Classes> classes_;
  std::set<ClaimUse, ClaimUseOrder> claim_uses_;
  size_t size_ = 0;
};

}  // namespace ks::queue
