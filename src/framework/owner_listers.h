// SPDX-License-Identifier: Apache-2.0
#pragma once
// The objects that select, own, protect or contain pods (Services, ReplicationControllers,
// ReplicaSets, StatefulSets, PodDisruptionBudgets, Namespaces), as plugins read them. Only the
// kinds that an enabled plugin asks for are watched; the others look empty.
//
// Upstream: docs/spec/plugins-crosspod.md sections 2.2 and 4.3, docs/spec/preemption.md section 7.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "api/workloads.h"

namespace ks::framework {

enum class OwnerKind : uint8_t {
  kService,
  kReplicationController,
  kReplicaSet,
  kStatefulSet,
  kNamespace,
  kPodDisruptionBudget,
};
inline constexpr OwnerKind kAllOwnerKinds[] = {
    OwnerKind::kService,    OwnerKind::kReplicationController,
    OwnerKind::kReplicaSet, OwnerKind::kStatefulSet,
    OwnerKind::kNamespace,  OwnerKind::kPodDisruptionBudget};

// A set of kinds. Threads: like a value.
class OwnerKinds {
 public:
  constexpr OwnerKinds() = default;
  constexpr OwnerKinds(std::initializer_list<OwnerKind> kinds) {
    for (const OwnerKind kind : kinds) Add(kind);
  }

  constexpr void Add(OwnerKind kind) { bits_ |= Bit(kind); }
  constexpr void Add(OwnerKinds kinds) { bits_ |= kinds.bits_; }
  constexpr bool Contains(OwnerKind kind) const { return (bits_ & Bit(kind)) != 0; }
  constexpr bool Contains(OwnerKinds kinds) const { return (kinds.bits_ & ~bits_) == 0; }
  constexpr bool empty() const { return bits_ == 0; }

  friend constexpr bool operator==(OwnerKinds, OwnerKinds) = default;

 private:
  static constexpr uint32_t Bit(OwnerKind kind) { return 1U << static_cast<uint32_t>(kind); }

  uint32_t bits_ = 0;
};

// Threads: the scheduling thread; workers read while a cycle runs. Lifetime: views and pointers are
// valid until the next change, so only within an attempt.
class OwnerListers {
 public:
  virtual ~OwnerListers() = default;

  // All Services of a namespace, ascending by name (upstream: undefined).
  virtual std::span<const api::ServicePtr> Services(Symbol ns) const = 0;
  // Null when unknown.
  virtual const api::ReplicationController* FindReplicationController(
      Symbol ns, std::string_view name) const = 0;
  virtual const api::ReplicaSet* FindReplicaSet(Symbol ns, std::string_view name) const = 0;
  virtual const api::StatefulSet* FindStatefulSet(Symbol ns, std::string_view name) const = 0;
  virtual const api::Namespace* FindNamespace(Symbol name) const = 0;
  // All known ones, in no particular order.
  virtual std::vector<api::NamespacePtr> Namespaces() const = 0;

  // All PodDisruptionBudgets of a namespace, ascending by name (upstream: undefined).
  virtual std::span<const api::PodDisruptionBudgetPtr> PodDisruptionBudgets(Symbol ns) const = 0;

  // Another value whenever a selector, or a namespace's labels, may have changed since (budgets
  // apart): what was derived from the objects holds until then.
  virtual uint64_t version() const = 0;
};

// Of a plugin that reads OwnerListers. Nothing is scheduled before these kinds are known.
class ListerUser {
 public:
  virtual ~ListerUser() = default;
  // Asked once, after construction.
  virtual OwnerKinds NeededOwnerKinds() const = 0;
};

}  // namespace ks::framework
