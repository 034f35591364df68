// SPDX-License-Identifier: Apache-2.0
// Certificates by name, exchanged while the server runs, and those of callers.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/http/https_server.h"
#include "server/tls/client_certificate.h"
#include "testing/test_certificates.h"
#include "testing/tls_client.h"

namespace ks::server {
namespace {

using testing::TestAuthority;
using testing::TestIdentity;
using testing::TlsClient;

ServingCertificate Pair(const TestIdentity& identity) {
  return {.chain_pem = identity.cert_pem, .key_pem = identity.key_pem};
}

class HttpsTls : public ::testing::Test {
 protected:
  HttpsTls() {
    setup_.certificate = Pair(authority_.Issue("default", "DNS:default.example"));
    server_ = HttpsServer::Bind({.bind_address = "127.0.0.1", .port = 0}).value();
    server_->Handle("/who", [](const Request& request) {
      return Response{.body = request.certificate ? request.certificate->CommonName() : "nobody"};
    });
  }
  void Secure() { ASSERT_TRUE(server_->Secure(setup_).ok()); }
  std::string NameFor(const std::string& server_name) const {
    return TlsClient(server_->port(), TestIdentity{}, server_name).peer_name();
  }

  const TestAuthority authority_{"serving"};
  TlsSetup setup_;
  std::unique_ptr<HttpsServer> server_;
};

TEST_F(HttpsTls, PairsByName) {
  setup_.named = {
      {.certificate = Pair(authority_.Issue("own-names", "DNS:a.example,DNS:*.b.example"))},
      {.certificate = Pair(authority_.Issue("given", "DNS:unused.example")),
       .names = {"a.example", "*.c.example"}},
      {.certificate = Pair(authority_.Issue("exact", "DNS:x.b.example"))},
  };
  Secure();
  server_->Serve();
  const std::pair<const char*, const char*> rows[] = {
      {"a.example", "given"},         {"A.Example", "given"},
      {"y.b.example", "own-names"},   {"x.b.example", "exact"},
      {"z.c.example", "given"},       {"c.example", "default"},
      {"unused.example", "default"},  {"p.q.b.example", "default"},
      {"default.example", "default"}, {"", "default"}};
  for (const auto& [asked, want] : rows) EXPECT_EQ(NameFor(asked), want) << asked;
}

TEST_F(HttpsTls, WithoutANameByTheAddress) {
  setup_.named = {{.certificate = Pair(authority_.Issue("by-address", "IP:127.0.0.1"))}};
  Secure();
  server_->Serve();
  EXPECT_EQ(NameFor(""), "by-address");
}

TEST_F(HttpsTls, NewConnectionsGetTheNewCertificate) {
  Secure();
  server_->Serve();
  TlsClient before(server_->port());
  EXPECT_EQ(before.peer_name(), "default");
  setup_.certificate = Pair(authority_.Issue("renewed", "DNS:default.example"));
  Secure();
  EXPECT_EQ(NameFor(""), "renewed");
  EXPECT_EQ(before.Exchange("GET", "/who").status, 200) << "open connections go on";
  TlsSetup mixed = setup_;
  mixed.certificate.key_pem = authority_.Issue("other", "DNS:x").key_pem;
  EXPECT_FALSE(server_->Secure(mixed).ok());
  mixed = setup_;
  mixed.named = {{.certificate = {.chain_pem = "nothing", .key_pem = "nothing"}}};
  EXPECT_FALSE(server_->Secure(mixed).ok());
  EXPECT_EQ(NameFor(""), "renewed") << "what was in force stays";
}

TEST_F(HttpsTls, CertificatesOfCallersAreAskedForAndNeverRequired) {
  const TestAuthority clients("clients");
  const TestAuthority strangers("strangers");
  Secure();
  server_->Serve();
  EXPECT_TRUE(TlsClient(server_->port()).asked_authorities().empty());
  const TestIdentity ann = clients.Issue("ann", "");
  EXPECT_EQ(TlsClient(server_->port(), ann).Exchange("GET", "/who").body, "nobody")
      << "not asked for";
  setup_.client_ca_pem = clients.ca_pem();
  Secure();
  TlsClient without(server_->port());
  EXPECT_EQ(without.Exchange("GET", "/who").body, "nobody");
  EXPECT_EQ(without.asked_authorities(), std::vector<std::string>{"clients"});
  EXPECT_EQ(TlsClient(server_->port(), ann).Exchange("GET", "/who").body, "ann");
  EXPECT_EQ(TlsClient(server_->port(), strangers.Issue("bob", "")).Exchange("GET", "/who").body,
            "bob")
      << "judged with the request, not in the handshake";
}

TEST_F(HttpsTls, Http11IsAllThatIsOffered) {
  Secure();
  server_->Serve();
  EXPECT_EQ(TlsClient(server_->port()).alpn(), "http/1.1");
}

}  // namespace
}  // namespace ks::server
