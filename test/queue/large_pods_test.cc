// SPDX-License-Identifier: Apache-2.0
// Decision 0068: pods of large specs leave most of the time to others of their priority.
#include "queue/large_pods.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "queue/group_fixture.h"

namespace ks::queue::testing {
namespace {

using ks::testing::MakePod;
using std::chrono::milliseconds;

api::PodPtr Named(const std::string& name, int32_t priority = 0) {
  return MakePod().Name(name).Priority(priority).Obj();
}

api::PodPtr Large(const std::string& name, int32_t priority = 0) {
  auto pod = MakePod().Name(name).Priority(priority);
  for (int i = 0; i < 300; ++i) pod.Toleration("k" + std::to_string(i), "Exists", "", "");
  return pod.Obj();
}

struct Case {
  const char* name;
  std::function<void(api::PodSpec& spec, size_t entries)> fill;
};
const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"RequiredTerms",
       [](api::PodSpec& spec, size_t entries) {
         spec.pod_affinity.emplace().required.resize(entries);
       }},
      {"PreferredTerms",
       [](api::PodSpec& spec, size_t entries) {
         spec.pod_anti_affinity.emplace().preferred.resize(entries);
       }},
      {"ValuesOfATerm",
       [](api::PodSpec& spec, size_t entries) {
         api::PodAffinityTerm& term = spec.pod_anti_affinity.emplace().required.emplace_back();
         term.label_selector.emplace().match_expressions.push_back({.key = "a", .op = "In"});
         term.label_selector->match_expressions[0].values.resize(entries - 2);
       }},
      {"NodeAffinity",
       [](api::PodSpec& spec, size_t entries) {
         api::NodeSelectorTerm& term =
             spec.node_affinity.emplace().required.emplace().terms.emplace_back();
         term.match_fields.push_back({.key = "metadata.name", .op = "In"});
         term.match_fields[0].values.resize(entries - 2);
       }},
      {"PreferredNodes",
       [](api::PodSpec& spec, size_t entries) {
         spec.node_affinity.emplace().preferred.resize(entries);
       }},
      {"Tolerations", [](api::PodSpec& spec, size_t entries) { spec.tolerations.resize(entries); }},
      {"Spreading",
       [](api::PodSpec& spec, size_t entries) {
         spec.topology_spread_constraints.resize(entries / 2);
         for (auto& each : spec.topology_spread_constraints) each.match_label_keys.resize(1);
         if (entries % 2 == 1) spec.topology_spread_constraints.emplace_back();
       }},
      {"HostPorts",
       [](api::PodSpec& spec, size_t entries) {
         spec.containers.emplace_back().ports.resize(entries - 1);
       }},
      {"InitContainers",
       [](api::PodSpec& spec, size_t entries) { spec.init_containers.resize(entries); }},
      {"Volumes", [](api::PodSpec& spec, size_t entries) { spec.volumes.resize(entries); }},
      {"Claims", [](api::PodSpec& spec, size_t entries) { spec.resource_claims.resize(entries); }},
      {"Gates", [](api::PodSpec& spec, size_t entries) { spec.scheduling_gates.resize(entries); }},
  };
  return cases;
}

class IsLargeTest : public ::testing::TestWithParam<Case> {};
TEST_P(IsLargeTest, CountsEntries) {
  api::PodSpec spec;
  GetParam().fill(spec, 256);
  EXPECT_FALSE(IsLarge(spec));
  api::PodSpec larger;
  GetParam().fill(larger, 257);
  EXPECT_TRUE(IsLarge(larger));
}
INSTANTIATE_TEST_SUITE_P(Lists, IsLargeTest, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return std::string(info.param.name); });

class LargePodsTest : public QueueTest {
 protected:
  // Pops the named pod; its attempt takes so long.
  void Attempt(const std::string& name, milliseconds took = {}) {
    PopNamed(name);
    clock_.Advance(took);
  }
};

TEST_F(LargePodsTest, AreTakenInOrderWhileTheyAreFast) {
  SchedulingQueue& queue = Make();
  queue.Add(Large("l1"));
  queue.Add(Named("a"));
  queue.Add(Large("l2"));
  queue.Add(Named("b"));
  EXPECT_EQ(queue.pending().active, 4U);
  EXPECT_EQ(queue.stores().PodsIn(Store::kActive).size(), 4U);
  for (const char* name : {"l1", "a", "l2", "b"}) Attempt(name, milliseconds(2));
}

TEST_F(LargePodsTest, LeaveFourFifthsToOthers) {
  SchedulingQueue& queue = Make();
  for (const char* name : {"l1", "l2", "l3"}) queue.Add(Large(name));
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) queue.Add(Named(name));
  Attempt("l1", milliseconds(10));
  for (const char* name : {"a", "b", "c", "d"}) Attempt(name, milliseconds(10));
  Attempt("l2", milliseconds(1));  // it was fast
  Attempt("l3", milliseconds(10));
  for (const char* name : {"e", "f"}) Attempt(name);
}

TEST_F(LargePodsTest, AreTakenWhenNobodyElseWaits) {
  SchedulingQueue& queue = Make();
  for (const char* name : {"l1", "l2", "l3"}) queue.Add(Large(name));
  Attempt("l1", milliseconds(100));
  Attempt("l2", milliseconds(100));
  queue.Add(Named("a"));
  Attempt("a");
  Attempt("l3");
  EXPECT_FALSE(queue.Pop());
}

TEST_F(LargePodsTest, GoBeforeOthersOfLowerPriority) {
  SchedulingQueue& queue = Make();
  queue.Add(Large("l1", 5));
  queue.Add(Large("l2", 5));
  queue.Add(Named("low", 4));
  queue.Add(Named("same", 5));
  Attempt("l1", milliseconds(100));
  Attempt("same");
  Attempt("l2");
  Attempt("low");
}

TEST_F(LargePodsTest, FindTheirHeapAgain) {
  SchedulingQueue& queue = Make();
  queue.Add(Large("l1"));
  queue.Add(Named("a"));
  queue.Update(Large("l1"), Named("l1"));  // its place stays; what it is counts when it returns
  queue.Update(Named("a"), Large("a"));
  queue.Delete(*Large("l1"));
  EXPECT_EQ(queue.pending().active, 1U);
  Attempt("a");
  EXPECT_FALSE(queue.Pop());
}

class LargeGroupTest : public GroupFixture {};

TEST_F(LargeGroupTest, WaitsForOthers) {
  MakeWithGroups();
  for (const char* name : {"g1", "g2"}) {
    AddGroup(Leaf(name));
    auto large = MemberOf(name, std::string("of-") + name);
    large.spec().tolerations.resize(300);
    queue_->Add(large.Obj());
  }
  queue_->Add(Named("single"));
  EXPECT_EQ(queue_->pending().active, 3U);
  EXPECT_EQ(Names(*PopGroup()), "of-g1");
  clock_.Advance(milliseconds(10));
  PopNamed("single");
  EXPECT_EQ(Names(*PopGroup()), "of-g2");
}

}  // namespace
}  // namespace ks::queue::testing
