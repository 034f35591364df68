// SPDX-License-Identifier: Apache-2.0
// Events and their series (docs/spec/api.md section 10), in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/fake_transport.h"
#include "client/write/event_series.h"
#include "client/write/writer.h"
#include "testing/builders.h"

namespace ks::client {
namespace {

using Kind = TransportError::Kind;
using ks::testing::MakePod;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::StartsWith;

class WriterEventsTest : public ::testing::Test {
 protected:
  WriterEventsTest() : scheduling_(net_.Client()), events_(net_.Client()) { Restart({}); }

  void Restart(WriterOptions options) {
    options.host_name = "host1";
    options.gathering = Duration::zero();
    writer_ = std::make_unique<Writer>(*scheduling_, *events_, options);
  }
  void Record(const std::string& pod, const std::string& version = "42",
              const std::string& note = "0/3 nodes are available: 3 x.") {
    writer_->RecordEvent(
        {.regarding =
             MakePod().Name(pod).Namespace("ns").Uid("u-" + pod).ResourceVersion(version).Obj(),
         .reporting_controller = "default-scheduler",
         .reason = "FailedScheduling",
         .action = "Scheduling",
         .note = note,
         .warning = true});
    net_.timers.Settle();
  }
  std::string Line(size_t i) {
    const HttpRequest request = net_.transport.request(i);
    return request.method + " " + request.target;
  }
  std::string Body(size_t i) { return net_.transport.request(i).body; }

  FakeNetwork net_;
  std::unique_ptr<RestClient> scheduling_;
  std::unique_ptr<RestClient> events_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(WriterEventsTest, Creation) {
  Record("p");
  ASSERT_EQ(net_.transport.size(), 1u);
  EXPECT_EQ(Line(0), "POST /apis/events.k8s.io/v1/namespaces/ns/events");
  EXPECT_THAT(
      Body(0),
      StartsWith(R"({"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"p.)"));
  EXPECT_THAT(
      Body(0),
      HasSubstr(
          R"("reportingController":"default-scheduler","reportingInstance":"default-scheduler-host1",)"
          R"("action":"Scheduling","reason":"FailedScheduling")"));
  EXPECT_THAT(Body(0), HasSubstr(R"("eventTime":"2026-01-02T03:04:05.000000Z")"));
  net_.transport.Answer(0, 201, "{}");
  EXPECT_EQ(writer_->Stats().events_sent, 1u);
  EXPECT_EQ(writer_->Stats().events_pending, 0u);
}

// They would be dropped if they only waited.
TEST_F(WriterEventsTest, StandBackWhileTheLaneOfBindingsIsFullUntilHalfTheQueueWaits) {
  Restart({.bind_in_flight = 1, .event_in_flight = 4, .event_queue = 8});
  writer_->Bind(MakePod().Name("bound").Obj(), "n", {});
  for (const char* pod : {"a", "b", "c", "d", "e"}) Record(pod);
  EXPECT_EQ(net_.transport.size(), 2u) << "the binding and a quarter of four events";
  Record("f");
  EXPECT_EQ(net_.transport.size(), 3u) << "more than four wait";
  net_.transport.Answer(0, 201, "{}");
  net_.timers.Settle();
  EXPECT_EQ(net_.transport.size(), 5u);
  for (size_t i = 1; i < net_.transport.size(); ++i) net_.transport.Answer(i, 201, "{}");
  EXPECT_EQ(writer_->Stats().events_sent, 6u);
  EXPECT_EQ(writer_->Stats().events_dropped, 0u);
}

// The first one goes at once; what follows within the millisecond goes together, after it.
TEST_F(WriterEventsTest, AreGathered) {
  writer_ = std::make_unique<Writer>(*scheduling_, *events_, WriterOptions{.event_in_flight = 4});
  for (const char* pod : {"a", "b", "c"}) Record(pod);
  EXPECT_EQ(net_.transport.size(), 1u);
  net_.timers.Advance(std::chrono::microseconds(999));
  EXPECT_EQ(net_.transport.size(), 1u);
  net_.timers.Advance(std::chrono::microseconds(1));
  EXPECT_EQ(net_.transport.size(), 3u);
  net_.timers.Advance(seconds(1));
  Record("d");
  EXPECT_EQ(net_.transport.size(), 4u) << "nothing to wait for";
}

// POST at 0, PATCH count 2 at 20 s, nothing at 40 s; at the 6-minute tick after 400 s: PATCH count
// 3, forgotten.
TEST_F(WriterEventsTest, W22) {
  Record("p");
  net_.transport.Answer(0, 201, "{}");
  net_.timers.Advance(seconds(20));
  Record("p", "42", "another text");
  ASSERT_EQ(net_.transport.size(), 2u);
  EXPECT_THAT(Line(1), StartsWith("PATCH /apis/events.k8s.io/v1/namespaces/ns/events/p."));
  EXPECT_EQ(Body(1), R"({"series":{"count":2,"lastObservedTime":"2026-01-02T03:04:25.000000Z"}})");
  net_.transport.Answer(1, 200, "{}");
  net_.timers.Advance(seconds(20));
  Record("p");
  net_.timers.Advance(seconds(360));
  EXPECT_EQ(net_.transport.size(), 2u) << "at 400 s";
  net_.timers.Advance(seconds(319));
  EXPECT_EQ(net_.transport.size(), 2u) << "at 719 s";
  net_.timers.Advance(seconds(1));
  ASSERT_EQ(net_.transport.size(), 3u);
  EXPECT_EQ(Body(2), R"({"series":{"count":3,"lastObservedTime":"2026-01-02T03:04:45.000000Z"}})");
  net_.transport.Answer(2, 200, "{}");
  // Forgotten: the next occurrence is a new event.
  Record("p");
  EXPECT_THAT(Line(3), StartsWith("POST "));
  net_.transport.Answer(3, 201, "{}");
}

TEST_F(WriterEventsTest, AChangedPodIsANewEvent) {
  Record("p", "42");
  Record("p", "43");
  ASSERT_EQ(net_.transport.size(), 2u);
  EXPECT_THAT(Line(1), StartsWith("POST "));
}

TEST_F(WriterEventsTest, TheSecondOccurrenceWaitsForTheCreation) {
  Record("p");
  Record("p");
  Record("p");
  EXPECT_EQ(net_.transport.size(), 1u);
  net_.transport.Answer(0, 201, "{}");
  ASSERT_EQ(net_.transport.size(), 2u);
  EXPECT_THAT(Body(1), HasSubstr("\"count\":3"));
}

TEST_F(WriterEventsTest, SeriesAreToldEvery30Minutes) {
  Record("p");
  net_.transport.Answer(0, 201, "{}");
  Record("p");
  net_.transport.Answer(1, 200, "{}");
  for (int i = 0; i < 29; ++i) {
    net_.timers.Advance(minutes(1));
    Record("p");
  }
  EXPECT_EQ(net_.transport.size(), 2u);
  net_.timers.Advance(minutes(1));
  ASSERT_EQ(net_.transport.size(), 3u);
  EXPECT_THAT(Body(2), HasSubstr("\"count\":31"));
}

TEST_F(WriterEventsTest, APatchThatFindsNothingCreatesAgain) {
  Record("p");
  net_.transport.Answer(0, 201, "{}");
  Record("p");
  net_.transport.Answer(1, 404, StatusBody(404, "NotFound", "gone"));
  net_.timers.Settle();
  ASSERT_EQ(net_.transport.size(), 3u);
  EXPECT_EQ(Line(2), Line(0));
  EXPECT_THAT(Body(2), AllOf(StartsWith(R"({"series":{"count":2,"lastObservedTime":)"),
                             HasSubstr(R"(},"kind":"Event",)"), HasSubstr(Body(0).substr(1))));
  net_.transport.Answer(2, 201, "{}");
  EXPECT_EQ(writer_->Stats().events_sent, 2u);
}

TEST_F(WriterEventsTest, NetworkFailuresAreRepeated12Times) {
  Record("p");
  for (size_t i = 0; i < 12; ++i) {
    ASSERT_EQ(net_.transport.size(), i + 1);
    net_.transport.Fail(i, Kind::kRefused);
    if (i == 11) break;
    const Duration wait = net_.timers.UntilNext();
    EXPECT_THAT(wait, AllOf(Ge(seconds(10)), Le(std::chrono::milliseconds(12500))));
    net_.timers.Advance(wait);
  }
  EXPECT_EQ(writer_->Stats().events_failed, 1u);
  EXPECT_EQ(writer_->Stats().events_pending, 0u);
}

TEST_F(WriterEventsTest, ApiErrorsAreFinal) {
  Record("p");
  net_.transport.Answer(0, 422, StatusBody(422, "Invalid", "too long"));
  EXPECT_EQ(writer_->Stats().events_failed, 1u);
  EXPECT_EQ(net_.transport.size(), 1u);
}

TEST_F(WriterEventsTest, AnEventThatExistsAfterALostAnswerIsOurs) {
  Record("p");
  net_.transport.UncertainNext();
  net_.transport.Answer(0, 409, StatusBody(409, "AlreadyExists", "exists"));
  EXPECT_EQ(writer_->Stats().events_sent, 1u);
}

TEST_F(WriterEventsTest, TheOldestIsDroppedWhenTheQueueIsFull) {
  Restart({.event_in_flight = 1, .event_queue = 3});
  for (int i = 0; i < 6; ++i) Record("p" + std::to_string(i));
  EXPECT_EQ(writer_->Stats().events_dropped, 2u);
  EXPECT_EQ(writer_->Stats().events_pending, 4u);
  for (size_t i = 0; i < 4; ++i) net_.transport.Answer(i, 201, "{}");
  EXPECT_EQ(net_.transport.size(), 4u);
  EXPECT_THAT(Body(0), HasSubstr("\"name\":\"p0."));
  EXPECT_THAT(Body(1), HasSubstr("\"name\":\"p3."));
  EXPECT_THAT(Body(3), HasSubstr("\"name\":\"p5."));
}

TEST_F(WriterEventsTest, EventsDoNotHoldBindingsBackAndAreDroppedAtShutdown) {
  Restart({.event_in_flight = 1});
  Record("a");
  Record("b");
  bool bound = false;
  writer_->Bind(MakePod().Name("c").Obj(), "n",
                [&bound](std::optional<api::ApiError> error) { bound = !error; });
  ASSERT_EQ(net_.transport.size(), 2u);
  net_.transport.Answer(1, 201, "{}");
  EXPECT_TRUE(bound);
  EXPECT_TRUE(writer_->Drain(Duration::zero())) << "events do not count";
  EXPECT_TRUE(net_.transport.canceled(0));
  EXPECT_EQ(writer_->Stats().events_dropped, 1u);
  Record("d");
  EXPECT_EQ(writer_->Stats().events_dropped, 2u);
}

TEST_F(WriterEventsTest, Legacy) {
  Restart({.legacy_events = true});
  Record("p");
  EXPECT_EQ(Line(0), "POST /api/v1/namespaces/ns/events");
  EXPECT_THAT(Body(0), StartsWith(R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"p.)"));
  EXPECT_THAT(
      Body(0),
      HasSubstr(
          R"("involvedObject":{"kind":"Pod","namespace":"ns","name":"p","uid":"u-p","apiVersion":"v1","resourceVersion":"42"},)"
          R"("reason":"FailedScheduling","message":"0/3 nodes are available: 3 x.",)"
          R"("source":{"component":"default-scheduler"},)"
          R"("firstTimestamp":"2026-01-02T03:04:05Z","lastTimestamp":"2026-01-02T03:04:05Z","count":1,)"
          R"("type":"Warning","eventTime":null,"reportingComponent":"default-scheduler","reportingInstance":""})"));
  net_.transport.Answer(0, 201, "{}");
  net_.timers.Advance(seconds(20));
  Record("p");
  EXPECT_EQ(Body(1), R"({"count":2,"lastTimestamp":"2026-01-02T03:04:25Z"})");
  Record("p", "42", "another text");
  EXPECT_THAT(Line(2), StartsWith("POST ")) << "the text is part of the key";
}

// Asked of upstream's correlator: the tenth text within ten minutes is the first to be combined.
TEST_F(WriterEventsTest, LegacyEventsThatDifferInTextBecomeOne) {
  Restart({.legacy_events = true});
  for (int i = 1; i <= 9; ++i) {
    Record("p", std::to_string(i), "m" + std::to_string(i));
    EXPECT_THAT(Body(i - 1), HasSubstr("\"message\":\"m" + std::to_string(i) + "\""));
    net_.transport.Answer(i - 1, 201, "{}");
  }
  Record("p", "10", "m10");
  EXPECT_THAT(Line(9), StartsWith("POST "));
  EXPECT_THAT(Body(9), HasSubstr(R"("message":"(combined from similar events): m10")"));
  net_.transport.Answer(9, 201, "{}");
  Record("p", "11", "m11");
  EXPECT_THAT(Line(10), StartsWith("PATCH "));
  EXPECT_THAT(Body(10), HasSubstr(R"("count":2,)"));
  EXPECT_THAT(Body(10), HasSubstr(R"("message":"(combined from similar events): m11")"));
  net_.transport.Answer(10, 200, "{}");
  net_.timers.Advance(minutes(10) + seconds(1));
  const size_t before = net_.transport.size();
  Record("p", "12", "m99");
  ASSERT_GT(net_.transport.size(), before);
  EXPECT_THAT(Body(net_.transport.size() - 1), HasSubstr(R"("message":"m99")"));
}

TEST_F(WriterEventsTest, LegacyEventsOfOneObjectHaveABudget) {
  EventLimits limits;
  const TimePoint start(seconds(1'000'000));
  for (int i = 0; i < 25; ++i) EXPECT_TRUE(limits.Allows("q", start)) << i;
  EXPECT_FALSE(limits.Allows("q", start));
  EXPECT_FALSE(limits.Allows("q", start + seconds(299)));
  EXPECT_TRUE(limits.Allows("r", start)) << "another object";
  EXPECT_TRUE(limits.Allows("q", start + seconds(300)));
  EXPECT_FALSE(limits.Allows("q", start + seconds(300)));

  Restart({.legacy_events = true});
  for (int i = 0; i < 40; ++i) {
    // Nine texts at a time, so that nothing is combined.
    Record("p", "1", "m" + std::to_string(i));
    if (i % 8 == 7) net_.timers.Advance(minutes(10) + seconds(1));
    for (size_t sent = 0; sent < net_.transport.size(); ++sent) {
      if (net_.transport.open(sent)) net_.transport.Answer(sent, 201, "{}");
    }
  }
  EXPECT_EQ(net_.transport.size(), 25U + 8U) << "and one more each five minutes";
}

TEST_F(WriterEventsTest, Detection) {
  for (const int status : {200, 404}) {
    FakeNetwork net;
    const auto client = net.Client();
    std::thread answering([&net, status] {
      while (net.transport.size() == 0) std::this_thread::yield();
      net.transport.Answer(0, status, "{}");
    });
    EXPECT_EQ(DetectEventsApi(*client), status == 200);
    answering.join();
    EXPECT_EQ(net.transport.request(0).target, "/apis/events.k8s.io/v1");
  }
}

TEST(EventSeries, MemoryIsBounded) {
  EventSeries series({.host_name = "h", .most_remembered = 100});
  for (int i = 0; i < 1000; ++i) {
    const auto due =
        series.Record({.regarding = MakePod().Name("p" + std::to_string(i)).Obj(), .reason = "r"},
                      TimePoint{}, TimePoint{});
    ASSERT_NE(due, nullptr);
    EXPECT_FALSE(series.Sent(*due, 1));
  }
  EXPECT_EQ(series.size(), 100u);
}

}  // namespace
}  // namespace ks::client
