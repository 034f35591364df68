// SPDX-License-Identifier: Apache-2.0
// docs/spec/config.md 6: what building extenders checks and changes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "config/read/defaults.h"

namespace ks::config {
namespace {

// A self-signed certificate, valid or not does not matter here.
constexpr char kCertificate[] = R"(-----BEGIN CERTIFICATE-----
MIIBcDCCARWgAwIBAgIUCmf+OdFiim0nYoSoXHqg0tUzjrowCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBdDAgFw0yNjExMjExNDQyNDJaGA8yMTI2MTAyODE0NDI0Mlow
DDEKMAgGA1UEAwwBdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPZCiYF44Ila
kpaKZbY2OR+PDwZNBLyXDIg1dzI520PJE5bt2zEhGH5qsP2rpMsqYbH3RxS9iJn9
eCVWjV4OiIqjUzBRMB0GA1UdDgQWBBQtdDPEKC5MpKAQv9TyCIZNZV4rgTAfBgNV
HSMEGDAWgBQtdDPEKC5MpKAQv9TyCIZNZV4rgTAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0kAMEYCIQCtgP1sm+8zPlVoxUmLqQRce4M5Y6/a978S9/5pErra
FgIhAO6RVKrED5+9q6rE9ph7KcXipaTDBWi1n1rdkgehFUDT
-----END CERTIFICATE-----
)";
constexpr char kOtherBlock[] = R"(-----BEGIN PRIVATE KEY-----
AAAA
-----END PRIVATE KEY-----
)";
constexpr char kDamaged[] = R"(-----BEGIN CERTIFICATE-----
AAAA
-----END CERTIFICATE-----
)";

std::string ErrorOf(const Extender& extender) {
  Configuration configuration = DefaultConfiguration();
  configuration.extenders = {extender};
  const Result<void> applied = ApplyExtenders(&configuration);
  return applied.ok() ? "" : applied.error().message;
}

struct TlsRow {
  const char* name;
  Extender extender;
  const char* error;
};

class ExtenderTlsTest : public ::testing::TestWithParam<TlsRow> {};

TEST_P(ExtenderTlsTest, IsCheckedAsUpstreamDoes) {
  const std::string error = GetParam().error;
  EXPECT_EQ(ErrorOf(GetParam().extender),
            error.empty() ? error : "couldn't build extenders: " + error);
}

const TlsRow kTlsRows[] = {
    {"None", {}, ""},
    {"Empty", {.tls_config = ExtenderTls{}}, ""},
    {"InsecureWithAuthorities",
     {.tls_config = ExtenderTls{.insecure = true, .ca_file = "/nonexistent"}},
     "specifying a root certificates file with the insecure flag is not allowed"},
    {"NoPem",
     {.tls_config = ExtenderTls{.ca_data = "junk"}},
     "unable to load root certificates: unable to parse bytes as PEM block"},
    {"OtherBlock",
     {.tls_config = ExtenderTls{.ca_data = kOtherBlock}},
     "unable to load root certificates: no valid certificate authority data seen"},
    {"Damaged",
     {.tls_config = ExtenderTls{.ca_data = kDamaged}},
     "unable to load root certificates: failed to parse certificate: x509: malformed certificate"},
    {"Authorities", {.tls_config = ExtenderTls{.ca_data = kCertificate}}, ""},
    {"MissingAuthorities",
     {.tls_config = ExtenderTls{.ca_file = "/nonexistent/ca.pem"}},
     "open /nonexistent/ca.pem: no such file or directory"},
    {"DirectoryOfAuthorities",
     {.tls_config = ExtenderTls{.ca_file = "/"}},
     "read /: is a directory"},
    {"FilesBeforeParsing",
     {.tls_config = ExtenderTls{.cert_file = "/nonexistent/c", .ca_data = "junk"}},
     "open /nonexistent/c: no such file or directory"},
    {"CertificateBeforeKey",
     {.tls_config = ExtenderTls{.cert_file = "/nonexistent/c", .key_file = "/nonexistent/k"}},
     "open /nonexistent/c: no such file or directory"},
    // Half a pair alone is not looked at, unless something else needs a set-up.
    {"CertificateAlone", {.tls_config = ExtenderTls{.cert_file = "/nonexistent/c"}}, ""},
    {"KeyAlone", {.tls_config = ExtenderTls{.key_file = "/nonexistent/k"}}, ""},
    {"CertificateWithServerName",
     {.tls_config = ExtenderTls{.server_name = "a", .cert_file = "/nonexistent/c"}},
     "open /nonexistent/c: no such file or directory"},
    {"CertificateWithHttps",
     {.enable_https = true, .tls_config = ExtenderTls{.cert_file = "/nonexistent/c"}},
     "open /nonexistent/c: no such file or directory"},
    {"DataWinOverFiles",
     {.tls_config = ExtenderTls{.cert_file = "/nonexistent/c",
                                .ca_file = "/nonexistent/ca",
                                .cert_data = "junk",
                                .ca_data = kCertificate}},
     ""},
    // Files are read again for each connection.
    {"FilesOfAPairAreNotChecked",
     {.tls_config = ExtenderTls{.cert_file = "/dev/null", .key_file = "/dev/null"}},
     ""},
    {"APairOfFileAndDataIs",
     {.tls_config = ExtenderTls{.cert_file = "/dev/null", .key_data = "junk"}},
     "tls: failed to find any PEM data in certificate input"},
};

INSTANTIATE_TEST_SUITE_P(Spec, ExtenderTlsTest, ::testing::ValuesIn(kTlsRows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ExtenderTlsFile, IsRead) {
  const std::string file = ::testing::TempDir() + "/ks_ca_" + std::to_string(::getpid()) + ".pem";
  std::ofstream(file) << kCertificate;
  EXPECT_EQ(ErrorOf({.tls_config = ExtenderTls{.ca_file = file}}), "");
  std::ofstream(file, std::ios::trunc).flush();
  // Upstream takes an empty file for none at all.
  EXPECT_EQ(ErrorOf({.tls_config = ExtenderTls{.ca_file = file}}), "");
  std::filesystem::remove(file);
}

std::vector<std::string> Ignored(const Profile& profile) {
  for (const PluginConfig& entry : profile.plugin_config) {
    if (entry.name == "NodeResourcesFit") {
      return std::get<NodeResourcesFitArgs>(entry.args).ignored_resources;
    }
  }
  return {"no entry"};
}

// Trap T12.
TEST(ExtenderResources, ReplaceIgnoredResourcesOfEveryProfile) {
  Configuration configuration;
  configuration.profiles = {{.scheduler_name = "a"}, {.scheduler_name = "b"}};
  configuration.profiles[0].plugin_config = {
      {"NodeResourcesFit", NodeResourcesFitArgs{.ignored_resources = {"example.com/old"}}}};
  configuration.extenders = {
      {.managed_resources = {{"example.com/b", true}, {"example.com/no", false}}},
      {.managed_resources = {{"example.com/a", true}}},
  };
  SetDefaults(&configuration, {});
  ASSERT_TRUE(ApplyExtenders(&configuration).ok());
  const std::vector<std::string> expected = {"example.com/b", "example.com/a"};
  EXPECT_EQ(Ignored(configuration.profiles[0]), expected);
  EXPECT_EQ(Ignored(configuration.profiles[1]), expected);
}

TEST(ExtenderResources, NotIgnoredLeaveTheArgumentsAlone) {
  Configuration configuration = DefaultConfiguration();
  configuration.extenders = {{.managed_resources = {{"example.com/a", false}}}};
  ASSERT_TRUE(ApplyExtenders(&configuration).ok());
  EXPECT_TRUE(Ignored(configuration.profiles[0]).empty());
}

TEST(ExtenderResources, NeedArgumentsToReplace) {
  Configuration configuration = DefaultConfiguration();
  configuration.profiles[0].plugin_config.clear();
  configuration.extenders = {{.managed_resources = {{"example.com/a", true}}}};
  const Result<void> applied = ApplyExtenders(&configuration);
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().message,
            "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config");
}

TEST(ExtenderTest, LogsShowNoCredentials) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"http://name:secret@host/x", "http://host/x"},
      {"http://name@host", "http://host"},
      {"name:secret@host/x", "host/x"},
      {"http://name:se@cret@host:1/x@y", "http://host:1/x@y"},
      {"http://host/@x", "http://host/@x"},
      {"http://host", "http://host"},
      {"", ""},
  };
  for (const auto& [url, shown] : cases) {
    EXPECT_EQ(Extender{.url_prefix = url}.ShownUrl(), shown) << url;
  }
}

}  // namespace
}  // namespace ks::config
