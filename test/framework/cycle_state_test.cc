// SPDX-License-Identifier: Apache-2.0
// CycleState::Fix: which data stay as they are until the attempt ends.
#include "framework/cycle_state.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "framework/node_info.h"
#include "framework/runtime/node_verdicts.h"
#include "testing/builders.h"

namespace ks::framework {
namespace {

// Follows a counter until it is fixed.
class Following final : public StateData {
 public:
  explicit Following(const int& counter) : counter_(counter) {}

  std::shared_ptr<StateData> Fix(const std::shared_ptr<StateData>&, const NodeInfo& node) override {
    auto fixed = std::make_shared<Following>(counter_);
    fixed->fixed_ = counter_;
    fixed->node_ = node.name();
    return fixed;
  }
  int count() const { return node_.empty() ? counter_ : fixed_; }
  const std::string& node() const { return node_; }

 private:
  const int& counter_;
  int fixed_ = 0;
  std::string node_;
};

class Plain final : public StateData {};

struct FixTest : ::testing::Test {
  const StateSlot<Plain> plain{0};
  const StateSlot<Following> following{2};  // slot 1 stays empty
  const NodeInfo node{testing::MakeNode().Name("n1").Obj()};
  int counter = 3;
  CycleState state;
};

TEST_F(FixTest, EachDatumIsAskedWithTheNode) {
  following.Write(state, std::make_shared<Following>(counter));
  state.Fix(node);
  counter = 7;
  EXPECT_EQ(following.Read(state)->count(), 3);
  EXPECT_EQ(following.Read(state)->node(), "n1");
}

TEST_F(FixTest, CloneOfBeforeFollowsOn) {
  following.Write(state, std::make_shared<Following>(counter));
  const CycleState clone = state.Clone();
  state.Fix(node);
  counter = 7;
  EXPECT_EQ(following.Read(clone)->count(), 7);
}

TEST_F(FixTest, ByDefaultADatumStaysTheOneThatItIs) {
  const auto datum = std::make_shared<Plain>();
  plain.Write(state, datum);
  state.Fix(node);
  EXPECT_EQ(plain.Read(state), datum.get());
  EXPECT_EQ(following.Read(state), nullptr);
}

TEST_F(FixTest, WhatIsKnownOfOtherNodesIsDropped) {
  state.skip_filter = 5;
  state.pods_to_activate = std::make_shared<PodsToActivate>();
  state.verdicts = std::make_shared<NodeVerdicts>(std::make_shared<const api::PodSpec>());
  state.Fix(node);
  EXPECT_EQ(state.verdicts, nullptr);
  EXPECT_EQ(state.preemption_inquiry, nullptr);
  EXPECT_EQ(state.skip_filter, 5U);
  EXPECT_NE(state.pods_to_activate, nullptr);
}

}  // namespace
}  // namespace ks::framework
