// SPDX-License-Identifier: Apache-2.0
// docs/spec/plugins-volume.md section 2.14.
#include "framework/metrics/volume_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ks::framework {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(VolumeMetrics, ASeriesShowsFromItsFirstErrorOn) {
  metrics::Registry registry;
  VolumeMetrics volumes(registry);
  EXPECT_EQ(registry.Text(), "");
  volumes.CountBindError();
  volumes.CountBindError();
  EXPECT_THAT(registry.Text(),
              HasSubstr("scheduler_volume_scheduling_stage_error_total{operation=\"bind\"} 2\n"));
  EXPECT_THAT(registry.Text(), Not(HasSubstr("predicate")));
  volumes.CountPredicateError();
  volumes.CountAssumeError();
  EXPECT_THAT(
      registry.Text(),
      HasSubstr("# TYPE scheduler_volume_scheduling_stage_error_total counter\n"
                "scheduler_volume_scheduling_stage_error_total{operation=\"assume\"} 1\n"
                "scheduler_volume_scheduling_stage_error_total{operation=\"bind\"} 2\n"
                "scheduler_volume_scheduling_stage_error_total{operation=\"predicate\"} 1\n"));
}

TEST(VolumeMetrics, BothAreRegisteredAsAlphaAndTheCacheIsNeverCounted) {
  metrics::Registry registry;
  VolumeMetrics volumes(registry);
  volumes.CountBindError();
  const auto registered = registry.registered();
  ASSERT_EQ(registered.size(), 2U);
  for (const char* name : {"scheduler_volume_scheduling_stage_error_total",
                           "scheduler_volume_binder_cache_requests_total"}) {
    ASSERT_TRUE(registered.contains(name)) << name;
    EXPECT_EQ(registered.find(name)->second.stability, metrics::Stability::kAlpha) << name;
  }
  EXPECT_THAT(registry.Text(), Not(HasSubstr("scheduler_volume_binder_cache_requests_total")));
}

}  // namespace
}  // namespace ks::framework
