// SPDX-License-Identifier: Apache-2.0
#include "inspect/suggest.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "inspect/fill.h"
#include "inspect/live_explain.h"
#include "scheduler/rig.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Resources;

testing::NodeBuilder Node(const std::string& name, const std::string& cpu) {
  return MakeNode()
      .Name(name)
      .Label("kubernetes.io/hostname", name)
      .Allocatable(Resources{{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "10"}});
}

// The texts for the pod ns/p, of kinds other than "node" unless asked for.
std::vector<std::string> Suggested(const std::vector<api::NodePtr>& nodes,
                                   std::vector<api::PodPtr> pods, bool with_node = false) {
  Rig rig;
  rig.Sync(nodes, std::move(pods));
  rig.Settle();
  const inspect::ExplainQuestion question{.pod = "ns/p", .suggest = true};
  auto answer = inspect::ExplainLive(*rig.scheduler, question);
  if (!std::holds_alternative<inspect::LiveExplanation>(answer)) return {"refused"};
  auto& live = std::get<inspect::LiveExplanation>(answer);
  inspect::SuggestFor(&live, question);
  std::vector<std::string> texts;
  for (const inspect::Suggestion& one : live.explanation.suggestions) {
    if (one.kind != "node" || with_node) texts.push_back(one.text);
  }
  return texts;
}

TEST(Suggest, OneChangeForEachReason) {
  struct Row {
    const char* name;
    std::vector<api::NodePtr> nodes;
    std::vector<api::PodPtr> pods;
    std::vector<std::string> wanted;
  };
  const auto pod = [] { return MakePod().Name("p"); };
  const auto big = [&] { return pod().Req({{"cpu", "3"}}); };
  const std::vector<Row> rows = {
      {.name = "it fits: nothing to change",
       .nodes = {Node("n1", "4").Obj()},
       .pods = {big().Obj()}},
      {.name = "less CPU, on the node that has most",
       .nodes = {Node("n1", "1").Obj(), Node("n2", "2").Obj()},
       .pods = {big().Obj()},
       .wanted = {"ask for 2 cpu instead of 3; it would go to n2"}},
      {.name = "what others take is not free",
       .nodes = {Node("n1", "2").Obj()},
       .pods = {MakePod().Name("there").Node("n1").Req({{"cpu", "500m"}}).Obj(), big().Obj()},
       .wanted = {"ask for 1500m cpu instead of 3; it would go to n1"}},
      {.name = "two resources at once",
       .nodes = {Node("n1", "2").Obj()},
       .pods = {pod().Req({{"cpu", "3"}, {"memory", "16Gi"}}).Obj()},
       .wanted = {"ask for 2 cpu instead of 3 and 8Gi memory instead of 16Gi; it would go to n1"}},
      {.name = "less CPU does not help where a taint is in the way, too",
       .nodes = {Node("n1", "2").Taint("dedicated", "db", "NoSchedule").Obj()},
       .pods = {big().Obj()}},
      {.name = "a toleration",
       .nodes = {Node("n1", "4").Taint("dedicated", "db", "NoSchedule").Obj()},
       .pods = {big().Obj()},
       .wanted =
           {"tolerate the taint dedicated=db:NoSchedule, which 1 node has; it would go to n1"}},
      {.name = "two taints: no single toleration",
       .nodes = {Node("n1", "4").Taint("a", "b", "NoSchedule").Taint("c", "d", "NoExecute").Obj()},
       .pods = {big().Obj()}},
      {.name = "a selector",
       .nodes = {Node("n1", "4").Label("disk", "hdd").Obj()},
       .pods = {big().NodeSelector({{"disk", "ssd"}}).Obj()},
       .wanted = {"leave out the node selector disk=ssd; it would go to n1"}},
      {.name = "a cordoned node",
       .nodes = {Node("n1", "4").Unschedulable().Obj()},
       .pods = {big().Obj()},
       .wanted = {"uncordon n1"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(Suggested(row.nodes, row.pods), row.wanted);
  }
}

TEST(Suggest, OneMoreNodeOfAKindThatFits) {
  const auto full = MakePod().Name("there").Node("n1").Req({{"cpu", "4"}}).Obj();
  const auto pod = MakePod().Name("p").Req({{"cpu", "3"}}).Obj();
  EXPECT_EQ(Suggested({Node("n0", "1").Obj(), Node("n1", "4").Obj()}, {full, pod}, true).back(),
            "one more node like n1 (4 cpu, 8Gi memory)");
  const auto too_big = MakePod().Name("p").Req({{"cpu", "300"}}).Obj();
  EXPECT_EQ(Suggested({Node("n1", "4").Obj()}, {full, too_big}, true), std::vector<std::string>{});
}

TEST(Suggest, ChangesNothing) {
  Rig rig;
  rig.Sync({Node("n1", "2").Obj()}, {MakePod().Name("p").Req({{"cpu", "3"}}).Obj()});
  rig.Settle();
  const inspect::ExplainQuestion question{.pod = "ns/p", .suggest = true};
  for (int round = 0; round < 2; ++round) {
    auto answer = inspect::ExplainLive(*rig.scheduler, question);
    auto& live = std::get<inspect::LiveExplanation>(answer);
    EXPECT_EQ(live.explanation.nodes.size(), 1U);
    inspect::SuggestFor(&live, question);
    EXPECT_EQ(live.explanation.suggestions.size(), 1U);
  }
}

inspect::FilledSource Filled(const std::vector<api::NodePtr>& nodes, std::vector<api::PodPtr> pods,
                             const std::string& cpu, size_t most) {
  Rig rig;
  rig.Sync(nodes, std::move(pods));
  rig.Settle();
  const auto manifests = inspect::ReadManifests(
      "kind: Pod\nmetadata: {name: w}\nspec: {containers: [{name: c, resources: {requests: {cpu: "
      "\"" +
      cpu + "\"}}}]}\n");
  EXPECT_TRUE(manifests.ok());
  const auto copy = inspect::CopyCluster(*rig.scheduler);
  const auto filled = inspect::Fill(std::get<inspect::ClusterCopy>(copy), *manifests, most);
  EXPECT_TRUE(filled.ok()) << (filled.ok() ? "" : filled.error().message);
  return filled.ok() ? filled->front() : inspect::FilledSource();
}

TEST(Fill, CountsUntilNothingFits) {
  struct Row {
    const char* name;
    std::string cpu;
    size_t most = 100;
    size_t fits = 0;
    bool limited = false;
    std::string reason{};
    size_t nodes = 0;
  };
  const std::vector<Row> rows = {
      {.name = "CPU runs out", .cpu = "1", .fits = 5, .reason = "Insufficient cpu", .nodes = 2},
      {.name = "places for pods run out",
       .cpu = "10m",
       .fits = 19,
       .reason = "Too many pods",
       .nodes = 2},
      {.name = "none fits", .cpu = "5", .reason = "Insufficient cpu", .nodes = 2},
      {.name = "no more are tried", .cpu = "1", .most = 3, .fits = 3, .limited = true},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto filled =
        Filled({Node("n1", "4").Obj(), Node("n2", "2").Obj()},
               {MakePod().Name("there").Node("n1").Req({{"cpu", "1"}}).Obj()}, row.cpu, row.most);
    EXPECT_EQ(filled.fits, row.fits);
    EXPECT_EQ(filled.limited, row.limited);
    ASSERT_EQ(filled.reasons.empty(), row.reason.empty());
    if (row.reason.empty()) continue;
    EXPECT_EQ(filled.reasons.front().reason, row.reason);
    EXPECT_EQ(filled.reasons.front().nodes, row.nodes);
  }
}

}  // namespace
}  // namespace ks::scheduler
