// SPDX-License-Identifier: Apache-2.0
#include "cache/owner_stores.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/events.h"
#include "testing/deltas.h"

namespace ks::cache {
namespace {

using framework::OptionalKind;
using framework::OptionalKinds;
using testing::Delete;
using testing::Replace;
using testing::Upsert;
template <class T>
using Deltas = std::vector<api::Delta<T>>;
using Names = std::vector<std::string>;

template <class T>
std::shared_ptr<T> Named(const std::string& ns, const std::string& name) {
  auto object = std::make_shared<T>();
  object->meta.ns = Symbol(ns);
  object->meta.name = name;
  return object;
}

api::ServicePtr MakeService(const std::string& ns, const std::string& name,
                            const std::string& app = "") {
  auto service = Named<api::Service>(ns, name);
  if (!app.empty()) service->selector = api::LabelMap{{Symbol("app"), Symbol(app)}};
  return service;
}

class OwnerStoresTest : public ::testing::Test {
 protected:
  void Apply(OwnerDeltas deltas) {
    stores.Apply(deltas,
                 {.service = [this](uint32_t action) { actions.push_back(action); },
                  .of_namespace =
                      [this](uint32_t action, const api::NamespacePtr& former,
                             const api::NamespacePtr& latter) {
                        namespaces.push_back({action, former != nullptr, latter != nullptr});
                      }});
  }
  Names ServicesIn(const std::string& ns) {
    Names names;
    for (const api::ServicePtr& service : stores.Services(Symbol(ns))) {
      names.push_back(service->meta.name);
    }
    return names;
  }

  struct NamespaceChange {
    uint32_t action = 0;
    bool was_there = false;
    bool is_there = false;
    bool operator==(const NamespaceChange&) const = default;
  };

  OwnerStores stores;
  std::vector<NamespaceChange> namespaces;
  std::vector<uint32_t> actions;
};

TEST_F(OwnerStoresTest, ServicesOfANamespaceByName) {
  Apply(
      Deltas<api::Service>{Replace<api::Service>({MakeService("b", "two"), MakeService("a", "z"),
                                                  MakeService("a", "c"), MakeService("a", "m")})});
  EXPECT_EQ(ServicesIn("a"), (Names{"c", "m", "z"}));
  EXPECT_EQ(ServicesIn("b"), (Names{"two"}));
  EXPECT_EQ(ServicesIn("none"), Names{});

  Apply(Deltas<api::Service>{Upsert(MakeService("a", "d")), Delete(MakeService("a", "m")),
                             Delete(MakeService("b", "two"))});
  EXPECT_EQ(ServicesIn("a"), (Names{"c", "d", "z"}));
  EXPECT_EQ(ServicesIn("b"), Names{});

  Apply(Deltas<api::Service>{Replace<api::Service>({MakeService("b", "new")})});
  EXPECT_EQ(ServicesIn("a"), Names{});
  EXPECT_EQ(ServicesIn("b"), (Names{"new"}));
}

TEST_F(OwnerStoresTest, AnUpdateIsSeenAndToldWhenTheSelectorChanges) {
  Apply(Deltas<api::Service>{Upsert(MakeService("a", "s", "web"))});
  Apply(Deltas<api::Service>{Upsert(MakeService("a", "s", "web"))});
  EXPECT_EQ(actions, (std::vector<uint32_t>{framework::kActionAdd}));
  Apply(Deltas<api::Service>{Upsert(MakeService("a", "s", "db"))});
  EXPECT_EQ(stores.Services(Symbol("a"))[0]->selector->Find(Symbol("app"))->view(), "db");
  Apply(Deltas<api::Service>{Upsert(MakeService("a", "s"))});
  EXPECT_FALSE(stores.Services(Symbol("a"))[0]->selector.has_value());
  Apply(Deltas<api::Service>{Delete(MakeService("a", "s"))});
  EXPECT_EQ(actions, (std::vector<uint32_t>{framework::kActionAdd, framework::kActionUpdate,
                                            framework::kActionUpdate, framework::kActionDelete}));
}

TEST_F(OwnerStoresTest, TheOthersAreFoundByNamespaceAndName) {
  Apply(Deltas<api::ReplicationController>{
      Upsert<api::ReplicationController>(Named<api::ReplicationController>("a", "x"))});
  Apply(Deltas<api::ReplicaSet>{Upsert<api::ReplicaSet>(Named<api::ReplicaSet>("a", "y"))});
  Apply(Deltas<api::StatefulSet>{Upsert<api::StatefulSet>(Named<api::StatefulSet>("a", "z"))});
  EXPECT_TRUE(actions.empty());

  ASSERT_NE(stores.FindReplicationController(Symbol("a"), "x"), nullptr);
  ASSERT_NE(stores.FindReplicaSet(Symbol("a"), "y"), nullptr);
  ASSERT_NE(stores.FindStatefulSet(Symbol("a"), "z"), nullptr);
  EXPECT_EQ(stores.FindReplicaSet(Symbol("a"), "y")->meta.Key(), "a/y");
  // Neither another kind, nor another namespace, nor another name.
  EXPECT_EQ(stores.FindReplicationController(Symbol("a"), "y"), nullptr);
  EXPECT_EQ(stores.FindReplicaSet(Symbol("b"), "y"), nullptr);
  EXPECT_EQ(stores.FindStatefulSet(Symbol("a"), "y"), nullptr);

  Apply(Deltas<api::ReplicaSet>{Delete<api::ReplicaSet>(Named<api::ReplicaSet>("a", "y"))});
  EXPECT_EQ(stores.FindReplicaSet(Symbol("a"), "y"), nullptr);
}

TEST_F(OwnerStoresTest, ChangesOfNamespacesAreTold) {
  const auto labeled = [](const std::string& team, const std::string& version) {
    auto object = Named<api::Namespace>("", "a");
    object->meta.labels = api::LabelMap{{Symbol("team"), Symbol(team)}};
    object->meta.resource_version = version;
    return object;
  };
  Apply(Deltas<api::Namespace>{Replace<api::Namespace>({labeled("x", "1")})});
  Apply(Deltas<api::Namespace>{Upsert<api::Namespace>(labeled("x", "2"))});
  Apply(Deltas<api::Namespace>{Upsert<api::Namespace>(labeled("y", "3"))});
  Apply(Deltas<api::Namespace>{Delete<api::Namespace>(labeled("y", "4"))});
  EXPECT_EQ(namespaces, (std::vector<NamespaceChange>{{framework::kActionAdd, false, true},
                                                      {framework::kActionUpdate, true, true},
                                                      {framework::kActionDelete, true, false}}));
}

TEST_F(OwnerStoresTest, SyncedAfterTheFirstFullStateOfEachKind) {
  const OptionalKinds wanted{OptionalKind::kService, OptionalKind::kStatefulSet};
  EXPECT_TRUE(stores.Synced({}));
  EXPECT_FALSE(stores.Synced(wanted));
  Apply(Deltas<api::StatefulSet>{Replace<api::StatefulSet>({})});
  Apply(Deltas<api::Service>{Upsert(MakeService("a", "s"))});
  EXPECT_FALSE(stores.Synced(wanted));
  Apply(Deltas<api::Service>{Replace<api::Service>({})});
  EXPECT_TRUE(stores.Synced(wanted));
  EXPECT_FALSE(stores.Synced({OptionalKind::kReplicaSet}));
}

TEST_F(OwnerStoresTest, BudgetsByNamespaceAndName) {
  const auto budget = [](const std::string& ns, const std::string& name, int32_t allowed) {
    auto made = Named<api::PodDisruptionBudget>(ns, name);
    made->disruptions_allowed = allowed;
    return api::PodDisruptionBudgetPtr(made);
  };
  const auto shown = [this](const std::string& ns) {
    Names names;
    for (const api::PodDisruptionBudgetPtr& object : stores.PodDisruptionBudgets(Symbol(ns))) {
      names.push_back(object->meta.name + std::to_string(object->disruptions_allowed));
    }
    return names;
  };
  using Budgets = Deltas<api::PodDisruptionBudget>;
  const uint64_t version = stores.version();
  EXPECT_FALSE(stores.Synced({OptionalKind::kPodDisruptionBudget}));
  Apply(Budgets{Replace<api::PodDisruptionBudget>({budget("a", "y", 1), budget("b", "z", 0)})});
  EXPECT_TRUE(stores.Synced({OptionalKind::kPodDisruptionBudget}));
  Apply(Budgets{Upsert(budget("a", "x", 2)), Upsert(budget("a", "y", 3))});
  EXPECT_EQ(shown("a"), (Names{"x2", "y3"}));
  EXPECT_EQ(shown("b"), Names{"z0"});
  Apply(Budgets{Delete(budget("b", "z", 0))});
  EXPECT_EQ(shown("b"), Names{});
  EXPECT_EQ(stores.version(), version) << "nothing is derived from budgets";
}

}  // namespace
}  // namespace ks::cache
