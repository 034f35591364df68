// SPDX-License-Identifier: Apache-2.0
#pragma once
// What tests on a real control plane begin with: skipped without its programs, else a cluster of
// their own, and kubectl for it.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "e2e/cluster.h"
#include "testing/run_program.h"

namespace ks::e2e {

// A SetUp of its own calls this one first, and ends if there is no cluster_ then.
class ClusterFixture : public ::testing::Test {
 protected:
  explicit ClusterFixture(testing::ControlPlane::Options options = {})
      : options_(std::move(options)) {}

  void SetUp() override {
    std::string why;
    if (!testing::ControlPlane::Available(&why)) GTEST_SKIP() << why;
    cluster_ = Cluster::Start(options_);
    ASSERT_NE(cluster_, nullptr);
  }

  // What kubectl prints; a failure unless it ends well.
  std::string Kubectl(const std::vector<std::string>& arguments) {
    const testing::ControlPlane& plane = cluster_->plane();
    std::vector<std::string> argv = {testing::ControlPlane::BinaryPath("kubectl"),
                                     "--kubeconfig=" + plane.AdminKubeconfig(),
                                     "--cache-dir=" + plane.Dir() + "/kubectl-cache"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const auto ran = testing::RunProgram(argv, plane.Dir(), "kubectl", std::chrono::seconds(60));
    if (!ran.ok()) {
      ADD_FAILURE() << ran.error().message;
      return {};
    }
    EXPECT_EQ(ran->exit_status, 0) << arguments.front() << ": " << ran->output;
    return ran->output;
  }

  std::unique_ptr<Cluster> cluster_;

 private:
  const testing::ControlPlane::Options options_;
};

}  // namespace ks::e2e
