// SPDX-License-Identifier: Apache-2.0
#pragma once
// The objects that select, own, protect or contain pods (Services, ReplicationControllers,
// ReplicaSets, StatefulSets, PodDisruptionBudgets, Namespaces), as plugins read them. Kinds that no
// enabled plugin asks for look empty (framework/optional_kinds.h).
//
// Upstream: docs/spec/plugins-crosspod.md sections 2.2 and 4.3, docs/spec/preemption.md section 7.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "api/workloads.h"
#include "framework/optional_kinds.h"

namespace ks::framework {

// Threads: the scheduling thread; workers read while a cycle runs. Lifetime: views and pointers are
// valid until the next change, so only within an attempt.
class OwnerListers {
 public:
  virtual ~OwnerListers() = default;

  // All Services of a namespace, ascending by name (upstream: undefined).
  virtual std::span<const api::ServicePtr> Services(const Symbol& ns) const = 0;
  // Null when unknown.
  virtual const api::ReplicationController* FindReplicationController(
      const Symbol& ns, std::string_view name) const = 0;
  virtual const api::ReplicaSet* FindReplicaSet(const Symbol& ns, std::string_view name) const = 0;
  virtual const api::StatefulSet* FindStatefulSet(const Symbol& ns,
                                                  std::string_view name) const = 0;
  virtual const api::Namespace* FindNamespace(const Symbol& name) const = 0;
  // All known ones, in no particular order.
  virtual std::vector<api::NamespacePtr> Namespaces() const = 0;

  // All PodDisruptionBudgets of a namespace, ascending by name (upstream: undefined).
  virtual std::span<const api::PodDisruptionBudgetPtr> PodDisruptionBudgets(
      const Symbol& ns) const = 0;

  // Another value whenever a selector, or a namespace's labels, may have changed since (budgets
  // apart): what was derived from the objects holds until then.
  virtual uint64_t version() const = 0;
};

}  // namespace ks::framework
