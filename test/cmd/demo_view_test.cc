// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/demo_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubeschedctl/demo/demo_summary.h"

namespace ks::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ViewState Sample() {
  ViewState state{.title = "kubesched demo: 500 nodes",
                  .server = "https://server",
                  .hint = "kubectl --kubeconfig F get pods",
                  .scheduler = "kubesched",
                  .seconds = 75.9};
  state.planned = 5000;
  state.placeable = 4990;
  state.created = 2505;
  state.bound = 2495;
  state.running = 2400;
  state.pending = {{"Insufficient cpu", 7}, {"not looked at yet", 3}};
  state.rate_now = 83.4;
  state.rate_average = 82.6;
  state.rate_history = {0, 40, 80};
  state.latency = {.count = 2495, .p50 = 1.94, .p90 = 3.1, .p99 = 120, .most = 2500};
  state.nodes = 500;
  state.cpu_fill = 0.5;
  state.memory_fill = 0.25;
  state.zones = {{"zone-0", 0.5}};
  state.nodes_by_cpu = {0, 0, 0, 100, 400};
  state.scheduler_process = {.known = true, .cpu_percent = 12, .resident_mb = 60};
  state.events = {{.time = "12:00:01",
                   .warning = true,
                   .reason = "FailedScheduling",
                   .object = "impossible-00001",
                   .note = "0/500 nodes are available"},
                  {.time = "12:00:00", .reason = "Scheduled", .object = "web-1", .note = "done"}};
  return state;
}

size_t Columns(const std::string& line) {
  size_t columns = 0;
  bool escape = false;
  for (const char c : line) {
    if (c == '\x1b') escape = true;
    if (!escape && (static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++columns;
    if (escape && c == 'm') escape = false;
  }
  return columns;
}

TEST(RenderFrameTest, PlainText) {
  EXPECT_THAT(
      RenderFrame(Sample(), {.columns = 78, .rows = 30}),
      ElementsAre(" kubesched demo: 500 nodes   1:15",
                  " server     https://server   scheduler kubesched",
                  " look       kubectl --kubeconfig F get pods", "",
                  " [#################-----------------]  50 % 2495 of 4990 placeable pods bound",
                  "", " pods       2505 of 5000 created, 2495 bound, 2400 running, 10 pending",
                  " pods/s     83 now, 83 on average    -#",
                  " latency    creation to bound: p50 1.9 ms, p90 3.1 ms, p99 120 ms, most 2.5 s",
                  " processes  scheduler CPU  12 %, 60 MB", "",
                  " CPU        [###############---------------]  50 %   zone-0 50 %",
                  " memory     [#######-----------------------]  25 %",
                  " nodes      500; by CPU taken 0 % |   .#     | 100 %", "",
                  " pending        7  Insufficient cpu", "                3  not looked at yet", "",
                  " events     12:00:01  FailedScheduling  impossible-00001  0/500 nodes are avai",
                  "            12:00:00  Scheduled         web-1             done"));
}

class ScreenSizeTest : public ::testing::TestWithParam<std::pair<size_t, size_t>> {};

TEST_P(ScreenSizeTest, NothingIsWiderOrLonger) {
  const auto [columns, rows] = GetParam();
  for (const bool unicode : {false, true}) {
    for (const bool color : {false, true}) {
      const std::vector<std::string> lines = RenderFrame(
          Sample(), {.columns = columns, .rows = rows, .unicode = unicode, .color = color});
      EXPECT_LE(lines.size(), rows);
      for (const std::string& line : lines) EXPECT_LE(Columns(line), columns) << line;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ScreenSizeTest,
                         ::testing::Values(std::pair(1, 1), std::pair(10, 3), std::pair(20, 50),
                                           std::pair(40, 10), std::pair(80, 24),
                                           std::pair(300, 100)),
                         [](const auto& row) {
                           return std::to_string(row.param.first) + "x" +
                                  std::to_string(row.param.second);
                         });

TEST(RenderFrameTest, ColorsEndOnTheirLine) {
  for (const std::string& line :
       RenderFrame(Sample(), {.columns = 60, .rows = 30, .color = true})) {
    const size_t last = line.rfind("\x1b[");
    if (last == std::string::npos) continue;
    EXPECT_EQ(line.substr(last, 4), "\x1b[0m") << line;
  }
}

TEST(RenderFrameTest, NothingYet) {
  const std::vector<std::string> lines = RenderFrame({}, {.columns = 80, .rows = 24});
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("none yet")));
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("pending    none")));
}

TEST(RenderFrameTest, ForeignTextCannotControlTheTerminal) {
  ViewState state = Sample();
  state.events[0].note = "a\x1b[2Jb\nc\xC3\xA4";
  state.pending[0].reason = "x\ry";
  for (const std::string& line : RenderFrame(state, {.columns = 120, .rows = 40})) {
    for (const char c : line) EXPECT_GE(static_cast<unsigned char>(c), 0x20U) << line;
  }
}

TEST(RenderFrameTest, TheBarIsFullOnlyAtTheEnd) {
  ViewState state = Sample();
  state.bound = 4989;
  const Screen screen{.columns = 78, .rows = 30};
  EXPECT_THAT(RenderFrame(state, screen)[4], HasSubstr("#-]  99 %"));
  state.bound = 4990;
  EXPECT_THAT(RenderFrame(state, screen)[4], HasSubstr("##] 100 %"));
}

TEST(PlainLineTest, Everything) {
  EXPECT_EQ(
      PlainLine(Sample()),
      " 1:15   2505/5000 created   2495 bound    83 pods/s  p50 1.9 ms  p99 120 ms  cpu 50 %  "
      "pending 10: 7 Insufficient cpu; 3 not looked at yet");
}

TEST(MillisecondsTextTest, Units) {
  EXPECT_EQ(MillisecondsText(0.8124), "812 us");
  EXPECT_EQ(MillisecondsText(3.44), "3.4 ms");
  EXPECT_EQ(MillisecondsText(340.4), "340 ms");
  EXPECT_EQ(MillisecondsText(2000), "2.0 s");
}

DemoSummary Success() {
  DemoSummary summary{.title = "demo", .scheduler = "kubesched", .pods = 100, .placeable = 98};
  summary.bound = 98;
  summary.bind_seconds = 10;
  summary.rate_average = 9.7;
  summary.left_pending = {{"Insufficient cpu", 2}};
  summary.scheduler_process = {.known = true, .cpu_seconds = 0.98, .resident_mb = 30};
  return summary;
}

TEST(SummaryTextTest, Success) {
  const std::string text = SummaryText(Success());
  EXPECT_THAT(text, HasSubstr("bound         98 of 98 placeable pods in 10.0 s"));
  EXPECT_THAT(text, HasSubstr("left pending  2 of 2 pods that fit nowhere"));
  EXPECT_THAT(text, HasSubstr("   2  Insufficient cpu\n"));
  EXPECT_THAT(text, HasSubstr("scheduler     0.98 s CPU (10.00 ms a pod), 30 MB resident"));
  EXPECT_THAT(text, Not(HasSubstr("server ")));
  EXPECT_THAT(text, HasSubstr("all that can be placed is placed"));
}

TEST(SummaryTextTest, WhatBecameOfPodGroups) {
  const auto pod = [](const std::string& group, const std::string& node) {
    auto made = std::make_shared<api::Pod>();
    made->meta.ns = Symbol("default");
    auto spec = std::make_shared<api::PodSpec>();
    spec->scheduling_group = group;
    made->spec = std::move(spec);
    made->node_name = Symbol(node);
    return api::PodPtr(std::move(made));
  };
  auto groups = ReadGroupOutcomes(R"({"items":[
    {"metadata":{"name":"a","namespace":"default"},"status":{"conditions":[
      {"type":"PodGroupInitiallyScheduled","status":"True","reason":"Scheduled","message":""}]}},
    {"metadata":{"name":"b","namespace":"default"},"status":{"conditions":[
      {"type":"PodGroupInitiallyScheduled","status":"False","reason":"Unschedulable",
       "message":"no room"}]}},
    {"metadata":{"name":"c","namespace":"default"}}]})",
                                  {pod("a", "n1"), pod("a", "n2"), pod("b", ""), pod("x", "n1")});
  ASSERT_TRUE(groups.ok());
  DemoSummary summary = Success();
  summary.groups = std::move(groups).value();
  EXPECT_THAT(SummaryText(summary),
              HasSubstr("  pod groups    a: Scheduled, 2 of 2 members bound\n"
                        "                b: Unschedulable, 0 of 1 members bound: no room\n"
                        "                c: no condition, 0 of 0 members bound\n"));
  EXPECT_FALSE(ReadGroupOutcomes("[]", {}).ok());
}

TEST(SummaryTextTest, Failure) {
  DemoSummary summary = Success();
  summary.failures = {"node n: 3 cpu requested, 2 allocatable", "more"};
  const std::string text = SummaryText(summary);
  EXPECT_THAT(text, HasSubstr("FAILED: node n: 3 cpu requested, 2 allocatable\nFAILED: more\n"));
  EXPECT_THAT(text, Not(HasSubstr("all that can be placed")));
  EXPECT_THAT(text, Not(HasSubstr("checked")));
}

}  // namespace
}  // namespace ks::ctl
