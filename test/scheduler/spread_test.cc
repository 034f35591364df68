// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread on a cluster that changes between attempts: what it counts ahead must equal the
// reference, which looks at every pod.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "testing/fake_handle.h"
#include "testing/sanitized.h"
#include "testing/spread_cases.h"

namespace ks::plugins {
namespace {

using ks::testing::MakeLabels;
using ks::testing::MakeService;
using ks::testing::SpreadCases;

const ks::testing::Texts kService = {{"app", "web"}};

class Cluster {
 public:
  explicit Cluster(SpreadCases& cases) : cases_(cases) {}

  void Step() {
    switch (cases_.random.Below(10)) {
      case 0:
        return PutNode();
      case 1:
        return RemoveNode();
      case 2:
      case 3:
        return RemovePod();
      case 4:
        return UpdatePod();
      default:
        return AddPod();
    }
  }

  cache::Cache cache;

 private:
  std::string NodeName() { return "node-" + std::to_string(cases_.random.Below(9)); }
  void PutNode() {
    const std::string name = NodeName();
    const api::NodePtr node = cases_.Node(name).Obj();
    const auto [it, inserted] = nodes_.try_emplace(name, node);
    if (inserted) {
      cache.AddNode(node);
    } else {
      cache.UpdateNode(*it->second, node);
      it->second = node;
    }
  }
  void RemoveNode() {
    if (cases_.Chance(50)) return;
    const auto it = nodes_.find(NodeName());
    if (it == nodes_.end()) return;
    ASSERT_TRUE(cache.RemoveNode(*it->second).ok());
    nodes_.erase(it);
  }
  void AddPod() {
    const std::string name = "pod-" + std::to_string(next_pod_++);
    pods_.push_back(cases_.Existing(name, NodeName()).Obj());
    ASSERT_TRUE(cache.AddPod(pods_.back()).ok());
  }
  void RemovePod() {
    if (pods_.empty()) return;
    std::swap(pods_[cases_.random.Below(pods_.size())], pods_.back());
    ASSERT_TRUE(cache.RemovePod(*pods_.back()).ok());
    pods_.pop_back();
  }
  // Other labels, or terminating.
  void UpdatePod() {
    if (pods_.empty()) return;
    api::PodPtr& pod = pods_[cases_.random.Below(pods_.size())];
    const api::PodPtr changed =
        cases_.Existing(pod->meta.name, pod->node_name.str()).Namespace(pod->meta.ns.view()).Obj();
    ASSERT_TRUE(cache.UpdatePod(*pod, changed).ok());
    pod = changed;
  }

  SpreadCases& cases_;
  std::map<std::string, api::NodePtr> nodes_;
  std::vector<api::PodPtr> pods_;
  int next_pod_ = 0;
};

// Few pods come again and again, so that counters are followed over many changes.
class SpreadOnACacheTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(SpreadOnACacheTest, EqualsTheReferenceWhileTheClusterChanges) {
  SpreadCases cases(GetParam());
  Cluster cluster(cases);
  ks::testing::FakeHandle handle(cluster.cache);
  handle.fake_owner_listers().Add(MakeService("ns", "web", kService));
  const auto plugin = NewPodTopologySpread({}, handle).value();
  std::vector<api::PodPtr> incoming;
  for (int i = 0; i < 12; ++i) incoming.push_back(cases.Incoming().Obj());
  for (int attempt = 0; attempt < 300; ++attempt) {
    const uint64_t steps = cases.random.Below(attempt % 60 == 59 ? 3000 : 8);
    for (uint64_t i = 0; i < steps; ++i) cluster.Step();
    ASSERT_TRUE(cluster.cache.RefreshSnapshot().ok());
    const api::PodPtr& pod = incoming[cases.random.Below(incoming.size())];
    const Symbol* app = pod->meta.labels.Find(Symbol("app"));
    const bool selected = app != nullptr && app->view() == "web";
    cases.Compare(*plugin, cluster.cache, *pod, selected ? MakeLabels(kService) : api::LabelMap());
    ASSERT_FALSE(HasFatalFailure()) << "attempt " << attempt;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SpreadOnACacheTest,
                         ::testing::Range<uint64_t>(1, testing::Cases(6) + 1));

}  // namespace
}  // namespace ks::plugins
