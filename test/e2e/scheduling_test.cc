// SPDX-License-Identifier: Apache-2.0
// kubesched against a real kube-apiserver: everything is bound, once, within capacity; failures
// read as upstream's; events wake pods; a dead API server costs nothing but time.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "e2e/cluster_fixture.h"

namespace ks::e2e {
namespace {

using std::chrono::seconds;

class Scheduling : public ClusterFixture {
 protected:
  void TearDown() override {
    if (cluster_ != nullptr && HasFailure()) {
      std::ifstream log(cluster_->LogPath("kubesched"));
      std::stringstream text;
      text << log.rdbuf();
      std::cerr << "kubesched's log ends:\n"
                << text.str().substr(text.str().size() > 4000 ? text.str().size() - 4000 : 0);
    }
  }

  void StartKubesched() {
    pid_ = cluster_->StartKubesched(
        SchedulerConfiguration(cluster_->plane().SchedulerKubeconfig(), 16));
  }
  void StopKubesched() {
    const testing::ProcessEnd end = cluster_->StopScheduler(pid_);
    EXPECT_EQ(end.exit_status, 1);  // as upstream without leader election
    EXPECT_FALSE(end.forced);
  }
  bool WaitBound(size_t count, seconds limit = seconds(120)) {
    return cluster_->view().WaitFor(
        [count](const PodView::Pods& pods) { return CountBound(pods) >= count; }, limit);
  }
  // The PodScheduled condition of a pod, once it is there.
  api::Condition WaitCondition(const std::string& pod) {
    api::Condition found;
    EXPECT_TRUE(cluster_->view().WaitFor(
        [&](const PodView::Pods& pods) {
          const auto it = pods.find("default/" + pod);
          if (it == pods.end()) return false;
          const api::Condition* condition = it->second->FindCondition("PodScheduled");
          if (condition == nullptr) return false;
          found = *condition;
          return true;
        },
        seconds(30)))
        << "no condition on " << pod;
    return found;
  }

  pid_t pid_ = 0;
};

constexpr int kNodes = 100;
constexpr int kPods = 1000;

TEST_F(Scheduling, BindsAThousandPodsOnceAndWithinCapacity) {
  for (int i = 0; i < kNodes; ++i) {
    cluster_->CreateNode(NodeManifest("node-" + std::to_string(i),
                                      {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "15"}}));
  }
  StartKubesched();
  for (int i = 0; i < kPods; ++i) {
    cluster_->CreatePod(
        PodManifest("pod-" + std::to_string(i), {{"cpu", "300m"}, {"memory", "256Mi"}}));
  }
  ASSERT_TRUE(WaitBound(kPods)) << CountBound(cluster_->view().pods());
  std::map<std::string, int> per_node;
  for (const auto& [key, pod] : cluster_->view().pods()) {
    ++per_node[pod->node_name.str()];
  }
  const json pods = cluster_->Get("/api/v1/namespaces/default/pods");
  ASSERT_EQ(pods["items"].size(), static_cast<size_t>(kPods));
  for (const json& pod : pods["items"]) {
    ASSERT_TRUE(pod["status"].contains("conditions")) << pod.dump();
    const json& condition = pod["status"]["conditions"][0];
    EXPECT_EQ(condition["type"], "PodScheduled");
    EXPECT_EQ(condition["status"], "True");
  }
  EXPECT_EQ(per_node.size(), static_cast<size_t>(kNodes));
  for (const auto& [node, count] : per_node) EXPECT_LE(count, 13) << node;  // 13 x 300m <= 4
  EXPECT_TRUE(cluster_->view().moved().empty());
  StopKubesched();

  // Events are written beside the bindings and may be cut off by the stop; those that are there
  // read as upstream's.
  const json events = cluster_->Get("/apis/events.k8s.io/v1/namespaces/default/events");
  size_t scheduled = 0;
  for (const json& event : events["items"]) {
    if (event["reason"] != "Scheduled") continue;
    ++scheduled;
    const std::string name = event["regarding"]["name"];
    const std::string node = cluster_->view().pods().at("default/" + name)->node_name.str();
    EXPECT_EQ(event["note"], "Successfully assigned default/" + name + " to " + node);
    EXPECT_EQ(event["action"], "Binding");
    EXPECT_EQ(event["type"], "Normal");
    EXPECT_EQ(event["reportingController"], "default-scheduler");
  }
  EXPECT_GT(scheduled, 0U);
}

TEST_F(Scheduling, FullClusterTellsWhyAndANewNodeHelps) {
  for (int i = 0; i < 3; ++i) {
    cluster_->CreateNode(NodeManifest("small-" + std::to_string(i),
                                      {{"cpu", "1"}, {"memory", "1Gi"}, {"pods", "10"}}));
  }
  StartKubesched();
  cluster_->CreatePod(PodManifest("big", {{"cpu", "2"}}));
  const api::Condition condition = WaitCondition("big");
  EXPECT_EQ(condition.status, "False");
  EXPECT_EQ(condition.reason, "Unschedulable");
  const std::string text =
      "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 "
      "Preemption is not helpful for scheduling.";
  EXPECT_EQ(condition.message, text);

  cluster_->CreateNode(NodeManifest("large", {{"cpu", "8"}, {"memory", "8Gi"}, {"pods", "10"}}));
  ASSERT_TRUE(WaitBound(1, seconds(60)));
  EXPECT_EQ(cluster_->view().pods().at("default/big")->node_name, "large");

  const json events = cluster_->Get(
      "/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=reason%3DFailedScheduling");
  ASSERT_GE(events["items"].size(), 1U);
  EXPECT_EQ(events["items"][0]["note"], text);
  EXPECT_EQ(events["items"][0]["type"], "Warning");
  EXPECT_EQ(events["items"][0]["action"], "Scheduling");
  StopKubesched();
}

TEST_F(Scheduling, ARemovedTaintAndADeletedPodWakeWaitingPods) {
  json tainted = NodeManifest("tainted", {{"cpu", "2"}, {"memory", "4Gi"}, {"pods", "1"}});
  tainted["spec"]["taints"] = {{{"key", "maintenance"}, {"effect", "NoSchedule"}}};
  cluster_->CreateNode(tainted);
  StartKubesched();
  cluster_->CreatePod(PodManifest("first", {{"cpu", "1"}}));
  EXPECT_EQ(
      WaitCondition("first").message,
      "0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are "
      "available: 1 Preemption is not helpful for scheduling.");
  cluster_->MergePatch("/api/v1/nodes/tainted", {{"spec", {{"taints", nullptr}}}});
  ASSERT_TRUE(WaitBound(1, seconds(60)));

  cluster_->CreatePod(PodManifest("second", {{"cpu", "1"}}));
  EXPECT_EQ(WaitCondition("second").message,
            "0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: 1 No "
            "preemption victims found for incoming pod.");
  cluster_->Delete("/api/v1/namespaces/default/pods/first?gracePeriodSeconds=0");
  ASSERT_TRUE(cluster_->view().WaitFor(
      [](const PodView::Pods& pods) {
        const auto it = pods.find("default/second");
        return it != pods.end() && it->second->node_name == "tainted";
      },
      seconds(60)));
  StopKubesched();
}

TEST_F(Scheduling, SurvivesTheApiServersDeath) {
  for (int i = 0; i < kNodes; ++i) {
    cluster_->CreateNode(NodeManifest("node-" + std::to_string(i),
                                      {{"cpu", "16"}, {"memory", "32Gi"}, {"pods", "30"}}));
  }
  for (int i = 0; i < kPods; ++i) {
    cluster_->CreatePod(PodManifest("pod-" + std::to_string(i), {{"cpu", "100m"}}));
  }
  StartKubesched();
  ASSERT_TRUE(WaitBound(kPods / 10));
  const auto killed = cluster_->plane().KillApiServer();
  ASSERT_TRUE(killed.ok()) << killed.error().message;
  const auto started = cluster_->StartApiServer();
  ASSERT_TRUE(started.ok()) << started.error().message;
  ASSERT_TRUE(WaitBound(kPods, seconds(180))) << CountBound(cluster_->view().pods());
  EXPECT_TRUE(cluster_->view().moved().empty());
  std::map<std::string, int> per_node;
  for (const auto& [key, pod] : cluster_->view().pods()) ++per_node[pod->node_name.str()];
  for (const auto& [node, count] : per_node) EXPECT_LE(count, 30) << node;
  StopKubesched();
}

}  // namespace
}  // namespace ks::e2e
