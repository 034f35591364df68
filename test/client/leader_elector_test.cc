// SPDX-License-Identifier: Apache-2.0
// Leader election in virtual time (docs/spec/operations.md section 6, docs/spec/api.md section 11):
// what is asked and when, and never two that may write.
#include "client/election/leader_elector.h"
#include "testing/sanitized.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "client/election/lease_object.h"
#include "client/lease_candidate.h"
#include "client/lease_long_run.h"

namespace ks::client {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kGet =
    "GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler?timeout=5s";
constexpr const char* kPut =
    "PUT /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler?timeout=5s";
constexpr const char* kPost =
    "POST /apis/coordination.k8s.io/v1/namespaces/kube-system/leases?timeout=5s";
constexpr const char* kWatch =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?fieldSelector="
    "metadata.name%3Dkube-scheduler&resourceVersion=";
constexpr const char* kEvent = "POST /api/v1/namespaces/kube-system/events?timeout=5s";

class LeaderElectorTest : public ::testing::Test {
 protected:
  std::unique_ptr<Candidate> Make(const std::string& name, uint64_t seed = 1) {
    return std::make_unique<Candidate>(world_, server_,
                                       Candidate::Setting{.name = name, .seed = seed});
  }
  // A lease as somebody else left it.
  void Lease(const std::string& holder, int duration_seconds) {
    server_.lease = {{"kind", "Lease"},
                     {"apiVersion", "coordination.k8s.io/v1"},
                     {"metadata",
                      {{"name", "kube-scheduler"},
                       {"namespace", "kube-system"},
                       {"uid", "u-0"},
                       {"resourceVersion", "7"},
                       {"labels", {{"kept", "yes"}}}}},
                     {"spec",
                      {{"holderIdentity", holder},
                       {"leaseDurationSeconds", duration_seconds},
                       {"acquireTime", "2020-01-01T00:00:00.000000Z"},
                       {"renewTime", "2020-01-01T00:00:00.000000Z"},
                       {"leaseTransitions", 3}}}};
  }
  Json Spec() const { return server_.lease["spec"]; }
  static size_t Count(const std::vector<std::string>& all, const std::string& what) {
    return static_cast<size_t>(std::count(all.begin(), all.end(), what));
  }
  // When it first wrote this note, since `from`; negative: never.
  static Duration After(const Candidate& candidate, TimePoint from, const std::string& note) {
    for (const auto& [at, text] : candidate.timed_notes()) {
      if (at >= from && text.starts_with(note)) return at - from;
    }
    return Duration(-1);
  }

  World world_;
  LeaseServer server_;
};

TEST_F(LeaderElectorTest, CreatesTheLeaseAndRenewsEveryTwoSeconds) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(milliseconds(100));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  EXPECT_TRUE(a->elector().IsLeader());
  EXPECT_TRUE(a->fence->IsOpen());
  // The first renewal comes at once; no further GET.
  EXPECT_THAT(a->requests(), ElementsAre(kGet, kPost, kEvent, kPut));
  EXPECT_EQ(Spec()["holderIdentity"], "a");
  EXPECT_EQ(Spec()["leaseDurationSeconds"], 15);
  EXPECT_EQ(Spec()["leaseTransitions"], 0);
  const Json acquired = Spec()["acquireTime"];
  world_.Run(seconds(20));
  EXPECT_EQ(Count(a->requests(), kPut), 11U);
  EXPECT_EQ(Count(a->requests(), kGet), 1U);
  EXPECT_EQ(Spec()["acquireTime"], acquired);
  EXPECT_NE(Spec()["renewTime"], acquired);
  ASSERT_EQ(server_.events.size(), 1U);
  EXPECT_EQ(server_.events[0]["message"], "a became leader");
  EXPECT_EQ(server_.events[0]["involvedObject"]["uid"], "u-1");
  EXPECT_EQ(server_.events[0]["source"]["component"], "default-scheduler");
}

TEST_F(LeaderElectorTest, BodiesAreUpstreams) {
  LeaseRecord record{.holder = "h_u",
                     .duration_seconds = 15,
                     .acquire_time = "2026-01-02T03:04:05.146707Z",
                     .renew_time = "2026-01-02T03:04:05.146707Z"};
  EXPECT_EQ(NewLeaseBody("kube-system", "kube-scheduler", record),
            R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":)"
            R"({"name":"kube-scheduler","namespace":"kube-system"},"spec":{"holderIdentity":"h_u",)"
            R"("leaseDurationSeconds":15,"acquireTime":"2026-01-02T03:04:05.146707Z",)"
            R"("renewTime":"2026-01-02T03:04:05.146707Z","leaseTransitions":0}})");
  const auto event = Json::parse(LeaseEventBody({.ns = "kube-system",
                                                 .name = "kube-scheduler",
                                                 .uid = "u",
                                                 .resource_version = "77",
                                                 .message = "h_u became leader",
                                                 .component = "default-scheduler",
                                                 .now = world_.Now()}));
  EXPECT_THAT(event["metadata"]["name"].get<std::string>(), StartsWith("kube-scheduler."));
  EXPECT_EQ(event["involvedObject"]["apiVersion"], "coordination.k8s.io/v1");
  EXPECT_EQ(event["involvedObject"]["resourceVersion"], "77");
  EXPECT_EQ(event["reason"], "LeaderElection");
  EXPECT_EQ(event["type"], "Normal");
  EXPECT_EQ(event["count"], 1);
  EXPECT_EQ(event["reportingInstance"], "");
  EXPECT_TRUE(event["eventTime"].is_null());
}

TEST_F(LeaderElectorTest, AnUpdateKeepsWhatItDoesNotKnow) {
  Lease("", 1);
  server_.lease["spec"]["strategy"] = "OldestEmulationVersion";
  auto a = Make("a");
  a->Acquire();
  world_.Run(milliseconds(100));
  EXPECT_EQ(Spec()["holderIdentity"], "a");
  EXPECT_EQ(Spec()["leaseTransitions"], 4);  // also after a release
  EXPECT_EQ(Spec()["strategy"], "OldestEmulationVersion");
  EXPECT_EQ(server_.lease["metadata"]["labels"]["kept"], "yes");
}

// A newcomer waits the whole duration from its own first sight, however old the lease looks.
TEST_F(LeaderElectorTest, ALeaseIsOldOnlyByTheOwnClock) {
  Lease("gone", 15);
  auto a = Make("a");
  const TimePoint start = world_.Now();
  a->Acquire();
  world_.Run(milliseconds(14'990));
  EXPECT_THAT(a->notes(), IsEmpty());
  world_.Run(seconds(5));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  EXPECT_LE(After(*a, start, "won"), milliseconds(15'000 + 4'400 + 20));
}

TEST_F(LeaderElectorTest, AnObjectThatChangedButNotItsSpecSaysNothing) {
  Lease("gone", 15);
  auto a = Make("a");
  a->Acquire();
  for (int i = 0; i < 19; ++i) {
    world_.Run(seconds(1));
    server_.Edit([&](Json& lease) { lease["metadata"]["labels"]["n"] = std::to_string(i); });
  }
  world_.Run(milliseconds(500));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
}

TEST_F(LeaderElectorTest, TakeOverTimes) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    LeaseServer server;
    World world;
    Candidate a(world, server, {.name = "a", .seed = seed});
    // Half of them may not watch the lease, as with the roles that API servers bring.
    const bool watches = seed % 4 < 2;
    Candidate b(world, server,
                {.name = "b", .clock_offset = hours(-7), .seed = seed + 100, .may_watch = watches});
    a.Acquire();
    world.Run(seconds(1));
    b.Acquire();
    world.Run(seconds(30) + milliseconds(10 * seed));
    ASSERT_THAT(a.notes(), ElementsAre("won"));
    ASSERT_THAT(b.notes(), IsEmpty());
    const TimePoint end = world.Now();
    const bool crash = seed % 2 == 0;
    if (crash) {
      a.Kill();
    } else {
      a.Release();
    }
    world.Run(seconds(25));
    ASSERT_THAT(b.notes(), ElementsAre("won"));
    const Duration took = After(b, end, "won");
    // Without a watch b saw the last renewal, or that there is no holder, up to a wait later.
    const Duration most =
        (crash ? seconds(15) : seconds(0)) + (watches ? milliseconds(10) : milliseconds(4'450));
    EXPECT_LE(took, most);
    EXPECT_EQ(b.watches().size(), 1U);
    if (crash) {
      // Not before the lease has run out since the last renewal that b saw.
      EXPECT_GE(took, seconds(12));
    }
    EXPECT_EQ(server.lease["spec"]["leaseTransitions"], 1);
  }
}

TEST_F(LeaderElectorTest, ACandidateWatchesTheLeaseFromWhatItRead) {
  Lease("other", 15);
  auto a = Make("a");
  a->Acquire();
  world_.Run(seconds(1));
  EXPECT_THAT(a->watches(), ElementsAre(std::string(kWatch) + "7&watch=true"));
  // A change that does not concern it is no reason to ask.
  a->requests().clear();
  server_.Edit([](Json& lease) { lease["spec"]["renewTime"] = "2020-01-01T00:00:02.000000Z"; });
  world_.Run(milliseconds(10));
  EXPECT_THAT(a->requests(), IsEmpty());
  server_.Edit([](Json& lease) { lease["spec"]["holderIdentity"] = ""; });
  world_.Run(milliseconds(10));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  // A leader does not watch.
  world_.Run(minutes(2));
  EXPECT_EQ(a->watches().size(), 1U);
}

// The release is heard of while an older answer to a read is on its way.
TEST_F(LeaderElectorTest, WhatIsHeardDuringATryIsNotForgotten) {
  Lease("other", 15);
  auto a = Make("a");
  a->Acquire();
  world_.Run(seconds(1));
  TimePoint released{};
  a->script = [&](const HttpRequest& request) -> std::string {
    if (request.method != "GET" || released != TimePoint{}) return "";
    // The server reads after 1 ms; its answer takes 20 ms, the event of the release 1 ms.
    world_.At(world_.Now() + microseconds(500), [&] { a->faults.latency = milliseconds(20); });
    released = world_.Now() + milliseconds(2);
    world_.At(released, [&] {
      a->faults.latency = milliseconds(1);
      server_.Edit([](Json& lease) { lease["spec"]["holderIdentity"] = ""; });
    });
    return "";
  };
  world_.Run(seconds(5));
  ASSERT_NE(released, TimePoint{});
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  EXPECT_GE(After(*a, released, "won"), milliseconds(20));
  EXPECT_LE(After(*a, released, "won"), milliseconds(30));
}

TEST_F(LeaderElectorTest, ADeletedLeaseIsMadeAtOnce) {
  Lease("other", 15);
  auto a = Make("a");
  a->Acquire();
  world_.Run(seconds(1));
  const TimePoint deleted = world_.Now();
  server_.Delete();
  world_.Run(milliseconds(100));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  EXPECT_LE(After(*a, deleted, "won"), milliseconds(10));
}

// Whatever a watch says that is no event of the lease is left aside.
TEST_F(LeaderElectorTest, WhatIsNoEventIsLeftAside) {
  Lease("other", 15);
  auto a = Make("a");
  a->Acquire();
  world_.Run(milliseconds(500));
  for (const char* event :
       {R"({"type":7,"object":{}})", R"({"object":{}})", R"({"type":"MODIFIED"})",
        R"({"type":"MODIFIED","object":[]})", R"({"type":null,"object":null})",
        R"({"type":"ERROR","object":{"kind":"Status"}})", "[]"}) {
    server_.Say(event);
  }
  world_.Run(milliseconds(10));
  EXPECT_THAT(a->notes(), IsEmpty());
  server_.Edit([](Json& lease) { lease["spec"]["holderIdentity"] = ""; });
  world_.Run(seconds(5));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
}

// A watch that falls silent changes nothing: the lease is read as before, and watched again later.
TEST_F(LeaderElectorTest, ASilentWatchIsOnlyAShortcutLess) {
  Lease("other", 15);
  auto a = Make("a");
  a->Acquire();
  world_.Run(milliseconds(500));
  a->faults.lost_answer = 1;  // of what the watch says; no read is under way
  server_.Edit([](Json& lease) { lease["spec"]["holderIdentity"] = ""; });
  a->faults.lost_answer = 0;
  world_.Run(milliseconds(10));
  EXPECT_THAT(a->notes(), IsEmpty());
  world_.Run(milliseconds(4'400));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
}

TEST_F(LeaderElectorTest, ABrokenWatchIsOpenedAgain) {
  Lease("other", 15);
  auto a = Make("a");
  a->Acquire();
  world_.Run(milliseconds(500));
  a->faults.lost_answer = 1;
  server_.Edit([](Json& lease) { lease["spec"]["renewTime"] = "2020-01-01T00:00:01.000000Z"; });
  a->faults.lost_answer = 0;
  for (int i = 0; i < 18; ++i) {
    world_.Run(seconds(2));
    server_.Edit([&](Json& lease) { lease["spec"]["renewTime"] = std::to_string(i); });
  }
  EXPECT_EQ(a->watches().size(), 2U);
  EXPECT_THAT(a->notes(), IsEmpty());
  server_.Edit([](Json& lease) { lease["spec"]["holderIdentity"] = ""; });
  world_.Run(milliseconds(10));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
}

TEST_F(LeaderElectorTest, AConflictIsLookedInto) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(seconds(3));
  server_.Edit([](Json& lease) { lease["metadata"]["labels"]["x"] = "y"; });
  a->requests().clear();
  world_.Run(seconds(2));
  EXPECT_THAT(a->requests(), ElementsAre(kPut, kGet, kPut));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  EXPECT_EQ(server_.lease["metadata"]["labels"]["x"], "y");
}

TEST_F(LeaderElectorTest, AnotherHolderEndsTheTermAtOnce) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(seconds(3));
  server_.Edit([](Json& lease) { lease["spec"]["holderIdentity"] = "thief"; });
  const TimePoint stolen = world_.Now();
  world_.Run(seconds(2));
  EXPECT_THAT(a->notes(), ElementsAre("won", "lost: the lease is held by thief"));
  EXPECT_LE(After(*a, stolen, "lost"), milliseconds(2'010));
  EXPECT_TRUE(a->fence->IsClosed());
  EXPECT_FALSE(a->elector().IsLeader());
  EXPECT_EQ(server_.Holder(), "thief");
}

TEST_F(LeaderElectorTest, ALeaseThatWasDeletedIsMadeAnew) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(seconds(3));
  server_.lease = nullptr;
  world_.Run(seconds(3));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  EXPECT_EQ(server_.Holder(), "a");
}

// docs/spec/operations.md 14.11: the first failed renewal, then ten seconds.
TEST_F(LeaderElectorTest, TheDeadlineCountsFromTheRoundsBegin) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(milliseconds(2'500));
  const TimePoint last = server_.writes.back().at;  // of the renewal at 2 s
  a->CutOff(true);
  world_.Run(seconds(7));
  EXPECT_TRUE(a->fence->IsOpen());
  // The fence is shut ten seconds after the last good renewal was sent, the term ends ten seconds
  // after the round began, which is two seconds later.
  world_.Run(last + seconds(10) + milliseconds(1) - world_.Now());
  EXPECT_FALSE(a->fence->IsOpen());
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  world_.Run(seconds(2) + milliseconds(10));
  EXPECT_THAT(a->notes(), ElementsAre("won", "lost: context deadline exceeded"));
  EXPECT_TRUE(a->fence->IsClosed());
}

TEST_F(LeaderElectorTest, AShortOutageCostsNothing) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(seconds(3));
  a->CutOff(true);
  world_.Run(seconds(4));
  a->CutOff(false);
  world_.Run(seconds(20));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  EXPECT_TRUE(a->fence->IsOpen());
}

// The answer is lost, the renewal is not: the next try finds its own record.
TEST_F(LeaderElectorTest, LostAnswersAreNotLostLeases) {
  auto a = Make("a");
  int puts = 0;
  a->script = [&](const HttpRequest& request) -> std::string {
    return request.method == "PUT" && ++puts % 2 == 0 ? "lost answer" : "";
  };
  a->Acquire();
  world_.Run(minutes(2));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  EXPECT_EQ(Spec()["leaseTransitions"], 0);
}

TEST_F(LeaderElectorTest, AnAcquisitionWhoseAnswerIsLostIsKept) {
  auto a = Make("a");
  bool lost = false;
  a->script = [&](const HttpRequest& request) -> std::string {
    if (request.method != "POST" || lost) return "";
    lost = true;
    return "lost answer";
  };
  a->Acquire();
  world_.Run(seconds(4));
  EXPECT_THAT(a->notes(), IsEmpty());
  world_.Run(seconds(6));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
  EXPECT_EQ(Spec()["leaseTransitions"], 0);
}

TEST_F(LeaderElectorTest, ARestartedServerIsSurvived) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(seconds(3));
  a->script = [](const HttpRequest&) { return std::string("refused"); };
  world_.Run(seconds(6));
  a->script = nullptr;
  world_.Run(seconds(8));
  EXPECT_THAT(a->notes(), ElementsAre("won"));
}

TEST_F(LeaderElectorTest, AFrozenLeaderWakesBehindItsFence) {
  Candidate a(world_, server_, {.name = "a"});
  Candidate b(world_, server_, {.name = "b", .seed = 5});
  a.Acquire();
  world_.Run(seconds(3));
  b.Acquire();
  world_.Run(seconds(3));
  a.FreezeUntil(world_.Now() + seconds(30));
  world_.Run(milliseconds(29'999));
  ASSERT_THAT(b.notes(), ElementsAre("won"));
  // Before anything of it has run.
  EXPECT_FALSE(a.fence->IsOpen());
  world_.Run(seconds(3));
  EXPECT_THAT(a.notes(), ElementsAre("won", HasSubstr("lost: ")));
  EXPECT_EQ(server_.Holder(), "b");
}

// Nobody else was there: the term goes on, and whoever waited for the fence hears of it.
TEST_F(LeaderElectorTest, AFrozenLeaderAloneGoesOn) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(seconds(3));
  a->FreezeUntil(world_.Now() + seconds(30));
  world_.Run(seconds(30));
  world_.Run(seconds(5));
  EXPECT_TRUE(a->fence->IsOpen());
  EXPECT_THAT(a->notes(), ElementsAre("won", "again"));
}

TEST_F(LeaderElectorTest, AReleaseIsSeenByTheNext) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(seconds(3));
  a->requests().clear();
  a->Release();
  EXPECT_TRUE(a->fence->IsClosed());
  world_.Run(seconds(1));
  EXPECT_THAT(a->notes(), ElementsAre("won", "released"));
  EXPECT_THAT(a->requests(), ElementsAre(kEvent, kGet, kPut));
  EXPECT_EQ(Spec()["holderIdentity"], "");
  EXPECT_EQ(Spec()["leaseDurationSeconds"], 1);
  EXPECT_EQ(Spec()["leaseTransitions"], 0);
  EXPECT_EQ(Spec()["acquireTime"], Spec()["renewTime"]);
  EXPECT_EQ(server_.events.back()["message"], "a stopped leading");
  a->requests().clear();
  world_.Run(minutes(1));
  EXPECT_THAT(a->requests(), IsEmpty());
}

// The "→" of docs/spec/operations.md 6.4: upstream would wipe the other's lease.
TEST_F(LeaderElectorTest, AReleaseLeavesAnothersLeaseAlone) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(milliseconds(2'500));
  server_.Edit([](Json& lease) { lease["spec"]["holderIdentity"] = "b"; });
  a->Release();
  world_.Run(seconds(1));
  EXPECT_THAT(a->notes(), ElementsAre("won", "released"));
  EXPECT_EQ(server_.Holder(), "b");
}

TEST_F(LeaderElectorTest, AReleaseThatMeetsAConflictIsRepeated) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(milliseconds(2'500));
  int conflicts = 0;
  a->script = [&](const HttpRequest& request) -> std::string {
    if (request.method == "PUT" && conflicts < 2) {
      ++conflicts;
      server_.Edit([](Json& lease) { lease["metadata"]["labels"]["x"] = "y"; });
    }
    return "";
  };
  a->Release();
  world_.Run(seconds(1));
  EXPECT_EQ(conflicts, 2);
  EXPECT_EQ(server_.Holder(), "");
}

TEST_F(LeaderElectorTest, AReleaseWithoutServerEnds) {
  auto a = Make("a");
  a->Acquire();
  world_.Run(milliseconds(2'500));
  a->CutOff(true);
  a->Release();
  world_.Run(seconds(11));
  EXPECT_THAT(a->notes(), ElementsAre("won", "released"));
}

TEST_F(LeaderElectorTest, ACandidateThatIsJustWinningGivesItBack) {
  auto a = Make("a");
  a->faults.latency = milliseconds(100);
  a->Acquire();
  world_.Run(milliseconds(250));  // the POST is under way
  ASSERT_EQ(a->requests().back(), kPost);
  a->Release();
  world_.Run(seconds(1));
  EXPECT_THAT(a->notes(), ElementsAre("released"));
  ASSERT_FALSE(server_.writes.empty());
  EXPECT_EQ(server_.Holder(), "");
}

TEST_F(LeaderElectorTest, ACandidateThatHasNotWonReleasesNothing) {
  Lease("other", 15);
  auto a = Make("a");
  a->Acquire();
  world_.Run(seconds(3));
  a->Release();
  world_.Run(seconds(3));
  EXPECT_THAT(a->notes(), ElementsAre("released"));
  EXPECT_EQ(server_.Holder(), "other");
  EXPECT_THAT(server_.writes, IsEmpty());
}

TEST_F(LeaderElectorTest, WholeSecondsOfTheLeaseBoundTheFence) {
  Candidate a(world_, server_,
              {.name = "a",
               .lease_duration = milliseconds(2'900),
               .renew_deadline = milliseconds(2'800),
               .retry_period = milliseconds(500)});
  a.Acquire();
  world_.Run(milliseconds(700));
  EXPECT_EQ(Spec()["leaseDurationSeconds"], 2);
  const TimePoint last = server_.writes.back().at;
  a.CutOff(true);
  world_.Run(last + milliseconds(2'001) - world_.Now());
  EXPECT_FALSE(a.fence->IsOpen());
}

TEST_F(LeaderElectorTest, TheHealthCheckFailsAfterLeaseAndTolerance) {
  auto a = Make("a");
  EXPECT_EQ(a->elector().Failure(seconds(20)), "");
  a->Acquire();
  world_.Run(seconds(3));
  EXPECT_EQ(a->elector().Failure(seconds(20)), "");
  // An elector that does not come to its senses: frozen, but looked at.
  a->FreezeUntil(world_.Now() + minutes(5));
  world_.Run(seconds(34));
  EXPECT_EQ(a->elector().Failure(seconds(20)), "");
  world_.Run(seconds(2));
  EXPECT_EQ(a->elector().Failure(seconds(20)),
            "failed election to renew leadership on lease kube-scheduler");
}

TEST(LeaderElectorOptionsTest, UpstreamsTexts) {
  struct Case {
    const char* name;
    Duration lease, renew, retry;
    const char* want;
  };
  const Case cases[] = {
      {"defaults", seconds(15), seconds(10), seconds(2), ""},
      {"lease", seconds(10), seconds(10), seconds(2),
       "leaseDuration must be greater than renewDeadline"},
      {"renew", seconds(15), seconds(10), milliseconds(8'334),
       "renewDeadline must be greater than retryPeriod*JitterFactor"},
      {"exactly the jitter", seconds(15), seconds(12), seconds(10),
       "renewDeadline must be greater than retryPeriod*JitterFactor"},
      {"retry", seconds(15), seconds(10), seconds(0), "retryPeriod must be greater than zero"},
      {"below a second", milliseconds(900), milliseconds(500), milliseconds(100), ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<void> checked = CheckLeaderElector(
        {.lease_duration = c.lease, .renew_deadline = c.renew, .retry_period = c.retry});
    EXPECT_EQ(checked.ok() ? "" : checked.error().message,
              *c.want == 0 ? "" : std::string("couldn't create leader elector: ") + c.want);
  }
}

TEST(LeaderElectorOptionsTest, IdentitiesAreHostAndRandomUuid) {
  Random random(4);
  const std::regex form("cp-1_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string identity = NewIdentity("cp-1", random);
    EXPECT_TRUE(std::regex_match(identity, form)) << identity;
    EXPECT_TRUE(seen.insert(identity).second);
  }
}

// ---- several candidates, hours, faults ----

class LongRun : public ::testing::TestWithParam<int> {};

// Whatever networks, clocks and processes do: never two whose fences are open, and never one that
// is not the lease's holder, or about to learn it, after the others could take it.
TEST_P(LongRun, NeverTwoThatMayWrite) {
  const auto seed = static_cast<uint64_t>(GetParam());
  LeaseLongRun run(seed);
  for (size_t i = 0; i < 2 + seed % 2; ++i) {
    const Duration offset = hours(static_cast<int>(run.random.Below(100)) - 50);
    run.Join({.clock_offset = offset, .clock_rate = 0.99 + 0.02 * run.random.Unit()});
  }
  for (Duration time{}; time < hours(3); time += LeaseLongRun::kStep) {
    run.Step();
    ASSERT_NO_FATAL_FAILURE(run.Check());
  }
  // The faults are many, and yet somebody leads most of the time.
  EXPECT_GT(run.LedPart(), 0.5) << "seed " << seed;
  EXPECT_GT(run.terms(), 5U) << "seed " << seed;
}

// A seed takes seconds under the race detector.
constexpr int kSeeds = ks::testing::kRaceDetector ? 3 : 12;
INSTANTIATE_TEST_SUITE_P(Seeds, LongRun, ::testing::Range(1, kSeeds + 1));

}  // namespace
}  // namespace ks::client
