// SPDX-License-Identifier: Apache-2.0
// How a scheduler is called: by a program that prints its arguments and its configuration.
#include "kubeschedctl/cluster/scheduler_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "testing/temp_dir.h"

namespace ks::ctl {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class StartSchedulerTest : public ::testing::Test {
 protected:
  StartSchedulerTest() {
    command_.binary = Write("sched", "#!/bin/sh\necho \"$@\"\n");
    std::filesystem::permissions(command_.binary, std::filesystem::perms::owner_all);
    command_.kubeconfig = "/k/config";
    command_.qps = 7;
    command_.folder = folder_.path();
  }
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // What the program was called with, or the error.
  std::string Run() {
    const auto process = StartScheduler(command_);
    if (!process.ok()) return process.error().message;
    EXPECT_EQ((*process)->Wait().how, "exit status 0");
    return Read((*process)->log_path());
  }

  testing::TempDir folder_;
  SchedulerCommand command_;
};

TEST_F(StartSchedulerTest, FlagsAlone) {
  command_.args = {"-v=3", "--x y"};
  EXPECT_EQ(Run(),
            "--kubeconfig=/k/config --leader-elect=false --secure-port=0 --kube-api-qps=7 "
            "--kube-api-burst=7 -v=3 --x y\n");
}

TEST_F(StartSchedulerTest, WithoutALimitOfRequests) {
  command_.qps = 0;
  EXPECT_EQ(Run(), "--kubeconfig=/k/config --leader-elect=false --secure-port=0\n");
}

TEST_F(StartSchedulerTest, AConfigurationIsCopiedAndAdapted) {
  command_.config = Write("c.yaml",
                          "apiVersion: kubescheduler.config.k8s.io/v1\n"
                          "kind: KubeSchedulerConfiguration\n"
                          "parallelism: 4\n"
                          "clientConnection: {kubeconfig: /other, qps: 99}\n"
                          "leaderElection: {leaderElect: true, leaseDuration: 20s}\n");
  EXPECT_EQ(Run(), "--config=" + folder_.path() + "/sched.config.json --secure-port=0\n");
  EXPECT_EQ(Json::parse(Read(folder_.path() + "/sched.config.json")),
            (Json{{"apiVersion", "kubescheduler.config.k8s.io/v1"},
                  {"kind", "KubeSchedulerConfiguration"},
                  {"parallelism", 4},
                  {"clientConnection", {{"kubeconfig", "/k/config"}, {"qps", 99}, {"burst", 7}}},
                  {"leaderElection", {{"leaderElect", false}, {"leaseDuration", "20s"}}}}));
}

TEST_F(StartSchedulerTest, FaultsOfTheConfigurationAreNamed) {
  command_.config = "/does/not/exist";
  EXPECT_EQ(Run(), "open /does/not/exist: no such file or directory");
  command_.config = Write("c.yaml", "[1, 2]\n");
  EXPECT_THAT(Run(), EndsWith("c.yaml: is no KubeSchedulerConfiguration"));
  command_.config = Write("c.yaml", "leaderElection: 7\n");
  EXPECT_THAT(Run(), EndsWith("c.yaml: leaderElection: is not an object"));
  command_.config = Write("c.yaml", "a: [\n");
  EXPECT_THAT(Run(), HasSubstr("c.yaml:"));
}

TEST_F(StartSchedulerTest, AProgramThatCannotRun) {
  command_.binary = folder_.path() + "/nothing";
  EXPECT_THAT(Run(), HasSubstr("cannot run " + command_.binary + ": no such file or directory"));
}

}  // namespace
}  // namespace ks::ctl
