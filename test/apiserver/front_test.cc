// SPDX-License-Identifier: Apache-2.0
// Requests and answers on the wire. Watches: front_watch_test.cc, faults: front_faults_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "apiserver/front_fixture.h"

namespace ks::apiserver {
namespace {

using ks::testing::Answer;
using ks::testing::PlainClient;
using ks::testing::TlsClient;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

Answer Ask(TlsClient& client, const std::string& text, bool head_only = false) {
  client.Send(text);
  return client.Read(head_only);
}

TEST(Front, ManyRequestsOnOneConnection) {
  FrontFixture server;
  TlsClient client(server.port());
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.alpn(), "http/1.1");  // h2 was offered too
  const Answer created = Ask(client, RequestText("POST", kConfigMaps, ConfigMapText("one")));
  EXPECT_EQ(created.status, 201);
  EXPECT_THAT(created.head, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(created.head, HasSubstr("Cache-Control: no-cache, private\r\n"));
  EXPECT_THAT(created.head, HasSubstr(" GMT\r\n"));
  EXPECT_THAT(created.head, Not(HasSubstr("Connection:")));
  EXPECT_EQ(Json::parse(created.body)["metadata"]["name"], "one");

  const std::string one = std::string(kConfigMaps) + "/one";
  const Answer patched =
      Ask(client, "PATCH " + one +
                      " HTTP/1.1\r\nHost: h\r\nAuthorization: bearer admin-token\r\nContent-Type: "
                      "application/merge-patch+json\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "8\r\n{\"data\":\r\nd\r\n{\"key\":\"two\"}\r\n1\r\n}\r\n0\r\n\r\n");
  EXPECT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(Json::parse(patched.body)["data"]["key"], "two");
  const Answer got = Ask(client, RequestText("GET", one));
  EXPECT_EQ(got.body, patched.body);
  const Answer head = Ask(client, RequestText("HEAD", one), true);
  EXPECT_EQ(head.status, 200);
  EXPECT_THAT(head.head, HasSubstr("Content-Length: " + std::to_string(got.body.size()) + "\r\n"));
  EXPECT_EQ(Ask(client, RequestText("DELETE", one)).status, 200);
  const Answer gone = Ask(client, RequestText("GET", one));
  EXPECT_EQ(gone.status, 404);
  EXPECT_EQ(Json::parse(gone.body)["reason"], "NotFound");
  EXPECT_EQ(server.Sessions(), 1U);
}

TEST(Front, RequestsSentTogetherAreAnsweredInOrder) {
  FrontFixture server;
  TlsClient client(server.port());
  std::string all;
  for (int i = 0; i < 20; ++i) {
    all += RequestText("POST", kConfigMaps, ConfigMapText("c" + std::to_string(i)));
  }
  client.Send(all);
  for (int i = 0; i < 20; ++i) {
    const Answer answer = client.Read();
    ASSERT_EQ(answer.status, 201);
    EXPECT_EQ(Json::parse(answer.body)["metadata"]["name"], "c" + std::to_string(i));
  }
}

TEST(Front, ConnectionCloseAndHttp10End) {
  FrontFixture server;
  TlsClient client(server.port());
  const Answer answer = Ask(client, RequestText("GET", kConfigMaps, "", "Connection: close\r\n"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(client.ReadsEnd());
  TlsClient old(server.port());
  EXPECT_TRUE(Ask(old, "GET /readyz HTTP/1.0\r\n\r\n").complete);
  EXPECT_TRUE(old.ReadsEnd());
}

TEST(Front, ContinuesWhenAskedTo) {
  FrontFixture server;
  TlsClient client(server.port());
  const std::string text =
      RequestText("POST", kConfigMaps, ConfigMapText("late"), "Expect: 100-continue\r\n");
  const size_t body = text.find("\r\n\r\n") + 4;
  client.Send(text.substr(0, body));
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(Ask(client, text.substr(body)).status, 201);
}

// A client that does not wait is not asked for what it has sent.
TEST(Front, DoesNotAskForABodyThatIsHere) {
  FrontFixture server;
  TlsClient client(server.port());
  EXPECT_EQ(Ask(client, RequestText("POST", kConfigMaps, ConfigMapText("hasty"),
                                    "Expect: 100-continue\r\n"))
                .status,
            201);
}

TEST(Front, RequestInSmallPieces) {
  FrontFixture server;
  TlsClient client(server.port());
  for (const char byte : RequestText("POST", kConfigMaps, ConfigMapText("pieces"))) {
    client.Send({&byte, 1});
  }
  EXPECT_EQ(client.Read().status, 201);
}

TEST(Front, LargeBodiesBothWays) {
  FrontFixture server;
  TlsClient client(server.port());
  const std::string data(900'000, 'x');
  EXPECT_EQ(Ask(client, RequestText("POST", kConfigMaps, ConfigMapText("large", data))).status,
            201);
  const Answer got = Ask(client, RequestText("GET", std::string(kConfigMaps) + "/large"));
  EXPECT_EQ(Json::parse(got.body)["data"]["key"], data);
}

struct UserRow {
  const char* name;
  const char* authorization;  // empty: no header
  enum class Certificate { kNone, kGood, kForeign } certificate;
  int want_status;
  const char* want_user;
};

class FrontUsers : public ::testing::TestWithParam<UserRow> {};

// The administration's refusal names who asks.
TEST_P(FrontUsers, AreKnown) {
  const UserRow& row = GetParam();
  FrontFixture server;
  static const CertificateAuthority foreign = MakeAuthority("test-ca", kFrontNow).value();
  const UserInfo bob{.name = "bob", .groups = {"ops"}};
  ks::testing::TestIdentity identity;
  if (row.certificate != UserRow::Certificate::kNone) {
    identity =
        Identity(row.certificate == UserRow::Certificate::kGood ? FrontAuthority() : foreign, bob);
  }
  TlsClient client(server.port(), identity);
  ASSERT_TRUE(client.connected());
  std::string text = "GET /kubesched/faults HTTP/1.1\r\nHost: h\r\n";
  if (*row.authorization != '\0') {
    text += std::string("Authorization: ") + row.authorization + "\r\n";
  }
  const Answer answer = Ask(client, text + "\r\n");
  EXPECT_EQ(answer.status, row.want_status) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr(row.want_user));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, FrontUsers,
    ::testing::Values(
        UserRow{"none", "", UserRow::Certificate::kNone, 403, "system:anonymous"},
        UserRow{"token", "Bearer user-token", UserRow::Certificate::kNone, 403, "\\\"alice\\\""},
        UserRow{"masters", "Bearer admin-token", UserRow::Certificate::kNone, 200, "rules"},
        UserRow{"wrong_token", "Bearer nobody", UserRow::Certificate::kNone, 401, "Unauthorized"},
        UserRow{"other_scheme", "Basic YTpi", UserRow::Certificate::kNone, 403, "system:anonymous"},
        UserRow{"certificate", "", UserRow::Certificate::kGood, 403, "\\\"bob\\\""},
        UserRow{"certificate_first", "Bearer nobody", UserRow::Certificate::kGood, 403,
                "\\\"bob\\\""},
        UserRow{"foreign_certificate", "", UserRow::Certificate::kForeign, 401, "Unauthorized"},
        UserRow{"token_saves_it", "Bearer user-token", UserRow::Certificate::kForeign, 403,
                "\\\"alice\\\""}),
    [](const auto& row) { return row.param.name; });

TEST(Front, BodyBeyondTheLimit) {
  FrontOptions options = TestFront();
  options.max_body = 1000;
  FrontFixture server(std::move(options));
  TlsClient client(server.port());
  const Answer refused =
      Ask(client, RequestText("POST", kConfigMaps, ConfigMapText("x", std::string(100'000, 'x'))));
  EXPECT_EQ(refused.status, 413);
  const Json status = Json::parse(refused.body);
  EXPECT_EQ(status["reason"], "RequestEntityTooLarge");
  EXPECT_EQ(status["message"], "Request entity too large: limit is 1000");
  EXPECT_TRUE(client.ReadsEnd());
}

TEST(Front, RefusesWhatIsNotARequest) {
  const struct {
    std::string text;
    int want;
  } rows[] = {
      {"GET /\r\n\r\n", 400},
      {"nonsense\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nA: " + std::string(70'000, 'x') + "\r\n\r\n", 431},
  };
  FrontFixture server;
  for (const auto& row : rows) {
    TlsClient client(server.port());
    const Answer answer = Ask(client, row.text);
    EXPECT_EQ(answer.status, row.want) << row.text.substr(0, 40);
    EXPECT_EQ(Json::parse(answer.body)["kind"], "Status");
    EXPECT_TRUE(client.ReadsEnd());
  }
}

TEST(Front, PlainHttpIsToldSo) {
  FrontFixture server;
  PlainClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THAT(client.ReadAll(), HasSubstr("Client sent an HTTP request to an HTTPS server."));
}

// Clients that stop half-way, at every step, are dropped, and others are served.
TEST(Front, HalfRequestsAreDropped) {
  FrontOptions options = TestFront();
  options.handshake_timeout = milliseconds(40);
  options.request_timeout = milliseconds(40);
  options.idle_timeout = milliseconds(40);
  FrontFixture server(std::move(options));
  PlainClient silent(server.port());
  PlainClient garbage(server.port());
  garbage.Send("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and then nothing");
  TlsClient idle(server.port());
  TlsClient half_head(server.port());
  half_head.Send("GET /readyz HTTP/1.1\r\nHost");
  TlsClient half_body(server.port());
  half_body.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
  EXPECT_EQ(silent.ReadAll(), "");
  garbage.ReadAll();
  EXPECT_TRUE(idle.ReadsEnd());
  EXPECT_TRUE(half_head.ReadsEnd());
  EXPECT_TRUE(half_body.ReadsEnd());
  TlsClient good(server.port());
  EXPECT_EQ(Ask(good, RequestText("GET", kConfigMaps)).status, 200);
}

TEST(Front, TheConnectionThatWaitedLongestMakesRoom) {
  FrontOptions options = TestFront();
  options.max_sessions = 3;
  FrontFixture server(std::move(options));
  TlsClient first(server.port());
  TlsClient second(server.port());
  TlsClient third(server.port());
  EXPECT_EQ(Ask(first, RequestText("GET", kConfigMaps)).status, 200);
  TlsClient fourth(server.port());
  EXPECT_EQ(Ask(fourth, RequestText("GET", kConfigMaps)).status, 200);
  EXPECT_TRUE(second.ReadsEnd());
  EXPECT_EQ(Ask(first, RequestText("GET", kConfigMaps)).status, 200);
}

TEST(Front, StopsAndServesAgainOnTheSamePort) {
  Service service(RealClock());
  FrontOptions options = TestFront();
  for (int round = 0; round < 3; ++round) {
    auto front = HttpsFront::Listen(options, service);
    ASSERT_TRUE(front.ok()) << front.error().message;
    options.port = (*front)->port();
    (*front)->Serve();
    TlsClient client(options.port);
    EXPECT_EQ(Ask(client,
                  RequestText("POST", kConfigMaps, ConfigMapText("round" + std::to_string(round))))
                  .status,
              201);
    (*front)->Stop();
    EXPECT_TRUE(client.ReadsEnd());
    (*front)->Stop();
  }
  EXPECT_EQ(service.store().objects(*FindResource("", "v1", "configmaps")).size(), 3U);
}

TEST(Front, ListenNamesWhatIsWrong) {
  Service service(RealClock());
  FrontOptions taken = TestFront();
  const auto first = HttpsFront::Listen(taken, service);
  taken.port = (*first)->port();
  const auto second = HttpsFront::Listen(taken, service);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("address already in use"));
  FrontOptions broken = TestFront();
  broken.client_ca_pem = "nonsense";
  EXPECT_THAT(HttpsFront::Listen(broken, service).error().message,
              HasSubstr("the authority for client certificates"));
}

TEST(Front, AdministrationOfFaultsAndSnapshots) {
  FrontFixture server;
  TlsClient client(server.port());
  const Answer loaded = Ask(
      client, RequestText("POST", "/kubesched/faults", R"({"rules":[{"fault":{"status":503}}]})"));
  EXPECT_EQ(loaded.status, 200);
  EXPECT_EQ(Ask(client, RequestText("GET", kConfigMaps)).status, 503);
  const Answer bad = Ask(client, RequestText("POST", "/kubesched/faults", R"({"rulez":[]})"));
  EXPECT_EQ(bad.status, 400);
  EXPECT_THAT(bad.body, HasSubstr("rules: must be a list"));
  EXPECT_EQ(
      Json::parse(Ask(client, RequestText("GET", "/kubesched/faults")).body)["rules"][0]["fired"],
      1);
  EXPECT_EQ(Ask(client, RequestText("DELETE", "/kubesched/faults")).status, 200);
  EXPECT_EQ(Ask(client, RequestText("GET", kConfigMaps)).status, 200);
  EXPECT_EQ(Ask(client, RequestText("PUT", "/kubesched/faults", "{}")).status, 405);
  EXPECT_EQ(Ask(client, RequestText("GET", "/kubesched/snapshot")).status, 405);
  EXPECT_EQ(Ask(client, RequestText("POST", "/kubesched/snapshot")).status, 200);
  EXPECT_EQ(Ask(client, RequestText("POST", "/kubesched/nothing")).status, 404);
}

}  // namespace
}  // namespace ks::apiserver
