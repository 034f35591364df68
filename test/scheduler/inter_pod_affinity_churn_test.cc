// SPDX-License-Identifier: Apache-2.0
// InterPodAffinity keeps its tables between attempts: after any changes of the cache it must still
// agree with a brute-force reading of the specification.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "testing/affinity_random.h"
#include "testing/fake_handle.h"
#include "testing/sanitized.h"

namespace ks::plugins {
namespace {

using testing::AffinityOptions;
using testing::AffinityRandom;

constexpr size_t kMaxPods = 40;

// A cache that nodes, pods and namespaces come to and go from.
class Churn {
 public:
  explicit Churn(AffinityRandom& random) : random_(random) {
    // Pods of one template share a spec.
    for (int i = 0; i < 6; ++i) templates_.push_back(random.Pod("template", 2).Obj());
  }

  void Step() {
    switch (random_.Below(10)) {
      case 0:
        PutNode("node-" + std::to_string(random_.Below(8)));
        break;
      case 1:
        if (random_.OneIn(3)) RemoveNode("node-" + std::to_string(random_.Below(8)));
        break;
      case 2:
      case 3:
      case 4:
        RemovePod();
        break;
      case 5:
        UpdatePod();
        break;
      default:
        AddPod();
    }
  }

  cache::Cache cache;

 private:
  void PutNode(const std::string& name) {
    const api::NodePtr node = random_.Node(name);
    const auto [it, inserted] = nodes_.try_emplace(name, node);
    if (inserted) {
      cache.AddNode(node);
      return;
    }
    cache.UpdateNode(*it->second, node);
    it->second = node;
  }
  void RemoveNode(const std::string& name) {
    const auto it = nodes_.find(name);
    if (it == nodes_.end()) return;
    ASSERT_TRUE(cache.RemoveNode(*it->second).ok());
    nodes_.erase(it);
  }
  // Also on nodes that are not there (yet).
  api::PodPtr Pod(const std::string& name, const std::string& node) {
    if (random_.OneIn(3)) {
      auto pod = random_.Pod(name, 2);
      pod.Node(node);
      return pod.Obj();
    }
    auto replica = std::make_shared<api::Pod>(*templates_[random_.Below(templates_.size())]);
    replica->meta.name = name;
    replica->meta.uid = "uid-" + name;
    replica->node_name = Symbol(node);
    return replica;
  }
  void AddPod() {
    if (pods_.size() >= kMaxPods) {
      RemovePod();
      return;
    }
    const std::string node = "node-" + std::to_string(random_.Below(10));
    pods_.push_back(Pod("pod-" + std::to_string(next_pod_++), node));
    const auto added =
        random_.OneIn(2) ? cache.AssumePod(pods_.back()) : cache.AddPod(pods_.back());
    ASSERT_TRUE(added.ok());
  }
  void RemovePod() {
    if (pods_.empty()) return;
    std::swap(pods_[random_.Below(pods_.size())], pods_.back());
    const api::PodPtr pod = pods_.back();
    pods_.pop_back();
    const auto removed = cache.IsAssumedPod(*pod) ? cache.ForgetPod(*pod) : cache.RemovePod(*pod);
    ASSERT_TRUE(removed.ok());
  }
  void UpdatePod() {
    if (pods_.empty()) return;
    api::PodPtr& pod = pods_[random_.Below(pods_.size())];
    if (cache.IsAssumedPod(*pod)) return;
    const api::PodPtr changed = Pod(pod->meta.name, pod->node_name.str());
    ASSERT_TRUE(cache.UpdatePod(*pod, changed).ok());
    pod = changed;
  }

  AffinityRandom& random_;
  std::vector<api::PodPtr> templates_;
  std::map<std::string, api::NodePtr> nodes_;
  std::vector<api::PodPtr> pods_;
  int next_pod_ = 0;
};

class InterPodAffinityAnyChangesTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(InterPodAffinityAnyChangesTest, AgreesWithTheReferenceAfterAnyChanges) {
  AffinityRandom random(GetParam());
  const AffinityOptions options{.hard_weight = static_cast<int32_t>(random.Below(3) * 5),
                                .ignore_preferred = random.OneIn(4),
                                .fast_path = random.OneIn(4)};
  Churn churn(random);
  testing::FakeHandle handle(churn.cache);
  handle.fake_gates().Set(config::Gate::kInterPodAffinityHostnameFastPath, options.fast_path);
  // One by one, or summed up beforehand from the first one on, or from some on.
  const size_t many_terms = random.OneIn(3) ? SIZE_MAX : random.Below(2) * 5;
  const auto plugin =
      NewInterPodAffinityOfMany(
          config::InterPodAffinityArgs{options.hard_weight, options.ignore_preferred}, handle,
          many_terms)
          .value();
  std::vector<api::PodPtr> incoming;  // few, so that what is kept is asked for again
  // So many terms that those of a key are counted together, in some of them.
  for (int i = 0; i < 20; ++i) {
    incoming.push_back(random.Pod("incoming", i % 4 == 0 ? 40 : 2).Obj());
  }
  for (int attempt = 0; attempt < 150; ++attempt) {
    // More changes than the log holds, too.
    const size_t steps = attempt == 75 ? 20000 : random.Below(10);
    for (size_t i = 0; i < steps; ++i) churn.Step();
    ASSERT_TRUE(churn.cache.RefreshSnapshot().ok());
    if (random.OneIn(10)) handle.fake_owner_listers().Add(random.Namespace());
    api::Pod pod = *incoming[random.Below(incoming.size())];
    pod.meta.uid = "uid-" + std::to_string(attempt);  // another one of its template
    ASSERT_EQ(
        CompareWithReference(*plugin, churn.cache, handle.owner_listers(), options, pod, random),
        "")
        << "attempt " << attempt;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, InterPodAffinityAnyChangesTest,
                         ::testing::Range<uint64_t>(1, testing::Cases(10) + 1));

// A node that changes its zone again and again leaves zones behind, which are forgotten one day.
TEST(InterPodAffinityChurnTest, NumbersOfDomainsAreGivenAnew) {
  AffinityRandom random(1);
  cache::Cache cache;
  testing::FakeHandle handle(cache);
  const auto plugin = NewInterPodAffinity({}, handle).value();
  const auto near_x = testing::Term("zone").App("x");
  const auto node = [](int zone) {
    return testing::MakeNode().Name("n").Label("zone", "z" + std::to_string(zone)).Obj();
  };
  cache.AddNode(node(0));
  cache.AddNode(testing::MakeNode().Name("m").Label("zone", "last").Obj());
  testing::AffinePod existing;
  existing.Name("e").Labels({{"app", "x"}}).Node("n");
  existing.Far(near_x).PrefersNear(3, near_x);
  ASSERT_TRUE(cache.AddPod(existing.Obj()).ok());
  existing.Name("f").Node("m");
  ASSERT_TRUE(cache.AddPod(existing.Obj()).ok());
  testing::AffinePod incoming;
  incoming.Name("p").Labels({{"app", "x"}});
  incoming.Near(near_x).PrefersFar(1, near_x);
  const api::PodPtr pod = incoming.Obj();
  for (int i = 0; i < 1500; ++i) {
    cache.UpdateNode(*node(i), node(i + 1));
    ASSERT_TRUE(cache.RefreshSnapshot().ok());
    ASSERT_EQ(CompareWithReference(*plugin, cache, handle.owner_listers(), {}, *pod, random), "")
        << "zone " << i + 1;
  }
}

}  // namespace
}  // namespace ks::plugins
