// SPDX-License-Identifier: Apache-2.0
#include "ksdev/text/scenario_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ks::ctl::dev {
namespace {

using ::testing::HasSubstr;

// Medians of three against two runs.
ScenarioReport Report() {
  const auto run = [](const char* scheduler, int number, double first) {
    return ScenarioMeasurement{.scheduler = scheduler, .run = number, .first_seconds = first};
  };
  return {.scenario = "preemption",
          .server = "kube-apiserver",
          .nodes = 500,
          .pods = 400,
          .others = 2000,
          .qps = 5000,
          .runs = {run("kubesched", 1, 1), run("kubesched", 2, 4), run("kubesched", 3, 2),
                   run("kube-scheduler", 1, 30), run("kube-scheduler", 2, 10)}};
}

TEST(ScenarioReport, TextComparesMedians) {
  const std::string text = ScenarioText(Report());
  EXPECT_THAT(text, HasSubstr("preemption on kube-apiserver: 500 nodes, 400 pods, 2000 others, "
                              "5000 requests a second; medians\n"));
  EXPECT_THAT(text,
              HasSubstr("s until the first                     20.000           2.000    0.100\n"));
  EXPECT_THAT(text,
              HasSubstr("pods/s                                 0.000           0.000    0.000\n"));
}

TEST(ScenarioReport, JsonHasRunsAndMedians) {
  const auto json = nlohmann::json::parse(ScenarioJson(Report()), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["scenario"], "preemption");
  EXPECT_EQ(json["others"], 2000);
  ASSERT_EQ(json["runs"].size(), 5);
  EXPECT_EQ(json["runs"][1]["firstSeconds"], 4);
  EXPECT_EQ(json["medians"]["kubesched"]["firstSeconds"], 2);
  EXPECT_EQ(json["medians"]["kube-scheduler"]["firstSeconds"], 20);
}

}  // namespace
}  // namespace ks::ctl::dev
