// SPDX-License-Identifier: Apache-2.0
// docs/spec/metrics.md 1.2 (DELETE), 1.4 and 9.9: what is shown of a registry.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "metrics/registry.h"

namespace ks::metrics {
namespace {

constexpr Description kOld{.name = "old_total",
                           .stability = Stability::kAlpha,
                           .help = "Old.",
                           .deprecated_since = "1.37.0"};

// The samples of one family, without HELP and TYPE.
std::string Samples(const Registry& registry, const std::string& name) {
  std::string samples;
  const std::string text = registry.Text();
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.starts_with(name)) samples += line + "\n";
    at = end + 1;
  }
  return samples;
}

TEST(SelectionTest, HidingByAge) {
  struct Case {
    const char* name;
    Stability stability;
    const char* deprecated_since;
    bool want_hidden;
  };
  const Case cases[] = {
      {"alpha_now", Stability::kAlpha, "1.37.0", true},
      {"beta_now", Stability::kBeta, "1.37.0", false},
      {"beta_one_minor_ago", Stability::kBeta, "1.36.0", true},
      {"stable_two_minors_ago", Stability::kStable, "1.35.0", false},
      {"stable_three_minors_ago", Stability::kStable, "1.34.2", true},
      {"not_deprecated", Stability::kAlpha, "", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Registry registry;
    registry
        .AddCounter({.name = "x_total",
                     .stability = c.stability,
                     .help = "X.",
                     .deprecated_since = c.deprecated_since})
        .Add({});
    EXPECT_EQ(registry.Text().empty(), c.want_hidden);
    registry.Select({.show_hidden = true});
    EXPECT_NE(registry.Text().find("\nx_total 0\n"), std::string::npos);
  }
}

TEST(SelectionTest, MarkOfDeprecation) {
  Registry registry;
  registry
      .AddCounter({.name = "x_total",
                   .stability = Stability::kStable,
                   .help = "X.",
                   .deprecated_since = "1.37.0"})
      .Add({});
  EXPECT_TRUE(
      registry.Text().starts_with("# HELP x_total [STABLE] (Deprecated since 1.37.0) X.\n"));
}

TEST(SelectionTest, CountsOfMetrics) {
  struct Case {
    const char* name;
    Selection selection;
    std::string want_disabled;
    std::string want_hidden;
    std::string want_registered;
  };
  const Case cases[] = {
      {.name = "nothing asked",
       .selection = {},
       .want_disabled = "disabled_metrics_total 0\n",
       .want_hidden = "hidden_metrics_total 1\n",
       .want_registered =
           "registered_metrics_total{deprecated_version=\"\",stability_level=\"ALPHA\"} 2\n"
           "registered_metrics_total{deprecated_version=\"\",stability_level=\"BETA\"} 3\n"},
      {.name = "disabled, one of them unknown",
       .selection = {.disabled = {"a_total", "nosuch"}},
       .want_disabled = "disabled_metrics_total 2\n",
       .want_hidden = "hidden_metrics_total 1\n",
       .want_registered =
           "registered_metrics_total{deprecated_version=\"\",stability_level=\"ALPHA\"} 1\n"
           "registered_metrics_total{deprecated_version=\"\",stability_level=\"BETA\"} 3\n"},
      {.name = "hidden ones shown",
       .selection = {.show_hidden = true},
       .want_disabled = "disabled_metrics_total 0\n",
       .want_hidden = "hidden_metrics_total 0\n",
       .want_registered =
           "registered_metrics_total{deprecated_version=\"\",stability_level=\"ALPHA\"} 2\n"
           "registered_metrics_total{deprecated_version=\"\",stability_level=\"BETA\"} 3\n"
           "registered_metrics_total{deprecated_version=\"1.37.0\",stability_level=\"ALPHA\"} 1\n"},
      {.name = "disabling wins",
       .selection = {.disabled = {"old_total"}, .show_hidden = true},
       .want_disabled = "disabled_metrics_total 1\n",
       .want_hidden = "hidden_metrics_total 0\n",
       .want_registered =
           "registered_metrics_total{deprecated_version=\"\",stability_level=\"ALPHA\"} 2\n"
           "registered_metrics_total{deprecated_version=\"\",stability_level=\"BETA\"} 3\n"},
      {.name = "the counts themselves disabled",
       .selection = {.disabled = {"disabled_metrics_total", "registered_metrics_total"}},
       .want_disabled = "",
       .want_hidden = "hidden_metrics_total 1\n",
       .want_registered = ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Registry registry;
    registry.AddCounter({.name = "a_total", .help = "A."}).Add({});
    registry.Select(c.selection);
    registry.AddCounter(kOld).Add({});  // after the selection, as families of later parts
    EXPECT_EQ(Samples(registry, "disabled_metrics_total"), c.want_disabled);
    EXPECT_EQ(Samples(registry, "hidden_metrics_total"), c.want_hidden);
    EXPECT_EQ(Samples(registry, "registered_metrics_total"), c.want_registered);
    EXPECT_EQ(Samples(registry, "a_total").empty(), c.selection.disabled.contains("a_total"));
    EXPECT_EQ(Samples(registry, "old_total").empty(),
              !c.selection.show_hidden || c.selection.disabled.contains("old_total"));
  }
}

TEST(SelectionTest, ValuesThatAreNotAllowedAreSummed) {
  Registry registry;
  auto& counter = registry.AddCounter({.name = "c_total", .help = "C."});
  auto& gauge = registry.AddGauge({.name = "g", .help = "G."});
  auto& histogram = registry.AddHistogram({.name = "h", .help = "H."});
  registry.Select({.allowed = {{"c_total", {{"result", {"scheduled"}}}},
                               {"g", {{"queue", {"active"}}}},
                               {"h", {{"a", {}}, {"b", {"1"}}}}}});
  counter.Add({{"result", "scheduled"}, {"profile", "p"}}).Increment(5);
  counter.Add({{"result", "error"}, {"profile", "p"}}).Increment(2);
  counter.Add({{"result", "unschedulable"}, {"profile", "p"}}).Increment(3);
  gauge.Add({{"queue", "active"}}).Set(1);
  gauge.Add({{"queue", "backoff"}}).Set(2);
  gauge.Add({{"queue", "gated"}}).Set(4);
  const std::vector<double> buckets{1};
  histogram.Add({{"a", "x"}, {"b", "1"}}, buckets).Observe(0.5);
  histogram.Add({{"a", "y"}, {"b", "1"}}, buckets).Observe(7);
  histogram.Add({{"a", "z"}, {"b", "2"}}, buckets).Observe(1);
  EXPECT_EQ(Samples(registry, "c_total"),
            "c_total{profile=\"p\",result=\"scheduled\"} 5\n"
            "c_total{profile=\"p\",result=\"unexpected\"} 5\n");
  EXPECT_EQ(Samples(registry, "g{"), "g{queue=\"active\"} 1\ng{queue=\"unexpected\"} 6\n");
  EXPECT_EQ(Samples(registry, "h_"),
            "h_bucket{a=\"unexpected\",b=\"1\",le=\"1\"} 1\n"
            "h_bucket{a=\"unexpected\",b=\"1\",le=\"+Inf\"} 2\n"
            "h_sum{a=\"unexpected\",b=\"1\"} 7.5\n"
            "h_count{a=\"unexpected\",b=\"1\"} 2\n"
            "h_bucket{a=\"unexpected\",b=\"unexpected\",le=\"1\"} 1\n"
            "h_bucket{a=\"unexpected\",b=\"unexpected\",le=\"+Inf\"} 1\n"
            "h_sum{a=\"unexpected\",b=\"unexpected\"} 1\n"
            "h_count{a=\"unexpected\",b=\"unexpected\"} 1\n");
  // 5 recordings of the counter, 2 series of the gauge, 2 + 2 labels of the histogram.
  EXPECT_EQ(Samples(registry, "cardinality_enforcement_unexpected_categorizations_total"),
            "cardinality_enforcement_unexpected_categorizations_total 11\n");
}

TEST(ResetTest, CountersAndHistogramsBeginAnewAndGaugesStay) {
  Registry registry;
  auto& counter = registry.AddCounter({.name = "c_total", .help = "C."}).Add({{"a", "1"}});
  auto& gauge = registry.AddGauge({.name = "g", .help = "G."}).Add({});
  auto& histogram =
      registry.AddHistogram({.name = "h", .help = "H."}).Add({}, std::vector<double>{1, 2});
  auto& raw =
      registry.AddCounter({.name = "raw_total", .stability = Stability::kNone, .help = "R."})
          .Add({});
  counter.Increment(7);
  gauge.Set(3);
  histogram.Observe(0.5);
  raw.Increment(4);
  registry.Reset();
  counter.Increment();
  histogram.Observe(1.5);
  EXPECT_EQ(registry.Text(),
            "# HELP c_total [ALPHA] C.\n# TYPE c_total counter\nc_total{a=\"1\"} 1\n"
            "# HELP g [ALPHA] G.\n# TYPE g gauge\ng 3\n"
            "# HELP h [ALPHA] H.\n# TYPE h histogram\n"
            "h_bucket{le=\"1\"} 0\nh_bucket{le=\"2\"} 1\nh_bucket{le=\"+Inf\"} 1\n"
            "h_sum 1.5\nh_count 1\n"
            "# HELP raw_total R.\n# TYPE raw_total counter\nraw_total 4\n");
  registry.Reset();
  EXPECT_EQ(Samples(registry, "c_total"), "c_total{a=\"1\"} 0\n");
  EXPECT_EQ(counter.Value(), 8) << "users of the family are not told";
}

}  // namespace
}  // namespace ks::metrics
