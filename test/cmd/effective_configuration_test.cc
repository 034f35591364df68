// SPDX-License-Identifier: Apache-2.0
#include "kubesched/effective_configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "kubesched/leader_election.h"
#include "testing/temp_dir.h"

namespace ks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

class EffectiveConfiguration : public ::testing::Test {
 protected:
  // With a file of `body` when that is given.
  std::variant<Effective, ConfigurationFault> Load(std::vector<std::string> arguments,
                                                   const char* body = nullptr) {
    if (body != nullptr) {
      std::ofstream(file_) << kHead << body;
      arguments.push_back("--config=" + file_);
    }
    const ParsedFlags parsed = ParseFlags(arguments);
    EXPECT_TRUE(parsed.run) << parsed.standard_error;
    return LoadEffectiveConfiguration(parsed.options, {});
  }
  Effective Good(std::vector<std::string> arguments, const char* body = nullptr) {
    auto loaded = Load(std::move(arguments), body);
    const auto* fault = std::get_if<ConfigurationFault>(&loaded);
    EXPECT_EQ(fault, nullptr) << (fault != nullptr ? fault->text : "");
    return fault == nullptr ? std::get<Effective>(loaded) : Effective{};
  }

  testing::TempDir folder_;
  const std::string file_ = folder_.path() + "/c.yaml";
};

TEST_F(EffectiveConfiguration, WithoutAFileTheFlagsApply) {
  const Effective effective =
      Good({"--kubeconfig=/k", "--kube-api-qps=7", "--kube-api-burst=8",
            "--kube-api-content-type=x", "--profiling=false", "--leader-elect-lease-duration=5s"});
  EXPECT_EQ(effective.configuration.client_connection.kubeconfig, "/k");
  EXPECT_EQ(effective.configuration.client_connection.qps, 7);
  EXPECT_EQ(effective.configuration.client_connection.burst, 8);
  EXPECT_EQ(effective.configuration.client_connection.content_type, "x");
  EXPECT_FALSE(effective.configuration.enable_profiling);
  // Profiling off does not switch contention profiling off; a lease shorter than the renew deadline
  // is not looked at here.
  EXPECT_EQ(effective.configuration.enable_contention_profiling, true);
  EXPECT_EQ(effective.configuration.leader_election.lease_duration, std::chrono::seconds(5));
}

TEST_F(EffectiveConfiguration, WithAFileTheDeprecatedFlagsAreIgnoredAndSaidSo) {
  const Effective effective = Good({"--kubeconfig=/k", "--profiling=false"}, "parallelism: 3\n");
  EXPECT_EQ(effective.configuration.parallelism, 3);
  EXPECT_EQ(effective.configuration.client_connection.kubeconfig, "");
  EXPECT_TRUE(effective.configuration.enable_profiling);
  EXPECT_THAT(effective.warnings, ::testing::IsSupersetOf({HasSubstr("--kubeconfig is ignored"),
                                                           HasSubstr("--profiling is ignored")}));
}

TEST_F(EffectiveConfiguration, LeaderElectionFlagsWinOverTheFile) {
  EXPECT_TRUE(Good({"--leader-elect=true"}, "leaderElection: {leaderElect: false}\n")
                  .configuration.leader_election.leader_elect);
  EXPECT_FALSE(Good({"--leader-elect=false"}, "leaderElection: {leaderElect: true}\n")
                   .configuration.leader_election.leader_elect);
  const Effective both = Good({"--leader-elect-retry-period=1s"},
                              "leaderElection: {leaderElect: true, resourceName: mine}\n");
  EXPECT_TRUE(both.configuration.leader_election.leader_elect);
  EXPECT_EQ(both.configuration.leader_election.retry_period, std::chrono::seconds(1));
  EXPECT_EQ(both.configuration.leader_election.resource_name, "mine");
}

TEST_F(EffectiveConfiguration, FlagsAreValidatedTogetherWithAFile) {
  const char* bad = "leaderElection: {leaseDuration: 5s}\n";
  auto loaded = Load({}, bad);
  const auto* fault = std::get_if<ConfigurationFault>(&loaded);
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->text,
            "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
            "`RenewDeadline`");
  EXPECT_THAT(fault->findings, ElementsAre(HasSubstr(file_ + ":3:")));
  Good({"--leader-elect=false"}, bad);
  Good({"--leader-elect-lease-duration=20s"}, bad);
}

TEST_F(EffectiveConfiguration, AMissingFileIsNamed) {
  auto loaded = Load({"--config=/no/such/file"});
  const auto* fault = std::get_if<ConfigurationFault>(&loaded);
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->text, "open /no/such/file: no such file or directory");
}

TEST(LeaderElection, LockKindsHaveUpstreamsTexts) {
  const std::pair<const char*, const char*> rows[] = {
      {"leases", ""},
      {"endpoints", "couldn't create resource lock: endpoints lock is removed, migrate to leases"},
      {"configmaps",
       "couldn't create resource lock: configmaps lock is removed, migrate to leases"},
      {"configmapsleases",
       "couldn't create resource lock: configmapsleases lock is removed, migrated to leases"},
      {"foo", "couldn't create resource lock: Invalid lock-type foo"}};
  for (const auto& [lock, want] : rows) {
    config::LeaderElection election;
    election.resource_lock = lock;
    const Result<void> checked = daemon::CheckResourceLock(election);
    EXPECT_EQ(checked.ok() ? "" : checked.error().message, want);
    election.leader_elect = false;
    EXPECT_TRUE(daemon::CheckResourceLock(election).ok());
  }
}

TEST(LeaderElection, DurationsOfFlagsAreCheckedBeforeRunning) {
  config::Configuration configuration = config::DefaultConfiguration();
  EXPECT_TRUE(daemon::CheckElection(configuration).ok());
  config::LeaderElection& election = configuration.leader_election;
  election.lease_duration = std::chrono::seconds(5);
  const Result<void> checked = daemon::CheckElection(configuration);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().message,
            "couldn't create leader elector: leaseDuration must be greater than renewDeadline");
  election.leader_elect = false;
  EXPECT_TRUE(daemon::CheckElection(configuration).ok());
}

}  // namespace
}  // namespace ks
