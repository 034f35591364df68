// SPDX-License-Identifier: Apache-2.0
// Repetitions, rate limit, errors and cancellation (docs/spec/api.md 7.3 to 7.5), in virtual time.
#include "client/rest/rest_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "client/fake_transport.h"
#include "client/rest/token_bucket.h"

namespace ks::client {
namespace {

using Kind = TransportError::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Slot {
  std::optional<RestReply> reply;
  RestHandler Handler() {
    return [this](RestReply r) { reply = std::move(r); };
  }
};

struct ScriptStep {
  int status = 0;  // 0: `failure` instead
  std::string retry_after;
  Kind failure = Kind::kLost;
};

struct RepetitionCase {
  std::string name;
  std::string method = "GET";
  std::vector<ScriptStep> steps;  // the last one is repeated
  size_t want_requests = 1;
  Duration want_elapsed{};
  int want_code = 0;
  std::string want_error;  // part of it; empty: success
  bool want_uncertain = false;
};

class Repetition : public ::testing::TestWithParam<RepetitionCase> {};

TEST_P(Repetition, Row) {
  const RepetitionCase& row = GetParam();
  FakeNetwork net;
  const auto client = net.Client();
  Slot slot;
  client->Send(
      {.method = row.method, .target = "/api/v1/x", .body = row.method == "POST" ? "{}" : ""},
      slot.Handler());
  for (size_t i = 0; i < 40 && !slot.reply.has_value(); ++i) {
    if (i < net.transport.size()) {
      const ScriptStep& step = row.steps[std::min(i, row.steps.size() - 1)];
      if (step.status != 0) {
        net.transport.Answer(i, step.status,
                             step.status < 300 ? "{}" : StatusBody(step.status, "", "no"),
                             step.retry_after);
      } else {
        net.transport.Fail(i, step.failure);
      }
    }
    if (const Duration next = net.timers.UntilNext(); next > Duration::zero())
      net.timers.Advance(next);
  }
  ASSERT_TRUE(slot.reply.has_value());
  EXPECT_EQ(net.transport.size(), row.want_requests);
  EXPECT_EQ(net.transport.at(net.transport.size() - 1), row.want_elapsed);
  EXPECT_EQ(slot.reply->code, row.want_code);
  EXPECT_EQ(slot.reply->ok(), row.want_error.empty());
  if (!slot.reply->ok()) {
    EXPECT_THAT(slot.reply->error->message, HasSubstr(row.want_error));
  }
  EXPECT_EQ(slot.reply->uncertain, row.want_uncertain);
}

INSTANTIATE_TEST_SUITE_P(
    Api73, Repetition,
    ::testing::Values(RepetitionCase{.name = "W16",
                                     .method = "POST",
                                     .steps = {{429, "2"}, {201}},
                                     .want_requests = 2,
                                     .want_elapsed = seconds(2),
                                     .want_code = 201},
                      RepetitionCase{.name = "W17",
                                     .method = "POST",
                                     .steps = {{429}},
                                     .want_code = 429,
                                     .want_error = "no"},
                      RepetitionCase{.name = "dateIsNoInteger",
                                     .steps = {{503, "Wed, 21 Oct 2026 07:28:00 GMT"}},
                                     .want_code = 503,
                                     .want_error = "no",
                                     .want_uncertain = true},
                      RepetitionCase{.name = "zeroRepeatsAtOnce",
                                     .steps = {{503, "0"}, {200}},
                                     .want_requests = 2,
                                     .want_code = 200,
                                     .want_uncertain = true},
                      RepetitionCase{.name = "tenRepetitions",
                                     .method = "PATCH",
                                     .steps = {{429, "1"}},
                                     .want_requests = 11,
                                     .want_elapsed = seconds(10),
                                     .want_code = 429,
                                     .want_error = "no"},
                      RepetitionCase{.name = "notFoundWithRetryAfter",
                                     .steps = {{404, "1"}},
                                     .want_code = 404,
                                     .want_error = "no"},
                      RepetitionCase{.name = "lostGet",
                                     .steps = {{0}, {0}, {200}},
                                     .want_requests = 3,
                                     .want_elapsed = seconds(2),
                                     .want_code = 200},
                      RepetitionCase{.name = "lostPost",
                                     .method = "POST",
                                     .steps = {{0}},
                                     .want_error = "scripted failure",
                                     .want_uncertain = true},
                      RepetitionCase{.name = "timedOutGet",
                                     .steps = {{0, "", Kind::kTimedOut}},
                                     .want_error = "scripted failure",
                                     .want_uncertain = true},
                      RepetitionCase{.name = "refused",
                                     .steps = {{0, "", Kind::kRefused}},
                                     .want_error = "scripted failure"},
                      RepetitionCase{
                          .name = "earlierErrorIsAppended",
                          .steps = {{0}, {404}},
                          .want_requests = 2,
                          .want_elapsed = seconds(1),
                          .want_code = 404,
                          .want_error = "no - error from a previous attempt: scripted failure"}),
    [](const auto& test) { return test.param.name; });

TEST(RestClient, Headers) {
  FakeNetwork net;
  const auto client = net.Client({.qps = -1, .user_agent = "kubesched/test"});
  Slot slot;
  client->Send({.method = "POST", .target = "/x", .body = "{}", .content_type = "application/json"},
               slot.Handler());
  const HttpRequest request = net.transport.request(0);
  EXPECT_THAT(request.headers,
              ElementsAre(std::pair<std::string, std::string>("Accept", "application/json"),
                          std::pair<std::string, std::string>("User-Agent", "kubesched/test"),
                          std::pair<std::string, std::string>("Content-Type", "application/json")));
  net.transport.Answer(0, 200, "{}");
  EXPECT_TRUE(slot.reply->ok());
}

TEST(RestClient, WhatIsDecodedMayComeInOtherForms) {
  FakeNetwork net;
  const auto client = net.Client({.qps = -1, .accept = "a/b, application/json"});
  Slot slot;
  client->Send({.target = "/x", .decoded = true}, slot.Handler());
  EXPECT_THAT(net.transport.request(0).headers,
              ElementsAre(std::pair<std::string, std::string>("Accept", "a/b, application/json")));
  net.transport.Answer(0, 200, "{}");
}

// docs/spec/api.md 7.4: 150 binds at once with 50/100.
TEST(RestClient, RateLimit) {
  FakeNetwork net;
  const auto client = net.Client({.qps = 50, .burst = 100});
  for (int i = 0; i < 150; ++i)
    client->Send({.method = "POST", .target = "/bind"}, [](RestReply) {});
  EXPECT_EQ(net.transport.size(), 100u);
  net.timers.Advance(milliseconds(20));
  EXPECT_EQ(net.transport.size(), 101u);
  net.timers.Advance(milliseconds(980));
  EXPECT_EQ(net.transport.size(), 150u);
  EXPECT_EQ(net.transport.at(149), seconds(1));
}

// docs/spec/operations.md 10.4, line 26: long waits show at once, but not each of them.
TEST(RestClient, WaitsForTheLimitAreTold) {
  FakeNetwork net;
  const auto client = net.Client({.qps = 1, .burst = 1});
  const auto send = [&client] {
    client->Send({.method = "POST", .target = "/bind"}, [](RestReply) {});
  };
  ::testing::internal::CaptureStderr();
  send();
  send();  // waits 1 s, which is told at a higher verbosity only
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ::testing::internal::CaptureStderr();
  send();
  send();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find(R"(] "Waited before sending request" delay="2s" reason="client-side )"
                      R"(throttling, not priority and fairness" verb="POST" URL="/bind")"),
            std::string::npos)
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  net.timers.Advance(seconds(10));
  for (int i = 0; i < 2; ++i) send();
  ::testing::internal::CaptureStderr();
  send();
  EXPECT_NE(::testing::internal::GetCapturedStderr(), "") << "told again after ten seconds";
}

TEST(RestClient, RepetitionsTakeTokensAndWatchesDoNot) {
  FakeNetwork net;
  const auto client = net.Client({.qps = 1, .burst = 2});
  client->Send({.target = "/a"}, [](RestReply) {});
  net.transport.Answer(0, 429, "", "0");
  EXPECT_EQ(net.transport.size(), 2u);
  struct Sink final : WatchSink {
    void OnOpened() override {}
    StreamSink::Flow OnData(std::string_view) override { return StreamSink::Flow::kContinue; }
    void OnEnd(std::optional<api::ApiError>) override {}
  };
  client->Watch({.target = "/w"}, std::make_shared<Sink>());
  EXPECT_EQ(net.transport.size(), 3u);
  client->Send({.target = "/b"}, [](RestReply) {});
  EXPECT_EQ(net.transport.size(), 3u) << "the bucket is empty";
  net.timers.Advance(seconds(1));
  EXPECT_EQ(net.transport.size(), 4u);
}

TEST(RestClient, CancelWhileWaitingForAToken) {
  FakeNetwork net;
  const auto client = net.Client({.qps = 1, .burst = 0});
  Slot slot;
  const auto exchange = client->Send({.target = "/a"}, slot.Handler());
  exchange->Cancel();
  net.timers.Settle();
  ASSERT_TRUE(slot.reply.has_value());
  EXPECT_EQ(slot.reply->error->message, "request canceled");
  EXPECT_EQ(net.transport.size(), 0u);
}

TEST(RestClient, CancelWhileWaitingForARepetition) {
  FakeNetwork net;
  const auto client = net.Client();
  Slot slot;
  const auto exchange = client->Send({.target = "/a"}, slot.Handler());
  net.transport.Answer(0, 503, "", "30");
  EXPECT_FALSE(slot.reply.has_value());
  exchange->Cancel();
  net.timers.Settle();
  ASSERT_TRUE(slot.reply.has_value());
  EXPECT_EQ(net.transport.size(), 1u);
}

TEST(RestClient, DestructionEndsEverything) {
  FakeNetwork net;
  auto client = net.Client({.qps = 1, .burst = 1});
  Slot sending;
  Slot waiting;
  client->Send({.target = "/a"}, sending.Handler());
  client->Send({.target = "/b"}, waiting.Handler());
  client.reset();
  ASSERT_TRUE(sending.reply.has_value());
  ASSERT_TRUE(waiting.reply.has_value());
  EXPECT_FALSE(sending.reply->ok());
  EXPECT_FALSE(waiting.reply->ok());
}

TEST(RestClient, BlockingForm) {
  FakeNetwork net;
  const auto client = net.Client();
  std::thread answering([&net] {
    while (net.transport.size() == 0) std::this_thread::yield();
    net.transport.Answer(0, 404, StatusBody(404, "NotFound", "pods p not found"));
  });
  const RestReply reply = client->Get("/api/v1/pods/p");
  answering.join();
  ASSERT_FALSE(reply.ok());
  EXPECT_TRUE(reply.error->IsNotFound());
  EXPECT_EQ(reply.error->message, "pods p not found");
}

TEST(TokenBucket, NegativeQpsIsNoLimit) {
  TokenBucket bucket(-1, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(bucket.Take(TimePoint{}), Duration::zero());
}

TEST(EscapeUrl, KeepsUnreservedOnly) {
  EXPECT_EQ(EscapeUrl("status.phase!=Succeeded,status.phase!=Failed"),
            "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed");
  EXPECT_EQ(EscapeUrl("aZ0-_.~ /ü"), "aZ0-_.~%20%2F%C3%BC");
}

}  // namespace
}  // namespace ks::client
