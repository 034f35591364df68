// SPDX-License-Identifier: Apache-2.0
// The tables of docs/spec/queue.md section 5.
#include "queue/backoff.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "testing/builders.h"

namespace ks::queue {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(BackoffDurationTest, Table) {
  const struct {
    const char* name;
    size_t pods;
    std::vector<Duration> want;  // for 1, 2, 3 … failures
  } cases[] = {
      {"one pod", 1, {seconds(1), seconds(2), seconds(4), seconds(8), seconds(10), seconds(10)}},
      {"group of 3",
       3,
       {seconds(1), seconds(2), seconds(4), seconds(8), seconds(16), nanoseconds(17320508075)}},
      {"group of 4", 4, {seconds(1), seconds(2), seconds(4), seconds(8), seconds(16), seconds(20)}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    for (size_t i = 0; i < c.want.size(); ++i) {
      EXPECT_EQ(BackoffDuration({}, static_cast<int64_t>(i) + 1, c.pods), c.want[i]) << i + 1;
    }
  }
}

TEST(BackoffDurationTest, ManyFailuresDoNotOverflow) {
  const BackoffOptions options;
  EXPECT_EQ(BackoffDuration(options, 0, 1), Duration(0));
  for (const int64_t count : {30, 34, 35, 63, 64, 65, 66, 1000}) {
    EXPECT_EQ(BackoffDuration(options, count, 1), options.max) << count;
  }
  EXPECT_EQ(BackoffDuration(options, std::numeric_limits<int64_t>::max(), 1), options.max);
  const BackoffOptions longest{.initial = Duration(1),
                               .max = Duration(std::numeric_limits<int64_t>::max())};
  EXPECT_EQ(BackoffDuration(longest, 63, 1), Duration(int64_t{1} << 62));
  EXPECT_EQ(BackoffDuration(longest, 64, 1), longest.max);
}

TEST(BackoffTest, Windows) {
  const TimePoint minute(seconds(1767323100));
  const struct {
    const char* name;
    BackoffOptions options;
    Duration failed;
    Duration last_waiting;
    Duration first_free;
  } cases[] = {
      {"10.000", {}, seconds(10), nanoseconds(11999999999), seconds(12)},
      {"10.300", {}, milliseconds(10300), nanoseconds(11999999999), seconds(12)},
      {"10.999", {}, milliseconds(10999), nanoseconds(11999999999), seconds(12)},
      {"11.000", {}, seconds(11), nanoseconds(12999999999), seconds(13)},
      {"without windows the exact time counts",
       {.one_second_windows = false},
       milliseconds(10300),
       milliseconds(11300),
       nanoseconds(11300000001)},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    framework::QueuedPod pod(ks::testing::MakePod().Name("p").Obj());
    pod.timestamp = minute + c.failed;
    pod.unschedulable_count = 1;
    EXPECT_TRUE(IsBackingOff(c.options, pod, minute + c.last_waiting));
    EXPECT_FALSE(IsBackingOff(c.options, pod, minute + c.first_free));
  }
}

TEST(BackoffTest, ErrorsCountBeforeRejections) {
  framework::QueuedPod pod(ks::testing::MakePod().Name("p").Obj());
  pod.timestamp = TimePoint(seconds(100));
  pod.unschedulable_count = 4;
  pod.consecutive_errors_count = 2;
  EXPECT_EQ(BackoffExpiration({}, pod), TimePoint(seconds(102)));
  pod.consecutive_errors_count = 0;
  EXPECT_EQ(BackoffExpiration({}, pod), TimePoint(seconds(102))) << "remembered";
  pod.backoff_expiration.reset();
  EXPECT_EQ(BackoffExpiration({}, pod), TimePoint(seconds(108)));
}

TEST(BackoffTest, Off) {
  framework::QueuedPod pod(ks::testing::MakePod().Name("p").Obj());
  pod.timestamp = TimePoint(seconds(100));
  EXPECT_FALSE(IsBackingOff({}, pod, pod.timestamp)) << "no failure yet";
  pod.unschedulable_count = 3;
  EXPECT_FALSE(IsBackingOff({.max = Duration(0)}, pod, pod.timestamp));
  EXPECT_TRUE(IsBackingOff({}, pod, pod.timestamp));
}

}  // namespace
}  // namespace ks::queue
