// SPDX-License-Identifier: Apache-2.0
#pragma once
// Owner listers over objects that the test gives. Threads: read by any once filled.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/owner_listers.h"
#include "testing/builders.h"

namespace ks::testing {

// An absent selector is a null one; {} an empty one.
inline api::ServicePtr MakeService(std::string_view ns, std::string_view name,
                                   const std::optional<Texts>& selector) {
  auto service = std::make_shared<api::Service>();
  service->meta.ns = Symbol(ns);
  service->meta.name = name;
  if (selector) service->selector = MakeLabels(*selector);
  return service;
}

inline api::ReplicationControllerPtr MakeReplicationController(std::string_view ns,
                                                               std::string_view name,
                                                               const Texts& selector) {
  auto controller = std::make_shared<api::ReplicationController>();
  controller->meta.ns = Symbol(ns);
  controller->meta.name = name;
  controller->selector = MakeLabels(selector);
  return controller;
}

// T is api::ReplicaSet or api::StatefulSet. A selector that does not compile counts as decoded.
template <class T>
std::shared_ptr<const T> MakeSet(std::string_view ns, std::string_view name,
                                 const std::optional<api::LabelSelectorSpec>& selector) {
  auto set = std::make_shared<T>();
  set->meta.ns = Symbol(ns);
  set->meta.name = name;
  const Result<api::LabelSelector> compiled = api::LabelSelector::Compile(selector);
  if (compiled.ok()) set->selector = *compiled;
  return set;
}

// A selector that does not compile counts as decoded.
inline api::PodDisruptionBudgetPtr MakeBudget(std::string_view ns, std::string_view name,
                                              const std::optional<api::LabelSelectorSpec>& selector,
                                              int32_t allowed,
                                              std::vector<std::string> disrupted = {}) {
  auto budget = std::make_shared<api::PodDisruptionBudget>();
  budget->meta.ns = Symbol(ns);
  budget->meta.name = name;
  const Result<api::LabelSelector> compiled = api::LabelSelector::Compile(selector);
  if (compiled.ok()) budget->selector = *compiled;
  budget->disruptions_allowed = allowed;
  budget->disrupted_pods = std::move(disrupted);
  return budget;
}

inline api::NamespacePtr MakeNamespace(std::string_view name, const Texts& labels) {
  auto object = std::make_shared<api::Namespace>();
  object->meta.name = name;
  object->meta.labels = MakeLabels(labels);
  return object;
}

class FakeOwnerListers final : public framework::OwnerListers {
 public:
  void Add(const api::ServicePtr& service) {
    std::vector<api::ServicePtr>& list = services_[service->meta.ns];
    list.push_back(service);
    std::sort(list.begin(), list.end(), [](const api::ServicePtr& a, const api::ServicePtr& b) {
      return a->meta.name < b->meta.name;
    });
    ++version_;
  }
  void Add(const api::ReplicationControllerPtr& object) { Put(controllers_, object); }
  void Add(const api::ReplicaSetPtr& object) { Put(replica_sets_, object); }
  void Add(const api::StatefulSetPtr& object) { Put(stateful_sets_, object); }
  void Add(const api::NamespacePtr& object) {
    namespaces_[Symbol(object->meta.name)] = object;
    ++version_;
  }

  std::span<const api::ServicePtr> Services(const Symbol& ns) const override {
    const auto found = services_.find(ns);
    if (found == services_.end()) return {};
    return found->second;
  }
  const api::ReplicationController* FindReplicationController(
      const Symbol& ns, std::string_view name) const override {
    return Get(controllers_, ns, name);
  }
  const api::ReplicaSet* FindReplicaSet(const Symbol& ns, std::string_view name) const override {
    return Get(replica_sets_, ns, name);
  }
  const api::StatefulSet* FindStatefulSet(const Symbol& ns, std::string_view name) const override {
    return Get(stateful_sets_, ns, name);
  }
  const api::Namespace* FindNamespace(const Symbol& name) const override {
    const auto found = namespaces_.find(name);
    return found == namespaces_.end() ? nullptr : found->second.get();
  }
  void Add(const api::PodDisruptionBudgetPtr& budget) {
    budgets_[budget->meta.ns].push_back(budget);
  }
  // In the order of Add.
  std::span<const api::PodDisruptionBudgetPtr> PodDisruptionBudgets(
      const Symbol& ns) const override {
    const auto found = budgets_.find(ns);
    if (found == budgets_.end()) return {};
    return found->second;
  }
  std::vector<api::NamespacePtr> Namespaces() const override {
    std::vector<api::NamespacePtr> list;
    for (const auto& [name, object] : namespaces_) list.push_back(object);
    return list;
  }
  uint64_t version() const override { return version_; }

 private:
  template <class T>
  using Objects = std::map<std::pair<Symbol, std::string>, std::shared_ptr<const T>>;

  template <class T>
  void Put(Objects<T>& objects, const std::shared_ptr<const T>& object) {
    ++version_;
    objects[{object->meta.ns, object->meta.name}] = object;
  }
  template <class T>
  static const T* Get(const Objects<T>& objects, const Symbol& ns, std::string_view name) {
    const auto found = objects.find({ns, std::string(name)});
    return found == objects.end() ? nullptr : found->second.get();
  }

  std::map<Symbol, std::vector<api::ServicePtr>> services_;
  Objects<api::ReplicationController> controllers_;
  Objects<api::ReplicaSet> replica_sets_;
  Objects<api::StatefulSet> stateful_sets_;
  std::map<Symbol, api::NamespacePtr> namespaces_;
  std::map<Symbol, std::vector<api::PodDisruptionBudgetPtr>> budgets_;
  uint64_t version_ = 0;
};

}  // namespace ks::testing
