// SPDX-License-Identifier: Apache-2.0
// The daemon's life with leader election: leases that are lost, standbys without caches, reloads
// between and over terms, and leaders whose renewals go wrong on real sockets.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "process/embedded_cluster.h"

namespace ks::daemon {
namespace {

constexpr char kLost[] = "Leaderelection lost";
constexpr char kLeads[] = "Leading: the bindings of the former leader are known";
constexpr char kReloaded[] = "The new configuration is in force";

bool BecomesLeader(DaemonProcess& daemon, size_t times = 1) {
  return Eventually([&] { return daemon.Count(kLeads) >= times; });
}

TEST(Leadership, ExitOnLostLeaseEndsTheProcessAsKubeSchedulerDoes) {
  EmbeddedCluster cluster;
  auto daemon =
      cluster.Start("one", cluster.Configure("one", kFirstUser, ""), {"--exit-on-lost-lease"});
  ASSERT_TRUE(BecomesLeader(*daemon)) << daemon->Log();
  cluster.CreatePods("a-", 5);
  EXPECT_TRUE(cluster.AllBound(5)) << daemon->Log();
  cluster.Rules(json::array({EmbeddedCluster::LeaseWrites(kFirstUser, {{"status", 500}})}));
  EXPECT_EQ(daemon->ExitStatus(), 1) << daemon->Log();
  EXPECT_TRUE(daemon->Says(kLost)) << daemon->Log();
  EXPECT_FALSE(daemon->Says("standing by")) << daemon->Log();
}

TEST(Leadership, WithoutItTheProcessStandsByAndLeadsAgain) {
  EmbeddedCluster cluster;
  auto daemon = cluster.Start("one", cluster.Configure("one", kFirstUser, ""));
  ASSERT_TRUE(BecomesLeader(*daemon)) << daemon->Log();
  cluster.Rules(json::array({EmbeddedCluster::LeaseWrites(kFirstUser, {{"status", 500}})}));
  ASSERT_TRUE(Eventually([&] { return daemon->Says(kLost); })) << daemon->Log();
  cluster.Rules(json::array());
  ASSERT_TRUE(BecomesLeader(*daemon, 2)) << daemon->Log();
  cluster.CreatePods("a-", 5);
  EXPECT_TRUE(cluster.AllBound(5)) << daemon->Log();
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
  cluster.ExpectEachBoundOnce(5);
}

// It would read the lease a minute later at the earliest.
TEST(Leadership, AReleasedLeaseIsTakenAtOnce) {
  const std::vector<std::string> patient = {"--leader-elect-lease-duration=100s",
                                            "--leader-elect-renew-deadline=80s",
                                            "--leader-elect-retry-period=60s"};
  EmbeddedCluster cluster;
  auto leader = cluster.Start("leader", cluster.Configure("leader", kFirstUser, ""), patient);
  ASSERT_TRUE(BecomesLeader(*leader)) << leader->Log();
  cluster.Rules(json::array({EmbeddedCluster::Counter(
      {{"verb", "watch"}, {"resource", "leases"}, {"user", kSecondUser}})}));
  auto standby = cluster.Start("standby", cluster.Configure("standby", kSecondUser, ""), patient);
  ASSERT_TRUE(Eventually([&] { return cluster.Matched()[0] >= 1; })) << standby->Log();
  EXPECT_EQ(leader->Stop(), 0) << leader->Log();
  ASSERT_TRUE(Eventually([&] { return standby->Says(kLeads); }, std::chrono::seconds(30)))
      << standby->Log();
  cluster.CreatePods("a-", 5);
  EXPECT_TRUE(cluster.AllBound(5)) << standby->Log();
  EXPECT_EQ(standby->Stop(), 0) << standby->Log();
  cluster.ExpectEachBoundOnce(5);
}

TEST(Leadership, AStandbyThatDelaysItsCachesReadsNothingBeforeItLeads) {
  EmbeddedCluster cluster;
  auto leader = cluster.Start("leader", cluster.Configure("leader", kFirstUser, ""));
  ASSERT_TRUE(BecomesLeader(*leader)) << leader->Log();
  cluster.CreatePods("a-", 10);
  ASSERT_TRUE(cluster.AllBound(10)) << leader->Log();

  json rules = json::array();
  for (const char* resource : {"pods", "nodes", "services", "namespaces"}) {
    for (const char* verb : {"list", "watch"}) {
      rules.push_back(EmbeddedCluster::Counter(
          {{"verb", verb}, {"resource", resource}, {"user", kSecondUser}}));
    }
  }
  const size_t asks_for_the_lease = rules.size();
  rules.push_back(
      EmbeddedCluster::Counter({{"verb", "get"}, {"resource", "leases"}, {"user", kSecondUser}}));
  cluster.Rules(rules);
  auto standby = cluster.Start(
      "standby", cluster.Configure("standby", kSecondUser, "delayCacheUntilActive: true\n"));
  // It is a candidate, and several tries old.
  ASSERT_TRUE(Eventually([&] { return cluster.Matched()[asks_for_the_lease] >= 4; }))
      << standby->Log();
  const std::vector<int> matched = cluster.Matched();
  for (size_t i = 0; i < asks_for_the_lease; ++i) EXPECT_EQ(matched[i], 0) << rules[i];

  EXPECT_EQ(leader->Stop(), 0) << leader->Log();
  ASSERT_TRUE(BecomesLeader(*standby)) << standby->Log();
  cluster.CreatePods("b-", 10);
  EXPECT_TRUE(cluster.AllBound(20)) << standby->Log();
  EXPECT_GT(cluster.Matched()[0], 0);
  EXPECT_EQ(standby->Stop(), 0) << standby->Log();
  cluster.ExpectEachBoundOnce(20);
}

// What a standby reloads is what it leads with.
class ReloadOfAStandby : public ::testing::TestWithParam<bool> {};

TEST_P(ReloadOfAStandby, IsInForceAfterTheTakeOver) {
  const bool delays = GetParam();
  const std::string more = delays ? "delayCacheUntilActive: true\n" : "";
  EmbeddedCluster cluster;
  auto leader =
      cluster.Start("leader", cluster.Configure("leader", kFirstUser, ScoredBy("LeastAllocated")));
  ASSERT_TRUE(BecomesLeader(*leader)) << leader->Log();
  const auto configure = [&](const char* strategy) {
    return cluster.Configure("standby", kSecondUser, more + ScoredBy(strategy));
  };
  cluster.Rules(json::array({EmbeddedCluster::Counter(
      {{"verb", "get"}, {"resource", "leases"}, {"user", kSecondUser}})}));
  auto standby = cluster.Start("standby", configure("LeastAllocated"));
  ASSERT_TRUE(Eventually([&] { return cluster.Matched()[0] >= 1; })) << standby->Log();
  configure("MostAllocated");  // the file is watched
  ASSERT_TRUE(Eventually([&] { return standby->Says(kReloaded); })) << standby->Log();
  cluster.CreatePods("spread-", 4, "1");
  ASSERT_TRUE(cluster.AllBound(4)) << leader->Log();
  EXPECT_EQ(cluster.NodesOf("spread-"), 4U);

  EXPECT_EQ(leader->Stop(), 0) << leader->Log();
  ASSERT_TRUE(BecomesLeader(*standby)) << standby->Log();
  cluster.CreatePods("packed-", 8, "1");
  EXPECT_TRUE(cluster.AllBound(12)) << standby->Log();
  EXPECT_EQ(cluster.NodesOf("packed-"), 1U);
  EXPECT_EQ(standby->Stop(), 0) << standby->Log();
  cluster.ExpectEachBoundOnce(12);
}

INSTANTIATE_TEST_SUITE_P(Caches, ReloadOfAStandby, ::testing::Bool(),
                         [](const auto& row) { return row.param ? "Delayed" : "Filled"; });

TEST(Leadership, AReloadOutlivesTheTerm) {
  EmbeddedCluster cluster;
  const auto configure = [&](const char* strategy) {
    return cluster.Configure("one", kFirstUser, ScoredBy(strategy));
  };
  auto daemon = cluster.Start("one", configure("LeastAllocated"));
  ASSERT_TRUE(BecomesLeader(*daemon)) << daemon->Log();
  configure("MostAllocated");
  daemon->Signal(SIGHUP);
  ASSERT_TRUE(Eventually([&] { return daemon->Says(kReloaded); })) << daemon->Log();
  cluster.CreatePods("first-", 4, "1");
  ASSERT_TRUE(cluster.AllBound(4)) << daemon->Log();
  EXPECT_EQ(cluster.NodesOf("first-"), 1U);

  cluster.Rules(json::array({EmbeddedCluster::LeaseWrites(kFirstUser, {{"status", 500}})}));
  ASSERT_TRUE(Eventually([&] { return daemon->Says(kLost); })) << daemon->Log();
  cluster.Rules(json::array());
  ASSERT_TRUE(BecomesLeader(*daemon, 2)) << daemon->Log();
  cluster.CreatePods("second-", 4, "1");
  ASSERT_TRUE(cluster.AllBound(8)) << daemon->Log();
  EXPECT_EQ(cluster.NodesOf("second-"), 1U);

  // And what is reloaded between two terms, of the next one.
  cluster.Rules(json::array({EmbeddedCluster::LeaseWrites(kFirstUser, {{"status", 500}})}));
  ASSERT_TRUE(Eventually([&] { return daemon->Count(kLost) >= 2; })) << daemon->Log();
  const size_t reloads = daemon->Count(kReloaded);
  configure("LeastAllocated");
  daemon->Signal(SIGHUP);
  ASSERT_TRUE(Eventually([&] { return daemon->Count(kReloaded) > reloads; })) << daemon->Log();
  cluster.Rules(json::array());
  ASSERT_TRUE(BecomesLeader(*daemon, 3)) << daemon->Log();
  cluster.CreatePods("third-", 3, "1");
  EXPECT_TRUE(cluster.AllBound(11)) << daemon->Log();
  EXPECT_EQ(cluster.NodesOf("third-"), 3U);
  EXPECT_EQ(daemon->Stop(), 0) << daemon->Log();
  cluster.ExpectEachBoundOnce(11);
}

struct LeaseFault {
  const char* name;
  json fault;
};

class LeaseFaults : public ::testing::TestWithParam<LeaseFault> {};

// The writes of who lost the lease are counted from the moment in which another one has it, on the
// server's thread, so that none can slip through.
TEST_P(LeaseFaults, ALeaderThatCannotRenewWritesNothingWhenAnotherOneLeads) {
  constexpr int kPods = 100;
  EmbeddedCluster cluster;
  auto first = cluster.Start("first", cluster.Configure("first", kFirstUser, ""));
  ASSERT_TRUE(BecomesLeader(*first)) << first->Log();
  auto second = cluster.Start("second", cluster.Configure("second", kSecondUser, ""));
  cluster.CreatePods("before-", kPods);
  ASSERT_TRUE(cluster.AllBound(kPods)) << first->Log();

  json rules = json::array({EmbeddedCluster::LeaseWrites(kFirstUser, GetParam().fault)});
  for (const char* verb : {"create", "patch", "delete"}) {
    rules.push_back(
        EmbeddedCluster::Counter({{"verb", verb}, {"resource", "pods"}, {"user", kFirstUser}}));
    rules.push_back(
        EmbeddedCluster::Counter({{"verb", verb}, {"resource", "events"}, {"user", kFirstUser}}));
  }
  std::atomic<bool> taken_over{false};
  auto watching = cluster.OnNextHolder([&] {
    cluster.RulesHere(rules);
    taken_over = true;
  });
  cluster.Rules(json::array({rules[0]}));
  // Work that never ends while one leads and then the other.
  int created = 0;
  while (!taken_over && created < 5000) {
    cluster.CreatePods("during-" + std::to_string(created++) + "-", 1, "1m");
    ASSERT_TRUE(Eventually([&] {
      return taken_over || cluster.Bound().size() >= static_cast<size_t>(kPods + created) ||
             first->Says(kLost);
    }));
    if (first->Says(kLost)) break;
  }
  ASSERT_TRUE(Eventually([&] { return taken_over.load(); })) << second->Log();
  ASSERT_TRUE(BecomesLeader(*second)) << second->Log();
  cluster.CreatePods("after-", kPods);
  const auto all = static_cast<size_t>(2 * kPods + created);
  EXPECT_TRUE(cluster.AllBound(all)) << second->Log();
  ASSERT_TRUE(Eventually([&] { return first->Says(kLost); })) << first->Log();
  const std::vector<int> matched = cluster.Matched();
  for (size_t i = 1; i < matched.size(); ++i) EXPECT_EQ(matched[i], 0) << rules[i];
  EXPECT_FALSE(first->Ended()) << first->Log();

  // When it can write again, it is the other one's standby.
  cluster.Rules(json::array());
  EXPECT_EQ(second->Stop(), 0) << second->Log();
  ASSERT_TRUE(BecomesLeader(*first, 2)) << first->Log();
  cluster.CreatePods("last-", 10);
  EXPECT_TRUE(cluster.AllBound(all + 10)) << first->Log();
  EXPECT_EQ(first->Stop(), 0) << first->Log();
  cluster.Drop(watching);
  cluster.ExpectEachBoundOnce(all + 10);
}

const LeaseFault kLeaseFaults[] = {
    {"InternalErrors", {{"status", 500}}},
    {"Stalls", {{"stall", true}}},
    {"CutConnections", {{"reset", true}}},
};
INSTANTIATE_TEST_SUITE_P(Kinds, LeaseFaults, ::testing::ValuesIn(kLeaseFaults),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ks::daemon
