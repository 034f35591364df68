// SPDX-License-Identifier: Apache-2.0
// docs/spec/metrics.md 1.2 (text) and 2 (bucket bounds).
#include "metrics/registry.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "metrics/reload_metrics.h"
#include "metrics/text_format.h"

namespace ks::metrics {
namespace {

TEST(FormatNumberTest, AsUpstreamWritesThem) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::pair<double, const char*> cases[] = {
      {0, "0"},
      {1, "1"},
      {-5, "-5"},
      {0.5, "0.5"},
      {65389, "65389"},
      {999999, "999999"},
      {1e6, "1e+06"},
      {1048576, "1.048576e+06"},
      {1e-5, "1e-05"},
      {0.0001, "0.0001"},
      {0.00009, "9e-05"},
      {0.128, "0.128"},
      {24.54, "24.54"},
      {1e100, "1e+100"},
      {-1234567, "-1.234567e+06"},
      {infinity, "+Inf"},
      {-infinity, "-Inf"},
      {std::numeric_limits<double>::quiet_NaN(), "NaN"},
  };
  for (const auto& [value, want] : cases) EXPECT_EQ(FormatNumber(value), want);
}

std::string Bounds(const std::vector<double>& bounds) {
  std::string text;
  for (const double bound : bounds) text += (text.empty() ? "" : " ") + FormatNumber(bound);
  return text;
}

TEST(ExponentialBucketsTest, BoundsOfTheSpecificationByteForByte) {
  EXPECT_EQ(Bounds(ExponentialBuckets(0.001, 2, 15)),
            "0.001 0.002 0.004 0.008 0.016 0.032 0.064 0.128 0.256 0.512 1.024 2.048 4.096 8.192 "
            "16.384");
  EXPECT_EQ(Bounds(ExponentialBuckets(0.0001, 2, 12)),
            "0.0001 0.0002 0.0004 0.0008 0.0016 0.0032 0.0064 0.0128 0.0256 0.0512 0.1024 0.2048");
  EXPECT_EQ(Bounds(ExponentialBuckets(0.00001, 1.5, 20)),
            "1e-05 1.5000000000000002e-05 2.2500000000000005e-05 3.375000000000001e-05 "
            "5.062500000000001e-05 7.593750000000002e-05 0.00011390625000000003 "
            "0.00017085937500000006 0.0002562890625000001 0.00038443359375000017 "
            "0.0005766503906250003 0.0008649755859375004 0.0012974633789062506 "
            "0.0019461950683593758 0.0029192926025390638 0.004378938903808595 "
            "0.006568408355712893 0.009852612533569338 0.014778918800354007 0.02216837820053101");
}

TEST(RegistryTest, Text) {
  Registry registry;
  auto& histogram = registry.AddHistogram({.name = "z_seconds",
                                           .stability = Stability::kStable,
                                           .help = "Time.\nSecond \\ line \"q\""});
  auto& counter =
      registry.AddCounter({.name = "b_total", .stability = Stability::kBeta, .help = "Counts."});
  registry.AddGauge({.name = "a", .stability = Stability::kInternal, .help = "One."})
      .Add({})
      .Set(2.5);
  registry.AddCounter({.name = "without_series_total", .help = "Never shown."});
  // Labels by name, series by label values, whatever the order of creation.
  counter.Add({{"plugin", "B"}, {"event", "storage.k8s.io/CSINodeAdd"}}).Increment(3);
  counter.Add({{"event", "storage.k8s.io/CSINodeAdd"}, {"plugin", "A\"\\\n"}});
  counter.Add({{"plugin", "Z"}, {"event", "AssignedPodDelete"}}).Increment(1048576);
  auto& series = histogram.Add({{"profile", "p"}}, std::vector<double>{0.1, 1.5e-5 * 1e5});
  series.Observe(0.05);
  series.Observe(1);
  series.Observe(7);
  EXPECT_EQ(registry.Text(),
            "# HELP a [INTERNAL] One.\n"
            "# TYPE a gauge\n"
            "a 2.5\n"
            "# HELP b_total [BETA] Counts.\n"
            "# TYPE b_total counter\n"
            "b_total{event=\"AssignedPodDelete\",plugin=\"Z\"} 1.048576e+06\n"
            "b_total{event=\"storage.k8s.io/CSINodeAdd\",plugin=\"A\\\"\\\\\\n\"} 0\n"
            "b_total{event=\"storage.k8s.io/CSINodeAdd\",plugin=\"B\"} 3\n"
            "# HELP z_seconds [STABLE] Time.\\nSecond \\\\ line \"q\"\n"
            "# TYPE z_seconds histogram\n"
            "z_seconds_bucket{profile=\"p\",le=\"0.1\"} 1\n"
            "z_seconds_bucket{profile=\"p\",le=\"1.5\"} 2\n"
            "z_seconds_bucket{profile=\"p\",le=\"+Inf\"} 3\n"
            "z_seconds_sum{profile=\"p\"} 8.05\n"
            "z_seconds_count{profile=\"p\"} 3\n");
}

TEST(RegistryTest, UpdatesRunBeforeTheTextUntilTheirTokenIsGone) {
  Registry registry;
  auto& gauge = registry.AddGauge({.name = "g", .help = "G."}).Add({});
  auto token = registry.BeforeText([&] { gauge.Increment(); });
  registry.Text();
  EXPECT_NE(registry.Text().find("\ng 2\n"), std::string::npos);
  token.reset();
  EXPECT_NE(registry.Text().find("\ng 2\n"), std::string::npos);
}

TEST(RegistryDeathTest, EveryNameOnce) {
  Registry registry;
  registry.AddCounter({.name = "a_total", .help = "A."});
  EXPECT_DEATH(registry.AddCounter({.name = "a_total", .help = "B."}), "a metric of this name");
}

TEST(ReloadMetricsTest, CountsAndTheLastOutcome) {
  Registry registry;
  ReloadMetrics reloads(registry);
  const auto text = [&](int success, int rejected, int last) {
    return "# HELP kubesched_config_last_reload_successful [ALPHA] 1 while the configuration in "
           "force is the one in the file, 0 after a change that was rejected.\n"
           "# TYPE kubesched_config_last_reload_successful gauge\n"
           "kubesched_config_last_reload_successful " +
           std::to_string(last) +
           "\n# HELP kubesched_config_reloads_total [ALPHA] Changes of the configuration file that "
           "were read, by what became of them.\n"
           "# TYPE kubesched_config_reloads_total counter\n"
           "kubesched_config_reloads_total{result=\"rejected\"} " +
           std::to_string(rejected) + "\nkubesched_config_reloads_total{result=\"success\"} " +
           std::to_string(success) + "\n";
  };
  EXPECT_EQ(registry.Text(), text(0, 0, 1));
  reloads.Rejected();
  EXPECT_EQ(registry.Text(), text(0, 1, 0));
  reloads.Succeeded();
  EXPECT_EQ(registry.Text(), text(1, 1, 1));
}

}  // namespace
}  // namespace ks::metrics
