// SPDX-License-Identifier: Apache-2.0
// The whole server as programs use it: the folder's files, restarts, errors of its inputs.
#include "apiserver/http/api_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_text.h"
#include "client/rest/connection.h"
#include "testing/temp_dir.h"

namespace ks::apiserver {
namespace {

using ::testing::HasSubstr;

// A GET with a kubeconfig, over the project's own client: the status, or 0 and the error.
int Get(const std::string& kubeconfig, const std::string& target) {
  client::InitializeClientProcess();
  const auto access = client::LoadKubeconfig(kubeconfig);
  EXPECT_TRUE(access.ok()) << access.error().message;
  const auto connection = client::Connection::Make(*access);
  EXPECT_TRUE(connection.ok()) << connection.error().message;
  const std::unique_ptr<client::RestClient> rest = (*connection)->NewRestClient({});
  const client::RestReply reply = rest->Get(target);
  return reply.error ? reply.error->code : reply.code;
}

TEST(ApiServer, KubeconfigsWorkAndOutliveARestartOnThePort) {
  const ks::testing::TempDir dir;
  ApiServerOptions options{.dir = dir.path() + "/new/folder"};
  auto server = ApiServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.error().message;
  EXPECT_EQ(Get((*server)->admin_kubeconfig(), "/kubesched/faults"), 200);
  EXPECT_EQ(Get((*server)->scheduler_kubeconfig(), "/api/v1/nodes"), 200);
  EXPECT_EQ(Get((*server)->scheduler_kubeconfig(), "/kubesched/faults"), 403);

  const std::string kept = dir.Write("kept", ReadFile((*server)->admin_kubeconfig()).value());
  options.port = (*server)->front().port();
  (*server)->Stop();
  server->reset();
  server = ApiServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.error().message;
  EXPECT_EQ(Get(kept, "/api/v1/nodes"), 200);
}

// As kube-apiserver does: a scheduler finds there whose client certificates to trust.
TEST(ApiServer, PublishesItsClientAuthority) {
  const ks::testing::TempDir dir;
  const std::string path =
      "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  const auto server = ApiServer::Start({.dir = dir.path()});
  ASSERT_TRUE(server.ok()) << server.error().message;
  EXPECT_EQ(Get((*server)->scheduler_kubeconfig(), path), 200);

  const std::string dump = dir.Write("dump.yaml",
                                     "apiVersion: v1\nkind: List\nitems:\n"
                                     "- apiVersion: v1\n  kind: ConfigMap\n"
                                     "  metadata: {namespace: kube-system, name: "
                                     "extension-apiserver-authentication}\n"
                                     "  data: {client-ca-file: of another cluster}\n");
  const auto filled = ApiServer::Start({.dir = dir.path() + "/2", .load = {dump}});
  ASSERT_TRUE(filled.ok()) << filled.error().message;
  client::InitializeClientProcess();
  const auto access = client::LoadKubeconfig((*filled)->scheduler_kubeconfig());
  const auto connection = client::Connection::Make(*access);
  const client::RestReply reply = (*connection)->NewRestClient({})->Get(path);
  ASSERT_TRUE(reply.ok());
  EXPECT_THAT(reply.body, HasSubstr("-----BEGIN CERTIFICATE-----"));
}

TEST(ApiServer, TokensOfTheFolderAreTaken) {
  const ks::testing::TempDir dir;
  dir.Write("tokens.csv", "secret,alice,7,\"system:masters\"\n");
  const auto server = ApiServer::Start({.dir = dir.path()});
  ASSERT_TRUE(server.ok()) << server.error().message;
  const std::string own =
      dir.Write("own", KubeconfigText("alice", {.server_url = (*server)->url(),
                                                .ca_pem = ReadFile(dir.path() + "/ca.crt").value(),
                                                .token = "secret"}));
  EXPECT_EQ(Get(own, "/kubesched/faults"), 200);
}

TEST(ApiServer, IsFilledBeforeTheFirstRequest) {
  const ks::testing::TempDir dir;
  const std::string dump = dir.Write("dump.yaml",
                                     "apiVersion: v1\n"
                                     "kind: List\n"
                                     "items:\n"
                                     "- {apiVersion: v1, kind: Node, metadata: {name: loaded}}\n");
  ApiServerOptions options{.dir = dir.path(), .load = {dump}};
  options.before_serving = [](Service& service) -> Result<void> {
    const auto made = service.registry().Create(*FindResource("", "v1", "nodes"), "",
                                                Json{{"metadata", {{"name", "made"}}}});
    return made.ok() ? Result<void>() : Error{made.failure().message};
  };
  const auto server = ApiServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.error().message;
  EXPECT_EQ(Get((*server)->admin_kubeconfig(), "/api/v1/nodes/loaded"), 200);
  EXPECT_EQ(Get((*server)->admin_kubeconfig(), "/api/v1/nodes/made"), 200);
}

struct BadRow {
  const char* name;
  void (*spoil)(ApiServerOptions& options, const ks::testing::TempDir& dir);
  const char* want;
};

class BadInputs : public ::testing::TestWithParam<BadRow> {};

// Errors name the file and the cure.
TEST_P(BadInputs, AreNamed) {
  const ks::testing::TempDir dir;
  ApiServerOptions options{.dir = dir.path()};
  GetParam().spoil(options, dir);
  const auto server = ApiServer::Start(options);
  ASSERT_FALSE(server.ok());
  EXPECT_THAT(server.error().message, HasSubstr(GetParam().want));
}

using ks::testing::TempDir;
INSTANTIATE_TEST_SUITE_P(
    Rows, BadInputs,
    ::testing::Values(
        BadRow{"authority_without_key",
               [](ApiServerOptions&, const TempDir& dir) { dir.Write("ca.crt", "x"); },
               "ca.key to have new ones made"},
        BadRow{"authority_is_nonsense",
               [](ApiServerOptions&, const TempDir& dir) {
                 dir.Write("ca.crt", "x");
                 dir.Write("ca.key", "y");
               },
               "are not a certificate and its key; remove both"},
        BadRow{"tokens",
               [](ApiServerOptions&, const TempDir& dir) { dir.Write("tokens.csv", "alone\n"); },
               "/tokens.csv: line 1: expected token,user,uid"},
        BadRow{"faults",
               [](ApiServerOptions& options, const TempDir& dir) {
                 options.faults_file = dir.Write("rules.json", R"({"rules":[{"fualt":{}}]})");
               },
               "/rules.json: rules[0].fault: is missing"},
        BadRow{"no_faults_file",
               [](ApiServerOptions& options, const TempDir& dir) {
                 options.faults_file = dir.path() + "/none";
               },
               "/none: no such file"},
        BadRow{"dump",
               [](ApiServerOptions& options, const TempDir& dir) {
                 options.load = {dir.Write("dump.json", "{")};
               },
               "/dump.json: "},
        BadRow{"policy",
               [](ApiServerOptions& options, const TempDir& dir) {
                 options.policy_file = dir.Write("policy", "nonsense\n");
               },
               "/policy"},
        BadRow{"folder",
               [](ApiServerOptions& options, const TempDir& dir) {
                 options.dir = dir.Write("file", "") + "/below";
               },
               "mkdir "}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ks::apiserver
