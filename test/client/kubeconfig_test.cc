// SPDX-License-Identifier: Apache-2.0
// Kubeconfig files, in-cluster configuration, and the choice between them (docs/spec/api.md 8.1
// to 8.3).
#include "client/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "testing/temp_dir.h"

namespace ks::client {
namespace {

using ks::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A kubeconfig with one context of the given cluster and user bodies.
std::string Config(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
         "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
         "clusters: [{name: k, cluster: {" +
         cluster +
         "}}]\n"
         "users: [{name: u, user: {" +
         user + "}}]\n";
}

TEST(Kubeconfig, EverythingInOne) {
  TempDir dir;
  const std::string path =
      dir.Write("config", Config("server: 'https://10.0.0.1:6443', certificate-authority: ca.crt, "
                                 "tls-server-name: kubernetes",
                                 "client-certificate-data: aGVsbG8=, client-key: /abs/key, "
                                 "tokenFile: t/token, token: abc, username: u, password: p, "
                                 "as: someone, as-uid: '7', as-groups: [g1, g2], "
                                 "as-user-extra: {scopes: [view]}"));
  const Result<ClusterAccess> access = LoadKubeconfig(path);
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, "https://10.0.0.1:6443");
  EXPECT_EQ(access->tls_server_name, "kubernetes");
  EXPECT_EQ(access->ca_file, dir.path() + "/ca.crt");
  EXPECT_EQ(access->client_cert_data, "hello");
  EXPECT_EQ(access->client_key_file, "/abs/key");
  EXPECT_EQ(access->token_file, dir.path() + "/t/token");
  EXPECT_EQ(access->token, "abc");
  EXPECT_EQ(access->username, "u");
  EXPECT_EQ(access->password, "p");
  using Header = std::pair<std::string, std::string>;
  EXPECT_THAT(access->impersonation,
              ElementsAre(Header("Impersonate-User", "someone"), Header("Impersonate-Uid", "7"),
                          Header("Impersonate-Group", "g1"), Header("Impersonate-Group", "g2"),
                          Header("Impersonate-Extra-scopes", "view")));
}

TEST(Kubeconfig, Json) {
  TempDir dir;
  const std::string path = dir.Write(
      "config",
      R"({"current-context":"c","contexts":[{"name":"c","context":{"cluster":"k"}}],)"
      R"("clusters":[{"name":"k","cluster":{"server":"https://h:1","insecure-skip-tls-verify":true}}]})");
  const Result<ClusterAccess> access = LoadKubeconfig(path);
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, "https://h:1");
  EXPECT_TRUE(access->insecure_skip_tls_verify);
}

TEST(Kubeconfig, MasterReplacesTheServerAndContextTheChoice) {
  TempDir dir;
  const std::string two = dir.Write("two",
                                    "current-context: a\ncontexts: [{name: a, context: {cluster: "
                                    "a}}, {name: b, context: {cluster: b}}]\n"
                                    "clusters: [{name: a, cluster: {server: 'https://a:1'}}, "
                                    "{name: b, cluster: {server: 'https://b:1'}}]\n");
  EXPECT_EQ(LoadKubeconfig(two)->server, "https://a:1");
  EXPECT_EQ(LoadKubeconfig(two, {.context = "b"})->server, "https://b:1");
  EXPECT_EQ(LoadKubeconfig(two, {.master = "https://m:2"})->server, "https://m:2");
}

TEST(Kubeconfig, CredentialsOnlyOverHttps) {
  TempDir dir;
  const std::string path = dir.Write("config", Config("server: 'http://a:1'", "token: t"));
  const Result<ClusterAccess> access = LoadKubeconfig(path);
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->token, "");
}

TEST(Kubeconfig, Exec) {
  TempDir dir;
  const std::string path = dir.Write(
      "config",
      Config(
          "server: 'https://a:1'",
          "exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/login, args: [a, b], "
          "env: [{name: N, value: v}], interactiveMode: Never, installHint: hint, "
          "provideClusterInfo: true}"));
  const Result<ClusterAccess> access = LoadKubeconfig(path);
  ASSERT_TRUE(access.ok()) << access.error().message;
  ASSERT_TRUE(access->exec.has_value());
  EXPECT_EQ(access->exec->command, dir.path() + "/bin/login");
  EXPECT_THAT(access->exec->args, ElementsAre("a", "b"));
  EXPECT_THAT(access->exec->env, ElementsAre(std::pair<std::string, std::string>("N", "v")));
  EXPECT_EQ(access->exec->install_hint, "hint");
  EXPECT_TRUE(access->exec->provide_cluster_info);
}

TEST(Kubeconfig, ExecIsNotUsedBesideAToken) {
  TempDir dir;
  const std::string path =
      dir.Write("config", Config("server: 'https://a:1'", "token: t, exec: {command: x}"));
  const Result<ClusterAccess> access = LoadKubeconfig(path);
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_FALSE(access->exec.has_value());
}

struct BadCase {
  std::string name;
  std::string text;
  std::string want_error;
};

class BadKubeconfig : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadKubeconfig, Row) {
  TempDir dir;
  const Result<ClusterAccess> access = LoadKubeconfig(dir.Write("config", GetParam().text));
  ASSERT_FALSE(access.ok());
  EXPECT_THAT(access.error().message, HasSubstr(GetParam().want_error));
}

constexpr const char* kServer = "server: 'https://a:1'";

INSTANTIATE_TEST_SUITE_P(
    All, BadKubeconfig,
    ::testing::Values(
        BadCase{"syntax", "a: [", "error loading config file"},
        BadCase{"list", "- a", "expected a mapping"},
        BadCase{"kind", "kind: Pod", "kind must be Config, not \"Pod\""},
        BadCase{"version", "apiVersion: v2", "apiVersion must be v1, not \"v2\""},
        BadCase{"empty", "", "invalid configuration: no configuration has been provided"},
        BadCase{"noContext", "current-context: x",
                "context was not found for specified context: x"},
        BadCase{"noCluster", "current-context: x\ncontexts: [{name: x, context: {cluster: y}}]",
                "cluster \"y\" does not exist"},
        BadCase{"noUser",
                "current-context: x\ncontexts: [{name: x, context: {cluster: y, user: z}}]\n"
                "clusters: [{name: y, cluster: {server: 'https://a:1'}}]",
                "user \"z\" was not found"},
        BadCase{"duplicate", "clusters: [{name: a, cluster: {}}, {name: a, cluster: {}}]",
                "clusters[1]: duplicate name \"a\" in list clusters"},
        BadCase{"proxy", Config(std::string(kServer) + ", proxy-url: 'http://p'", ""),
                "clusters[0].cluster.proxy-url: proxies are not supported"},
        BadCase{"insecureWithCa",
                Config(std::string(kServer) +
                           ", insecure-skip-tls-verify: true, certificate-authority: x",
                       ""),
                "specifying a root certificates file with the insecure flag is not allowed"},
        BadCase{"base64", Config(std::string(kServer) + ", certificate-authority-data: '?'", ""),
                "clusters[0].cluster.certificate-authority-data: illegal base64 data"},
        BadCase{"flagText", Config(std::string(kServer) + ", insecure-skip-tls-verify: 'true'", ""),
                "clusters[0].cluster.insecure-skip-tls-verify: expected true or false"},
        BadCase{"certWithoutKey", Config(kServer, "client-certificate: x"),
                "client-key-data or client-key must be specified"},
        BadCase{"authProvider", Config(kServer, "auth-provider: {name: gcp}"),
                "auth-provider is not supported"},
        BadCase{"badServer", Config("server: 'a/b'", ""), "must be a URL or a host:port pair"},
        BadCase{"execVersion",
                Config(kServer,
                       "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}"),
                "invalid apiVersion \"client.authentication.k8s.io/v1alpha1\""},
        BadCase{"execMode",
                Config(kServer, "exec: {apiVersion: client.authentication.k8s.io/v1, command: x}"),
                "interactiveMode must be specified"},
        BadCase{"execCommand",
                Config(kServer, "exec: {apiVersion: client.authentication.k8s.io/v1beta1}"),
                "users[0].user.exec: command must be specified"},
        BadCase{"execTerminal",
                Config(kServer,
                       "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, "
                       "interactiveMode: Always}"),
                "interactiveMode Always needs a terminal"}),
    [](const auto& test) { return test.param.name; });

TEST(Kubeconfig, MissingFile) {
  TempDir dir;
  const Result<ClusterAccess> access = LoadKubeconfig(dir.path() + "/none");
  ASSERT_FALSE(access.ok());
  EXPECT_EQ(access.error().message, "stat " + dir.path() + "/none: no such file or directory");
}

TEST(KubeconfigList, FirstEntryOfANameWinsAsAWhole) {
  TempDir dir;
  const std::string a = dir.Write(
      "a", "current-context: c\nclusters: [{name: k, cluster: {server: 'https://a:1'}}]\n");
  const std::string b =
      dir.Write("b",
                "current-context: other\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
                "clusters: [{name: k, cluster: {server: 'https://b:1', tls-server-name: "
                "x}}]\nusers: [{name: u, user: {token: t}}]\n");
  const Result<ClusterAccess> access = LoadKubeconfigList(a + "::" + dir.path() + "/missing:" + b);
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, "https://a:1");
  EXPECT_EQ(access->tls_server_name, "");
  EXPECT_EQ(access->token, "t");
}

TEST(InCluster, FromFiles) {
  TempDir dir;
  const InClusterSource source{.host = "fd00::1",
                               .port = "443",
                               .token_file = dir.Write("token", "t\n"),
                               .ca_file = dir.Write("ca.crt", "pem")};
  const Result<ClusterAccess> access = LoadInCluster(source);
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, "https://[fd00::1]:443");
  EXPECT_EQ(access->token_file, source.token_file);
  EXPECT_EQ(access->ca_file, source.ca_file);
}

TEST(InCluster, MissingPieces) {
  TempDir dir;
  InClusterSource source;
  source.token_file = dir.path() + "/none";
  source.ca_file = dir.path() + "/none";
  EXPECT_EQ(LoadInCluster(source).error().message,
            "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
            "KUBERNETES_SERVICE_PORT must be defined");
  source.host = "10.0.0.1";
  source.port = "443";
  EXPECT_FALSE(LoadInCluster(source).ok());
  source.token_file = dir.Write("token", "t");
  const Result<ClusterAccess> access = LoadInCluster(source);
  ASSERT_TRUE(access.ok());
  EXPECT_EQ(access->ca_file, "") << "the system's roots";
}

TEST(ClientConfig, Choice) {
  TempDir dir;
  const std::string file = dir.Write("config", Config(kServer, "token: t"));
  const InClusterSource none{.host = "", .port = ""};
  EXPECT_EQ(LoadClientConfig(file, "", none)->server, "https://a:1");
  EXPECT_EQ(LoadClientConfig(file, "https://m:2", none)->server, "https://m:2");
  EXPECT_EQ(LoadClientConfig("", "https://m:2", none)->server, "https://m:2");
  EXPECT_EQ(LoadClientConfig("", "", none).error().message,
            "invalid configuration: no configuration has been provided, try setting "
            "KUBERNETES_MASTER environment variable");
}

}  // namespace
}  // namespace ks::client
