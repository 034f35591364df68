// SPDX-License-Identifier: Apache-2.0
// The daemon and kubeschedctl check-config say the same of every file: the verdict, the text and
// the lines below it. The files are those that test/e2e/config_parity_test.cc puts before
// kube-scheduler, and a few that need files beside them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/logging.h"
#include "client/http/transport.h"
#include "kubesched/command.h"
#include "kubeschedctl/config/config_check.h"
#include "testing/config_examples.h"
#include "testing/config_mutations.h"
#include "testing/temp_dir.h"

namespace ks {
namespace {

using ::testing::HasSubstr;
using Until = daemon::StartupQuestion::Until;

constexpr const char* kMaster = "http://127.0.0.1";  // no system roots to read
constexpr const char* kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

class ConfigAgreement : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { client::InitializeClientProcess(); }

  struct Start {
    int exit_code = 0;
    std::string error;  // empty: none
    std::string output;
  };

  Start RunDaemon(const std::string& file, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"--config=" + file, "--secure-port=0",
                                          "--logging-format=json"};
    std::move(more.begin(), more.end(), std::back_inserter(arguments));
    sigset_t none;
    sigemptyset(&none);
    Start start;
    ::testing::internal::CaptureStderr();
    start.exit_code = RunCommand(arguments, none);
    start.output = ::testing::internal::GetCapturedStderr();
    log::SetFormat(log::Format::kText);
    std::istringstream lines(start.output);
    for (std::string line; std::getline(lines, line);) {
      const auto record = nlohmann::json::parse(line, nullptr, false);
      if (record.is_object() && record.value("msg", "") == "command failed") {
        start.error = record.value("err", "");
      }
    }
    return start;
  }

  // What check-config says of it; compares.
  ctl::CheckedFile Judge(const std::string& file, Until until, const std::string& master,
                         const std::vector<std::string>& arguments) {
    const auto checked = ctl::CheckFile(file, {.gates = gates_, .master = master, .until = until});
    if (!checked.ok() || checked->size() != 1) {
      ADD_FAILURE() << "not taken as one file";
      return {};
    }
    const Start start = RunDaemon(file, arguments);
    const ctl::CheckedFile& one = checked->front();
    EXPECT_EQ(start.error, one.error);
    EXPECT_EQ(start.exit_code == 0, one.valid());
    if (one.errors.size() > 1) {
      for (const config::Finding& finding : one.errors) {
        EXPECT_THAT(start.output, HasSubstr(config::Render(finding, file) + "\n"));
      }
    }
    return one;
  }

  // Up to --write-config-to.
  ctl::CheckedFile JudgeWritten(const std::string& file) {
    return Judge(
        file, Until::kWritten, kMaster,
        {std::string("--master=") + kMaster, "--write-config-to=" + folder_.path() + "/o"});
  }

  std::string Kubeconfig(const std::string& name, const std::string& user) {
    return folder_.Write(
        name,
        "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "
        "\"https://kubernetes.invalid\", insecure-skip-tls-verify: true}}]\ncontexts: [{name: x, "
        "context: {cluster: c, user: u}}]\nusers: [{name: u, user: {" +
            user + "}}]\ncurrent-context: x\n");
  }

  testing::TempDir folder_;
  const config::FeatureGates gates_;
};

TEST_F(ConfigAgreement, EveryFileOfTheSuite) {
  std::ifstream spec(KS_CONFIG_SPEC, std::ios::binary);
  const std::string document((std::istreambuf_iterator<char>(spec)), {});
  std::vector<testing::ConfigFile> files = testing::MutatedConfigurations(1, 600);
  for (const auto& example : testing::ReadConfigExamples(document)) {
    files.push_back({example.name, example.text});
  }
  ASSERT_GE(files.size(), 684u);
  size_t refused = 0;
  for (const testing::ConfigFile& file : files) {
    SCOPED_TRACE(file.name + "\n" + file.text);
    refused += JudgeWritten(folder_.Write("c.yaml", file.text)).valid() ? 0 : 1;
    if (HasFailure()) return;
  }
  EXPECT_GE(refused, 200u);
}

TEST_F(ConfigAgreement, FilesBesideTheConfiguration) {
  const std::pair<std::string, std::string> rows[] = {
      {"/no/such", "stat /no/such: no such file or directory"},
      {Kubeconfig("token", "token: abc"), ""},
      {Kubeconfig("files", "client-certificate: /no/cert, client-key: /no/key"), "?"},
      {Kubeconfig("data", "client-certificate-data: aGVsbG8=, client-key-data: aGVsbG8="), "?"},
  };
  for (const auto& [kubeconfig, want] : rows) {
    SCOPED_TRACE(kubeconfig);
    const std::string file = folder_.Write(
        "c.yaml", std::string(kHead) + "clientConnection: {kubeconfig: " + kubeconfig + "}\n");
    const std::string error =
        Judge(file, Until::kWritten, "", {"--write-config-to=" + folder_.path() + "/o"}).error;
    if (want == "?") {
      EXPECT_NE(error, "");
    } else {
      EXPECT_EQ(error, want);
    }
  }
}

// What upstream finds when it runs, after it would have written its configuration.
TEST_F(ConfigAgreement, WhatEndsARunIsFoundBeforeIt) {
  const std::string file = folder_.Write(
      "c.yaml", std::string(kHead) +
                    "clientConnection: {kubeconfig: " + Kubeconfig("kubeconfig", "token: abc") +
                    "}\nleaderElection: {leaderElect: true, leaseDuration: 15s, renewDeadline: "
                    "10s, retryPeriod: 9s}\n");
  EXPECT_EQ(JudgeWritten(file).error, "");
  EXPECT_EQ(Judge(file, Until::kRunning, "", {}).error,
            "couldn't create leader elector: renewDeadline must be greater than "
            "retryPeriod*JitterFactor");
}

}  // namespace
}  // namespace ks
