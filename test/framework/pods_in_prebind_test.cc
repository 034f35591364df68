// SPDX-License-Identifier: Apache-2.0
// docs/spec/framework.md section 10: pods in PreBind.
#include "framework/runtime/pods_in_prebind.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ks::framework {
namespace {

using Texts = std::vector<std::string>;

class PodsInPreBindTest : public ::testing::Test {
 protected:
  void Add(const std::string& uid) {
    pods_.AddPodInPreBind(uid, [this, uid](std::string_view cause) {
      log_.push_back(uid + ": " + std::string(cause));
    });
  }

  PodsInPreBind pods_;
  Texts log_;
};

TEST_F(PodsInPreBindTest, TheFirstCancelCountsAndLaterOnesWorkToo) {
  Add("u");
  PodInPreBind* const pod = pods_.GetPodInPreBind("u");
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(pods_.CancelCause("u"), std::nullopt);
  EXPECT_TRUE(pod->Cancel("first"));
  EXPECT_TRUE(pod->Cancel("second"));
  EXPECT_EQ(log_, Texts{"u: first"});
  EXPECT_EQ(pods_.CancelCause("u"), "first");
  EXPECT_FALSE(pod->MarkPrebound());
  EXPECT_TRUE(pod->Cancel("third")) << "not prebound";
}

TEST_F(PodsInPreBindTest, NobodyCancelsOncePrebound) {
  Add("u");
  PodInPreBind* const pod = pods_.GetPodInPreBind("u");
  EXPECT_TRUE(pod->MarkPrebound());
  EXPECT_FALSE(pod->Cancel("late"));
  EXPECT_TRUE(pod->MarkPrebound());
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(pods_.CancelCause("u"), std::nullopt);
}

TEST_F(PodsInPreBindTest, KeyedByUid) {
  Add("a");
  Add("b");
  EXPECT_TRUE(pods_.GetPodInPreBind("a")->Cancel("x"));
  EXPECT_TRUE(pods_.GetPodInPreBind("b")->MarkPrebound());
  EXPECT_EQ(pods_.GetPodInPreBind("c"), nullptr);
  EXPECT_EQ(pods_.CancelCause("c"), std::nullopt);
  pods_.RemovePodInPreBind("a");
  pods_.RemovePodInPreBind("a");
  EXPECT_EQ(pods_.GetPodInPreBind("a"), nullptr);
  EXPECT_EQ(pods_.size(), 1U);
  Add("b");  // replaces: a new attempt
  EXPECT_TRUE(pods_.GetPodInPreBind("b")->Cancel("y"));
}

TEST_F(PodsInPreBindTest, CancelingMayRemoveTheEntry) {
  pods_.AddPodInPreBind("u", [this](std::string_view) { pods_.RemovePodInPreBind("u"); });
  EXPECT_TRUE(pods_.GetPodInPreBind("u")->Cancel("x"));
  EXPECT_EQ(pods_.size(), 0U);
}

}  // namespace
}  // namespace ks::framework
