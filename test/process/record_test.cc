// SPDX-License-Identifier: Apache-2.0
// kubesched --record and kubeschedctl replay as their user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "process/embedded_cluster.h"
#include "testing/run_program.h"

namespace ks::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Recorded : public ::testing::Test {
 protected:
  void SetUp() override {
    recordings_ = cluster_.folder() + "/recordings";
    std::filesystem::create_directory(recordings_);
  }
  std::unique_ptr<DaemonProcess> Start(const std::string& name) {
    return cluster_.Start(name, cluster_.Configure(name, kFirstUser, ""),
                          {"--record=" + recordings_});
  }
  std::vector<std::string> Recordings() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(recordings_)) {
      files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  testing::ProgramResult Replay(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {KS_KUBESCHEDCTL_PATH, "replay"});
    auto result =
        testing::RunProgram(arguments, cluster_.folder(), "replay-" + std::to_string(++replays_),
                            std::chrono::minutes(2));
    EXPECT_TRUE(result.ok());
    return result.ok() ? *result : testing::ProgramResult();
  }

  EmbeddedCluster cluster_;
  std::string recordings_;
  int replays_ = 0;
};

TEST_F(Recorded, ADaemonsDecisionsReplayWithoutADifference) {
  auto daemon = Start("one");
  cluster_.CreatePods("small-", 100, "100m");
  ASSERT_TRUE(cluster_.AllBound(100)) << daemon->Log();
  cluster_.CreatePods("filling-", 60, "1");  // of which some fit nowhere
  ASSERT_TRUE(Eventually([&] { return cluster_.Bound().size() >= 150; })) << daemon->Log();
  for (int i = 0; i < 50; ++i) cluster_.Delete("pods", "default", "small-" + std::to_string(i));
  cluster_.CreateNode("late", 64);
  cluster_.CreatePods("last-", 3, "1");
  ASSERT_TRUE(Eventually([&] { return cluster_.Bound().contains("last-2"); })) << daemon->Log();

  // While it runs, and of one that has ended.
  ASSERT_EQ(Recordings().size(), 1U);
  const std::string file = Recordings()[0];
  const auto running = Replay({file});
  EXPECT_EQ(running.exit_status, 2) << running.output;
  EXPECT_THAT(running.output, HasSubstr("--partial"));
  const auto partial = Replay({file, "--partial"});
  EXPECT_EQ(partial.exit_status, 0) << partial.output;
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
  const auto same = Replay({file});
  EXPECT_EQ(same.exit_status, 0) << same.output;
  EXPECT_THAT(same.output, HasSubstr("recorded and replayed are the same"));
  EXPECT_EQ(Replay({file}).printed, same.printed);  // its log has times of its own
  const json report = json::parse(Replay({file, "-o", "json"}).printed);
  EXPECT_GT(report["decisions"], 170) << report;
  EXPECT_EQ(report["recording"]["ended"], "stopped");
  const auto mode = std::filesystem::status(file).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);

  const std::string most = cluster_.Configure("most", kFirstUser, ScoredBy("MostAllocated"));
  const auto other = Replay({file, "--config", most});
  EXPECT_EQ(other.exit_status, 1) << other.output;
  EXPECT_THAT(other.printed, StartsWith("first difference: decision "));
  EXPECT_THAT(other.output, HasSubstr("NodeResourcesFit"));
  const auto against = Replay({file, "--config", most, "--against", most, "-o", "json"});
  EXPECT_EQ(against.exit_status, 0) << against.output;
}

TEST_F(Recorded, EachTermHasItsOwnRecording) {
  auto daemon = Start("one");
  cluster_.CreatePods("first-", 20);
  ASSERT_TRUE(cluster_.AllBound(20)) << daemon->Log();
  cluster_.Rules(json::array({EmbeddedCluster::LeaseWrites(kFirstUser, {{"status", 500}})}));
  ASSERT_TRUE(Eventually([&] { return daemon->Says("Leaderelection lost"); })) << daemon->Log();
  cluster_.Rules(json::array());
  cluster_.CreatePods("second-", 20);
  ASSERT_TRUE(cluster_.AllBound(40)) << daemon->Log();
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
  ASSERT_EQ(Recordings().size(), 2U);
  for (const std::string& file : Recordings()) {
    const auto same = Replay({file});
    EXPECT_EQ(same.exit_status, 0) << same.output;
    EXPECT_THAT(same.output, HasSubstr("20 decisions of " + file)) << file;
  }
}

TEST_F(Recorded, AFolderThatIsNotThereEndsTheStart) {
  std::filesystem::remove(recordings_);
  auto daemon = Start("one");
  EXPECT_EQ(daemon->ExitStatus(), 1) << daemon->Log();
  EXPECT_THAT(daemon->Log(), HasSubstr("no such file or directory; it must be in a folder that "
                                       "exists and that kubesched may write to"));
}

TEST_F(Recorded, WrongUseOfReplayIsStatus2) {
  const std::string file = recordings_ + "/none.jsonl";
  EXPECT_EQ(Replay({}).exit_status, 2);
  EXPECT_EQ(Replay({file}).exit_status, 2);
  EXPECT_EQ(Replay({KS_KUBESCHEDCTL_PATH}).exit_status, 2);
  EXPECT_EQ(Replay({"--nonsense"}).exit_status, 2);
}

}  // namespace
}  // namespace ks::daemon
