// SPDX-License-Identifier: Apache-2.0
// Remembering verdicts and scores changes the time and nothing else: two algorithms over one
// changing cluster, one that remembers and one that does not, must agree on every pod.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "cache/cache.h"
#include "cache/owner_stores.h"
#include "cache/storage_stores.h"
#include "config/read/defaults.h"
#include "framework/runtime/offline_parts.h"
#include "framework/runtime/profiles.h"
#include "plugins/registry.h"
#include "scheduler/algorithm/scheduling_algorithm.h"
#include "testing/builders.h"
#include "testing/fake_clock.h"
#include "testing/sanitized.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::PodBuilder;

constexpr size_t kNodes = 150;
constexpr size_t kTemplates = 12;

// What pods of one template have in common; their specs are one object, as after decoding.
PodBuilder Template(Random& random, size_t i) {
  PodBuilder pod = MakePod();
  pod.Labels({{"app", "app-" + std::to_string(i % 5)}});
  const char* const cpus[] = {"0", "100m", "1", "2500m", "9"};
  pod.Req({{"cpu", cpus[random.Below(5)]}, {"memory", random.Below(2) == 0 ? "64Mi" : "3Gi"}},
          "registry.example/app:" + std::to_string(random.Below(3)));
  if (random.Below(4) == 0) pod.Req({{"example.com/gpu", "1"}});
  if (random.Below(4) == 0) pod.HostPort(static_cast<int32_t>(8080 + random.Below(2)));
  if (random.Below(3) == 0) pod.NodeSelector({{"disk", "ssd"}});
  if (random.Below(3) == 0) pod.Toleration("dedicated", "Exists", "", "");
  if (random.Below(3) == 0) {
    pod.PreferredTerm(5, {{"disk", "In", {"ssd"}}});
    pod.PreferredTerm(3, {{"topology.kubernetes.io/zone", "In", {"zone-1"}}});
  }
  return pod;
}

class Twins {
 public:
  explicit Twins(uint64_t seed) : random_(seed) {
    for (size_t i = 0; i < kTemplates; ++i) specs_.push_back(Template(random_, i).Obj());
    for (size_t i = 0; i < kNodes; ++i) PutNode(i);
    Make(true, &remembering_);
    Make(false, &forgetful_);
  }

  void Round() {
    if (random_.Below(4) == 0) Churn();
    ASSERT_TRUE(cache_.RefreshSnapshot().ok());
    auto pod = std::make_shared<api::Pod>(*specs_[random_.Below(kTemplates)]);
    pod->meta.name = "pod-" + std::to_string(next_pod_++);
    pod->meta.uid = "uid-" + pod->meta.name;
    const Outcome a = Decide(remembering_, pod);
    const Outcome b = Decide(forgetful_, pod);
    ASSERT_EQ(a.text, b.text);
    ASSERT_EQ(a.totals, b.totals);
    if (a.node.empty()) return;
    pod->node_name = a.node;
    ASSERT_TRUE(cache_.AssumePod(pod).ok());
    running_.push_back(pod);
  }

 private:
  struct Twin {
    framework::Profiles profiles;
    std::unique_ptr<Parallelizer> parallelizer;
    std::unique_ptr<SchedulingAlgorithm> algorithm;
  };
  struct Outcome {
    std::string text;
    std::string node;
    std::vector<int64_t> totals;
  };

  void Make(bool remember, Twin* twin) {
    auto profiles = framework::BuildProfiles(
        registry_, configuration_, {.parts = parts_.parts(), .remember_verdicts = remember});
    ASSERT_TRUE(profiles.ok()) << profiles.error().message;
    twin->profiles = std::move(profiles).value();
    twin->parallelizer = std::make_unique<Parallelizer>(1);
    twin->algorithm = std::make_unique<SchedulingAlgorithm>(cache_, *twin->parallelizer, 40);
  }

  Outcome Decide(Twin& twin, const api::PodPtr& pod) {
    Attempt attempt(*twin.profiles.begin()->second, pod, spaces_);
    twin.algorithm->SchedulePod(attempt);
    const ScheduleResult& result = attempt.result;
    const framework::Diagnosis& diagnosis = attempt.search->diagnosis;
    Outcome outcome;
    outcome.text = result.status.Message() + "|" + std::to_string(result.evaluated_nodes) + "|" +
                   std::to_string(result.feasible_nodes) + "|" + diagnosis.Text();
    for (const std::string& plugin : diagnosis.unschedulable_plugins) outcome.text += "|" + plugin;
    if (result.node != nullptr) outcome.node = result.node->name();
    outcome.text += "|" + outcome.node;
    outcome.totals = attempt.search->scores.totals;
    return outcome;
  }

  api::NodePtr Node(size_t i) {
    auto node = MakeNode();
    node.Name("node-" + std::to_string(i)).Zone("zone-" + std::to_string(i % 3));
    node.Label("kubernetes.io/hostname", "node-" + std::to_string(i));
    if (random_.Below(3) == 0) node.Label("disk", "ssd");
    if (random_.Below(5) == 0) node.Taint("dedicated", "", "NoSchedule");
    if (random_.Below(4) == 0) node.Taint("slow", "", "PreferNoSchedule");
    if (random_.Below(20) == 0) node.Unschedulable();
    ks::testing::Resources resources{{"cpu", random_.Below(3) == 0 ? "2" : "16"},
                                     {"memory", "32Gi"},
                                     {"pods", random_.Below(6) == 0 ? "3" : "110"}};
    if (random_.Below(3) == 0) resources.emplace_back("example.com/gpu", "2");
    node.Allocatable(resources);
    if (random_.Below(2) == 0) node.Image({"registry.example/app:1"}, 500 << 20);
    return node.Obj();
  }
  void PutNode(size_t i) {
    const api::NodePtr node = Node(i);
    const auto [it, inserted] = nodes_.try_emplace(i, node);
    if (inserted) {
      cache_.AddNode(node);
    } else {
      cache_.UpdateNode(*it->second, node);
      it->second = node;
    }
  }
  void Churn() {
    const size_t i = random_.Below(kNodes);
    switch (random_.Below(5)) {
      case 0:
        if (nodes_.contains(i)) {
          ASSERT_TRUE(cache_.RemoveNode(*nodes_[i]).ok());
          nodes_.erase(i);
        }
        break;
      case 1:
        PutNode(i);
        break;
      default:
        if (running_.empty()) return;
        std::swap(running_[random_.Below(running_.size())], running_.back());
        ASSERT_TRUE(cache_.RemovePod(*running_.back()).ok());
        running_.pop_back();
    }
  }

  Random random_;
  const framework::OfflineParts parts_{{.snapshot = &cache_,
                                        .owner_listers = &owners_,
                                        .storage = &storage_,
                                        .clock = &clock_,
                                        .random = &random_}};
  ks::testing::FakeClock clock_;
  cache::Cache cache_;
  cache::OwnerStores owners_;
  cache::StorageStores storage_;
  framework::Registry registry_ = plugins::InTreeRegistry();
  config::Configuration configuration_ = config::DefaultConfiguration();
  std::vector<api::PodPtr> specs_;
  std::map<size_t, api::NodePtr> nodes_;
  std::vector<api::PodPtr> running_;
  int next_pod_ = 0;
  SearchSpaces spaces_;
  Twin remembering_;
  Twin forgetful_;
};

TEST(NodeVerdictsTest, RememberingChangesNoDecision) {
  for (uint64_t seed = 1; seed <= testing::Cases(8); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Twins twins(seed);
    for (int round = 0; round < 600; ++round) {
      SCOPED_TRACE("round " + std::to_string(round));
      twins.Round();
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace ks::scheduler
