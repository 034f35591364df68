// SPDX-License-Identifier: Apache-2.0
#include "cache/owner_stores.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "framework/events.h"

namespace ks::cache {

namespace {

bool SameContent(const api::Namespace& a, const api::Namespace& b) {
  return a.meta.labels == b.meta.labels;
}
template <class T>
bool SameContent(const T& a, const T& b) {
  return a.selector == b.selector;
}

// For kinds whose changes nobody is told of: counts those that change what plugins read. Their
// status changes all the time.
template <class T>
class Counting final : public ObjectHandler<T> {
 public:
  using Ptr = typename ObjectHandler<T>::Ptr;
  explicit Counting(uint64_t& version) : version_(version) {}

  void Add(const Ptr&) override { ++version_; }
  void Update(const Ptr& old_object, const Ptr& new_object) override {
    if (!SameContent(*old_object, *new_object)) ++version_;
  }
  void Delete(const Ptr&, bool) override { ++version_; }

 private:
  uint64_t& version_;
};

// Objects of one kind by namespace, each list ascending by name.
template <class T>
using ByNamespace = std::map<Symbol, std::vector<std::shared_ptr<const T>>>;

constexpr std::string_view kNotListed = "a known object is missing in its namespace's list";

// Where the object stands or belongs.
template <class T>
typename std::vector<std::shared_ptr<const T>>::iterator Place(
    std::vector<std::shared_ptr<const T>>& list, const T& object) {
  return std::lower_bound(list.begin(), list.end(), object.meta.name,
                          [](const std::shared_ptr<const T>& entry, const std::string& name) {
                            return entry->meta.name < name;
                          });
}

template <class T>
void Insert(ByNamespace<T>& lists, const std::shared_ptr<const T>& object) {
  std::vector<std::shared_ptr<const T>>& list = lists[object->meta.ns];
  const auto place = Place(list, *object);
  KS_CHECK(place == list.end() || (*place)->meta.name != object->meta.name,
           "an object is kept twice");
  list.insert(place, object);
}

// In place of the one of that name.
template <class T>
void Exchange(ByNamespace<T>& lists, const std::shared_ptr<const T>& object) {
  std::vector<std::shared_ptr<const T>>& list = lists[object->meta.ns];
  const auto place = Place(list, *object);
  KS_CHECK(place != list.end() && (*place)->meta.name == object->meta.name, kNotListed);
  *place = object;
}

template <class T>
void Erase(ByNamespace<T>& lists, const T& object) {
  const auto found = lists.find(object.meta.ns);
  KS_CHECK(found != lists.end(), kNotListed);
  const auto place = Place(found->second, object);
  KS_CHECK(place != found->second.end() && (*place)->meta.name == object.meta.name, kNotListed);
  found->second.erase(place);
  if (found->second.empty()) lists.erase(found);
}

template <class T>
std::span<const std::shared_ptr<const T>> In(const ByNamespace<T>& lists, const Symbol& ns) {
  const auto found = lists.find(ns);
  if (found == lists.end()) return {};
  return found->second;
}

template <class T>
const T* Find(const ObjectStore<T>& store, const Symbol& ns, std::string_view name) {
  std::string key(ns.view());
  key += '/';
  key += name;
  return store.Get(key).get();
}

}  // namespace

// Keeps the lists by namespace.
class OwnerStores::ServiceHandler final : public ObjectHandler<api::Service> {
 public:
  ServiceHandler(OwnerStores& stores, const Observers& observers)
      : lists_(stores.services_by_namespace_), version_(stores.version_), observers_(observers) {}

  void Add(const api::ServicePtr& service) override {
    Insert(lists_, service);
    Changed(framework::kActionAdd);
  }
  void Update(const api::ServicePtr& old_service, const api::ServicePtr& new_service) override {
    Exchange(lists_, new_service);
    if (!SameContent(*old_service, *new_service)) Changed(framework::kActionUpdate);
  }
  void Delete(const api::ServicePtr& service, bool) override {
    Erase(lists_, *service);
    Changed(framework::kActionDelete);
  }

 private:
  void Changed(uint32_t action) {
    ++version_;
    if (observers_.service) observers_.service(action);
  }

  ByNamespace<api::Service>& lists_;
  uint64_t& version_;
  const Observers& observers_;
};

class OwnerStores::NamespaceHandler final : public ObjectHandler<api::Namespace> {
 public:
  NamespaceHandler(OwnerStores& stores, const Observers& observers)
      : version_(stores.version_), observers_(observers) {}

  void Add(const api::NamespacePtr& added) override {
    Changed(framework::kActionAdd, nullptr, added);
  }
  void Update(const api::NamespacePtr& former, const api::NamespacePtr& latter) override {
    if (!SameContent(*former, *latter)) Changed(framework::kActionUpdate, former, latter);
  }
  void Delete(const api::NamespacePtr& deleted, bool) override {
    Changed(framework::kActionDelete, deleted, nullptr);
  }

 private:
  void Changed(uint32_t action, const api::NamespacePtr& former, const api::NamespacePtr& latter) {
    ++version_;
    if (observers_.of_namespace) observers_.of_namespace(action, former, latter);
  }

  uint64_t& version_;
  const Observers& observers_;
};

// Nobody is told: budgets are read afresh in each attempt that needs them.
class OwnerStores::BudgetHandler final : public ObjectHandler<api::PodDisruptionBudget> {
 public:
  explicit BudgetHandler(OwnerStores& stores) : lists_(stores.budgets_by_namespace_) {}

  void Add(const api::PodDisruptionBudgetPtr& budget) override { Insert(lists_, budget); }
  void Update(const api::PodDisruptionBudgetPtr&,
              const api::PodDisruptionBudgetPtr& new_budget) override {
    Exchange(lists_, new_budget);
  }
  void Delete(const api::PodDisruptionBudgetPtr& budget, bool) override { Erase(lists_, *budget); }

 private:
  ByNamespace<api::PodDisruptionBudget>& lists_;
};

template <class T>
void OwnerStores::ApplyTo(const std::vector<api::Delta<T>>& deltas, ObjectHandler<T>& handler) {
  for (const api::Delta<T>& delta : deltas) {
    std::get<ObjectStore<T>>(stores_).Apply(delta, handler);
    if (delta.type == api::Delta<T>::Type::kReplace) synced_.Add(framework::kOptionalKindOf<T>);
  }
}

void OwnerStores::Apply(const OwnerDeltas& deltas, const Observers& observers) {
  const auto apply = [&]<class T>(const std::vector<api::Delta<T>>& of_kind) {
    if constexpr (std::is_same_v<T, api::Service>) {
      ServiceHandler handler(*this, observers);
      ApplyTo<T>(of_kind, handler);
    } else if constexpr (std::is_same_v<T, api::Namespace>) {
      NamespaceHandler handler(*this, observers);
      ApplyTo<T>(of_kind, handler);
    } else if constexpr (std::is_same_v<T, api::PodDisruptionBudget>) {
      BudgetHandler handler(*this);
      ApplyTo<T>(of_kind, handler);
    } else {
      Counting<T> handler(version_);
      ApplyTo<T>(of_kind, handler);
    }
  };
  std::visit(apply, deltas);
}

bool OwnerStores::Synced(framework::OptionalKinds kinds) const {
  return framework::AllSynced<api::OwnerKinds>(kinds, synced_);
}

std::span<const api::ServicePtr> OwnerStores::Services(const Symbol& ns) const {
  return In(services_by_namespace_, ns);
}

std::span<const api::PodDisruptionBudgetPtr> OwnerStores::PodDisruptionBudgets(
    const Symbol& ns) const {
  return In(budgets_by_namespace_, ns);
}

const api::ReplicationController* OwnerStores::FindReplicationController(
    const Symbol& ns, std::string_view name) const {
  return Find(Stored<api::ReplicationController>(), ns, name);
}

const api::ReplicaSet* OwnerStores::FindReplicaSet(const Symbol& ns, std::string_view name) const {
  return Find(Stored<api::ReplicaSet>(), ns, name);
}

const api::StatefulSet* OwnerStores::FindStatefulSet(const Symbol& ns,
                                                     std::string_view name) const {
  return Find(Stored<api::StatefulSet>(), ns, name);
}

const api::Namespace* OwnerStores::FindNamespace(const Symbol& name) const {
  return Stored<api::Namespace>().Get(name.view()).get();
}

}  // namespace ks::cache
