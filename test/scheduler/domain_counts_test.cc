// SPDX-License-Identifier: Apache-2.0
// Counters that follow the cache's change log must always equal counters made anew: random changes
// of nodes and pods, attempt by attempt.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "cache/cache.h"
#include "plugins/pod_topology_spread/domain_counts.h"
#include "testing/builders.h"
#include "testing/sanitized.h"

namespace ks::plugins {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;

const Symbol kZone("zone");
const Symbol kApp("app");
const Symbol kCounted("counted");
const Symbol kOther("other");
const std::vector<framework::Label> kBothLabels = {{kApp, kCounted}, {Symbol("tier"), Symbol("x")}};

// Pods with app=counted that are not being deleted, on nodes that are not cordoned.
class Counted final : public DomainCounts {
 public:
  using DomainCounts::DomainCounts;

 protected:
  int32_t CountOf(const framework::PodInfo& pod) const override {
    const api::ObjectMeta& meta = pod.pod().meta;
    const Symbol* app = meta.labels.Find(kApp);
    return app != nullptr && *app == kCounted && !meta.deletion_timestamp && meta.ns != kOther ? 1
                                                                                               : 0;
  }
  bool TakesPart(const framework::NodeInfo& node) const override { return !node.unschedulable(); }
};

class Churn {
 public:
  explicit Churn(uint64_t seed) : random_(seed) {}

  void Step() {
    switch (random_.Below(12)) {
      case 0:
        PutNode(Name("node-", 12));
        break;
      case 1:
        RemoveNode(Name("node-", 12));
        break;
      case 2:
      case 3:
        RemovePod();
        break;
      case 4:
        UpdatePod();
        break;
      default:
        pods_.size() < kMostPods ? AddPod() : RemovePod();  // many would cost and test no more
    }
  }

  cache::Cache cache;

 private:
  static constexpr size_t kMostPods = 300;

  std::string Name(const char* prefix, size_t count) {
    return prefix + std::to_string(random_.Below(count));
  }
  api::NodePtr Node(const std::string& name) {
    auto node = MakeNode().Name(name);
    // Many values over time, so that numbers of domains are given anew.
    if (random_.Below(4) != 0) node.Label("zone", Name("zone-", random_.Below(3) == 0 ? 5000 : 4));
    if (random_.Below(4) == 0) node.Unschedulable();
    return node.Obj();
  }
  void PutNode(const std::string& name) {
    const api::NodePtr node = Node(name);
    const auto [it, inserted] = nodes_.try_emplace(name, node);
    if (inserted) {
      cache.AddNode(node);
    } else {
      cache.UpdateNode(*it->second, node);
      it->second = node;
    }
  }
  void RemoveNode(const std::string& name) {
    const auto it = nodes_.find(name);
    if (it == nodes_.end()) return;
    ASSERT_TRUE(cache.RemoveNode(*it->second).ok());
    nodes_.erase(it);
  }
  api::PodPtr Pod(const std::string& name, const std::string& node) {
    auto pod = MakePod().Name(name).Node(node);
    if (name.back() == '3') pod.Namespace("other");
    if (random_.Below(4) == 0) pod.Terminating();
    // What counts has a second label, which others have as well.
    switch (random_.Below(3)) {
      case 0:
        pod.Labels({{"app", "counted"}, {"tier", "x"}});
        break;
      case 1:
        pod.Labels({{"app", "other"}, {"tier", random_.Below(2) == 0 ? "x" : "y"}});
        break;
      default:
        break;
    }
    return pod.Obj();
  }
  // Also on nodes that are not there (yet).
  void AddPod() {
    pods_.push_back(Pod("pod-" + std::to_string(next_pod_++), Name("node-", 14)));
    const bool assumed = random_.Below(2) == 0;
    const auto added = assumed ? cache.AssumePod(pods_.back()) : cache.AddPod(pods_.back());
    ASSERT_TRUE(added.ok());
    if (assumed) {
      ASSERT_TRUE(cache.AddPod(pods_.back()).ok());
    }
  }
  void RemovePod() {
    if (pods_.empty()) return;
    std::swap(pods_[random_.Below(pods_.size())], pods_.back());
    ASSERT_TRUE(cache.RemovePod(*pods_.back()).ok());
    pods_.pop_back();
  }
  void UpdatePod() {
    if (pods_.empty()) return;
    api::PodPtr& pod = pods_[random_.Below(pods_.size())];
    const api::PodPtr changed = Pod(pod->meta.name, pod->node_name.str());
    ASSERT_TRUE(cache.UpdatePod(*pod, changed).ok());
    pod = changed;
  }

  Random random_;
  std::map<std::string, api::NodePtr> nodes_;
  std::vector<api::PodPtr> pods_;
  int next_pod_ = 0;
};

// Everything that can be asked, by value instead of number of the domain.
struct Reading {
  std::map<std::string, std::pair<int64_t, bool>> domains;  // count, exists; of those with either
  std::map<std::string, std::pair<int32_t, bool>> nodes;    // pods on it, takes part
  size_t existing = 0;
  int64_t minimum = 0;

  friend bool operator==(const Reading&, const Reading&) = default;
};

Reading Read(const DomainCounts& counts, const framework::Snapshot& snapshot) {
  Reading reading;
  for (size_t i = 0; i < counts.topology().domains(); ++i) {
    const auto domain = static_cast<int32_t>(i);
    if (counts.Count(domain) == 0 && !counts.Exists(domain)) continue;
    reading.domains[counts.topology().value(domain).str()] = {counts.Count(domain),
                                                              counts.Exists(domain)};
  }
  for (const framework::NodeInfo* node : snapshot.nodes()) {
    reading.nodes[node->name()] = {counts.PodsOn(node->slot()), counts.Includes(node->slot())};
  }
  reading.existing = counts.existing();
  reading.minimum = counts.minimum();
  return reading;
}

bool IsNodeEach(const framework::Snapshot& snapshot) {
  std::set<Symbol> zones;
  for (const framework::NodeInfo* node : snapshot.nodes()) {
    const Symbol* zone = node->node()->meta.labels.Find(kZone);
    if (zone != nullptr && !zones.insert(*zone).second) return false;
  }
  return true;
}

class DomainCountsChurnTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(DomainCountsChurnTest, FollowingEqualsCountingAnew) {
  Churn churn(GetParam());
  Random random(GetParam() + 1000);
  Topology topology(kZone);
  Counted followed(topology);
  CountingHelp help;
  Counted by_label(topology, help, {{kApp, kCounted}});
  std::optional<Counted> late;  // comes and goes
  for (int attempt = 0; attempt < 300; ++attempt) {
    // More than the log holds, now and then.
    const size_t steps = random.Below(attempt % 50 == 0 ? 20'000 : 12);
    for (size_t i = 0; i < steps; ++i) churn.Step();
    ASSERT_TRUE(churn.cache.RefreshSnapshot().ok());
    if (random.Below(3) == 0) continue;  // a reader that was not asked
    topology.Refresh(churn.cache);
    ASSERT_EQ(topology.IsNodeEach(), IsNodeEach(churn.cache));
    followed.Refresh(churn.cache);
    if (random.Below(40) == 0) late.emplace(topology, help, kBothLabels);
    if (random.Below(80) == 0) late.reset();
    if (random.Below(2) == 0) by_label.Refresh(churn.cache);
    if (late.has_value()) late->Refresh(churn.cache);
    Topology fresh_topology(kZone);
    fresh_topology.Refresh(churn.cache);
    Counted fresh(fresh_topology);
    fresh.Refresh(churn.cache);
    const Reading want = Read(fresh, churn.cache);
    ASSERT_EQ(Read(followed, churn.cache), want) << "attempt " << attempt;
    by_label.Refresh(churn.cache);
    ASSERT_EQ(Read(by_label, churn.cache), want) << "attempt " << attempt;
    if (late.has_value()) {
      ASSERT_EQ(Read(*late, churn.cache), want) << "attempt " << attempt;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, DomainCountsChurnTest,
                         ::testing::Range<uint64_t>(1, testing::Cases(8) + 1));

// Changes of other pods are not even looked at.
TEST(DomainCountsTest, ReadsChangesOfItsLabelOnly) {
  cache::Cache cache;
  cache.AddNode(MakeNode().Name("a").Label("zone", "z1").Obj());
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  Topology topology(kZone);
  topology.Refresh(cache);
  CountingHelp help;
  framework::LabelChanges& changes = help.changes;
  const Counted counts(topology, help, {{kApp, kCounted}});
  const framework::LabelChanges::List list = changes.Watch({kApp, kCounted});
  changes.Refresh(cache);
  for (const char* app : {"counted", "other", "counted", "third"}) {
    const std::string name = std::string("p-") + app + std::to_string(list->size());
    ASSERT_TRUE(cache.AddPod(MakePod().Name(name).Node("a").Labels({{"app", app}}).Obj()).ok());
    ASSERT_TRUE(cache.RefreshSnapshot().ok());
    changes.Refresh(cache);
  }
  EXPECT_EQ(list->size(), 2U);
}

TEST(LabelChangesTest, NeededLabels) {
  struct Case {
    std::string name;
    std::optional<api::LabelSelectorSpec> selector;
    std::vector<std::pair<std::string, std::string>> want;
  };
  const Case cases[] = {
      {"null", std::nullopt, {}},
      {"empty", api::LabelSelectorSpec{}, {}},
      {"labels",
       api::LabelSelectorSpec{.match_labels = {{"a", "1"}, {"b", "2"}}},
       {{"a", "1"}, {"b", "2"}}},
      {"one value",
       api::LabelSelectorSpec{.match_expressions = {{"a", "In", {"1"}}}},
       {{"a", "1"}}},
      {"two values", api::LabelSelectorSpec{.match_expressions = {{"a", "In", {"1", "2"}}}}, {}},
      {"others",
       api::LabelSelectorSpec{.match_labels = {{"z", "1"}},
                              .match_expressions = {{"a", "NotIn", {"1"}},
                                                    {"b", "Exists", {}},
                                                    {"c", "DoesNotExist", {}}}},
       {{"z", "1"}}},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    std::vector<framework::Label> labels;
    framework::AppendNeededLabels(api::LabelSelector::Compile(row.selector).value(), &labels);
    std::vector<std::pair<std::string, std::string>> got;
    for (const framework::Label& label : labels)
      got.emplace_back(label.key.str(), label.value.str());
    EXPECT_EQ(got, row.want);
  }
}

// Against counting by hand, so that both ways cannot be wrong together.
TEST(DomainCountsTest, CountsWhatIsThere) {
  cache::Cache cache;
  cache.AddNode(MakeNode().Name("a").Label("zone", "z1").Obj());
  cache.AddNode(MakeNode().Name("b").Label("zone", "z1").Obj());
  cache.AddNode(MakeNode().Name("c").Label("zone", "z2").Obj());
  cache.AddNode(MakeNode().Name("d").Obj());
  cache.AddNode(MakeNode().Name("e").Label("zone", "z3").Unschedulable().Obj());
  int uid = 0;
  for (const char* node : {"a", "a", "b", "d", "e", "gone"}) {
    const auto pod =
        MakePod().Name("p" + std::to_string(uid++)).Node(node).Labels({{"app", "counted"}});
    ASSERT_TRUE(cache.AddPod(pod.Obj()).ok());
  }
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  Topology topology(kZone);
  topology.Refresh(cache);
  Counted counts(topology);
  counts.Refresh(cache);
  EXPECT_EQ(counts.Count(topology.Find(Symbol("z1"))), 3);
  EXPECT_EQ(counts.Count(topology.Find(Symbol("z2"))), 0);
  EXPECT_TRUE(counts.Exists(topology.Find(Symbol("z2"))));
  EXPECT_FALSE(counts.Exists(topology.Find(Symbol("z3"))));
  EXPECT_EQ(counts.existing(), 2U);
  EXPECT_EQ(counts.minimum(), 0);
  EXPECT_EQ(counts.PodsOn(cache.Find("d")->slot()), 1);
  EXPECT_EQ(counts.PodsOn(cache.Find("e")->slot()), 1);
  EXPECT_FALSE(counts.Includes(cache.Find("e")->slot()));
}

// Pods may ask for any topology key: one that nobody asks for any more is dropped.
TEST(TopologiesTest, AreDroppedWhenNobodyHasThem) {
  cache::Cache cache;
  cache.AddNode(MakeNode().Name("a").Zone("z1").Obj());
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  const framework::Snapshot& snapshot = cache;

  Topologies topologies;
  const TopologyPtr held = topologies.Get(kZone, snapshot);
  std::weak_ptr<const Topology> first = topologies.Get(Symbol("key-first"), snapshot);
  EXPECT_FALSE(first.expired()) << "it may be asked for again";
  EXPECT_EQ(topologies.Get(Symbol("key-first"), snapshot), first.lock());
  for (int i = 0; i < 1000; ++i) topologies.Get(Symbol("key-" + std::to_string(i)), snapshot);
  EXPECT_TRUE(first.expired());
  EXPECT_EQ(topologies.Get(kZone, snapshot), held);
}

TEST(TopologiesTest, AreDroppedAsSoonAfterATimeOfManyKeys) {
  cache::Cache cache;
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  const framework::Snapshot& snapshot = cache;

  Topologies topologies;
  const auto get = [&](const std::string& prefix, int i) {
    return topologies.Get(Symbol(prefix + std::to_string(i)), snapshot);
  };
  std::vector<TopologyPtr> held;
  for (int i = 0; i < 5000; ++i) held.push_back(get("held-", i));
  held.clear();
  for (int i = 0; i < 5000; ++i) get("after-", i);  // all that are held are gone
  const std::weak_ptr<const Topology> first = get("few-", 0);
  for (int i = 1; i < 100; ++i) get("few-", i);
  EXPECT_TRUE(first.expired());
}

TEST(TopologiesTest, NodesWithoutTheKeyMakeADifference) {
  cache::Cache cache;
  cache.AddNode(MakeNode().Name("a").Obj());
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  const framework::Snapshot& snapshot = cache;

  Topologies topologies;
  const uint32_t slot = cache.Find("a")->slot();
  EXPECT_EQ(topologies.Get(kZone, snapshot)->DomainOf(slot), kNoDomain);
  EXPECT_EQ(topologies.Get(kZone, snapshot, {.missing_is_empty = true})->DomainOf(slot), 0);
  EXPECT_EQ(topologies.Get(kZone, snapshot)->DomainOf(slot), kNoDomain);
}

}  // namespace
}  // namespace ks::plugins
