// SPDX-License-Identifier: Apache-2.0
#pragma once
// OwnerStores: the last known Services, ReplicationControllers, ReplicaSets, StatefulSets,
// Namespaces and PodDisruptionBudgets. Empty and free of cost while nobody watches them.
//
// Upstream: docs/spec/plugins-crosspod.md sections 2.2 and 4.3, docs/spec/api.md section 6.5.

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "api/delta.h"
#include "api/kinds.h"
#include "cache/object_store.h"
#include "framework/owner_listers.h"

namespace ks::cache {

// One batch of one kind, as its reflector delivers it.
using OwnerDeltas = api::OwnerKinds::Into<api::DeltasOfOne>;

// Threads: the scheduling thread; workers read while a cycle runs.
class OwnerStores final : public framework::OwnerListers {
 public:
  // Told after the store has changed: Add, Delete, or Update when the selector, or the labels, are
  // others (framework::ActionType). Of a Namespace the former is null when it is new, the latter
  // when it is gone. Empty: nobody wants to know.
  struct Observers {
    std::function<void(uint32_t action)> service;
    std::function<void(uint32_t action, const api::NamespacePtr& former,
                       const api::NamespacePtr& latter)>
        of_namespace;
  };

  void Apply(const OwnerDeltas& deltas, const Observers& observers);

  // Whether each of these kinds delivered its first full state. Kinds that are not kept here count
  // as delivered.
  bool Synced(framework::OptionalKinds kinds) const;

  std::span<const api::ServicePtr> Services(const Symbol& ns) const override;
  const api::ReplicationController* FindReplicationController(const Symbol& ns,
                                                              std::string_view name) const override;
  const api::ReplicaSet* FindReplicaSet(const Symbol& ns, std::string_view name) const override;
  const api::StatefulSet* FindStatefulSet(const Symbol& ns, std::string_view name) const override;
  const api::Namespace* FindNamespace(const Symbol& name) const override;
  std::vector<api::NamespacePtr> Namespaces() const override {
    return Stored<api::Namespace>().List();
  }
  std::span<const api::PodDisruptionBudgetPtr> PodDisruptionBudgets(
      const Symbol& ns) const override;
  uint64_t version() const override { return version_; }

 private:
  class ServiceHandler;
  class NamespaceHandler;
  class BudgetHandler;
  template <class... T>
  using Stores = std::tuple<ObjectStore<T>...>;

  template <class T>
  const ObjectStore<T>& Stored() const {
    return std::get<ObjectStore<T>>(stores_);
  }
  template <class T>
  void ApplyTo(const std::vector<api::Delta<T>>& deltas, ObjectHandler<T>& handler);

  api::OwnerKinds::Into<Stores> stores_;
  uint64_t version_ = 0;
  std::map<Symbol, std::vector<api::ServicePtr>> services_by_namespace_;  // each ascending by name
  std::map<Symbol, std::vector<api::PodDisruptionBudgetPtr>> budgets_by_namespace_;  // the same
  framework::OptionalKinds synced_;
};

}  // namespace ks::cache
