// SPDX-License-Identifier: Apache-2.0
// What a fault rule does to the bytes on the wire. Which requests a rule hits: faults_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>

#include "apiserver/front_fixture.h"

namespace ks::apiserver {
namespace {

using ks::testing::Answer;
using ks::testing::TlsClient;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

Answer Ask(TlsClient& client, const std::string& text) {
  client.Send(text);
  return client.Read();
}

std::string CreateText(const std::string& name) {
  return RequestText("POST", kConfigMaps, ConfigMapText(name));
}

size_t Stored(FrontFixture& server) {
  size_t count = 0;
  server.Run([&count](Service& service) {
    count = service.store().objects(*FindResource("", "v1", "configmaps")).size();
  });
  return count;
}

struct StatusRow {
  const char* name;
  const char* fault;
  int want_status;
  const char* want_reason;
  const char* want_header;  // "" for any
  bool want_stored;
};

class StatusFault : public ::testing::TestWithParam<StatusRow> {};

TEST_P(StatusFault, Answers) {
  const StatusRow& row = GetParam();
  FrontFixture server;
  server.Faults(std::string(R"({"rules":[{"match":{"verb":"create"},"fault":)") + row.fault +
                "}]}");
  TlsClient client(server.port());
  const Answer answer = Ask(client, CreateText("one"));
  EXPECT_EQ(answer.status, row.want_status);
  const Json status = Json::parse(answer.body);
  EXPECT_EQ(status["kind"], "Status");
  EXPECT_EQ(status["code"], row.want_status);
  EXPECT_EQ(status["reason"], row.want_reason);
  EXPECT_THAT(answer.head, HasSubstr(row.want_header));
  EXPECT_EQ(Stored(server), row.want_stored ? 1U : 0U);
  EXPECT_EQ(Ask(client, RequestText("GET", kConfigMaps)).status, 200);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, StatusFault,
    ::testing::Values(StatusRow{"not_applied", R"({"status":500})", 500, "InternalError",
                                "500 Internal Server Error\r\n", false},
                      StatusRow{"applied", R"({"status":500,"applied":true})", 500, "InternalError",
                                "", true},
                      StatusRow{"retry_after", R"({"status":429,"retryAfter":3})", 429,
                                "TooManyRequests", "Retry-After: 3\r\n", false},
                      StatusRow{"retry_at_once", R"({"status":429,"retryAfter":0})", 429,
                                "TooManyRequests", "Retry-After: 0\r\n", false},
                      StatusRow{"own_reason", R"({"status":409,"reason":"AlreadyExists"})", 409,
                                "AlreadyExists", "409 Conflict\r\n", false},
                      StatusRow{"gone", R"({"status":410})", 410, "Expired", "", false}),
    [](const auto& row) { return row.param.name; });

TEST(FrontFaults, LatencyDelaysThisRequestOnly) {
  FrontFixture server;
  server.Faults(R"({"rules":[{"match":{"verb":"create"},"fault":{"latency":"50ms"}}]})");
  TlsClient slow(server.port());
  TlsClient quick(server.port());
  const steady_clock::time_point start = steady_clock::now();
  slow.Send(CreateText("one"));
  EXPECT_EQ(Ask(quick, RequestText("GET", kConfigMaps)).status, 200);
  EXPECT_EQ(slow.Read().status, 201);
  EXPECT_GE(steady_clock::now() - start, milliseconds(50));
}

TEST(FrontFaults, ResetIsATcpReset) {
  for (const bool applied : {false, true}) {
    FrontFixture server;
    server.Faults(std::string(R"({"rules":[{"times":1,"fault":{"reset":true)") +
                  (applied ? R"(,"applied":true)" : "") + "}}]}");
    TlsClient client(server.port());
    EXPECT_FALSE(Ask(client, CreateText("one")).complete);
    EXPECT_EQ(client.read_errno(), ECONNRESET);
    EXPECT_EQ(Stored(server), applied ? 1U : 0U);
  }
}

TEST(FrontFaults, StallNeverAnswers) {
  FrontFixture server;
  server.Faults(R"({"rules":[{"times":1,"fault":{"stall":true,"applied":true}}]})");
  {
    TlsClient stalled(server.port());
    stalled.Send(CreateText("one"));
    TlsClient client(server.port());
    while (Stored(server) == 0) {
    }
    EXPECT_EQ(Ask(client, RequestText("GET", kConfigMaps)).status, 200);
    EXPECT_EQ(server.Sessions(), 2U);
  }
  while (server.Sessions() > 0) {
  }
}

// The first two events come whole, the third breaks off, and so do chunk and connection.
TEST(FrontFaults, CutWatchBreaksOffInAFrame) {
  FrontFixture server;
  server.Faults(R"({"rules":[{"match":{"verb":"watch"},"fault":{"cutWatch":"1ns"}}]})");
  TlsClient client(server.port());
  client.Send(RequestText("GET", std::string(kConfigMaps) + "?watch=true&resourceVersion=0"));
  client.ReadUntil("\r\n\r\n");
  server.Run([](Service& service) {
    for (const char* name : {"one", "two", "three"}) {
      const auto made = service.registry().Create(*FindResource("", "v1", "configmaps"), "default",
                                                  Json{{"metadata", {{"name", name}}}});
      ASSERT_TRUE(made.ok());
    }
  });
  const size_t announced = std::strtoul(client.ReadUntil("\r\n").c_str(), nullptr, 16);
  const std::string one = client.ReadUntil("\n");
  const std::string two = client.ReadUntil("\n");
  EXPECT_EQ(Json::parse(one)["object"]["metadata"]["name"], "one");
  EXPECT_EQ(Json::parse(two)["object"]["metadata"]["name"], "two");
  const std::string half = client.ReadUntil("\n");
  EXPECT_THAT(half, ::testing::StartsWith("{\"type\":\"ADDED\""));
  EXPECT_TRUE(Json::parse(half, nullptr, false).is_discarded());
  EXPECT_LT(one.size() + two.size() + half.size(), announced);
  EXPECT_TRUE(client.ReadsEnd());
}

TEST(FrontFaults, StallWatchGoesSilent) {
  FrontFixture server;
  server.Faults(R"({"rules":[{"match":{"verb":"watch"},"fault":{"stallWatch":"1ms"}}]})");
  TlsClient client(server.port());
  client.Send(RequestText(
      "GET", std::string(kConfigMaps) + "?watch=true&resourceVersion=0&timeoutSeconds=1"));
  const std::string head = client.ReadUntil("\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("200 OK"));
  // The whole second that the watch would live for passes without a word of it.
  server.Faults(R"({"rules":[]})");
  TlsClient real(server.port());
  real.Send(RequestText("GET", std::string(kConfigMaps) + "?watch=true&timeoutSeconds=1"));
  real.ReadUntil("\r\n0\r\n\r\n");
  server.front().Stop();
  EXPECT_TRUE(client.ReadsEnd());
}

TEST(FrontFaults, SlowBodyTakesItsTime) {
  FrontFixture server;
  server.CreateConfigMap("large", std::string(4000, 'x'));
  server.Faults(R"({"rules":[{"match":{"verb":"get"},"fault":{"bytesPerSecond":40000}}]})");
  TlsClient client(server.port());
  const steady_clock::time_point start = steady_clock::now();
  const Answer answer = Ask(client, RequestText("GET", std::string(kConfigMaps) + "/large"));
  EXPECT_TRUE(answer.complete);
  EXPECT_GE(steady_clock::now() - start, milliseconds(100));
  EXPECT_EQ(Json::parse(answer.body)["metadata"]["name"], "large");
}

// A client may send its next request before the server knows that the last answer is out.
TEST(FrontFaults, RequestsDuringASlowAnswerWait) {
  FrontFixture server;
  server.Faults(R"({"rules":[{"fault":{"bytesPerSecond":20000,"latency":"1ms"}}]})");
  TlsClient client(server.port());
  for (int i = 0; i < 10; ++i) {
    client.Send(CreateText("c" + std::to_string(i)));
  }
  for (int i = 0; i < 10; ++i) {
    const Answer answer = client.Read();
    ASSERT_EQ(answer.status, 201) << answer.body;
    EXPECT_EQ(Json::parse(answer.body)["metadata"]["name"], "c" + std::to_string(i));
  }
  EXPECT_EQ(Stored(server), 10U);
}

// What came with a delayed request stays in its place when more comes.
TEST(FrontFaults, RequestsBehindADelayedOneAreReadOnce) {
  FrontFixture server;
  server.Faults(R"({"rules":[{"times":1,"fault":{"latency":"20ms"}}]})");
  TlsClient client(server.port());
  client.Send(CreateText("first") + CreateText("other"));
  EXPECT_EQ(Json::parse(client.Read().body)["metadata"]["name"], "first");
  EXPECT_EQ(Json::parse(client.Read().body)["metadata"]["name"], "other");
  EXPECT_EQ(Json::parse(Ask(client, CreateText("third")).body)["metadata"]["name"], "third");
}

TEST(FrontFaults, StaleListIsAnEarlierOne) {
  FrontFixture server;
  server.Faults(R"({"rules":[{"match":{"verb":"list","resource":"configmaps"},"after":1,"times":2,
                              "fault":{"staleList":true}}]})");
  TlsClient client(server.port());
  server.CreateConfigMap("one");
  const std::string first = Ask(client, RequestText("GET", kConfigMaps)).body;
  server.CreateConfigMap("two");
  EXPECT_EQ(Ask(client, RequestText("GET", kConfigMaps)).body, first);
  EXPECT_EQ(
      Ask(client, RequestText("GET", std::string(kConfigMaps) + "?limit=500")).body.find("two") ==
          std::string::npos,
      false);  // never asked before: the real answer
  EXPECT_THAT(Ask(client, RequestText("GET", kConfigMaps)).body, HasSubstr("two"));
}

TEST(FrontFaults, TheAdministrationIsSpared) {
  FrontFixture server;
  server.Faults(R"({"rules":[{"fault":{"status":500}}]})");
  TlsClient client(server.port());
  EXPECT_EQ(Ask(client, RequestText("DELETE", "/kubesched/faults")).status, 200);
  EXPECT_EQ(Ask(client, CreateText("one")).status, 201);
}

}  // namespace
}  // namespace ks::apiserver
