// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pod groups as the scheduler knows them: the group object, if it was seen, and the members by how
// far they have come. Kept by the cache (cache/pod_groups.h); read by the queue, the group cycle
// and plugins. Nothing of it exists while the gate GenericWorkload is off.
//
// Upstream: docs/spec/cache.md section 18.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/hash/hash.h>

#include "api/pod.h"
#include "base/symbol.h"

namespace ks::api {
struct PodGroup;
struct CompositePodGroup;
struct GroupSpec;
}  // namespace ks::api

namespace ks::framework {

struct PodGroupKey;

// A PodGroupKey for looking one up. Lifetime: of what it names.
struct PodGroupView {
  const Symbol& ns;
  std::string_view name;
  bool composite = false;

  PodGroupKey Key() const;

  friend bool operator==(const PodGroupView& a, const PodGroupView& b) {
    return a.ns == b.ns && a.name == b.name && a.composite == b.composite;
  }
  template <class H>
  friend H AbslHashValue(H state, const PodGroupView& view) {
    return H::combine(std::move(state), view.ns.id(), view.name, view.composite);
  }
};

// Which group: a PodGroup, or a CompositePodGroup, whose children are groups.
struct PodGroupKey {
  Symbol ns;
  std::string name;
  bool composite = false;

  // "podgroup/<namespace>/<name>" or "compositepodgroup/<namespace>/<name>".
  std::string Text() const {
    return std::string(composite ? "composite" : "") + "podgroup/" + ns.str() + "/" + name;
  }
  // "<namespace>/<name>".
  std::string Name() const { return ns.str() + "/" + name; }

  // NOLINTNEXTLINE(google-explicit-constructor): maps by keys are asked with views
  operator PodGroupView() const { return {ns, name, composite}; }

  friend bool operator==(const PodGroupKey&, const PodGroupKey&) = default;
  template <class H>
  friend H AbslHashValue(H state, const PodGroupKey& key) {
    return H::combine(std::move(state), PodGroupView(key));
  }
};

inline PodGroupKey PodGroupView::Key() const { return {ns, std::string(name), composite}; }

// For maps by PodGroupKey that are asked with PodGroupView, too.
struct PodGroupHash {
  using is_transparent = void;
  size_t operator()(const PodGroupView& group) const { return absl::HashOf(group); }
};
struct PodGroupEqual {
  using is_transparent = void;
  bool operator()(const PodGroupView& a, const PodGroupView& b) const { return a == b; }
};

// The PodGroup that the pod names, whether it is known or not; absent: none.
std::optional<PodGroupKey> GroupOf(const api::Pod& pod);
// The same, valid while the pod lives.
std::optional<PodGroupView> GroupViewOf(const api::Pod& pod);

// How far a member has come. Exactly one holds.
enum class MemberState : uint8_t {
  kUnscheduled,
  kAssumed,   // on a node by the scheduler's own decision
  kAssigned,  // the API server has shown it on a node
};

// What is known of one PodGroup.
// Invariant: the counts are those of `members`.
class PodGroupState {
 public:
  struct Member {
    api::PodPtr pod;      // as the API server last showed it
    api::PodPtr assumed;  // while kAssumed: the copy on the node
    MemberState state = MemberState::kUnscheduled;

    // On the node, if it is on one.
    const api::PodPtr& current() const { return state == MemberState::kAssumed ? assumed : pod; }
  };
  using Members = std::map<std::string, Member, std::less<>>;  // by uid

  // Null: the object was not seen yet, or is gone.
  std::shared_ptr<const api::PodGroup> object;

  const Members& members() const { return members_; }
  // All known members, in whatever state.
  size_t all() const { return members_.size(); }
  // Assumed and assigned ones.
  size_t scheduled() const { return scheduled_; }
  bool empty() const { return object == nullptr && members_.empty(); }

  // The member is (again) as given. `pod` must not be null.
  void Set(const api::PodPtr& pod, MemberState state, api::PodPtr assumed = nullptr) {
    Remove(pod->meta.uid);
    members_.emplace(pod->meta.uid, Member{pod, std::move(assumed), state});
    if (state != MemberState::kUnscheduled) ++scheduled_;
  }
  // No-op for unknown uids.
  void Remove(std::string_view uid) {
    const auto found = members_.find(uid);
    if (found == members_.end()) return;
    if (found->second.state != MemberState::kUnscheduled) --scheduled_;
    members_.erase(found);
  }
  // Null when unknown.
  const Member* Find(std::string_view uid) const {
    const auto found = members_.find(uid);
    return found == members_.end() ? nullptr : &found->second;
  }

 private:
  Members members_;
  size_t scheduled_ = 0;
};

// The groups. Threads: the scheduling thread. Lifetime: what it returns is valid until the next
// change.
class PodGroupStates {
 public:
  virtual ~PodGroupStates() = default;

  // Null: neither the object nor a member is known.
  virtual const PodGroupState* Find(const Symbol& ns, std::string_view name) const = 0;
  // Null: no such object.
  virtual std::shared_ptr<const api::CompositePodGroup> FindComposite(
      const Symbol& ns, std::string_view name) const = 0;
  // The top of the tree to which the group belongs, by the parents' names; without the gate
  // CompositePodGroup the group itself. Absent: an object on the way, its own included, is not
  // known, or the way is a circle.
  virtual std::optional<PodGroupKey> RootOf(const PodGroupKey& group) const = 0;
  // The groups that name this one as their parent, by creation time, then name; their objects are
  // known. Empty for a PodGroup.
  virtual std::vector<PodGroupKey> ChildrenOf(const PodGroupKey& group) const = 0;
  // spec.priority of the object; 0 when it has none or is not known.
  virtual int32_t PriorityOf(const PodGroupKey& group) const = 0;
  // spec.preemptionPolicy of the object; empty when it has none or is not known.
  virtual Symbol PolicyOf(const PodGroupKey& group) const = 0;
};

// What both kinds have; null: the object is not known. Valid until the next change.
const api::GroupSpec* SpecOf(const PodGroupStates& states, const PodGroupKey& group);
// All PodGroups below, in tree order; a PodGroup itself. A circle ends.
std::vector<PodGroupKey> LeavesBelow(const PodGroupStates& states, const PodGroupKey& group);

// Where there are no groups.
const PodGroupStates& NoPodGroupStates();

}  // namespace ks::framework
