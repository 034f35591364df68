// SPDX-License-Identifier: Apache-2.0
#pragma once
// What tests on a real control plane begin with: skipped without its programs, else a cluster of
// their own, and kubectl for it.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "e2e/cluster.h"

namespace ks::e2e {

// A SetUp of its own calls this one first, and ends if there is no cluster_ then.
class ClusterFixture : public ::testing::Test {
 protected:
  explicit ClusterFixture(testing::ControlPlane::Options options = {},
                          testing::ServerNeed need = {})
      : options_(std::move(options)), need_(std::move(need)) {}

  void SetUp() override {
    std::string why;
    if (!testing::ControlPlane::Available(&why, need_)) GTEST_SKIP() << why;
    cluster_ = Cluster::Start(options_);
    ASSERT_NE(cluster_, nullptr);
  }

  std::string Kubectl(const std::vector<std::string>& arguments) {
    return cluster_->Kubectl(arguments);
  }

  std::unique_ptr<Cluster> cluster_;

 private:
  const testing::ControlPlane::Options options_;
  const testing::ServerNeed need_;
};

}  // namespace ks::e2e
