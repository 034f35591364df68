// SPDX-License-Identifier: Apache-2.0
// Certificates and names with the real transport (docs/spec/api.md 7.1, 8.3, 8.4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/transport_harness.h"

namespace ks::client {
namespace {

class TransportTlsTest : public EachTransport {};
INSTANTIATE_TEST_SUITE_P(Both, TransportTlsTest, BothTransports(), TransportNames());

using Kind = TransportError::Kind;
using ks::testing::ScriptedConnection;
using ks::testing::TestAuthority;
using ks::testing::TestIdentity;
using ::testing::HasSubstr;

// Answers with what it learned of the client: SNI, Host header, certificate.
void Mirror(ScriptedConnection& connection) {
  while (const auto request = connection.Read()) {
    connection.Respond(200, connection.ServerName() + "|" + request->Header("host") + "|" +
                                connection.ClientName());
  }
}

struct TrustCase {
  std::string name;
  std::string certificate_names;
  std::string url_host = "127.0.0.1";
  bool foreign_ca = false;
  bool insecure = false;
  std::string server_name;
  std::string want_answer;  // "SNI|Host|"; PORT stands for the port
  std::string want_error;
};

class Trust : public EachTransportAndRow<TrustCase> {};

TEST_P(Trust, Row) {
  auto tls = std::make_shared<TlsConfig>();
  tls->generation = 1;
  tls->ca_pem = row().foreign_ca ? TestAuthority("foreign").ca_pem() : Authority().ca_pem();
  if (row().insecure) tls->ca_pem.clear();
  tls->insecure_skip_verify = row().insecure;
  tls->server_name = row().server_name;
  ks::testing::ScriptedServerOptions server = Https(row().certificate_names);
  server.ipv6 = row().url_host == "[::1]";
  Harness harness(kind(), Mirror, server,
                  {.server = "https://" + row().url_host + ":", .tls = tls});
  const HttpReply reply = harness.Get("/x");
  if (!row().want_error.empty()) {
    ASSERT_TRUE(reply.error.has_value());
    EXPECT_EQ(reply.error->kind, Kind::kTls) << reply.error->message;
    EXPECT_THAT(reply.error->message, HasSubstr(row().want_error));
    EXPECT_EQ(harness.server().handshakes(), 0);
    return;
  }
  ASSERT_FALSE(reply.error.has_value()) << reply.error->message;
  std::string want = row().want_answer;
  if (kind() == TransportKind::kCpprest && !row().server_name.empty()) {
    want = row().server_name + "|" + row().server_name + "|";  // its only way to another SNI
  }
  if (const size_t at = want.find("PORT"); at != want.npos)
    want.replace(at, 4, std::to_string(harness.server().port()));
  EXPECT_EQ(reply.response.body, want);
}

INSTANTIATE_TEST_SUITE_P(
    All, Trust,
    ::testing::Combine(
        BothTransports(),
        ::testing::Values(
            TrustCase{.name = "Address",
                      .certificate_names = "IP:127.0.0.1",
                      .want_answer = "|127.0.0.1:PORT|"},
            TrustCase{.name = "Name",
                      .certificate_names = "DNS:localhost",
                      .url_host = "localhost",
                      .want_answer = "localhost|localhost:PORT|"},
            TrustCase{.name = "Ipv6",
                      .certificate_names = "IP:::1",
                      .url_host = "[::1]",
                      .want_answer = "|[::1]:PORT|"},
            TrustCase{.name = "Ipv6WrongName",
                      .certificate_names = "IP:::2",
                      .url_host = "[::1]",
                      .want_error = "failed to verify certificate: IP address mismatch"},
            TrustCase{.name = "OtherServerName",
                      .certificate_names = "DNS:kubernetes.default.svc",
                      .server_name = "kubernetes.default.svc",
                      .want_answer = "kubernetes.default.svc|127.0.0.1:PORT|"},
            TrustCase{.name = "ForeignAuthority",
                      .certificate_names = "IP:127.0.0.1",
                      .foreign_ca = true,
                      .want_error =
                          "failed to verify certificate: unable to get local issuer certificate"},
            TrustCase{.name = "WrongAddress",
                      .certificate_names = "IP:127.0.0.2",
                      .want_error = "failed to verify certificate: IP address mismatch"},
            TrustCase{.name = "WrongName",
                      .certificate_names = "DNS:example.com",
                      .url_host = "localhost",
                      .want_error = "failed to verify certificate: hostname mismatch"},
            TrustCase{.name = "WrongServerName",
                      .certificate_names = "IP:127.0.0.1",
                      .server_name = "other",
                      .want_error = "expected name other"},
            TrustCase{.name = "Insecure",
                      .certificate_names = "DNS:example.com",
                      .insecure = true,
                      .want_answer = "|127.0.0.1:PORT|"})),
    TransportNames());

std::shared_ptr<TlsConfig> WithClientCertificate(uint64_t generation,
                                                 const TestIdentity& identity) {
  auto tls = std::make_shared<TlsConfig>();
  tls->generation = generation;
  tls->ca_pem = Authority().ca_pem();
  tls->client_cert_pem = identity.cert_pem;
  tls->client_key_pem = identity.key_pem;
  return tls;
}

TEST_P(TransportTlsTest, ClientCertificateAndItsRotation) {
  ks::testing::ScriptedServerOptions server = Https();
  server.client_ca_pem = Authority().ca_pem();
  const auto first = WithClientCertificate(1, Authority().Issue("first", ""));
  const auto second = WithClientCertificate(2, Authority().Issue("second", ""));
  Harness harness(GetParam(),
                  [](ScriptedConnection& connection) {
                    while (const auto request = connection.Read()) {
                      if (request->target == "/watch") {
                        connection.StartChunked();
                        connection.WaitForClose();
                      } else {
                        connection.Respond(200, connection.ClientName());
                      }
                    }
                  },
                  server, {.tls = first});
  EXPECT_EQ(harness.Send({.target = "/x", .tls = first}).response.body, "CN=first");
  const auto watch = harness.Open({.target = "/watch", .tls = first});
  watch->WaitHeaders();
  EXPECT_EQ(harness.Send({.target = "/x", .tls = second}).response.body, "CN=second");
  // The watch has to authenticate anew as well.
  const auto error = watch->WaitEnd();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind, Kind::kLost) << error->message;
  // Somebody who still has the old settings does not turn the clock back.
  EXPECT_EQ(harness.Send({.target = "/x", .tls = first}).response.body, "CN=second");
}

// The authority, which is known for the server's sake, is not sent along.
TEST_P(TransportTlsTest, ClientCertificatesAreThoseOfTheFile) {
  ks::testing::ScriptedServerOptions server = Https();
  server.client_ca_pem = Authority().ca_pem();
  TestIdentity alone = Authority().Issue("alone", "");
  TestIdentity with_issuer = alone;
  with_issuer.cert_pem += Authority().ca_pem();
  for (const auto& [identity, sent] : {std::pair(alone, "1"), std::pair(with_issuer, "2")}) {
    const auto tls = WithClientCertificate(1, identity);
    Harness harness(GetParam(),
                    [](ScriptedConnection& connection) {
                      while (connection.Read()) {
                        connection.Respond(200, std::to_string(connection.ClientCertificates()));
                      }
                    },
                    server, {.tls = tls});
    EXPECT_EQ(harness.Send({.target = "/x", .tls = tls}).response.body, sent);
  }
}

TEST_P(TransportTlsTest, RefusedClientCertificate) {
  ks::testing::ScriptedServerOptions server = Https();
  server.client_ca_pem = Authority().ca_pem();
  const auto foreign = WithClientCertificate(1, TestAuthority("foreign").Issue("stranger", ""));
  Harness harness(GetParam(), Mirror, server, {.tls = foreign});
  const HttpReply reply = harness.Get("/x");
  EXPECT_TRUE(reply.error.has_value());
}

TEST_P(TransportTlsTest, ServerAuthorityRotates) {
  const TestAuthority next("next-ca");
  Harness harness(GetParam(), Mirror);
  EXPECT_FALSE(harness.Get("/x").error.has_value());
  harness.server().UseIdentity(next.Issue("server", "IP:127.0.0.1"));
  harness.server().CloseConnections();
  const HttpReply refused = harness.Get("/x");
  ASSERT_TRUE(refused.error.has_value());
  EXPECT_EQ(refused.error->kind, Kind::kTls);
  auto tls = std::make_shared<TlsConfig>();
  tls->generation = 2;
  tls->ca_pem = next.ca_pem();
  EXPECT_FALSE(harness.Send({.target = "/x", .tls = tls}).error.has_value());
}

struct BadTlsCase {
  std::string name;
  std::string ca;
  std::string cert;
  std::string key;
  std::string want_error;
};

TEST_P(TransportTlsTest, UnusableSettings) {
  const TestIdentity one = Authority().Issue("one", "");
  const TestIdentity other = Authority().Issue("other", "");
  const std::string ca = Authority().ca_pem();
  const BadTlsCase cases[] = {
      {"ca", "garbage", "", "", "unable to load root certificates"},
      {"cert", ca, "garbage", one.key_pem, "unable to use the client certificate"},
      {"key", ca, one.cert_pem, "garbage", "unable to use the client key"},
      {"pair", ca, one.cert_pem, other.key_pem,
       "the client key does not belong to the client certificate"},
  };
  const std::unique_ptr<TimerService> timers = NewTimerThread();
  for (const BadTlsCase& row : cases) {
    SCOPED_TRACE(row.name);
    auto tls = std::make_shared<TlsConfig>();
    tls->ca_pem = row.ca;
    tls->client_cert_pem = row.cert;
    tls->client_key_pem = row.key;
    const auto transport =
        NewTransport(GetParam(), {.server = "https://127.0.0.1:1", .tls = tls}, *timers);
    ASSERT_FALSE(transport.ok());
    EXPECT_THAT(transport.error().message, HasSubstr(row.want_error));
  }
}

}  // namespace
}  // namespace ks::client
