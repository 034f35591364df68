// SPDX-License-Identifier: Apache-2.0
#include "framework/change_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "testing/builders.h"

namespace ks::framework {
namespace {

using testing::MakePod;

PodInfoPtr Pod(size_t image_bytes) {
  return std::make_shared<const PodInfo>(
      MakePod().Name("p").Req({{"cpu", "1"}}, std::string(image_bytes, 'x')).Obj());
}

TEST(ChangeLog, HoldsTheNewestChanges) {
  ChangeLog log(4);
  for (uint32_t slot = 0; slot < 6; ++slot) log.Append(Change::Kind::kPodAdded, slot, Pod(10));
  EXPECT_EQ(log.end(), 6U);
  EXPECT_FALSE(log.Holds(1));
  ASSERT_TRUE(log.Holds(2));
  for (uint32_t slot = 2; slot < 6; ++slot) EXPECT_EQ(log.At(slot).slot, slot);
  log.Forget();
  EXPECT_FALSE(log.Holds(5));
  EXPECT_FALSE(log.Holds(6));
  log.Append(Change::Kind::kNode, 9);
  EXPECT_EQ(log.At(log.end() - 1).slot, 9U);
}

// Pods that are gone live on in the log: a user who makes and deletes large ones fills no memory.
TEST(ChangeLog, HoldsFewerLargePods) {
  constexpr size_t kLarge = size_t{10} << 20;
  ChangeLog log;
  std::vector<std::weak_ptr<const PodInfo>> pods;
  for (uint32_t slot = 0; slot < 40; ++slot) {
    const PodInfoPtr pod = Pod(kLarge);
    pods.push_back(pod);
    log.Append(Change::Kind::kPodAdded, slot, pod);
  }
  size_t held = 0;
  for (const auto& pod : pods) held += pod.expired() ? 0 : 1;
  EXPECT_EQ(held, ChangeLog::kMaxBytes / kLarge);
  EXPECT_TRUE(log.Holds(log.end() - held));
  EXPECT_FALSE(log.Holds(log.end() - held - 1));
  EXPECT_EQ(log.At(log.end() - 1).slot, 39U);

  // One that is too large by itself is told all the same.
  log.Append(Change::Kind::kPodRemoved, 40, Pod(ChangeLog::kMaxBytes + 1));
  EXPECT_TRUE(log.Holds(log.end() - 1));
  EXPECT_FALSE(log.Holds(log.end() - 2));
  log.Append(Change::Kind::kPodRemoved, 41, Pod(10));
  EXPECT_FALSE(log.Holds(log.end() - 2));
  for (uint32_t slot = 0; slot < 100; ++slot) log.Append(Change::Kind::kPodAdded, slot, Pod(10));
  EXPECT_TRUE(log.Holds(log.end() - 101));
}

}  // namespace
}  // namespace ks::framework
