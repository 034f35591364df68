// SPDX-License-Identifier: Apache-2.0
#include "inspect/simulate.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/rig.h"
#include "testing/deltas.h"
#include "testing/storage_builders.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Resources;

const Resources kNode = {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}};

api::NodePtr Node(const std::string& name) {
  return MakeNode().Name(name).Label("kubernetes.io/hostname", name).Allocatable(kNode).Obj();
}

std::string Workload(const std::string& kind, const std::string& spec,
                     const std::string& pod_spec) {
  return "kind: " + kind + "\nmetadata: {name: web}\nspec:\n  " + spec +
         "\n  template:\n    metadata: {labels: {app: web}}\n    spec: " + pod_spec + "\n";
}
constexpr const char* kOneCpu = R"({containers: [{name: c, resources: {requests: {cpu: "1"}}}]})";

inspect::Simulation Simulated(Rig& rig, const std::string& manifests) {
  const auto pods = inspect::ReadManifests(manifests);
  EXPECT_TRUE(pods.ok()) << (pods.ok() ? "" : pods.error().message);
  const auto copy = inspect::CopyCluster(*rig.scheduler);
  EXPECT_TRUE(std::holds_alternative<inspect::ClusterCopy>(copy));
  const auto simulation = inspect::Simulate(std::get<inspect::ClusterCopy>(copy), *pods);
  EXPECT_TRUE(simulation.ok()) << (simulation.ok() ? "" : simulation.error().message);
  return simulation.ok() ? *simulation : inspect::Simulation();
}

std::map<std::string, int> Nodes(const inspect::Simulation& simulation) {
  std::map<std::string, int> nodes;
  for (const inspect::SimulatedPlacement& placement : simulation.placements)
    ++nodes[placement.node];
  return nodes;
}

TEST(Simulate, ReplicasSeeTheEarlierOnes) {
  Rig rig;
  rig.Sync({Node("n1"), Node("n2")},
           {MakePod().Name("there").Node("n1").Req({{"cpu", "3"}}).Obj()});
  rig.Settle();
  const inspect::Simulation simulation =
      Simulated(rig, Workload("ReplicaSet", "replicas: 6", kOneCpu));
  EXPECT_EQ(Nodes(simulation), (std::map<std::string, int>{{"", 1}, {"n1", 1}, {"n2", 4}}));
  const inspect::SimulatedPlacement& last = simulation.placements.back();
  EXPECT_EQ(last.result, inspect::Verdict::kUnschedulable);
  EXPECT_EQ(last.message, "0/2 nodes are available: 2 Insufficient cpu.");
  EXPECT_EQ(last.unschedulable_plugins, (std::vector<std::string>{"NodeResourcesFit"}));
}

// Default spreading finds the pods of one owner by the owner's selector.
TEST(Simulate, ReplicasOfADeploymentSpread) {
  Rig rig;
  rig.Sync({Node("n1"), Node("n2"), Node("n3")});
  rig.Settle();
  const std::string deployment =
      Workload("Deployment", "replicas: 3\n  selector: {matchLabels: {app: web}}",
               R"({containers: [{name: c, resources: {requests: {cpu: "10m"}}}]})");
  EXPECT_EQ(Nodes(Simulated(rig, deployment)),
            (std::map<std::string, int>{{"n1", 1}, {"n2", 1}, {"n3", 1}}));
}

TEST(Simulate, AssumedPodsAndNominationsCount) {
  Rig rig;
  rig.Sync({Node("n1")},
           {MakePod().Name("assumed").Req({{"cpu", "2"}}).Obj(), MakePod()
                                                                     .Name("nominated")
                                                                     .Priority(10)
                                                                     .Gates({"wait"})
                                                                     .NominatedNode("n1")
                                                                     .Req({{"cpu", "1"}})
                                                                     .Obj()});
  rig.Settle();
  ASSERT_EQ(rig.scheduler->context().cluster.cache.counts().assumed_pods, 1U);
  EXPECT_EQ(Nodes(Simulated(rig, Workload("ReplicaSet", "replicas: 2", kOneCpu))),
            (std::map<std::string, int>{{"", 1}, {"n1", 1}}));
}

TEST(Simulate, GatedBoundAndForeignPods) {
  Rig rig;
  rig.Sync({Node("n1")});
  rig.Settle();
  const inspect::Simulation simulation = Simulated(rig, R"(
kind: List
items:
- kind: Pod
  metadata: {name: gated}
  spec: {schedulingGates: [{name: wait}]}
- kind: Pod
  metadata: {name: fixed}
  spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "4"}}}]}
- kind: Pod
  metadata: {name: late}
  spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
- kind: Pod
  metadata: {name: theirs}
  spec: {schedulerName: theirs}
)");
  ASSERT_EQ(simulation.placements.size(), 4U);
  EXPECT_EQ(simulation.placements[0].result, inspect::Verdict::kGated);
  EXPECT_EQ(simulation.placements[1].node, "n1");
  EXPECT_EQ(simulation.placements[2].result, inspect::Verdict::kUnschedulable);
  EXPECT_EQ(simulation.placements[3].result, inspect::Verdict::kError);
  EXPECT_EQ(simulation.placements[3].message, "no profile is named theirs");
}

// A class that waits for pods, and volumes of it that are for one node each.
class ClaimedRig : public Rig {
 public:
  explicit ClaimedRig(const std::string& provisioner) {
    Show<api::StorageClass>(testing::Class("wait", provisioner));
    Sync({Node("n1"), Node("n2")});
  }
  void AddVolume(const std::string& name, const std::string& node) {
    Show<api::PersistentVolume>(
        testing::VolumeIn(name, "10Gi", testing::In("kubernetes.io/hostname", {node})));
  }
  void AddClaim(const std::string& name) {
    auto claim = testing::Claim(name);
    claim->meta.ns = Symbol("default");
    Show<api::PersistentVolumeClaim>(claim);
  }
  // Pods with these claims, one each.
  static std::string PodsWith(const std::vector<std::string>& claims) {
    std::string text = "kind: List\nitems:\n";
    for (size_t i = 0; i < claims.size(); ++i) {
      text += "- {kind: Pod, metadata: {name: p" + std::to_string(i) +
              "}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: " + claims[i] +
              "}}]}}\n";
    }
    return text;
  }
};

TEST(Simulate, AVolumeIsGivenOnce) {
  ClaimedRig rig("kubernetes.io/no-provisioner");
  rig.AddVolume("pv1", "n1");
  rig.AddVolume("pv2", "n2");
  for (const char* claim : {"a", "b", "c"}) rig.AddClaim(claim);
  rig.Settle();
  // Twice: the first run leaves nothing assumed.
  for (int run = 0; run < 2; ++run) {
    const inspect::Simulation simulation = Simulated(rig, ClaimedRig::PodsWith({"a", "b", "c"}));
    EXPECT_EQ(Nodes(simulation), (std::map<std::string, int>{{"", 1}, {"n1", 1}, {"n2", 1}}));
    EXPECT_EQ(simulation.placements.back().message,
              "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to "
              "bind.");
  }
  for (const char* volume : {"pv1", "pv2"}) {
    const cache::StorageStores& storage = rig.scheduler->context().cluster.storage;
    EXPECT_EQ(storage.CurrentVolume(volume), storage.FindVolume(volume));
  }
  EXPECT_TRUE(rig.api.writes.empty());
}

TEST(Simulate, PodsOfOneClaimGoWhereItsVolumeIsMade) {
  ClaimedRig rig("example.com/disk");
  rig.AddClaim("shared");
  rig.Settle();
  const std::vector<std::string> claims(6, "shared");
  const inspect::Simulation simulation = Simulated(rig, ClaimedRig::PodsWith(claims));
  EXPECT_EQ(Nodes(simulation),
            (std::map<std::string, int>{{simulation.placements.front().node, 6}}));
  const cache::StorageStores& storage = rig.scheduler->context().cluster.storage;
  EXPECT_EQ(storage.CurrentClaim("default/shared")->selected_node, std::nullopt);
}

TEST(Simulate, LeavesNothingBehind) {
  Rig rig;
  rig.Sync({Node("n1"), Node("n2")}, {MakePod().Name("big").Req({{"cpu", "9"}}).Obj()});
  rig.Settle();
  const std::string metrics = rig.metrics_registry.Text();
  const cache::Cache::Counts before = rig.scheduler->context().cluster.cache.counts();
  (void)Simulated(rig, Workload("ReplicaSet", "replicas: 5", kOneCpu));
  EXPECT_EQ(rig.metrics_registry.Text(), metrics);
  EXPECT_EQ(rig.scheduler->context().cluster.cache.counts().pods, before.pods);
  EXPECT_EQ(rig.scheduler->context().queue.pending().Summary(),
            "activeQ:0; backoffQ:0; unschedulableEntities:1");
  EXPECT_EQ(rig.scheduler->context().decisions.newest(), 1U);
}

TEST(Simulate, Json) {
  Rig rig;
  rig.Sync({Node("n1")});
  rig.Settle();
  const auto pods = inspect::ReadManifests(Workload("StatefulSet", "replicas: 1", kOneCpu));
  ASSERT_TRUE(pods.ok());
  const std::string json = inspect::SimulationJson(
      Simulated(rig, Workload("StatefulSet", "replicas: 1", kOneCpu)), *pods, {});
  EXPECT_EQ(json.substr(json.find(R"("sources")")),
            R"("sources":[{"source":"StatefulSet default/web","pods":1,"placed":1,)"
            R"("nodes":[{"node":"n1","pods":1}]}],"pods":[{"pod":"default/web-0",)"
            R"("source":"StatefulSet default/web","result":"Schedulable","node":"n1",)"
            R"("feasibleNodes":1}]})");
}

// One device on each of two nodes.
class DeviceRig : public Rig {
 public:
  DeviceRig() {
    Sync({Node("n1"), Node("n2")});
    auto device_class = std::make_shared<api::DeviceClass>();
    device_class->meta.name = "gpu";
    ShowDevices<api::DeviceClass>(device_class);
    for (const char* node : {"n1", "n2"}) {
      auto slice = std::make_shared<api::ResourceSlice>();
      slice->meta.name = node;
      slice->driver = Symbol("drv");
      slice->pool = Symbol(node);
      slice->pool_slice_count = 1;
      slice->nodes.node_name = Symbol(node);
      slice->devices.push_back({.name = Symbol("gpu-0")});
      ShowDevices<api::ResourceSlice>(slice);
    }
  }

 private:
  template <class T>
  void ShowDevices(std::shared_ptr<const T> object) {
    scheduler->Post(
        cache::DeviceDeltas(std::vector<api::Delta<T>>{testing::Upsert<T>(std::move(object))}));
  }
};

constexpr const char* kDevices =
    "devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}";

TEST(Simulate, EachPodOfATemplateTakesItsDevice) {
  DeviceRig rig;
  rig.Settle();
  const std::string manifests =
      Workload("ReplicaSet", "replicas: 3",
               "{containers: [{name: c}], resourceClaims: [{name: d, resourceClaimTemplateName: "
               "one}]}") +
      "---\nkind: ResourceClaimTemplate\nmetadata: {name: one}\nspec: {spec: {" + kDevices + "}}\n";
  // Twice: the first run leaves nothing taken.
  for (int run = 0; run < 2; ++run) {
    const inspect::Simulation simulation = Simulated(rig, manifests);
    EXPECT_EQ(Nodes(simulation), (std::map<std::string, int>{{"", 1}, {"n1", 1}, {"n2", 1}}));
    EXPECT_EQ(simulation.placements.back().message,
              "0/2 nodes are available: 2 cannot allocate all claims.");
  }
  EXPECT_TRUE(rig.scheduler->context().cluster.devices.Allocations().empty());
}

TEST(Simulate, PodsShareAClaimOfDevices) {
  DeviceRig rig;
  rig.Settle();
  const inspect::Simulation simulation = Simulated(
      rig, Workload("ReplicaSet", "replicas: 3",
                    "{containers: [{name: c}], resourceClaims: [{name: d, resourceClaimName: "
                    "shared}]}") +
               "---\nkind: ResourceClaim\nmetadata: {name: shared}\nspec: {" + kDevices + "}\n");
  EXPECT_EQ(Nodes(simulation),
            (std::map<std::string, int>{{simulation.placements.front().node, 3}}));
  EXPECT_NE(simulation.placements.front().node, "");
}

struct ManifestCase {
  std::string name;
  std::string text;
  std::vector<std::string> want_pods;
  std::string want_error = {};
  int64_t replicas = -1;
};

TEST(Simulate, GroupsOfPodsAreRead) {
  const Result<inspect::SimulatedPods> pods = inspect::ReadManifests(R"(
kind: PodGroup
apiVersion: scheduling.k8s.io/v1beta1
metadata: {name: g, namespace: ns}
spec: {parentCompositePodGroupName: c, schedulingPolicy: {gang: {minCount: 2}}}
---
kind: CompositePodGroup
apiVersion: scheduling.k8s.io/v1alpha3
metadata: {name: c, namespace: ns}
spec: {schedulingPolicy: {gang: {minGroupCount: 1}}}
---
kind: Pod
metadata: {name: p, namespace: ns}
spec: {schedulingGroup: {podGroupName: g}}
)");
  ASSERT_TRUE(pods.ok()) << pods.error().message;
  cache::GroupStores stores;
  for (const cache::GroupDeltas& group : pods->groups) stores.Apply(group, {});
  ASSERT_NE(stores.FindPodGroup(Symbol("ns"), "g"), nullptr);
  EXPECT_EQ(stores.FindPodGroup(Symbol("ns"), "g")->min_count, 2);
  ASSERT_NE(stores.FindCompositePodGroup(Symbol("ns"), "c"), nullptr);
  EXPECT_EQ(stores.ChildrenOf(Symbol("ns"), "c").size(), 1U);
  ASSERT_EQ(pods->pods.size(), 1U);
  EXPECT_EQ(pods->pods[0]->spec->scheduling_group, "g");
}

TEST(Simulate, Manifests) {
  const ManifestCase cases[] = {
      {"Pod", "kind: Pod\nmetadata: {name: p, namespace: ns}\nspec: {containers: []}", {"ns/p"}},
      {"GenerateName", "kind: Pod\nmetadata: {generateName: p-}\nspec: {}", {"default/p-"}},
      {"Replicas", Workload("Deployment", "replicas: 2", "{}"), {"default/web-0", "default/web-1"}},
      {"OneUnlessSaid", Workload("ReplicaSet", "minReadySeconds: 1", "{}"), {"default/web-0"}},
      {"Asked", Workload("Deployment", "replicas: 2", "{}"), {"default/web-0"}, "", 1},
      {"Job", Workload("Job", "parallelism: 5\n  completions: 1", "{}"), {"default/web-0"}},
      {"Documents",
       "kind: Pod\nmetadata: {name: a}\nspec: {}\n---\nkind: Pod\nmetadata: {name: b}\nspec: {}",
       {"default/a", "default/b"}},
      {"Json", R"({"kind":"Pod","metadata":{"name":"p"},"spec":{}})", {"default/p"}},
      {"Empty", " \n", {}, "the text is empty; a manifest is wanted"},
      {"NoObject", "a: b", {}, "kind: is missing: no Kubernetes object"},
      {"NoName", "kind: Pod\nspec: {}", {}, "Pod default/: metadata.name: is missing"},
      {"Kind",
       "kind: DaemonSet\nmetadata: {name: d}",
       {},
       "DaemonSet default/d: is of a kind that cannot be simulated; these can: Pod, Deployment, "
       "ReplicaSet, StatefulSet, ReplicationController and Job"},
      {"NoTemplate",
       "kind: Deployment\nmetadata: {name: d}\nspec: {}",
       {},
       "Deployment default/d: spec.template: is missing"},
      {"BadReplicas",
       Workload("Deployment", "replicas: many", "{}"),
       {},
       "Deployment default/web: spec.replicas: must be a number that is not negative"},
      {"BadQuantity",
       "kind: List\nitems:\n- {kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, "
       "resources: {requests: {cpu: much}}}]}}",
       {},
       "items[0]: Pod default/p: spec.containers[0].resources.requests.cpu"},
      {"TooMany",
       Workload("Deployment", "replicas: 5001", "{}"),
       {},
       "Deployment default/web: more than 5000 pods in all; ask for fewer replicas"},
      {"Yaml", "kind: [", {}, "manifest"},
  };
  for (const ManifestCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto read = inspect::ReadManifests(c.text, c.replicas);
    if (!c.want_error.empty()) {
      ASSERT_FALSE(read.ok());
      EXPECT_EQ(read.error().message.substr(0, c.want_error.size()), c.want_error);
      continue;
    }
    ASSERT_TRUE(read.ok()) << read.error().message;
    std::vector<std::string> pods;
    for (const api::PodPtr& pod : read->pods) pods.push_back(pod->meta.Key());
    EXPECT_EQ(pods, c.want_pods);
  }
}

}  // namespace
}  // namespace ks::scheduler
