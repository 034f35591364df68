// SPDX-License-Identifier: Apache-2.0
#include "kubesched/flags/effective_configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "testing/temp_dir.h"

namespace ks {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

class EffectiveConfiguration : public ::testing::Test {
 protected:
  // With a file of `body` when that is given.
  daemon::Effective Load(std::vector<std::string> arguments, const char* body = nullptr) {
    if (body != nullptr) {
      std::ofstream(file_) << kHead << body;
      arguments.push_back("--config=" + file_);
    }
    const ParsedFlags parsed = ParseFlags(arguments);
    EXPECT_TRUE(parsed.run) << parsed.standard_error;
    return ReadEffectiveConfiguration(parsed.options, {});
  }
  daemon::Effective Good(std::vector<std::string> arguments, const char* body = nullptr) {
    daemon::Effective loaded = Load(std::move(arguments), body);
    EXPECT_EQ(loaded.reading.unread.text + loaded.reading.invalid.text, "");
    return loaded;
  }

  testing::TempDir folder_;
  const std::string file_ = folder_.path() + "/c.yaml";
};

TEST_F(EffectiveConfiguration, WithoutAFileTheFlagsApply) {
  const daemon::Effective effective =
      Good({"--kubeconfig=/k", "--kube-api-qps=7", "--kube-api-burst=8",
            "--kube-api-content-type=x", "--profiling=false", "--leader-elect-lease-duration=5s"});
  EXPECT_EQ(effective.reading.configuration.client_connection.kubeconfig, "/k");
  EXPECT_EQ(effective.reading.configuration.client_connection.qps, 7);
  EXPECT_EQ(effective.reading.configuration.client_connection.burst, 8);
  EXPECT_EQ(effective.reading.configuration.client_connection.content_type, "x");
  EXPECT_FALSE(effective.reading.configuration.enable_profiling);
  // Profiling off does not switch contention profiling off; a lease shorter than the renew deadline
  // is not looked at here.
  EXPECT_EQ(effective.reading.configuration.enable_contention_profiling, true);
  EXPECT_EQ(effective.reading.configuration.leader_election.lease_duration,
            std::chrono::seconds(5));
}

TEST_F(EffectiveConfiguration, WithAFileTheDeprecatedFlagsAreIgnoredAndSaidSo) {
  const daemon::Effective effective =
      Good({"--kubeconfig=/k", "--profiling=false"}, "parallelism: 3\n");
  EXPECT_EQ(effective.reading.configuration.parallelism, 3);
  EXPECT_EQ(effective.reading.configuration.client_connection.kubeconfig, "");
  EXPECT_TRUE(effective.reading.configuration.enable_profiling);
  EXPECT_THAT(effective.warnings, ::testing::IsSupersetOf({HasSubstr("--kubeconfig is ignored"),
                                                           HasSubstr("--profiling is ignored")}));
}

TEST_F(EffectiveConfiguration, LeaderElectionFlagsWinOverTheFile) {
  EXPECT_TRUE(Good({"--leader-elect=true"}, "leaderElection: {leaderElect: false}\n")
                  .reading.configuration.leader_election.leader_elect);
  EXPECT_FALSE(Good({"--leader-elect=false"}, "leaderElection: {leaderElect: true}\n")
                   .reading.configuration.leader_election.leader_elect);
  const daemon::Effective both = Good({"--leader-elect-retry-period=1s"},
                                      "leaderElection: {leaderElect: true, resourceName: mine}\n");
  EXPECT_TRUE(both.reading.configuration.leader_election.leader_elect);
  EXPECT_EQ(both.reading.configuration.leader_election.retry_period, std::chrono::seconds(1));
  EXPECT_EQ(both.reading.configuration.leader_election.resource_name, "mine");
}

TEST_F(EffectiveConfiguration, FlagsAreValidatedTogetherWithAFile) {
  const char* bad = "leaderElection: {leaseDuration: 5s}\n";
  const config::Faults faults = Load({}, bad).reading.invalid;
  EXPECT_EQ(faults.text,
            "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
            "`RenewDeadline`");
  ASSERT_EQ(faults.findings.size(), 1u);
  EXPECT_EQ(faults.findings[0].place.line, 3);
  Good({"--leader-elect=false"}, bad);
  Good({"--leader-elect-lease-duration=20s"}, bad);
}

TEST_F(EffectiveConfiguration, AMissingFileIsNamed) {
  EXPECT_EQ(Load({"--config=/no/such/file"}).reading.unread.text,
            "open /no/such/file: no such file or directory");
}

}  // namespace
}  // namespace ks
