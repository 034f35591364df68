// SPDX-License-Identifier: Apache-2.0
#include "base/optional_time.h"

#include <gtest/gtest.h>

namespace ks {
namespace {

TEST(OptionalTimeTest, ReadsLikeAnOptional) {
  const TimePoint some(std::chrono::hours(3));
  OptionalTime time;
  EXPECT_FALSE(time);
  EXPECT_EQ(time.value_or(some), some);
  EXPECT_EQ(time, OptionalTime(std::nullopt));
  EXPECT_EQ(std::optional<TimePoint>(time), std::nullopt);
  time = some;
  EXPECT_TRUE(time.has_value());
  EXPECT_EQ(*time, some);
  EXPECT_EQ(std::optional<TimePoint>(time), some);
  time.reset();
  EXPECT_FALSE(time.has_value());
  static_assert(sizeof(OptionalTime) == sizeof(TimePoint));
}

// Times too early or too late to be told are the least and the greatest.
TEST(OptionalTimeTest, EveryTimeThatIsReadIsThere) {
  for (const TimePoint time : {TimePoint::min(), TimePoint(), TimePoint::max()}) {
    EXPECT_EQ(OptionalTime(time), std::optional(time));
    EXPECT_TRUE(OptionalTime(time));
    EXPECT_LT(OptionalTime(), OptionalTime(time));
  }
  EXPECT_LT(OptionalTime(TimePoint::min()), OptionalTime(TimePoint()));
}

}  // namespace
}  // namespace ks
