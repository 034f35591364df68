// SPDX-License-Identifier: Apache-2.0
// A few seeds, for the builds with sanitizers. ctest runs 500 with ks_sim.

#include "sim/simulation.h"

#include <gtest/gtest.h>

namespace ks::sim {
namespace {

class SeedTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(SeedTest, Holds) {
  const Outcome outcome = Simulate(DrawPlan(GetParam()), false);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.binds, 0U);
}

INSTANTIATE_TEST_SUITE_P(Few, SeedTest, ::testing::Range<uint64_t>(1, 11));

TEST(SimulationTest, ASeedAlwaysGivesTheSameTrace) {
  const Outcome once = Simulate(DrawPlan(42), false);
  const Outcome again = Simulate(DrawPlan(42), false);
  EXPECT_EQ(once.trace_hash, again.trace_hash);
  EXPECT_EQ(once.trace_lines, again.trace_lines);
  EXPECT_NE(once.trace_hash, Simulate(DrawPlan(43), false).trace_hash);
}

}  // namespace
}  // namespace ks::sim
