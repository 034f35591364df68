// SPDX-License-Identifier: Apache-2.0
// kubesched --record against a real kube-apiserver, which sends protobuf: what is recorded has the
// objects in that form, and replays without a difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "e2e/cluster_fixture.h"

namespace ks::e2e {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class RecordedCluster : public ClusterFixture {
 protected:
  bool WaitBound(size_t count) {
    return cluster_->view().WaitFor(
        [count](const PodView::Pods& pods) { return CountBound(pods) == count; }, seconds(60));
  }
  void CreatePods(const std::string& prefix, int count, const std::string& cpu) {
    for (int i = 0; i < count; ++i) {
      cluster_->CreatePod(PodManifest(prefix + std::to_string(i), {{"cpu", cpu}}));
    }
  }
};

TEST_F(RecordedCluster, ReplaysWithoutADifference) {
  for (int i = 0; i < 4; ++i) {
    cluster_->CreateNode(
        NodeManifest("n" + std::to_string(i), {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}}));
  }
  const std::string folder = cluster_->plane().Dir() + "/recordings";
  std::filesystem::create_directory(folder);
  const pid_t pid = cluster_->StartReplica(
      {KS_KUBESCHED_PATH, "--secure-port=0", "--record=" + folder}, "kubesched",
      SchedulerConfiguration(cluster_->plane().SchedulerKubeconfig(), 16));
  CreatePods("small-", 20, "100m");
  ASSERT_TRUE(WaitBound(20));
  CreatePods("large-", 5, "3");  // of which one finds no node
  ASSERT_TRUE(WaitBound(24));
  for (int i = 0; i < 20; ++i) {
    cluster_->Delete("/api/v1/namespaces/default/pods/small-" + std::to_string(i) +
                     "?gracePeriodSeconds=0");
  }
  cluster_->CreateNode(NodeManifest("late", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}}));
  ASSERT_TRUE(WaitBound(5));
  cluster_->StopScheduler(pid);

  const std::string file = std::filesystem::directory_iterator(folder)->path();
  size_t in_protobuf = 0;
  std::ifstream recording(file);
  for (std::string line; std::getline(recording, line);) {
    if (!line.starts_with("{\"upsert\":\"Pod\",")) continue;
    ++in_protobuf;
    EXPECT_THAT(line, HasSubstr("\"object\":\"azhz")) << "k8s, in base64";
  }
  EXPECT_GE(in_protobuf, 50U) << "25 pods came and were bound";
  const auto replayed = testing::RunProgram({KS_KUBESCHEDCTL_PATH, "replay", file},
                                            cluster_->plane().Dir(), "replay", seconds(60));
  ASSERT_TRUE(replayed.ok()) << replayed.error().message;
  EXPECT_EQ(replayed->exit_status, 0) << replayed->output;
  EXPECT_THAT(replayed->output, HasSubstr("recorded and replayed are the same"));
}

}  // namespace
}  // namespace ks::e2e
