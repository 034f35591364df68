// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/allocated_state.h"

#include <gtest/gtest.h>

namespace ks::plugins {
namespace {

api::ClaimAllocation AllocationOf(std::string_view device) {
  api::ClaimAllocation allocation;
  api::DeviceResult& result = allocation.results.emplace_back();
  result.driver = Symbol("drv.example");
  result.pool = Symbol("p");
  result.device = Symbol(device);
  return allocation;
}

// A watch may show that a claim has a device after it let go of it, and that it let go of it after
// another claim got it.
TEST(AllocatedStateTest, TakenUntilTheLastClaimLetsGo) {
  DeviceNumbers numbers;
  AllocatedState state(numbers, {});
  const uint32_t device = numbers.Number(Symbol("drv.example"), Symbol("p"), Symbol("d0"));
  EXPECT_FALSE(state.Dedicated(device));
  state.Add(AllocationOf("d0"));
  state.Add(AllocationOf("d0"));
  state.Remove(AllocationOf("d0"));
  EXPECT_TRUE(state.Dedicated(device));
  state.Add(AllocationOf("d1"));
  state.Remove(AllocationOf("d0"));
  EXPECT_FALSE(state.Dedicated(device));
}

}  // namespace
}  // namespace ks::plugins
