// SPDX-License-Identifier: Apache-2.0
// The LeaseCandidate of this process (docs/spec/operations.md 6.5), in virtual time.
#include "client/election/candidacy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include <nlohmann/json.hpp>

#include "client/fake_transport.h"

namespace ks::client {
namespace {

using nlohmann::json;
using Kind = TransportError::Kind;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kCandidates =
    "/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates";
constexpr const char* kOwn =
    "/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates/host_uuid";

class CandidacyTest : public ::testing::Test {
 protected:
  CandidacyTest()
      : client_(net_.Client()),
        candidacy_(
            std::make_unique<Candidacy>(*client_, CandidacyOptions{.identity = "host_uuid",
                                                                   .binary_version = "1.37.1",
                                                                   .emulation_version = "1.37.0",
                                                                   .seed = 3})) {}

  FakeTransport& sent() { return net_.transport; }
  size_t Last() { return sent().size() - 1; }
  std::string LastLine() {
    const HttpRequest request = sent().request(Last());
    return request.method + " " + request.target;
  }
  json LastBody() { return json::parse(sent().request(Last()).body); }
  TimePoint Now() const { return net_.timers.clock().WallNow(); }

  // As the server has it: what was asked for, with more fields.
  json Stored(const std::string& version, const std::string& renewed = "",
              const std::string& pinged = "") const {
    json object = {{"kind", "LeaseCandidate"},
                   {"apiVersion", "coordination.k8s.io/v1beta1"},
                   {"metadata",
                    {{"name", "host_uuid"},
                     {"namespace", "kube-system"},
                     {"uid", "u-1"},
                     {"resourceVersion", version},
                     {"labels", {{"kept", "yes"}}}}},
                   {"spec",
                    {{"leaseName", "kube-scheduler"},
                     {"renewTime", renewed.empty() ? FormatMicroTime(Now()) : renewed},
                     {"binaryVersion", "1.37.1"},
                     {"emulationVersion", "1.37.0"},
                     {"strategy", "OldestEmulationVersion"}}}};
    if (!pinged.empty()) object["spec"]["pingTime"] = pinged;
    return object;
  }
  static std::string List(const std::vector<json>& items, const std::string& version) {
    return json{{"kind", "LeaseCandidateList"},
                {"apiVersion", "coordination.k8s.io/v1beta1"},
                {"metadata", {{"resourceVersion", version}}},
                {"items", items}}
        .dump();
  }
  void Event(size_t watch, const std::string& type, const json& object) {
    sent().Data(watch, json{{"type", type}, {"object", object}}.dump() + "\n");
  }
  // Made, listed and watched; the number of the watch.
  size_t MakeAndWatch() {
    candidacy_->Start();
    sent().Answer(Last(), 201, Stored("10").dump());
    EXPECT_THAT(LastLine(), StartsWith(std::string("GET ") + kCandidates));
    sent().Answer(Last(), 200, List({Stored("10")}, "11"));
    sent().Headers(Last(), 200);
    return Last();
  }

  FakeNetwork net_;
  std::unique_ptr<RestClient> client_;
  std::unique_ptr<Candidacy> candidacy_;
};

TEST_F(CandidacyTest, MakesTheObjectAndWatchesItAlone) {
  candidacy_->Start();
  ASSERT_EQ(sent().size(), 1U);
  EXPECT_EQ(LastLine(), std::string("POST ") + kCandidates);
  EXPECT_EQ(
      sent().request(0).body,
      R"({"kind":"LeaseCandidate","apiVersion":"coordination.k8s.io/v1beta1","metadata":{"name":)"
      R"("host_uuid","namespace":"kube-system"},"spec":{"leaseName":"kube-scheduler",)"
      R"("renewTime":"2026-01-02T03:04:05.000000Z","binaryVersion":"1.37.1",)"
      R"("emulationVersion":"1.37.0","strategy":"OldestEmulationVersion"}})");
  EXPECT_FALSE(candidacy_->Synced());
  sent().Answer(0, 201, Stored("10").dump());
  EXPECT_EQ(LastLine(), std::string("GET ") + kCandidates +
                            "?fieldSelector=metadata.name%3Dhost_uuid&limit=500&resourceVersion=0");
  EXPECT_FALSE(candidacy_->Synced());
  sent().Answer(1, 200, List({Stored("10")}, "11"));
  EXPECT_TRUE(candidacy_->Synced());
  EXPECT_THAT(LastLine(), HasSubstr("watch=true"));
  EXPECT_THAT(LastLine(), HasSubstr("fieldSelector=metadata.name%3Dhost_uuid"));
  EXPECT_EQ(sent().size(), 3U);
}

TEST_F(CandidacyTest, AnswersAPing) {
  const size_t watch = MakeAndWatch();
  const std::string made = FormatMicroTime(Now());
  net_.timers.Advance(seconds(20));
  Event(watch, "MODIFIED", Stored("20", made, FormatMicroTime(Now() - milliseconds(3))));
  EXPECT_EQ(LastLine(), std::string("PUT ") + kOwn);
  const json body = LastBody();
  EXPECT_EQ(body["kind"], "LeaseCandidate");
  EXPECT_EQ(body["apiVersion"], "coordination.k8s.io/v1beta1");
  EXPECT_EQ(body["metadata"]["resourceVersion"], "20");
  EXPECT_EQ(body["metadata"]["labels"]["kept"], "yes");
  EXPECT_EQ(body["spec"]["renewTime"], FormatMicroTime(Now()));
  EXPECT_EQ(body["spec"]["pingTime"], FormatMicroTime(Now() - milliseconds(3)));
  EXPECT_EQ(body["spec"]["binaryVersion"], "1.37.1");
  const size_t asked = sent().size();
  sent().Answer(Last(), 200, Stored("21", FormatMicroTime(Now()), made).dump());
  Event(watch, "MODIFIED", Stored("21", FormatMicroTime(Now()), made));
  EXPECT_EQ(sent().size(), asked);
}

// A clock behind the server's: an answer that looks older than its ping would be none.
TEST_F(CandidacyTest, AnAnswerIsNeverOlderThanItsPing) {
  const size_t watch = MakeAndWatch();
  const TimePoint ahead = Now() + minutes(7);
  Event(watch, "MODIFIED", Stored("20", FormatMicroTime(Now()), FormatMicroTime(ahead)));
  ASSERT_EQ(LastLine(), std::string("PUT ") + kOwn);
  EXPECT_EQ(LastBody()["spec"]["renewTime"], FormatMicroTime(ahead + std::chrono::microseconds(1)));
}

TEST_F(CandidacyTest, APingBeforeTheLastRenewalHasBeenAnswered) {
  const size_t watch = MakeAndWatch();
  const size_t asked = sent().size();
  Event(watch, "MODIFIED",
        Stored("20", FormatMicroTime(Now()), FormatMicroTime(Now() - seconds(1))));
  EXPECT_EQ(sent().size(), asked);
}

TEST_F(CandidacyTest, RenewsEveryFiveMinutes) {
  MakeAndWatch();
  const size_t asked = sent().size();
  net_.timers.Advance(minutes(5) - seconds(1));
  EXPECT_EQ(sent().size(), asked);
  net_.timers.Advance(seconds(1));
  EXPECT_EQ(LastLine(), std::string("PUT ") + kOwn);
  EXPECT_EQ(LastBody()["spec"]["renewTime"], FormatMicroTime(Now()));
  sent().Answer(Last(), 200, Stored("30").dump());
  net_.timers.Advance(minutes(5) - seconds(1));
  EXPECT_EQ(sent().size(), asked + 1);
  net_.timers.Advance(seconds(1));
  EXPECT_EQ(sent().size(), asked + 2);
  EXPECT_EQ(LastBody()["metadata"]["resourceVersion"], "30");
}

TEST_F(CandidacyTest, ADeletedOneIsMadeAgain) {
  const size_t watch = MakeAndWatch();
  Event(watch, "DELETED", Stored("20"));
  ASSERT_EQ(LastLine(), std::string("POST ") + kCandidates);
  sent().Answer(Last(), 201, Stored("21").dump());
  const size_t asked = sent().size();
  Event(watch, "ADDED", Stored("21"));
  // An event about the former object comes late.
  Event(watch, "DELETED", Stored("20"));
  EXPECT_EQ(sent().size(), asked);
}

TEST_F(CandidacyTest, ARenewalThatFindsNothingMakesItAgain) {
  MakeAndWatch();
  net_.timers.Advance(minutes(5));
  ASSERT_EQ(LastLine(), std::string("PUT ") + kOwn);
  sent().Answer(Last(), 404,
                StatusBody(404, "NotFound",
                           "leasecandidates.coordination.k8s.io \\\"host_uuid\\\" not found"));
  EXPECT_EQ(LastLine(), std::string("POST ") + kCandidates);
}

// Deleted while the watch was broken, or a list of a cache that is behind.
TEST_F(CandidacyTest, AListWithoutItIsLookedInto) {
  candidacy_->Start();
  sent().Answer(0, 201, Stored("10").dump());
  sent().Answer(1, 200, List({}, "9"));
  bool renewed = false;
  for (size_t i = 2; i < sent().size(); ++i) {
    if (sent().request(i).method != "PUT") continue;
    renewed = true;
    sent().Answer(i, 200, Stored("12").dump());
  }
  EXPECT_TRUE(renewed);
  EXPECT_EQ(sent().size(), 4U);  // and the watch
}

TEST_F(CandidacyTest, AConflictIsTriedAgainWithTheNewestState) {
  const size_t watch = MakeAndWatch();
  const std::string made = FormatMicroTime(Now());
  net_.timers.Advance(seconds(2));
  Event(watch, "MODIFIED", Stored("20", made, FormatMicroTime(Now())));
  const size_t put = Last();
  Event(watch, "MODIFIED", Stored("22", made, FormatMicroTime(Now())));
  EXPECT_EQ(Last(), put);  // one at a time
  sent().Answer(put, 409, StatusBody(409, "Conflict", "the object has been modified"));
  EXPECT_EQ(Last(), put);
  net_.timers.Advance(seconds(2));
  ASSERT_GT(Last(), put);
  EXPECT_EQ(LastBody()["metadata"]["resourceVersion"], "22");
  const size_t second = Last();
  sent().Answer(second, 409, StatusBody(409, "Conflict", "the object has been modified"));
  Event(watch, "MODIFIED", Stored("23", made, FormatMicroTime(Now())));
  ASSERT_GT(Last(), second);  // news end the wait
  EXPECT_EQ(LastBody()["metadata"]["resourceVersion"], "23");
}

TEST_F(CandidacyTest, ACreationWhoseAnswerWasLostIsFoundByTheWatch) {
  candidacy_->Start();
  sent().Fail(0, Kind::kTimedOut);
  net_.timers.Advance(seconds(3));
  ASSERT_EQ(LastLine(), std::string("POST ") + kCandidates);
  sent().Answer(Last(), 409,
                StatusBody(409, "AlreadyExists",
                           "leasecandidates.coordination.k8s.io \\\"host_uuid\\\" already exists"));
  ASSERT_THAT(LastLine(), StartsWith(std::string("GET ") + kCandidates));
  sent().Answer(Last(), 200, List({Stored("10", FormatMicroTime(Now()))}, "11"));
  const size_t asked = sent().size();
  EXPECT_TRUE(candidacy_->Synced());
  net_.timers.Advance(seconds(1));
  EXPECT_EQ(sent().size(), asked);
}

// The API group's version is off in the server: asked again and again, slower and slower.
TEST_F(CandidacyTest, AServerWithoutTheApiIsToldOfAndAskedAgain) {
  ::testing::internal::CaptureStderr();
  candidacy_->Start();
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(LastLine(), std::string("POST ") + kCandidates);
    sent().Answer(Last(), 404, "404 page not found\n");
    net_.timers.Advance(minutes(1));
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("the server could not find the requested resource"));
  EXPECT_THAT(log, HasSubstr("--runtime-config=coordination.k8s.io/v1beta1=true"));
  EXPECT_EQ(sent().size(), 6U);
  EXPECT_FALSE(candidacy_->Synced());
  // An administrator follows the advice.
  sent().Answer(Last(), 201, Stored("10").dump());
  sent().Answer(Last(), 200, List({Stored("10")}, "11"));
  EXPECT_TRUE(candidacy_->Synced());
}

struct OddAnswer {
  const char* name;
  int status;
  std::string body;
};

class CandidacyAnswersTest : public CandidacyTest,
                             public ::testing::WithParamInterface<OddAnswer> {};

// Whatever comes, it is neither taken for the object nor asked for without end.
TEST_P(CandidacyAnswersTest, AreSurvived) {
  candidacy_->Start();
  sent().Answer(0, GetParam().status, GetParam().body);
  const size_t first = sent().size();
  EXPECT_LE(first, 2U);
  net_.timers.Advance(milliseconds(700));
  EXPECT_EQ(sent().size(), first);
  net_.timers.Advance(seconds(2));
  size_t last = 0;
  for (size_t i = 1; i < sent().size(); ++i) {
    if (sent().request(i).method == "POST") last = i;
  }
  ASSERT_NE(last, 0U) << "never tried again";
  sent().Answer(last, 201, Stored("10").dump());
  // And of a renewal.
  net_.timers.Advance(minutes(5));
  size_t put = 0;
  for (size_t i = last; i < sent().size(); ++i) {
    if (sent().request(i).method == "PUT") put = i;
  }
  ASSERT_NE(put, 0U);
  const size_t before = sent().size();
  sent().Answer(put, GetParam().status, GetParam().body);
  EXPECT_LE(sent().size(), before + 1);
  net_.timers.Advance(seconds(3));
  EXPECT_GT(sent().size(), before);
}

INSTANTIATE_TEST_SUITE_P(
    Odd, CandidacyAnswersTest,
    ::testing::Values(OddAnswer{"Empty", 200, ""}, OddAnswer{"NoJson", 201, "<html>busy</html>"},
                      OddAnswer{"Cut", 200, R"({"kind":"LeaseCandidate","meta)"},
                      OddAnswer{"Array", 200, "[]"},
                      OddAnswer{"AnotherName", 200,
                                R"({"kind":"LeaseCandidate","metadata":{"name":"x"}})"},
                      OddAnswer{"AnotherKind", 200, R"({"kind":"Pod"})"},
                      OddAnswer{"BadTime", 200,
                                R"({"kind":"LeaseCandidate","metadata":{"name":"host_uuid",)"
                                R"("resourceVersion":"3"},"spec":{"pingTime":"yesterday"}})"},
                      OddAnswer{"Forbidden", 403, StatusBody(403, "Forbidden", "no")},
                      OddAnswer{"Invalid", 422, StatusBody(422, "Invalid", "no")},
                      OddAnswer{"Internal", 500, "etcd is away"}),
    [](const auto& row) { return row.param.name; });

TEST_F(CandidacyTest, NothingIsSentAfterStop) {
  const size_t watch = MakeAndWatch();
  const size_t asked = sent().size();
  candidacy_->Stop();
  EXPECT_TRUE(sent().canceled(watch));
  net_.timers.Advance(minutes(20));
  EXPECT_EQ(sent().size(), asked);
  candidacy_->Stop();
}

TEST_F(CandidacyTest, WithdrawnItIsDeleted) {
  const size_t watch = MakeAndWatch();
  std::atomic<int> done = 0;
  candidacy_->Withdraw([&] { ++done; });
  EXPECT_TRUE(sent().canceled(watch));
  EXPECT_EQ(LastLine(), std::string("DELETE ") + kOwn);
  EXPECT_EQ(done, 0);
  sent().Answer(Last(), 200, Stored("10").dump());
  EXPECT_EQ(done, 1);
  const size_t asked = sent().size();
  net_.timers.Advance(minutes(20));
  EXPECT_EQ(sent().size(), asked);
  EXPECT_EQ(done, 1);
}

TEST_F(CandidacyTest, AServerThatDoesNotAnswerHoldsNobodyUp) {
  MakeAndWatch();
  std::atomic<int> done = 0;
  candidacy_->Withdraw([&] { ++done; });
  net_.timers.Advance(seconds(1));
  EXPECT_EQ(done, 1);
  sent().Fail(Last(), Kind::kTimedOut);
  EXPECT_EQ(done, 1);
}

TEST_F(CandidacyTest, StopCancelsWhatIsUnderWay) {
  candidacy_->Start();
  candidacy_->Stop();
  EXPECT_TRUE(sent().canceled(0));
  net_.timers.Advance(minutes(1));
  EXPECT_EQ(sent().size(), 1U);
}

}  // namespace
}  // namespace ks::client
