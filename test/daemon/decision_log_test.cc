// SPDX-License-Identifier: Apache-2.0
#include "daemon/decision_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testing/builders.h"
#include "testing/temp_dir.h"

namespace ks::daemon {
namespace {

scheduler::Decision Made(const std::string& pod) {
  scheduler::Decision decision;
  decision.number = 1;
  decision.pod = testing::MakePod().Name(pod).Obj();
  decision.result = scheduler::DecisionResult::kBound;
  decision.node = "n1";
  return decision;
}

std::vector<std::string> Lines(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string Path(const testing::TempDir& dir) { return dir.Write("log", ""); }

TEST(DecisionLog, ALineADecisionAppended) {
  const testing::TempDir dir;
  const std::string file = Path(dir);
  for (const char* pod : {"a", "b"}) {
    metrics::Registry metrics;
    auto log = DecisionLog::Open({.file = file}, metrics);
    ASSERT_TRUE(log.ok()) << log.error().message;
    (*log)->Add(Made(pod));
  }
  const std::vector<std::string> lines = Lines(file);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0].starts_with(R"({"number":1,"time":")")) << lines[0];
  EXPECT_NE(lines[0].find(R"("pod":"ns/a","uid":"uid-a")"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find(R"("pod":"ns/b")"), std::string::npos) << lines[1];
}

constexpr std::filesystem::perms kOwnersAlone =
    std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;

TEST(DecisionLog, IsRotatedBySize) {
  const testing::TempDir dir;
  const std::string file = dir.path() + "/log";
  metrics::Registry metrics;
  {
    auto log = DecisionLog::Open({.file = file, .rotate_bytes = 600}, metrics);
    ASSERT_TRUE(log.ok());
    EXPECT_EQ(std::filesystem::status(file).permissions(), kOwnersAlone);
    std::filesystem::permissions(file, kOwnersAlone | std::filesystem::perms::group_read);
    for (int i = 0; i < 10; ++i) (*log)->Add(Made("p" + std::to_string(i)));
  }
  EXPECT_EQ(std::filesystem::status(file).permissions(),
            kOwnersAlone | std::filesystem::perms::group_read);
  const std::vector<std::string> newest = Lines(file);
  const std::vector<std::string> former = Lines(file + ".1");
  ASSERT_FALSE(newest.empty());
  ASSERT_FALSE(former.empty());
  EXPECT_NE(newest.back().find("ns/p9"), std::string::npos);
  size_t bytes = 0;
  for (const std::string& line : newest) bytes += line.size() + 1;
  EXPECT_LE(bytes, 600U);
  EXPECT_NE(metrics.Text().find("kubesched_decision_log_dropped_total 0"), std::string::npos);
}

TEST(DecisionLog, WhatDoesNotFitIsCounted) {
  const testing::TempDir dir;
  metrics::Registry metrics;
  {
    auto log = DecisionLog::Open({.file = Path(dir), .most_waiting = 0}, metrics);
    ASSERT_TRUE(log.ok());
    (*log)->Add(Made("a"));
    (*log)->Add(Made("b"));
  }
  EXPECT_NE(metrics.Text().find("kubesched_decision_log_dropped_total 2"), std::string::npos);
}

TEST(DecisionLog, AFileThatCannotBeOpened) {
  metrics::Registry metrics;
  const auto log = DecisionLog::Open({.file = "/nonexistent/log"}, metrics);
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().message,
            "open the decision log /nonexistent/log: no such file or directory");
}

}  // namespace
}  // namespace ks::daemon
