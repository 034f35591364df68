// SPDX-License-Identifier: Apache-2.0
#include "ksdev/text/arrive_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ksdev/compare/turns.h"

namespace ks::ctl::dev {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ArriveReport Arrived() {
  const auto run = [](const char* scheduler, int number, double p99) {
    return ArriveMeasurement{.scheduler = scheduler, .run = number, .p99_ms = p99};
  };
  return {.server = "kube-apiserver",
          .mix = "plain",
          .nodes = 500,
          .schedulers = {"kube-scheduler", "kubesched", "kubesched, JSON"},
          .rates = {{.rate = 100,
                     .pods = 1000,
                     .runs = {run("kubesched", 1, 1), run("kubesched", 2, 4),
                              run("kubesched", 3, 2), run("kube-scheduler", 1, 30),
                              run("kube-scheduler", 2, 10), run("kubesched, JSON", 1, 3)}}}};
}

TEST(ArriveReport, TextHasMediansOfAll) {
  const std::string text = ArriveText(Arrived());
  EXPECT_THAT(text, HasSubstr("\n1000 plain pods, 100 a second, on 500 nodes, server "
                              "kube-apiserver; medians\n"));
  EXPECT_THAT(text, HasSubstr("                              kube-scheduler       kubesched "
                              "kubesched, JSON    ratio\n"));
  EXPECT_THAT(text, HasSubstr("ms until bound, p99                   20.000           2.000        "
                              "   3.000    0.100\n"));
}

TEST(ArriveReport, JsonHasRunsAndMedians) {
  const auto json = nlohmann::json::parse(ArriveJson(Arrived()), nullptr, false);
  ASSERT_TRUE(json.is_object());
  const auto& rate = json["rates"][0];
  EXPECT_EQ(rate["podsPerSecond"], 100);
  ASSERT_EQ(rate["runs"].size(), 6);
  EXPECT_EQ(rate["runs"][1]["p99Milliseconds"], 4);
  EXPECT_EQ(rate["medians"]["kubesched, JSON"]["p99Milliseconds"], 3);
  EXPECT_EQ(rate["ratios"]["p99Milliseconds"], 0.1);
}

TEST(ByTurns, TheFirstOfEachRunChanges) {
  std::vector<std::string> order;
  const Result<void> done =
      ByTurns({{.name = "a", .binary = {}}, {.name = "b", .binary = {}}}, 2,
              [&order](int run, const Contestant& contestant) -> Result<void> {
                order.push_back(contestant.name + std::to_string(run));
                return {};
              });
  EXPECT_TRUE(done.ok());
  EXPECT_THAT(order, ElementsAre("b1", "a1", "a2", "b2"));
}

TEST(ByTurns, EndsWithTheFirstFailure) {
  int calls = 0;
  const Result<void> done = ByTurns(
      {{.name = "a", .binary = {}}}, 3, [&calls](int /*run*/, const Contestant&) -> Result<void> {
        return ++calls == 2 ? Result<void>(Error{"no"}) : Result<void>();
      });
  EXPECT_FALSE(done.ok());
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace ks::ctl::dev
