// SPDX-License-Identifier: Apache-2.0
// What plugins say that PreEnqueue's answer can change with (framework::GateScope) is held against
// what they answer: random pods in groups and trees of groups that come, change and go.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "framework/plugin.h"
#include "plugins/plugin_rig.h"
#include "plugins/registry.h"
#include "testing/deltas.h"

namespace ks::plugins {
namespace {

using framework::GateScope;
using testing::MakePod;

class ScopeWorld {
 public:
  explicit ScopeWorld(uint64_t seed) : random_(seed) {
    for (const config::Gate gate :
         {config::Gate::kGenericWorkload, config::Gate::kCompositePodGroup}) {
      handle_.fake_gates().Set(gate, true);
    }
    const framework::Registry registry = InTreeRegistry();
    for (const framework::PluginEntry& entry : registry.entries()) {
      auto made = entry.factory({}, handle_);
      if (!made.ok()) continue;
      auto* gate = dynamic_cast<framework::PreEnqueuePlugin*>(made.value().get());
      if (gate == nullptr) continue;
      gates_.emplace(entry.name, gate);
      plugins_.push_back(std::move(made).value());
    }
    for (int i = 0; i < 40; ++i) pods_.push_back(NewPod(i));
  }

  // Groups, members, or the objects above come, change or go.
  void Change() {
    const std::string group = GroupName();
    const api::PodPtr& pod = pods_[random_.Below(pods_.size())];
    switch (random_.Below(6)) {
      case 0:
      case 1:
        return ShowGroup(group);
      case 2:
        return HideGroup(group);
      case 3:
        return ShowTree();
      case 4:
        return handle_.fake_pod_groups().AddMember(pod);
      default:
        return handle_.fake_pod_groups().RemoveMember(*pod);
    }
  }

  void Check() {
    for (const auto& [name, plugin] : gates_) {
      std::map<std::string, std::pair<std::string, std::string>> of_tree;  // pod, answer
      for (const api::PodPtr& pod : pods_) {
        const std::string answer = Describe(plugin->PreEnqueue(*pod));
        const GateScope scope = plugin->ScopeOf(*pod);
        if (answer != "Success") rejected_.insert({name, scope});
        if (scope == GateScope::kPod) {
          const auto [first, is_new] = of_pod_.try_emplace(name + pod->meta.name, answer);
          EXPECT_EQ(first->second, answer) << name << " changes its mind about " << pod->meta.name;
        }
        if (scope != GateScope::kPodGroup) continue;
        const auto group = framework::GroupOf(*pod);
        const auto root = group ? handle_.pod_groups().RootOf(*group) : std::nullopt;
        if (!root) continue;
        const auto [first, is_new] =
            of_tree.try_emplace(root->Text(), std::pair(pod->meta.name, answer));
        EXPECT_EQ(first->second.second, answer) << name << " of " << pod->meta.name << " and "
                                                << first->second.first << " in " << root->Text();
        compared_ += is_new ? 0 : 1;
      }
    }
  }

  // Plugins that said no, by their scope then.
  const std::set<std::pair<std::string, GateScope>>& rejected() const { return rejected_; }
  size_t compared() const { return compared_; }
  size_t plugins() const { return gates_.size(); }

 private:
  bool Chance(double share) { return random_.Unit() < share; }
  std::string GroupName() { return "g" + std::to_string(random_.Below(5)); }

  api::PodPtr NewPod(int number) {
    auto pod = MakePod()
                   .Name("p" + std::to_string(number))
                   .Priority(static_cast<int32_t>(random_.Below(3)));
    pod.Req({{"cpu", std::to_string(1 + random_.Below(4))}});
    if (Chance(0.8)) pod.spec().scheduling_group = GroupName();
    if (Chance(0.2)) pod.Gates({"wait"});
    if (Chance(0.2)) pod.Labels({{"a", "b"}});
    if (Chance(0.2)) pod.NominatedNode("n1");
    if (Chance(0.2)) {
      api::PodResourceClaim claim;
      claim.name = "claim";
      claim.resource_claim_name = "unknown-" + std::to_string(number);
      pod.spec().resource_claims.push_back(claim);
    }
    return pod.Obj();
  }

  template <class T>
  void Tell(api::Delta<T> delta) {
    handle_.fake_group_objects().Apply(
        cache::GroupDeltas(std::vector<api::Delta<T>>{std::move(delta)}), {});
  }
  void ShowGroup(const std::string& name) {
    auto group = std::make_shared<api::PodGroup>();
    group->meta.ns = Symbol("ns");
    group->meta.name = name;
    group->meta.uid = "uid-" + name;
    group->meta.resource_version = std::to_string(++version_);
    if (Chance(0.8)) group->min_count = 1 + static_cast<int32_t>(random_.Below(8));
    if (name != "g0") group->spec.parent_composite_pod_group_name = Chance(0.5) ? "c" : "";
    Tell(testing::Upsert<api::PodGroup>(group));
    handle_.fake_pod_groups().SetGroup(group);
  }
  void HideGroup(const std::string& name) {
    const api::PodGroupPtr group = handle_.fake_group_objects().FindPodGroup(Symbol("ns"), name);
    if (group == nullptr) return;
    Tell(testing::Delete(group));
    handle_.fake_pod_groups().RemoveGroup(*group);
  }
  void ShowTree() {
    auto tree = std::make_shared<api::CompositePodGroup>();
    tree->meta.ns = Symbol("ns");
    tree->meta.name = "c";
    tree->meta.uid = "uid-c";
    tree->meta.resource_version = std::to_string(++version_);
    if (Chance(0.7)) tree->min_group_count = 1 + static_cast<int32_t>(random_.Below(4));
    Tell(Chance(0.7) ? testing::Upsert<api::CompositePodGroup>(tree)
                     : testing::Delete<api::CompositePodGroup>(tree));
  }

  Random random_;
  testing::FakeHandle handle_;
  std::vector<std::unique_ptr<framework::Plugin>> plugins_;
  std::map<std::string, framework::PreEnqueuePlugin*> gates_;
  std::vector<api::PodPtr> pods_;
  int version_ = 0;
  std::map<std::string, std::string> of_pod_;  // first answers of the scope kPod
  std::set<std::pair<std::string, GateScope>> rejected_;
  size_t compared_ = 0;
};

TEST(GateScopes, AreWhatTheAnswersChangeWith) {
  std::set<std::pair<std::string, GateScope>> rejected;
  size_t compared = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ScopeWorld world(seed);
    for (int i = 0; i < 150; ++i) {
      world.Change();
      world.Check();
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GE(world.plugins(), 4U);
    rejected.insert(world.rejected().begin(), world.rejected().end());
    compared += world.compared();
  }
  // That the comparison is about something.
  EXPECT_TRUE(rejected.contains({"GangScheduling", GateScope::kPodGroup}));
  EXPECT_TRUE(rejected.contains({"SchedulingGates", GateScope::kPod}));
  EXPECT_GT(compared, 10000U);
}

}  // namespace
}  // namespace ks::plugins
