// SPDX-License-Identifier: Apache-2.0
// The parts of the soak that need no server: fault rules, memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/http/faults.h"
#include "ksdev/soak/soak_rules.h"
#include "ksdev/text/memory_trend.h"

namespace ks::ctl::dev {
namespace {

using ::testing::HasSubstr;

TEST(SoakFaultRulesTest, TheServerTakesThem) {
  apiserver::FaultRules rules(1);
  const Result<void> loaded = rules.Load(SoakFaultRules());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_THAT(FaultCounts(rules.Describe()), HasSubstr("0 fired, by 0 of "));
}

TEST(SoakFaultRulesTest, OnlyTheSchedulerIsHit) {
  apiserver::FaultRules rules(1);
  ASSERT_TRUE(rules.Load(SoakFaultRules()).ok());
  apiserver::RequestInfo request;
  request.verb = "list";
  request.resource = "pods";
  int hit = 0;
  for (int i = 0; i < 200; ++i) {
    EXPECT_FALSE(rules.Decide({.name = "admin"}, request).has_value());
    hit += rules.Decide({.name = "system:kube-scheduler"}, request).has_value() ? 1 : 0;
  }
  EXPECT_GT(hit, 50);
}

TEST(FaultCountsTest, Sums) {
  EXPECT_EQ(FaultCounts(R"({"rules":[{"fired":3},{"fired":0},{"fired":4}]})"),
            "7 fired, by 2 of 3 rules");
  EXPECT_EQ(FaultCounts("no JSON"), "not told");
}

TEST(MemoryTrendTest, ThirdsByMedian) {
  std::vector<double> samples(90, 100);
  samples[3] = 900;  // one outlier changes nothing
  for (size_t i = 60; i < 90; ++i) samples[i] = 115;
  const MemoryTrend trend = TrendOf(samples);
  EXPECT_DOUBLE_EQ(trend.first_mb, 100);
  EXPECT_DOUBLE_EQ(trend.last_mb, 115);
  EXPECT_DOUBLE_EQ(trend.most_mb, 900);
  EXPECT_TRUE(trend.Flat());
}

TEST(MemoryTrendTest, GrowthBeyondATenthAndTenMegabytesIsNotFlat) {
  EXPECT_TRUE((MemoryTrend{.first_mb = 100, .last_mb = 120}).Flat());
  EXPECT_FALSE((MemoryTrend{.first_mb = 100, .last_mb = 121}).Flat());
  EXPECT_TRUE(TrendOf({}).Flat());
  EXPECT_THAT((MemoryTrend{.first_mb = 1, .last_mb = 99}).Text(), HasSubstr("NOT FLAT"));
}

}  // namespace
}  // namespace ks::ctl::dev
