// SPDX-License-Identifier: Apache-2.0
// A pod that runs is resized beyond the room on its node, and the kubelet (played here) defers it:
// with the gate InPlacePodVerticalScalingSchedulerPreemption the scheduler makes room there, and
// nowhere else. kube-scheduler, in the same place, does the same.
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "e2e/cluster_fixture.h"

namespace ks::e2e {
namespace {

using std::chrono::seconds;

constexpr const char* kResizeGate =
    "--feature-gates=InPlacePodVerticalScalingSchedulerPreemption=true";
constexpr seconds kLimit(60);

// A pod on its node from the start, whose deletion takes no time.
json RunningPod(const std::string& name, const std::string& node, const std::string& cpu,
                const std::string& priority_class) {
  json pod = PodManifest(name, {{"cpu", cpu}});
  pod["spec"]["nodeName"] = node;
  pod["spec"]["priorityClassName"] = priority_class;
  pod["spec"]["terminationGracePeriodSeconds"] = 0;
  return pod;
}

struct Sides {
  std::string name;
  bool upstream = false;
};

class ResizePreemption : public ClusterFixture, public ::testing::WithParamInterface<Sides> {
 protected:
  ResizePreemption() : ClusterFixture({.apiserver_args = {kResizeGate}}, {37, kResizeGate}) {}

  void SetUp() override {
    ClusterFixture::SetUp();
    if (cluster_ == nullptr) return;
    for (const auto& [name, value] : {std::pair("low", 1), std::pair("high", 1000)}) {
      cluster_->Create("/apis/scheduling.k8s.io/v1/priorityclasses",
                       {{"metadata", {{"name", name}}}, {"value", value}});
    }
  }

  void StartScheduler() {
    const std::string configuration =
        SchedulerConfiguration(cluster_->plane().SchedulerKubeconfig(), 1);
    if (GetParam().upstream) {
      cluster_->StartReplica(
          {testing::ControlPlane::BinaryPath("kube-scheduler"), "--secure-port=0", "-v=5",
           std::string(kResizeGate) + ",WatchListClient=false"},
          GetParam().name, configuration);
    } else {
      cluster_->StartReplica({KS_KUBESCHED_PATH, "--secure-port=0", "-v=5", kResizeGate},
                             GetParam().name, configuration);
    }
  }
  // The owner asks for more, and the kubelet puts it off.
  void Resize(const std::string& pod, const std::string& cpu) {
    const std::string path = "/api/v1/namespaces/default/pods/" + pod;
    const json containers =
        json::array({{{"name", "main"}, {"resources", {{"requests", {{"cpu", cpu}}}}}}});
    const client::RestReply resized = cluster_->admin().Patch(
        path + "/resize", json{{"spec", {{"containers", containers}}}}.dump(),
        "application/strategic-merge-patch+json");
    ASSERT_TRUE(resized.ok()) << resized.error->message;
    const json conditions = json::array({{{"type", "PodResizePending"},
                                          {"status", "True"},
                                          {"reason", "Deferred"},
                                          {"message", "node lacks room"}}});
    const client::RestReply deferred = cluster_->admin().Patch(
        path + "/status", json{{"status", {{"conditions", conditions}}}}.dump(),
        "application/strategic-merge-patch+json");
    ASSERT_TRUE(deferred.ok()) << deferred.error->message;
  }
  std::set<std::string> Pods() {
    std::set<std::string> names;
    for (const auto& [key, pod] : cluster_->view().pods()) names.insert(pod->meta.name);
    return names;
  }
  // Waits until a pod that was created on a node is gone: first the view has to hear of it.
  bool WaitGone(const std::string& pod) {
    const std::string key = "default/" + pod;
    const auto seen = [&] { return !cluster_->view().BoundAt(key).empty(); };
    if (!cluster_->WaitUntil(seen, kLimit)) return false;
    return cluster_->view().WaitFor([&](const PodView::Pods& pods) { return !pods.contains(key); },
                                    kLimit);
  }
  // A pod that is placed after everything before it was looked at.
  void PlaceOneMore(const std::string& name) {
    cluster_->CreatePod(PodManifest(name, {{"cpu", "100m"}}));
    EXPECT_TRUE(cluster_->view().WaitFor(
        [&](const PodView::Pods& pods) {
          const auto it = pods.find("default/" + name);
          return it != pods.end() && !it->second->node_name.empty();
        },
        kLimit));
  }
  // Notes of events about the pod, "reason: note".
  std::set<std::string> Events(const std::string& pod) {
    std::set<std::string> notes;
    const json events = cluster_->Get("/apis/events.k8s.io/v1/namespaces/default/events");
    for (const json& event : events["items"]) {
      if (event["regarding"]["name"] != pod) continue;
      notes.insert(event["reason"].get<std::string>() + ": " + event["note"].get<std::string>());
    }
    return notes;
  }
};

TEST_P(ResizePreemption, EvictsLowerPodsOfItsOwnNodeOnly) {
  for (const char* node : {"n1", "n2"}) {
    cluster_->CreateNode(NodeManifest(node, {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "20"}}));
  }
  cluster_->CreateNode(NodeManifest("n3", {{"cpu", "64"}, {"memory", "8Gi"}, {"pods", "20"}}));
  cluster_->CreatePod(RunningPod("low", "n1", "1", "low"));
  cluster_->CreatePod(RunningPod("lower-elsewhere", "n2", "4", "low"));
  cluster_->CreatePod(RunningPod("equal", "n1", "1", "high"));
  cluster_->CreatePod(RunningPod("grows", "n1", "1", "high"));
  StartScheduler();
  PlaceOneMore("before");
  Resize("grows", "3");
  ASSERT_TRUE(WaitGone("low"));
  PlaceOneMore("after");
  EXPECT_EQ(Pods(),
            (std::set<std::string>{"after", "before", "equal", "grows", "lower-elsewhere"}));

  const api::PodPtr grows = cluster_->view().pods().at("default/grows");
  EXPECT_EQ(grows->node_name, "n1");
  EXPECT_EQ(grows->status.nominated_node_name, "");
  EXPECT_EQ(grows->FindCondition("PodScheduled"), nullptr);
  EXPECT_EQ(Events("grows"), std::set<std::string>());
}

// The resize fits, and before the kubelet has seen to it a pod comes to the node past the
// scheduler.
TEST_P(ResizePreemption, EvictsWhoTakesTheRoomThatWasFound) {
  cluster_->CreateNode(NodeManifest("n1", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "20"}}));
  cluster_->CreateNode(NodeManifest("n2", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "20"}}));
  cluster_->CreatePod(RunningPod("grows", "n1", "1", "high"));
  Resize("grows", "4");
  StartScheduler();
  PlaceOneMore("before");
  cluster_->CreatePod(RunningPod("late", "n1", "1", "low"));
  EXPECT_TRUE(WaitGone("late"));
  EXPECT_EQ(Pods(), (std::set<std::string>{"before", "grows"}));
  EXPECT_EQ(Events("grows"), std::set<std::string>());
}

TEST_P(ResizePreemption, ANodeMayForbidIt) {
  json node = NodeManifest("n1", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "20"}});
  node["spec"]["podPreemptionPolicy"]["disableResizePreemption"] = json::array({"CriticalAddons"});
  cluster_->CreateNode(node);
  cluster_->CreateNode(NodeManifest("n2", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "20"}}));
  cluster_->CreatePod(RunningPod("low", "n1", "2", "low"));
  cluster_->CreatePod(RunningPod("grows", "n1", "1", "high"));
  Resize("grows", "3");
  StartScheduler();
  PlaceOneMore("after");
  EXPECT_EQ(Pods(), (std::set<std::string>{"after", "grows", "low"}));
  cluster_->MergePatch("/api/v1/nodes/n1", {{"spec", {{"podPreemptionPolicy", nullptr}}}});
  EXPECT_TRUE(WaitGone("low"));
}

INSTANTIATE_TEST_SUITE_P(Schedulers, ResizePreemption,
                         ::testing::Values(Sides{"kubesched"}, Sides{"kube-scheduler", true}),
                         [](const auto& row) { return row.param.upstream ? "upstream" : "ours"; });

}  // namespace
}  // namespace ks::e2e
