// SPDX-License-Identifier: Apache-2.0
// The configuration changes under load, on a real control plane: valid and invalid files in turn,
// through the watch of the file and through SIGHUP.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <string_view>

#include "e2e/cluster_fixture.h"

namespace ks::e2e {
namespace {

using std::chrono::seconds;

constexpr int kNodes = 50;
constexpr int kPods = 5000;
constexpr int kReloads = 20;

size_t CountLines(const std::string& file, std::string_view needle) {
  std::ifstream stream(file);
  std::string line;
  size_t count = 0;
  while (std::getline(stream, line)) count += line.find(needle) != std::string::npos ? 1 : 0;
  return count;
}

class Reload : public ClusterFixture {
 protected:
  // Even ones are valid and differ in what they say; odd ones are invalid.
  std::string Configuration(int i) const {
    const std::string base = SchedulerConfiguration(cluster_->plane().SchedulerKubeconfig(), 16);
    if (i % 2 == 1) return base + "podMaxBackoffSeconds: " + std::to_string(-i) + "\n";
    return base + "percentageOfNodesToScore: " + std::to_string(i) + "\n";
  }
  // In one step, as a mounted file changes.
  void Exchange(const std::string& text) const {
    const std::string file = cluster_->plane().Dir() + "/kubesched.yaml";
    std::ofstream(file + ".new") << text;
    ASSERT_EQ(std::rename((file + ".new").c_str(), file.c_str()), 0);
  }
  bool WaitForLine(std::string_view needle, size_t count) {
    return cluster_->view().WaitFor(
        [&](const PodView::Pods&) {
          return CountLines(cluster_->LogPath("kubesched"), needle) >= count;
        },
        seconds(20));
  }
  void CreatePods(int from, int to) {
    for (int i = from; i < to; ++i) {
      cluster_->CreatePod(PodManifest("pod-" + std::to_string(i), {{"cpu", "10m"}}));
    }
  }
};

constexpr std::string_view kInForce = "The new configuration is in force";
constexpr std::string_view kRefused = "The new configuration was refused";

TEST_F(Reload, TwentyTimesDuringFiveThousandPods) {
  for (int i = 0; i < kNodes; ++i) {
    cluster_->CreateNode(NodeManifest("node-" + std::to_string(i),
                                      {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}}));
  }
  const pid_t pid = cluster_->StartKubesched(Configuration(kReloads));
  size_t valid = 0;
  size_t invalid = 0;
  for (int i = 0; i < kReloads; ++i) {
    CreatePods(kPods * i / kReloads, kPods * (i + 1) / kReloads);
    Exchange(Configuration(i));
    const bool good = i % 2 == 0;
    ++(good ? valid : invalid);
    ASSERT_TRUE(WaitForLine(good ? kInForce : kRefused, good ? valid : invalid)) << "reload " << i;
  }
  ASSERT_TRUE(cluster_->view().WaitFor(
      [](const PodView::Pods& pods) {
        return pods.size() == kPods && std::all_of(pods.begin(), pods.end(), [](const auto& entry) {
                 return !entry.second->node_name.empty();
               });
      },
      seconds(120)));
  EXPECT_TRUE(cluster_->view().moved().empty());
  EXPECT_EQ(CountLines(cluster_->LogPath("kubesched"), kInForce), valid);
  EXPECT_EQ(CountLines(cluster_->LogPath("kubesched"), kRefused), invalid);

  // SIGHUP reads the file again although it has not changed: still invalid.
  ASSERT_EQ(kill(pid, SIGHUP), 0);
  cluster_->CreatePod(PodManifest("last", {{"cpu", "10m"}}));
  EXPECT_TRUE(WaitForLine("cause=\"SIGHUP\"", 1));
  EXPECT_TRUE(WaitForLine(kRefused, invalid + 1));
  const testing::ProcessEnd end = cluster_->StopScheduler(pid);
  EXPECT_FALSE(end.forced);
}

}  // namespace
}  // namespace ks::e2e
