// SPDX-License-Identifier: Apache-2.0
// Coordinated leader election in virtual time (docs/spec/operations.md 6.5): the server names the
// holder, the elector follows, and there are never two that may write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/time_text.h"
#include "client/election/leader_elector.h"
#include "client/election/leader_metrics.h"
#include "client/election/lease_object.h"
#include "client/lease_candidate.h"
#include "client/lease_long_run.h"
#include "testing/sanitized.h"

namespace ks::client {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kGetLease =
    "GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler?timeout=5s";
constexpr const char* kPutLease =
    "PUT /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler?timeout=5s";
constexpr const char* kPostEvent = "POST /api/v1/namespaces/kube-system/events?timeout=5s";

// What the server writes when it has decided.
void Name(LeaseServer& server, const std::string& holder, TimePoint now, int duration = 5) {
  if (server.lease.is_null()) {
    server.lease = {{"kind", "Lease"},
                    {"apiVersion", "coordination.k8s.io/v1"},
                    {"metadata", {{"name", "kube-scheduler"}, {"namespace", "kube-system"}}},
                    {"spec", {{"strategy", "OldestEmulationVersion"}}}};
  }
  server.Edit([&](Json& lease) {
    Json& spec = lease["spec"];
    spec["holderIdentity"] = holder;
    spec["leaseDurationSeconds"] = duration;
    spec["renewTime"] = FormatMicroTime(now);
    spec["leaseTransitions"] = spec.value("leaseTransitions", 0) + 1;
    spec.erase("preferredHolder");
  });
}

class CoordinatedElection : public ::testing::Test {
 protected:
  std::unique_ptr<Candidate> Make(const std::string& name, bool gives_back = true) {
    return std::make_unique<Candidate>(
        world_, server_,
        Candidate::Setting{.name = name, .coordinated = true, .gives_back = gives_back});
  }
  std::unique_ptr<Candidate> Leader(const std::string& name, bool gives_back = true) {
    auto leader = Make(name, gives_back);
    leader->Acquire();
    Name(name);
    world_.Run(seconds(5));
    EXPECT_THAT(leader->notes(), ElementsAre("won"));
    return leader;
  }
  void Name(const std::string& holder) { client::Name(server_, holder, world_.Now()); }
  void Prefer(const std::string& holder) {
    server_.Edit([&](Json& lease) { lease["spec"]["preferredHolder"] = holder; });
  }
  Json Spec() const { return server_.lease["spec"]; }

  World world_;
  LeaseServer server_;
};

TEST_F(CoordinatedElection, NeverMakesTheLease) {
  auto a = Make("a");
  a->Acquire();
  ::testing::internal::CaptureStderr();
  world_.Run(minutes(5));
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(a->notes(), IsEmpty());
  EXPECT_THAT(a->requests(), Each(kGetLease));
  EXPECT_GT(a->requests().size(), 60U);
  // Said once, and not at once.
  EXPECT_THAT(log, HasSubstr("--feature-gates=CoordinatedLeaderElection=true"));
  EXPECT_EQ(log.find("names no leader"), log.rfind("names no leader"));
}

struct WaitingCase {
  const char* name;
  const char* holder;
  const char* preferred;
};

class CoordinatedWaitingTest : public CoordinatedElection,
                               public ::testing::WithParamInterface<WaitingCase> {};

// However old the lease looks and whoever it is wanted for: the server has the word.
TEST_P(CoordinatedWaitingTest, WritesNothing) {
  Name(GetParam().holder);
  if (*GetParam().preferred != 0) Prefer(GetParam().preferred);
  auto a = Make("a");
  a->Acquire();
  world_.Run(minutes(2));
  EXPECT_THAT(a->notes(), IsEmpty());
  EXPECT_THAT(a->requests(), Each(kGetLease));
  EXPECT_FALSE(a->fence->IsOpen());
}

INSTANTIATE_TEST_SUITE_P(Leases, CoordinatedWaitingTest,
                         ::testing::Values(WaitingCase{"Another", "b", ""},
                                           WaitingCase{"Nobody", "", ""},
                                           WaitingCase{"NobodyYetPreferred", "", "a"},
                                           WaitingCase{"AnotherPreferringThis", "b", "a"}),
                         [](const auto& row) { return row.param.name; });

TEST_F(CoordinatedElection, LeadsWhenNamedAndReadsBeforeEachRenewal) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(seconds(1));
  Name("a");
  world_.Run(milliseconds(4'400));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  EXPECT_TRUE(a->fence->IsOpen());
  EXPECT_EQ(Spec()["holderIdentity"], "a");
  EXPECT_EQ(Spec()["leaseDurationSeconds"], 15);
  EXPECT_EQ(Spec()["leaseTransitions"], 1);  // the server's count
  EXPECT_EQ(Spec()["strategy"], "OldestEmulationVersion");
  a->requests().clear();
  world_.Run(seconds(20));
  ASSERT_EQ(a->requests().size(), 20U);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(a->requests()[i], i % 2 == 0 ? kGetLease : kPutLease);
  EXPECT_THAT(a->notes(), ElementsAre("won"));
}

TEST_F(CoordinatedElection, EachRenewalCountsAsSlowPath) {
  metrics::Registry registry;
  LeaderMetrics metrics(registry);
  Candidate a(world_, server_, {.name = "a", .coordinated = true, .metrics = &metrics});
  a.Acquire();
  Name("a");
  world_.Run(seconds(5));
  const size_t renewals = server_.writes.size() - 1;
  ASSERT_GE(renewals, 1U);
  EXPECT_THAT(registry.Text(),
              HasSubstr("leader_election_slowpath_total{name=\"kube-scheduler\"} " +
                        std::to_string(renewals) + "\n"));
}

TEST_F(CoordinatedElection, IsCalledBackAndGivesBack) {
  auto a = Leader("a");
  world_.Run(milliseconds(500));
  Prefer("b");
  a->requests().clear();
  world_.Run(milliseconds(2'010));
  EXPECT_THAT(a->notes(),
              ElementsAre("won", "called back: the lease is wanted for b", "gave back"));
  EXPECT_TRUE(a->fence->IsClosed());
  EXPECT_FALSE(a->elector().IsLeader());
  EXPECT_THAT(a->requests(), ElementsAre(kGetLease, kPostEvent, kGetLease, kPutLease));
  EXPECT_EQ(server_.events.back()["message"], "a stopped leading");
  EXPECT_EQ(Spec()["holderIdentity"], "");
  EXPECT_EQ(Spec()["leaseDurationSeconds"], 1);
  // The server's own fields stay as it left them.
  EXPECT_EQ(Spec()["preferredHolder"], "b");
  EXPECT_EQ(Spec()["strategy"], "OldestEmulationVersion");
  EXPECT_EQ(Spec()["leaseTransitions"], 1);
  world_.Run(minutes(1));
  EXPECT_EQ(a->requests().size(), 4U);
  // And acquires it again.
  a->Acquire();
  Name("a");
  world_.Run(seconds(5));
  EXPECT_EQ(a->notes().back(), "won");
}

TEST_F(CoordinatedElection, PreferringTheHolderIsNoReasonToGo) {
  auto a = Leader("a");
  Prefer("a");
  world_.Run(minutes(1));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  EXPECT_TRUE(a->fence->IsOpen());
}

// As the server leaves it between two candidates that are alike.
TEST_F(CoordinatedElection, NamedWhileAnotherIsPreferredItLeads) {
  auto a = Make("a");
  Name("a");
  Prefer("b");
  a->Acquire();
  world_.Run(minutes(1));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  EXPECT_TRUE(a->fence->IsOpen());
  EXPECT_EQ(Spec()["preferredHolder"], "b");
  Prefer("c");
  world_.Run(seconds(3));
  EXPECT_THAT(a->notes(),
              ElementsAre("won", "called back: the lease is wanted for c", "gave back"));
}

// The fence is closed before any callback runs, and the lease kept until the owner says so.
TEST_F(CoordinatedElection, KeepsTheLeaseUntilToldToGiveItBack) {
  auto a = Leader("a", /*gives_back=*/false);
  Prefer("b");
  world_.Run(seconds(9));
  EXPECT_TRUE(a->fence->IsClosed());
  EXPECT_EQ(server_.Holder(), "a");
  a->ReleaseToPreferred();
  world_.Run(seconds(1));
  EXPECT_EQ(a->notes().back(), "gave back");
  EXPECT_EQ(server_.Holder(), "");
}

TEST_F(CoordinatedElection, ReleasesWhatWasCalledBack) {
  auto a = Leader("a", /*gives_back=*/false);
  Prefer("b");
  world_.Run(seconds(3));
  a->Release();
  world_.Run(seconds(1));
  EXPECT_EQ(a->notes().back(), "released");
  EXPECT_EQ(server_.Holder(), "");
}

TEST_F(CoordinatedElection, TakesNothingFromWhoHasItAlready) {
  auto a = Leader("a", /*gives_back=*/false);
  Prefer("b");
  world_.Run(seconds(3));
  Name("b");
  const size_t writes = server_.writes.size();
  a->ReleaseToPreferred();
  world_.Run(seconds(1));
  EXPECT_EQ(a->notes().back(), "gave back");
  EXPECT_EQ(server_.Holder(), "b");
  EXPECT_EQ(server_.writes.size(), writes);
}

TEST_F(CoordinatedElection, AReleaseToThePreferredWithoutServerEnds) {
  auto a = Leader("a", /*gives_back=*/false);
  Prefer("b");
  world_.Run(seconds(3));
  a->CutOff(true);
  a->ReleaseToPreferred();
  world_.Run(seconds(11));
  EXPECT_EQ(a->notes().back(), "gave back");
  a->CutOff(false);
  a->requests().clear();
  world_.Run(minutes(1));
  EXPECT_THAT(a->requests(), IsEmpty());
}

struct EndCase {
  const char* name;
  std::function<void(LeaseServer&)> change;
  const char* want;
};

class CoordinatedEndTest : public CoordinatedElection,
                           public ::testing::WithParamInterface<EndCase> {};

TEST_P(CoordinatedEndTest, EndsTheTermAtTheNextLook) {
  auto a = Leader("a");
  const size_t writes = server_.writes.size();
  world_.Run(milliseconds(1'999));
  GetParam().change(server_);
  a->requests().clear();
  world_.Run(milliseconds(2'010));
  EXPECT_THAT(a->notes(), ElementsAre("won", GetParam().want));
  EXPECT_TRUE(a->fence->IsClosed());
  EXPECT_LE(server_.writes.size(), writes + 1);
  EXPECT_EQ(a->requests().back(), kGetLease);
  world_.Run(minutes(1));
  EXPECT_EQ(a->notes().size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(
    Leases, CoordinatedEndTest,
    ::testing::Values(EndCase{"Another",
                              [](LeaseServer& server) {
                                server.Edit(
                                    [](Json& lease) { lease["spec"]["holderIdentity"] = "b"; });
                              },
                              "lost: the lease is held by b"},
                      EndCase{"Nobody",
                              [](LeaseServer& server) {
                                server.Edit(
                                    [](Json& lease) { lease["spec"]["holderIdentity"] = ""; });
                              },
                              "lost: the lease was released by somebody else"},
                      EndCase{"Deleted", [](LeaseServer& server) { server.lease = nullptr; },
                              "lost: the lease was deleted"}),
    [](const auto& row) { return row.param.name; });

TEST_F(CoordinatedElection, TheFenceIsOpenForTheRenewDeadlineOnly) {
  auto a = Leader("a");
  world_.Run(milliseconds(700));
  const TimePoint last = server_.writes.back().at;
  a->CutOff(true);
  world_.Run(last + seconds(10) - milliseconds(5) - world_.Now());
  EXPECT_TRUE(a->fence->IsOpen());
  world_.Run(milliseconds(6));
  EXPECT_FALSE(a->fence->IsOpen());
  world_.Run(seconds(3));
  EXPECT_THAT(a->notes(), ElementsAre("won", "lost: context deadline exceeded"));
}

TEST_F(CoordinatedElection, AStoppedLeaderGivesItBack) {
  auto a = Leader("a");
  a->Release();
  world_.Run(seconds(1));
  EXPECT_THAT(a->notes(), ElementsAre("won", "released"));
  EXPECT_EQ(Spec()["holderIdentity"], "");
  EXPECT_EQ(Spec()["strategy"], "OldestEmulationVersion");
}

// ---- several candidates, hours, faults ----

class CoordinatedLongRun : public ::testing::TestWithParam<int> {};

// A server that elects: anybody, by chance, when the lease is not there, empty or over by its
// clock; and that sometimes likes another one better.
TEST_P(CoordinatedLongRun, NeverTwoThatMayWrite) {
  const auto seed = static_cast<uint64_t>(GetParam());
  LeaseLongRun run(seed);
  for (size_t i = 0; i < 3; ++i) {
    run.Join({.clock_offset = milliseconds(static_cast<int>(run.random.Below(2000)) - 1000),
              .coordinated = true});
  }
  LeaseServer& server = run.server;
  for (Duration time{}; time < hours(2); time += LeaseLongRun::kStep) {
    const uint64_t die = run.Step();
    const TimePoint now = run.world.Now();
    const std::string chosen(1, static_cast<char>('a' + run.random.Below(3)));
    const bool over = server.lease.is_null() || server.Holder().empty() ||
                      api::ParseTime(server.lease["spec"]["renewTime"].get<std::string>(),
                                     api::TimePrecision::kMicros)
                                  .value() +
                              seconds(server.lease["spec"]["leaseDurationSeconds"].get<int>()) <
                          now;
    if (over && die % 20 == 0) Name(server, chosen, now);
    if (!over && die >= 300 && die < 330 && chosen != server.Holder()) {
      server.Edit([&](Json& lease) { lease["spec"]["preferredHolder"] = chosen; });
    }
    ASSERT_NO_FATAL_FAILURE(run.Check());
  }
  EXPECT_GT(run.LedPart(), 1.0 / 3) << "seed " << seed;
  EXPECT_GT(run.terms(), 10U) << "seed " << seed;
}

constexpr int kLongRuns = ks::testing::kRaceDetector ? 2 : 10;
INSTANTIATE_TEST_SUITE_P(Seeds, CoordinatedLongRun, ::testing::Range(1, kLongRuns + 1));

}  // namespace
}  // namespace ks::client
