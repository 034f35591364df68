// SPDX-License-Identifier: Apache-2.0
// Kubeconfig files, in-cluster configuration, and the choice between them (docs/spec/api.md 8.1
// to 8.3).
#include "client/auth/kubeconfig.h"

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
  dir.Write("ca.crt", "pem");
  const std::string path =
      dir.Write("config", Config("server: 'https://10.0.0.1:6443', certificate-authority: ca.crt, "
                                 "proxy-url: 'socks5://p:1', "
                                 "tls-server-name: kubernetes",
                                 "client-certificate-data: aGVsbG8=, client-key-data: aGk=, "
                                 "tokenFile: t/token, token: abc, "
                                 "as: someone, as-uid: '7', as-groups: [g1, g2], "
                                 "as-user-extra: {scopes: [view]}"));
  const Result<ClusterAccess> access = LoadKubeconfig(path);
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, "https://10.0.0.1:6443");
  EXPECT_EQ(access->tls_server_name, "kubernetes");
  EXPECT_EQ(access->ca_file, dir.path() + "/ca.crt");
  EXPECT_EQ(access->client_cert_data, "hello");
  EXPECT_EQ(access->client_key_data, "hi");
  EXPECT_EQ(access->proxy_url, "socks5://p:1");
  EXPECT_EQ(access->token_file, dir.path() + "/t/token");
  EXPECT_EQ(access->token, "abc");
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

// Two clusters, two users, two contexts.
std::string Pairs(const TempDir& dir) {
  return dir.Write(
      "pairs",
      "current-context: a\n"
      "contexts: [{name: a, context: {cluster: a, user: a, namespace: ours}},\n"
      "           {name: b, context: {cluster: b, user: b}}]\n"
      "clusters: [{name: a, cluster: {server: 'https://a:1', certificate-authority-data: aGk=}},\n"
      "           {name: b, cluster: {server: 'https://b:1', insecure-skip-tls-verify: true}}]\n"
      "users: [{name: a, user: {username: ann, password: p, as: x, as-groups: [g]}},\n"
      "        {name: b, user: {token: t, client-certificate-data: aGk=, client-key-data: aGk=}}]"
      "\n");
}

TEST(Kubeconfig, ClusterAndUserByName) {
  TempDir dir;
  const std::string pairs = Pairs(dir);
  const Result<ClusterAccess> own = LoadKubeconfig(pairs);
  EXPECT_EQ(own->server + own->username + own->context_namespace, "https://a:1annours");
  const Result<ClusterAccess> mixed = LoadKubeconfig(pairs, {.cluster = "b", .user = "b"});
  EXPECT_EQ(mixed->server + mixed->token + mixed->context_namespace, "https://b:1tours");
  EXPECT_EQ(LoadKubeconfig(pairs, {.context = "b", .user = "a"})->username, "ann");
  EXPECT_EQ(LoadKubeconfig(pairs, {.cluster = "c"}).error().message,
            "cluster \"c\" does not exist");
  EXPECT_EQ(LoadKubeconfig(pairs, {.user = "c"}).error().message, "auth info \"c\" does not exist");
}

TEST(Kubeconfig, FlagsReplaceTheirLike) {
  TempDir dir;
  const std::string pairs = Pairs(dir);
  const std::string pem = dir.Write("pem", "pem");

  const Result<ClusterAccess> token = LoadKubeconfig(pairs, {.instead = {.token = "mine"}});
  EXPECT_EQ(token->token + token->username + token->password, "mine");
  const Result<ClusterAccess> password =
      LoadKubeconfig(pairs, {.context = "b", .instead = {.username = "me", .password = "secret"}});
  EXPECT_EQ(password->username + password->password + password->token, "mesecret");

  const Result<ClusterAccess> certificate = LoadKubeconfig(
      pairs, {.context = "b", .instead = {.client_cert_file = pem, .client_key_file = pem}});
  EXPECT_EQ(certificate->client_cert_file + certificate->client_cert_data, pem);
  EXPECT_EQ(certificate->client_key_file + certificate->client_key_data, pem);

  using Header = std::pair<std::string, std::string>;
  const Result<ClusterAccess> as =
      LoadKubeconfig(pairs, {.instead = {.impersonation = {{"Impersonate-User", "y"}}}});
  EXPECT_THAT(as->impersonation, ElementsAre(Header("Impersonate-User", "y")));

  const Result<ClusterAccess> blind =
      LoadKubeconfig(pairs, {.instead = {.insecure_skip_tls_verify = true}});
  EXPECT_TRUE(blind->insecure_skip_tls_verify);
  EXPECT_EQ(blind->ca_data, "");
  const Result<ClusterAccess> seeing =
      LoadKubeconfig(pairs, {.context = "b", .instead = {.tls_server_name = "n", .ca_file = pem}});
  EXPECT_FALSE(seeing->insecure_skip_tls_verify);
  EXPECT_EQ(seeing->ca_file + seeing->tls_server_name, pem + "n");
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
          "env: [{name: NAME, value: v}], interactiveMode: Never, installHint: hint, "
          "provideClusterInfo: true}"));
  const Result<ClusterAccess> access = LoadKubeconfig(path);
  ASSERT_TRUE(access.ok()) << access.error().message;
  ASSERT_TRUE(access->exec.has_value());
  EXPECT_EQ(access->exec->command, dir.path() + "/bin/login");
  EXPECT_THAT(access->exec->args, ElementsAre("a", "b"));
  EXPECT_THAT(access->exec->env, ElementsAre(std::pair<std::string, std::string>("NAME", "v")));
  EXPECT_EQ(access->exec->install_hint, "hint");
  EXPECT_TRUE(access->exec->provide_cluster_info);
}

TEST(Kubeconfig, ExecIsNotUsedBesideAToken) {
  TempDir dir;
  const std::string path =
      dir.Write("config", Config("server: 'https://a:1'",
                                 "token: t, exec: {apiVersion: client.authentication.k8s.io/v1, "
                                 "command: x, interactiveMode: Never}"));
  const Result<ClusterAccess> access = LoadKubeconfig(path);
  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_FALSE(access->exec.has_value());
}

// kube-scheduler starts with these.
TEST(Kubeconfig, OddOnesThatServe) {
  struct Case {
    const char* name;
    std::string text;
    std::string want_server = "https://a:1";
    std::string want_token = "t";
  };
  const std::string server = "server: 'https://a:1'";
  const std::string plain = Config(server, "token: t");
  const auto with_server = [](const std::string& url) {
    return Config("server: '" + url + "'", "token: t");
  };
  std::string no_user = plain;
  no_user.replace(no_user.find("user: u}"), 8, "user: z}");
  const Case cases[] = {
      {"capitals", with_server("HTTPS://a:1"), "HTTPS://a:1"},
      {"user", with_server("https://u:p@a:1"), "https://u:p@a:1"},
      {"query", with_server("https://a:1?x=1"), "https://a:1?x=1"},
      {"no scheme means http, which gets no token", with_server("a:1"), "a:1", ""},
      {"two documents", plain + "---\nkind: Pod\n"},
      {"a second document that is none", plain + "---\n: : [\n"},
      {"missing user", no_user, "https://a:1", ""},
      {"key without certificate", Config(server, "token: t, client-key: /nonexistent")},
      {"yes", Config(server + ", insecure-skip-tls-verify: yes", "token: t")},
      {"a key twice", Config("server: 'https://b:1', " + server, "token: t")},
      {"a date as token", Config(server, "token: 2001-01-01"), "https://a:1", "2001-01-01"},
      {"a number in quotes", Config(server, "token: '5'"), "https://a:1", "5"},
      {"null", Config(server, "token: null"), "https://a:1", ""},
      {"merge key", "x: &x {" + server + "}\n" + Config("<<: *x", "token: t")},
      {"another user is odd", Config(server, "token: t}}, {name: v, user: {token: t, username: u")},
  };
  TempDir dir;
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    const Result<ClusterAccess> access = LoadKubeconfig(dir.Write("config", row.text));
    ASSERT_TRUE(access.ok()) << access.error().message;
    EXPECT_EQ(access->server, row.want_server);
    EXPECT_EQ(access->token, row.want_token);
    EXPECT_EQ(access->client_key_file, "");
  }
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
  EXPECT_THAT(access.error().message, Not(HasSubstr("\n")));
}

constexpr const char* kServer = "server: 'https://a:1'";

INSTANTIATE_TEST_SUITE_P(
    All, BadKubeconfig,
    ::testing::Values(
        BadCase{"syntax", "a: [", "error loading config file"},
        BadCase{"syntaxAtTheEndOfALine", "a: \"\\\n\"b", "error loading config file"},
        BadCase{"list", "- a", "expected a mapping"},
        BadCase{"kind", "kind: Pod", "kind must be Config, not \"Pod\""},
        BadCase{"kindOfTwoLines", "kind: \"P\\no\"", "kind must be Config, not \"P\\no\""},
        BadCase{"version", "apiVersion: v2", "apiVersion must be v1, not \"v2\""},
        BadCase{"empty", "", "invalid configuration: no configuration has been provided"},
        BadCase{"noContext", "current-context: x",
                "invalid configuration: [context was not found for specified context: x, cluster "
                "has no server defined]"},
        BadCase{"noCluster", "current-context: x\ncontexts: [{name: x, context: {cluster: k}}]",
                "invalid configuration: no configuration has been provided"},
        BadCase{"noServer", Config("", ""),
                "invalid configuration: no server found for cluster \"k\""},
        BadCase{"duplicate", "clusters: [{name: a, cluster: {}}, {name: a, cluster: {}}]",
                "clusters[1]: duplicate name \"a\" in list clusters"},
        BadCase{"proxyScheme", Config(std::string(kServer) + ", proxy-url: 'socks5h://p'", ""),
                "invalid configuration: invalid 'proxy-url' \"socks5h://p\" for cluster \"k\": "
                "unsupported scheme \"socks5h\", must be http, https, or socks5"},
        BadCase{"proxyUrl", Config(std::string(kServer) + ", proxy-url: '10.0.0.1:3128'", ""),
                "invalid 'proxy-url' \"10.0.0.1:3128\" for cluster \"k\": could not parse: "
                "10.0.0.1:3128"},
        BadCase{"insecureWithCa",
                Config(std::string(kServer) +
                           ", insecure-skip-tls-verify: true, certificate-authority-data: aGk=",
                       ""),
                "specifying a root certificates file with the insecure flag is not allowed"},
        BadCase{"caTwice",
                Config(std::string(kServer) +
                           ", certificate-authority: /nonexistent, certificate-authority-data: "
                           "aGk=",
                       ""),
                "invalid configuration: [certificate-authority-data and certificate-authority are "
                "both specified for k. certificate-authority-data will override., unable to read "
                "certificate-authority /nonexistent for k due to open /nonexistent: no such file "
                "or directory]"},
        BadCase{"base64", Config(std::string(kServer) + ", certificate-authority-data: '?'", ""),
                "clusters[0].cluster.certificate-authority-data: illegal base64 data"},
        BadCase{"flagText", Config(std::string(kServer) + ", insecure-skip-tls-verify: 'true'", ""),
                "clusters[0].cluster.insecure-skip-tls-verify: expected true or false"},
        BadCase{"certWithoutKey", Config(kServer, "client-certificate-data: aGk="),
                "invalid configuration: client-key-data or client-key must be specified for u to "
                "use the clientCert authentication method."},
        BadCase{"certAndKeyTwice",
                Config(kServer,
                       "client-certificate: /dev/null, client-certificate-data: aGk=, client-key: "
                       "/dev/null, client-key-data: aGk="),
                "invalid configuration: [client-cert-data and client-cert are both specified for "
                "u. client-cert-data will override., client-key-data and client-key are both "
                "specified for u; client-key-data will override]"},
        BadCase{"missingFiles", Config(kServer, "client-certificate: /none/c, client-key: /none/k"),
                "invalid configuration: [unable to read client-cert /none/c for u due to open "
                "/none/c: no such file or directory, unable to read client-key /none/k for u due "
                "to open /none/k: no such file or directory]"},
        BadCase{"tokenAndUser", Config(kServer, "token: t, username: u, password: p"),
                "invalid configuration: more than one authentication method found for u; found "
                "[token basicAuth], only one is allowed"},
        BadCase{"tokenAndPassword", Config(kServer, "token: t, password: p"),
                "more than one authentication method found for u"},
        BadCase{"tokenFileAndUser", Config(kServer, "tokenFile: /dev/null, username: u"),
                "username/password or bearer token may be set, but not both"},
        BadCase{"numberAsToken", Config(kServer, "token: 12345"),
                "line 6: users[0].user.token: expected a string, not a number: put it in quotes"},
        BadCase{"flagAsToken", Config(kServer, "token: yes"),
                "users[0].user.token: expected a string, not true or false: put it in quotes"},
        BadCase{"numberInAnUnusedUser", Config(kServer, "token: t}}, {name: v, user: {token: 5"),
                "users[1].user.token: expected a string, not a number"},
        BadCase{"authProvider", Config(kServer, "auth-provider: {name: gcp}"),
                "auth-provider is not supported"},
        BadCase{"impersonation", Config(kServer, "as-groups: [g]"),
                "requesting uid, groups or user-extra for u without impersonating a user"},
        BadCase{"badServer", Config("server: 'a/b'", ""),
                "host must be a URL or a host:port pair: \"a/b\""},
        BadCase{"execVersion",
                Config(kServer,
                       "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}"),
                "invalid apiVersion \"client.authentication.k8s.io/v1alpha1\""},
        BadCase{"execMode",
                Config(kServer, "exec: {apiVersion: client.authentication.k8s.io/v1, command: x}"),
                "interactiveMode must be specified for u to use exec authentication plugin"},
        BadCase{"execOfNothingBesideAToken", Config(kServer, "token: t, exec: {}"),
                "invalid configuration: [command must be specified for u to use exec "
                "authentication plugin, apiVersion must be specified for u to use exec "
                "authentication plugin, interactiveMode must be specified for u to use exec "
                "authentication plugin]"}),
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
