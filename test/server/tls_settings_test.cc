// SPDX-License-Identifier: Apache-2.0
#include "server/tls/tls_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ks::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Texts of docs/spec/config.md 8.5.
TEST(TlsSettings, RefuseInUpstreamsWords) {
  struct Case {
    std::vector<std::string> suites;
    std::vector<int32_t> curves;
    std::string version;
    std::string want;
  };
  const Case cases[] = {
      {{"foo"}, {0}, "bar", "Cipher suite foo not supported or doesn't exist"},
      {{}, {0}, "bar", "curve preference 0 is out of range (must be 1-65535)"},
      {{}, {70000}, "", "curve preference 70000 is out of range (must be 1-65535)"},
      {{}, {9999}, "", "curve preference 9999 is not supported by the current Go version"},
      {{}, {23, 23}, "", "duplicate curve preference 23"},
      {{}, {}, "VersionTLS14", "unknown tls version \"VersionTLS14\""},
  };
  for (const Case& c : cases) {
    std::vector<std::string> warnings;
    const auto made = MakeTlsSettings(c.suites, c.curves, c.version, &warnings);
    ASSERT_FALSE(made.ok()) << c.want;
    EXPECT_EQ(made.error().message, c.want);
  }
  std::vector<std::string> warnings;
  EXPECT_THAT(MakeTlsSettings({"TLS_RSA_WITH_RC4_128_SHA"}, {}, "", &warnings).error().message,
              HasSubstr("TLS_RSA_WITH_RC4_128_SHA is broken"));
  EXPECT_THAT(MakeTlsSettings({}, {4588}, "", &warnings).error().message,
              HasSubstr("--tls-curve-preferences"));
}

TEST(TlsSettings, AreOpenSslsTerms) {
  std::vector<std::string> warnings;
  const auto made =
      MakeTlsSettings({"TLS_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
                       "TLS_RSA_WITH_AES_128_CBC_SHA"},
                      {29, 4588, 23}, "VersionTLS11", &warnings);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made.value().ciphers, "ECDHE-RSA-AES128-GCM-SHA256:AES128-SHA");
  EXPECT_EQ(made.value().groups, "X25519:P-256");
  EXPECT_EQ(made.value().min_version, 0x0302);
  EXPECT_THAT(warnings,
              ElementsAre("Use of insecure cipher 'TLS_RSA_WITH_AES_128_CBC_SHA' detected.",
                          HasSubstr("curve preference 4588")));
}

TEST(TlsSettings, OnlyNewSuitesLeaveNoTls12) {
  std::vector<std::string> warnings;
  const auto made = MakeTlsSettings({"TLS_AES_128_GCM_SHA256"}, {}, "VersionTLS12", &warnings);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made.value().min_version, 0x0304);
  EXPECT_EQ(MakeTlsSettings({}, {}, "", &warnings).value().min_version, 0x0303);
  EXPECT_THAT(warnings, SizeIs(0));
}

}  // namespace
}  // namespace ks::server
