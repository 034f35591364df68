// SPDX-License-Identifier: Apache-2.0
#pragma once
// PodsByLabels: the pods on listed nodes, grouped by what selectors see of them. Who begins to
// count pods asks each group once, not each pod: a cluster has some thousand groups where it has
// hundreds of thousands of pods.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/container/inlined_vector.h>

#include "framework/change_reader.h"
#include "framework/label_changes.h"
#include "framework/snapshot.h"

namespace ks::framework {

// Threads: the scheduling thread.
class PodsByLabels {
 public:
  // Of one group all pods have the same namespace and labels, and all are being deleted, or none
  // is.
  struct Group {
    PodInfo like;                                    // one of them, or one that was
    absl::flat_hash_map<uint32_t, int32_t> on_slot;  // pods, at least 1
  };

  // False: there are no groups now, and who counts looks at the pods themselves. They are made at
  // the fourth call, since making them takes as long as looking at all pods four times; and again
  // at the fourth after they were not asked for while more changed than the log holds. Groups that
  // are more than a quarter as many as the pods, and many, do not pay: they are forgotten, and not
  // made again before about as much has changed as there are pods.
  bool Refresh(const Snapshot& snapshot, size_t questions = 1);
  static constexpr size_t kQuestionsWithoutGroups = 3;

  // Calls visit(const Group&) for each, or at least for each that has all of `labels`. Requires:
  // Refresh said true for the snapshot as it is.
  template <class Visit>
  void ForEach(std::span<const Label> labels, Visit visit) const {
    if (labels.empty()) {
      for (const std::unique_ptr<Group>& group : groups_) visit(std::as_const(*group));
      return;
    }
    const Groups* fewest = nullptr;
    for (const Label& label : labels) {
      const auto found = by_label_.find(label);
      if (found == by_label_.end()) return;
      if (fewest == nullptr || found->second.size() < fewest->size()) fewest = &found->second;
    }
    for (const Group* group : *fewest) visit(*group);
  }

  size_t size() const { return groups_.size(); }

 private:
  friend ChangeReader;
  struct SameLabels {
    using is_transparent = void;
    static const PodInfo& LikeOf(const PodInfo& pod) { return pod; }
    static const PodInfo& LikeOf(const std::unique_ptr<Group>& group) { return group->like; }
  };
  struct Hash : SameLabels {
    template <class T>
    size_t operator()(const T& of) const {
      return HashOf(LikeOf(of));
    }
    static size_t HashOf(const PodInfo& pod);
  };
  struct Equal : SameLabels {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return AreAlike(LikeOf(a), LikeOf(b));
    }
    static bool AreAlike(const PodInfo& a, const PodInfo& b);
  };
  using Groups = absl::InlinedVector<Group*, 1>;
  struct Slot {
    bool listed = false;
    absl::InlinedVector<Group*, 2> groups;  // that have pods here, each once
  };

  void Restart(size_t slots);
  void OnNode(uint32_t slot, const NodeInfo* node);
  void OnPod(uint32_t slot, const PodInfo& pod, int sign);
  void Add(uint32_t slot, const PodInfo& pod);
  void Remove(uint32_t slot, const PodInfo& pod);
  Group& GroupOf(const PodInfo& pod);
  void DropIfEmpty(Group& group);
  void Clear();

  ChangeReader reader_;
  absl::flat_hash_set<std::unique_ptr<Group>, Hash, Equal> groups_;
  absl::flat_hash_map<Label, Groups> by_label_;
  std::vector<Slot> slots_;
  size_t pods_ = 0;
  uint64_t retry_at_ = 0;  // a position of the change log
  size_t refused_ = 0;     // questions, since there were groups
};

}  // namespace ks::framework
