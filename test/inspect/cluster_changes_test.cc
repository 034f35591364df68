// SPDX-License-Identifier: Apache-2.0
#include "inspect/cluster_changes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "inspect/simulate.h"
#include "scheduler/rig.h"

namespace ks::scheduler {
namespace {

using inspect::ClusterChanges;
using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Resources;

api::NodePtr Node(const std::string& name, const std::string& pool) {
  return MakeNode()
      .Name(name)
      .Label("kubernetes.io/hostname", name)
      .Label("pool", pool)
      .Allocatable(Resources{{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "10"}})
      .Obj();
}

// Two nodes of the pool a, one of b; most of n1 is taken. The copy needs what the rig owns.
struct World {
  World() {
    rig.Sync({Node("n1", "a"), Node("n2", "a"), Node("n3", "b")},
             {MakePod().Name("there").Node("n1").Req({{"cpu", "3"}, {"memory", "6Gi"}}).Obj()});
    rig.Settle();
    cluster = std::get<inspect::ClusterCopy>(inspect::CopyCluster(*rig.scheduler));
  }
  Rig rig;
  inspect::ClusterCopy cluster;
};

// As the parameters and flags say it: the error or nothing.
std::string Changed(inspect::ClusterCopy* cluster, const std::string& more,
                    const std::string& without, const std::string& weights = "") {
  ClusterChanges changes;
  auto further = inspect::ParseFurtherNodes(more);
  if (!further.ok()) return further.error().message;
  changes.further = std::move(further).value();
  auto gone = inspect::ParseGoneNodes(without);
  if (!gone.ok()) return gone.error().message;
  changes.gone = std::move(gone).value();
  auto heavier = inspect::ParseWeights(weights);
  if (!heavier.ok()) return heavier.error().message;
  changes.weights = std::move(heavier).value();
  const auto changed = inspect::Change(changes, cluster);
  return changed.ok() ? "" : changed.error().message;
}

std::string Nodes(const inspect::ClusterCopy& cluster) {
  std::string names;
  for (const api::NodePtr& node : cluster.nodes) {
    names += (names.empty() ? "" : " ") + node->meta.name;
    const Symbol* host = node->meta.labels.Find(Symbol("kubernetes.io/hostname"));
    EXPECT_EQ(host->view(), node->meta.name);
  }
  return names;
}

TEST(ClusterChanges, NodesComeAndGo) {
  struct Row {
    const char* name;
    std::string more, without;
    std::string nodes;
    size_t pods = 1;
  };
  const std::vector<Row> rows = {
      {"nothing", "", "", "n1 n2 n3", 1},
      {"more of a kind", "n2:2", "", "n1 n2 n3 n2-more-1 n2-more-2", 1},
      {"of two kinds, and twice of one", "n2:1,n3:1,n2:1", "",
       "n1 n2 n3 n2-more-1 n3-more-1 n2-more-2", 1},
      {"by name, with its pods", "", "n1", "n2 n3", 0},
      {"by label", "", "pool=a", "n3", 0},
      {"a label without a pod's node", "", "pool=b", "n1 n2", 1},
      {"a pool is replaced", "n3:1", "pool=b", "n1 n2 n3-more-1", 1},
      {"all, and empty entries", "", ",pool=a,,n3,", "", 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    World world;
    EXPECT_EQ(Changed(&world.cluster, row.more, row.without), "");
    EXPECT_EQ(Nodes(world.cluster), row.nodes);
    EXPECT_EQ(world.cluster.pods.size(), row.pods);
  }
}

TEST(ClusterChanges, WhatCannotBeIsSaid) {
  struct Row {
    std::string more, without, weights;
    std::string wanted;
  };
  const std::string counted =
      " is not NODE:COUNT, up to 20000 in all: a node that is there and how many more of its kind";
  const std::string weighed = " is not PLUGIN:WEIGHT, the weight from 1 to 1000000";
  const std::vector<Row> rows = {
      {"n1", "", "", "\"n1\"" + counted},
      {":1", "", "", "\":1\"" + counted},
      {"n1:0", "", "", "\"n1:0\"" + counted},
      {"n1:1x", "", "", "\"n1:1x\"" + counted},
      {"n1:20001", "", "", "\"n1:20001\"" + counted},
      {"n1:20000,n2:1", "", "", "\"n2:1\"" + counted},
      {"n9:1", "", "", "no node n9 is known to the scheduler"},
      {"", "=a", "", "\"=a\" is not NODE or LABEL=VALUE"},
      {"", "n9", "", "no node n9 is known to the scheduler"},
      {"", "pool=c", "", "no node has the label pool=c"},
      {"", "", "NodeAffinity", "\"NodeAffinity\"" + weighed},
      {"", "", "NodeAffinity:0", "\"NodeAffinity:0\"" + weighed},
      {"", "", "NodeAffinity:99999999999", "\"NodeAffinity:99999999999\"" + weighed},
      {"", "", "Nobody:2", "no profile has the plugin Nobody"},
  };
  for (const Row& row : rows) {
    World world;
    EXPECT_EQ(Changed(&world.cluster, row.more, row.without, row.weights), row.wanted);
  }
}

// The pod prefers n1, which is nearly full.
std::string NodeOfPod(const std::string& more, const std::string& without,
                      const std::string& weights) {
  const auto pods = inspect::ReadManifests(
      "kind: Pod\nmetadata: {name: w}\nspec:\n  containers: [{name: c, resources: {requests: {cpu: "
      "\"1\", memory: 2Gi}}}]\n  affinity: {nodeAffinity: "
      "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
      "{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}}]}}\n");
  EXPECT_TRUE(pods.ok()) << (pods.ok() ? "" : pods.error().message);
  World world;
  EXPECT_EQ(Changed(&world.cluster, more, without, weights), "");
  const auto simulation = inspect::Simulate(world.cluster, *pods);
  EXPECT_TRUE(simulation.ok()) << (simulation.ok() ? "" : simulation.error().message);
  return simulation.ok() ? simulation->placements.front().node : "";
}

TEST(ClusterChanges, PodsGoWhereTheChangedClusterSendsThem) {
  EXPECT_EQ(NodeOfPod("", "n2", ""), "n1");
  EXPECT_EQ(NodeOfPod("", "n2", "NodeResourcesFit:10"), "n3");
  EXPECT_EQ(NodeOfPod("", "pool=a", ""), "n3");
  EXPECT_EQ(NodeOfPod("n3:1", "pool=a,n3", ""), "n3-more-1");
  EXPECT_EQ(NodeOfPod("", "pool=a,n3", ""), "");
}

}  // namespace
}  // namespace ks::scheduler
