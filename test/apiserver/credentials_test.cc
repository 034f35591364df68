// SPDX-License-Identifier: Apache-2.0
#include "apiserver/http/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/x509v3.h>

#include "base/file_text.h"
#include "client/auth/kubeconfig.h"
#include "server/tls/x509.h"
#include "testing/temp_dir.h"

namespace ks::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kNow = 1795219413;

TEST(Credentials, ServerCertificateCarriesTheNamesAndItsAuthority) {
  const CertificateAuthority authority = MakeAuthority("test-ca", kNow).value();
  const auto pair = MakeServerCertificate(authority, {"10.0.0.7", "api.example"}, kNow);
  ASSERT_TRUE(pair.ok()) << pair.error().message;
  const server::Certificate leaf = server::ReadCertificate(pair->chain_pem);
  const server::Certificate ca = server::ReadCertificate(authority.certificate_pem);
  for (const char* host :
       {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "api.example"}) {
    EXPECT_EQ(X509_check_host(leaf.get(), host, 0, 0, nullptr), 1) << host;
  }
  for (const char* ip : {"127.0.0.1", "::1", "10.0.0.7"}) {
    EXPECT_EQ(X509_check_ip_asc(leaf.get(), ip, 0), 1) << ip;
  }
  EXPECT_EQ(X509_check_host(leaf.get(), "other", 0, 0, nullptr), 0);
  EXPECT_EQ(X509_check_issued(ca.get(), leaf.get()), X509_V_OK);
  EXPECT_EQ(X509_check_ca(leaf.get()), 0);
  int64_t early = kNow - 3600;
  int64_t late = kNow - 3600 + int64_t{10} * 365 * 24 * 3600;
  EXPECT_EQ(ASN1_TIME_cmp_time_t(X509_get0_notBefore(leaf.get()), early), 0);
  EXPECT_EQ(ASN1_TIME_cmp_time_t(X509_get0_notAfter(leaf.get()), late), 0);
}

TEST(Credentials, ClientCertificateSpeaksForUserAndGroups) {
  const CertificateAuthority authority = MakeAuthority("test-ca", kNow).value();
  const auto pair = MakeClientCertificate(
      authority, {.name = "ks-admin", .groups = {"system:masters", "ops"}}, kNow);
  ASSERT_TRUE(pair.ok()) << pair.error().message;
  const server::Certificate leaf = server::ReadCertificate(pair->chain_pem);
  const std::optional<UserInfo> user = UserOfCertificate(leaf.get());
  ASSERT_TRUE(user);
  EXPECT_EQ(user->name, "ks-admin");
  EXPECT_THAT(user->groups, ElementsAre("system:masters", "ops", "system:authenticated"));
}

TEST(Credentials, ForeignKeyIsRefused) {
  const CertificateAuthority one = MakeAuthority("one", kNow).value();
  const CertificateAuthority two = MakeAuthority("two", kNow).value();
  const auto mixed = MakeServerCertificate(
      {.certificate_pem = one.certificate_pem, .key_pem = two.key_pem}, {}, kNow);
  ASSERT_FALSE(mixed.ok());
  EXPECT_THAT(mixed.error().message, HasSubstr("does not belong"));
  EXPECT_FALSE(MakeServerCertificate({.certificate_pem = "x", .key_pem = "y"}, {}, kNow).ok());
}

TEST(Credentials, TokensAsInATokenFile) {
  const auto tokens = ParseTokens(
      "# comment\n"
      "t1,alice,1\n"
      "\n"
      "t2,bob,2,\"ops,system:masters\"\n"
      "t3,carol,3,ops\n");
  ASSERT_TRUE(tokens.ok()) << tokens.error().message;
  ASSERT_EQ(tokens->size(), 3U);
  EXPECT_EQ(tokens->at("t1").name, "alice");
  EXPECT_THAT(tokens->at("t1").groups, ElementsAre("system:authenticated"));
  EXPECT_THAT(tokens->at("t2").groups,
              ElementsAre("ops", "system:masters", "system:authenticated"));
  EXPECT_THAT(tokens->at("t3").groups, ElementsAre("ops", "system:authenticated"));
}

TEST(Credentials, BadTokenLinesAreNamed) {
  const struct {
    const char* text;
    const char* want;
  } rows[] = {
      {"t1,alice,1\nt2\n", "line 2: expected token,user,uid"},
      {"t1,alice,1\nt1,bob,2\n", "line 2: the token stands on an earlier line too"},
      {",alice,1\n", "line 1: expected"},
      {"t,a,1,g,h\n", "line 1: expected"},
  };
  for (const auto& row : rows) {
    const auto tokens = ParseTokens(row.text);
    ASSERT_FALSE(tokens.ok()) << row.text;
    EXPECT_THAT(tokens.error().message, HasSubstr(row.want));
  }
}

TEST(Credentials, TokensDiffer) {
  const std::string one = MakeToken().value();
  EXPECT_EQ(one.size(), 32U);
  EXPECT_NE(one, MakeToken().value());
}

// The project's own client reads what is written.
TEST(Credentials, KubeconfigIsReadBack) {
  const ks::testing::TempDir dir;
  const std::string path = dir.path() + "/admin.kubeconfig";
  const ClientAccess pair{.server_url = "https://api.example",
                          .ca_pem = "CA text",
                          .certificate_pem = "certificate text",
                          .key_pem = "key text"};
  ASSERT_TRUE(WriteFileAtomically(path, KubeconfigText("system:kube-scheduler", pair), 0600).ok());
  const auto access = client::LoadKubeconfig(path);
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, pair.server_url);
  EXPECT_EQ(access->ca_data, pair.ca_pem);
  EXPECT_EQ(access->client_cert_data, pair.certificate_pem);
  EXPECT_EQ(access->client_key_data, pair.key_pem);

  ASSERT_TRUE(WriteFileAtomically(
                  path, KubeconfigText("u", {.server_url = "https://h:1", .token = "t\"\\"}), 0600)
                  .ok());
  EXPECT_EQ(client::LoadKubeconfig(path)->token, "t\"\\");
}

}  // namespace
}  // namespace ks::apiserver
