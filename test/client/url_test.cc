// SPDX-License-Identifier: Apache-2.0
// URLs as Go's net/url takes them apart (docs/spec/api.md 8.6), and the addresses behind them.
#include "golang/url.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "client/http/server_url.h"

namespace ks::client {
namespace {

using nlohmann::json;

json Described(const std::string& text) {
  const Result<golang::Url> url = golang::ParseUrl(text);
  json row = {{"url", text}};
  if (!url.ok()) {
    row["error"] = url.error().message;
    return row;
  }
  row["scheme"] = url->scheme;
  row["opaque"] = url->opaque;
  row["user"] = url->user.has_value() ? json(url->user->name) : json();
  const bool password = url->user.has_value() && url->user->password.has_value();
  row["password"] = password ? json(*url->user->password) : json();
  row["host"] = url->host;
  row["hostname"] = url->Hostname();
  row["port"] = url->Port();
  row["path"] = url->path;
  row["target"] = url->RequestTarget();
  row["query"] = url->raw_query;
  row["fragment"] = url->fragment;
  row["text"] = url->Text();
  return row;
}

// More of them: go run test/client/data/go_urls.go 7 60000, with KS_GO_URLS naming the output.
TEST(Url, WhatGoMakesOfOddOnes) {
  const char* other = std::getenv("KS_GO_URLS");
  std::ifstream rows(other != nullptr ? other : KS_CLIENT_TEST_DATA "/go_urls.jsonl");
  std::string line;
  size_t count = 0;
  for (; std::getline(rows, line); ++count) {
    const json want = json::parse(line);
    EXPECT_EQ(Described(want["url"]), want);
  }
  EXPECT_GT(count, 800U);
}

TEST(Url, PasswordsAreNotShown) {
  EXPECT_EQ(golang::ParseUrl("http://u:p@h/x")->RedactedText(), "http://u:***@h/x");
  EXPECT_EQ(golang::ParseUrl("http://u@h/x")->RedactedText(), "http://u@h/x");
}

TEST(Url, BasicAuthorization) {
  EXPECT_EQ(golang::BasicAuthorization({.name = "us", .password = "pa ss"}), "Basic dXM6cGEgc3M=");
  EXPECT_EQ(golang::BasicAuthorization({.name = "us", .password = std::nullopt}), "Basic dXM6");
}

struct ServerCase {
  std::string name;
  std::string text;
  std::string want_text{};
  std::string want_dialled{};
  std::string want_host_field{};
  std::string want_error{};
  std::string want_refusal{};
};

class ServerUrlTest : public ::testing::TestWithParam<ServerCase> {};

TEST_P(ServerUrlTest, Row) {
  const ServerCase& row = GetParam();
  const Result<ServerUrl> url = ParseServerUrl(row.text);
  if (!row.want_error.empty()) {
    ASSERT_FALSE(url.ok());
    EXPECT_EQ(url.error().message, row.want_error);
    return;
  }
  ASSERT_TRUE(url.ok()) << url.error().message;
  EXPECT_EQ(url->Text(), row.want_text);
  EXPECT_EQ(url->refusal, row.want_refusal);
  if (!row.want_refusal.empty()) return;
  EXPECT_EQ(url->Authority(), row.want_dialled);
  EXPECT_EQ(url->host_field, row.want_host_field);
}

std::string NeitherUrlNorHost(const std::string& text) {
  return "host must be a URL or a host:port pair: \"" + text + "\"";
}

// The errors are those of client-go.
INSTANTIATE_TEST_SUITE_P(
    All, ServerUrlTest,
    ::testing::Values(
        ServerCase{"plain", "https://10.0.0.1:6443", "https://10.0.0.1:6443", "10.0.0.1:6443",
                   "10.0.0.1:6443"},
        ServerCase{"noPort", "https://api.example", "https://api.example", "api.example:443",
                   "api.example"},
        ServerCase{"emptyPort", "https://a:", "https://a:", "a:443", "a"},
        ServerCase{"capitals", "HTTPS://a:1", "https://a:1", "a:1", "a:1"},
        ServerCase{"noScheme", "api.example", "http://api.example", "api.example:80",
                   "api.example"},
        ServerCase{"noSchemeButPort", "node:8080", "http://node:8080", "node:8080", "node:8080"},
        ServerCase{"addressAndPort", "10.0.0.1:80", "http://10.0.0.1:80", "10.0.0.1:80",
                   "10.0.0.1:80"},
        ServerCase{"prefix", "https://h/k8s/clusters/c1/", "https://h/k8s/clusters/c1", "h:443",
                   "h"},
        ServerCase{"untidyPrefix", "https://h/../a//b%2Fc/./d e/", "https://h/a/b/c/d%20e", "h:443",
                   "h"},
        ServerCase{"queryAndFragment", "https://h:1/p?x=1#f", "https://h:1/p", "h:1", "h:1"},
        ServerCase{"user", "https://u:p@h:1", "https://u:***@h:1", "h:1", "h:1"},
        ServerCase{"underscore", "https://my_ext:1", "https://my_ext:1", "my_ext:1", "my_ext:1"},
        ServerCase{"ipv6", "https://[fd::1]:6443", "https://[fd::1]:6443", "[fd::1]:6443",
                   "[fd::1]:6443"},
        ServerCase{"zone", "https://[fe80::1%25lo]:1", "https://[fe80::1%25lo]:1", "[fe80::1%lo]:1",
                   "[fe80::1]:1"},
        ServerCase{"portOnly", "https://:6443", "https://:6443", "localhost:6443", ":6443"},
        ServerCase{"scheme", "ftp://h", "ftp://h", "", "", "",
                   "unsupported protocol scheme \"ftp\""},
        ServerCase{"portTooLarge", "https://h:65536", "https://h:65536", "", "", "",
                   "dial tcp: address 65536: invalid port"},
        ServerCase{"noSchemeButPath", "a/b", "", "", "", NeitherUrlNorHost("a/b")},
        ServerCase{"ipv6NoBrackets", "https://fe80::1", "", "", "",
                   NeitherUrlNorHost("https://fe80::1")},
        ServerCase{"badIpv6", "https://[x]:1", "", "", "", NeitherUrlNorHost("https://[x]:1")},
        ServerCase{"openBracket", "https://[::1", "", "", "", NeitherUrlNorHost("https://[::1")},
        ServerCase{"textPort", "https://h:x", "", "", "", NeitherUrlNorHost("https://h:x")},
        ServerCase{"noHost", "https:///x", "", "", "", NeitherUrlNorHost("https:///x")},
        ServerCase{"blanks", "https://< ip >", "", "", "", NeitherUrlNorHost("https://< ip >")},
        ServerCase{"badEscape", "https://a:1/%zz", "", "", "",
                   "parse \"http://https://a:1/%zz\": invalid URL escape \"%zz\""}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ks::client
