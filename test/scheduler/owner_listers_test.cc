// SPDX-License-Identifier: Apache-2.0
// Objects that only some plugins need, through the whole scheduler.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "scheduler/rig.h"
#include "testing/affinity_builders.h"
#include "testing/deltas.h"
#include "testing/fake_owner_listers.h"
#include "testing/no_objects.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::MakeService;
using ks::testing::Texts;
using Placement = std::map<std::string, std::string>;

const Texts kWeb = {{"app", "web"}};
const ks::testing::Resources kFullNode = {{"cpu", "1"}, {"memory", "1Gi"}, {"pods", "10"}};

Rig::Options WithServiceAffinity() {
  Rig::Options options;
  config::Profile& profile = options.configuration.profiles.front();
  profile.plugins.multi_point.enabled.push_back({.name = "ServiceAffinity", .weight = 1});
  profile.plugin_config.push_back(
      {.name = "ServiceAffinity", .args = config::RawArgs{R"({"affinityLabels":["region"]})"}});
  return options;
}

using Services = std::vector<api::Delta<api::Service>>;

TEST(OwnerListersTest, NothingIsAttemptedBeforeTheNeededKindsAreThere) {
  Rig::Options options = WithServiceAffinity();
  options.owners_synced = false;
  Rig rig(std::move(options));
  EXPECT_TRUE(rig.scheduler->NeededKinds().Contains(framework::OptionalKind::kService));
  api::OwnerKinds::ForEach([&rig]<class T>(const T*) {
    if constexpr (!std::is_same_v<T, api::Service>) testing::PostNo<T>(*rig.scheduler);
  });
  rig.Sync({MakeNode().Name("a").Allocatable(kFullNode).Obj()}, {MakePod().Name("p").Obj()});
  rig.Settle();
  EXPECT_FALSE(rig.scheduler->Synced());
  EXPECT_TRUE(rig.Bound().empty());
  rig.scheduler->Post(OwnerDeltas(Services{testing::Replace<api::Service>({})}));
  rig.Settle();
  EXPECT_TRUE(rig.scheduler->Synced());
  EXPECT_EQ(rig.Bound(), (Placement{{"p", "a"}}));
}

// InterPodAffinity reads Namespaces, DefaultPreemption budgets, PodTopologySpread the others of the
// owners.
TEST(OwnerListersTest, ADefaultProfileNeedsAllButGroups) {
  Rig rig;
  const framework::OptionalKinds needed = rig.scheduler->NeededKinds();
  api::OptionalKindTypes::ForEach([&needed]<class T>(const T*) {
    const bool is_group = api::kKindOf<T>.group == "scheduling.k8s.io";
    EXPECT_EQ(needed.Contains(framework::kOptionalKindOf<T>), !is_group) << api::kKindOf<T>.kind;
  });
}

// The only node of the Service's region is full; without the Service the other region will do.
TEST(OwnerListersTest, AServiceThatGoesBringsItsPodsBack) {
  Rig rig(WithServiceAffinity());
  const api::ServicePtr service = MakeService("ns", "web", kWeb);
  rig.scheduler->Post(OwnerDeltas(Services{testing::Replace<api::Service>({service})}));
  rig.Sync({MakeNode().Name("a").Label("region", "r1").Allocatable(kFullNode).Obj(),
            MakeNode().Name("b").Label("region", "r2").Allocatable(kFullNode).Obj()},
           {MakePod().Name("old").Labels(kWeb).Node("a").Req({{"cpu", "1"}}).Obj(),
            MakePod().Name("new").Labels(kWeb).Req({{"cpu", "1"}}).Obj()});
  rig.Settle();
  EXPECT_TRUE(rig.Bound().empty());
  EXPECT_NE(rig.LastMessage("new").find("node(s) didn't match service affinity"), std::string::npos)
      << rig.LastMessage("new");
  rig.Advance(std::chrono::seconds(20));
  EXPECT_TRUE(rig.Bound().empty());
  rig.scheduler->Post(OwnerDeltas(Services{testing::Delete<api::Service>(service)}));
  rig.Advance(std::chrono::seconds(20));
  EXPECT_EQ(rig.Bound(), (Placement{{"new", "b"}}));
}

// Not upstream's: a pod that selects namespaces by labels is tried when one changes.
TEST(OwnerListersTest, ANamespaceThatChangesItsLabelsWakesWhoSelectsIt) {
  using Namespaces = std::vector<api::Delta<api::Namespace>>;
  Rig rig;
  const auto show = [&rig](const Texts& labels) {
    rig.scheduler->Post(OwnerDeltas(
        Namespaces{testing::Upsert<api::Namespace>(ks::testing::MakeNamespace("other", labels))}));
    rig.Advance(std::chrono::seconds(20));
  };
  show({{"team", "a"}});
  ks::testing::AffinePod near{MakePod().Name("near")};
  near.Near(ks::testing::Term("host").App("web").InNamespacesWith({{"team", "b"}}));
  rig.Sync({MakeNode().Name("a").Label("host", "a").Allocatable(kFullNode).Obj()},
           {MakePod().Name("old").Namespace("other").Labels(kWeb).Node("a").Obj(), near.Obj()});
  rig.Settle();
  const uint64_t attempts = rig.scheduler->context().stats.attempts;
  show({{"team", "c"}});
  EXPECT_EQ(rig.scheduler->context().stats.attempts, attempts)
      << "selected neither before nor after";
  EXPECT_TRUE(rig.Bound().empty());
  show({{"team", "b"}});
  EXPECT_EQ(rig.Bound(), (Placement{{"near", "a"}}));
}

}  // namespace
}  // namespace ks::scheduler
