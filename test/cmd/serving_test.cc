// SPDX-License-Identifier: Apache-2.0
// The whole serving side against the in-memory API server over real sockets.
#include "kubesched/access/serving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "apiserver/http/api_server.h"
#include "client/rest/connection.h"
#include "server/tls/x509.h"
#include "testing/fake_timers.h"
#include "testing/temp_dir.h"
#include "testing/test_certificates.h"
#include "testing/tls_client.h"

namespace ks::daemon {
namespace {

using nlohmann::json;
using testing::Answer;
using ::testing::HasSubstr;
using testing::TestAuthority;
using testing::TestIdentity;
using testing::TlsClient;

constexpr const char* kConfigMap =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
constexpr const char* kPolicy =
    R"({"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"system:kube-scheduler","namespace":"*","resource":"*","apiGroup":"*","nonResourcePath":"*"}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"prom","nonResourcePath":"/who"}}
{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"ann","nonResourcePath":"/who"}}
)";

// A free port is chosen by the system where the program would not serve at all with 0.
Options FreePort() {
  Options options;
  options.serving.bind_address = "127.0.0.1";
  options.serving.secure_port = 65536;  // 0 once it is a port
  return options;
}

class ServingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    client::InitializeClientProcess();
    folder_.Write("tokens.csv", "prom-token,prom,1,\"monitoring\"\nbob-token,bob,2\n");
    auto server = apiserver::ApiServer::Start(
        {.dir = folder_.path(), .policy_file = folder_.Write("policy", kPolicy)});
    ASSERT_TRUE(server.ok()) << server.error().message;
    api_ = std::move(server).value();
    Trust(clients_);
  }

  // Publishes the authority in place of the server's own.
  void Trust(const TestAuthority& authority) const {
    const auto access = client::LoadKubeconfig(api_->admin_kubeconfig());
    ASSERT_TRUE(access.ok()) << access.error().message;
    const auto connection = client::Connection::Make(*access);
    ASSERT_TRUE(connection.ok()) << connection.error().message;
    const json patch = {{"data", {{"client-ca-file", authority.ca_pem()}}}};
    const client::RestReply reply =
        (*connection)
            ->NewRestClient({})
            ->Patch(kConfigMap, patch.dump(), "application/merge-patch+json");
    ASSERT_TRUE(reply.ok()) << reply.error->message;
  }

  void Serve(Options options) {
    options.authentication.kubeconfig = api_->scheduler_kubeconfig();
    options.authorization.kubeconfig = api_->scheduler_kubeconfig();
    const auto generated = PrepareCertificate(options.serving);
    ASSERT_TRUE(generated.ok());
    auto made = Serving::Prepare(options, generated.value(), registry_, rest_metrics_);
    ASSERT_TRUE(made.ok()) << made.error().message;
    serving_ = std::move(made).value();
    serving_->https().Handle("/who", [](const server::Request& request) {
      return server::Response{.body = request.caller.user};
    });
    serving_->https().Handle("/livez",
                             [](const server::Request&) { return server::Response{.body = "ok"}; });
    serving_->Start();
  }

  int port() const { return serving_->https().port(); }
  Answer Ask(const std::string& path, const std::string& token,
             const TestIdentity& identity = {}) const {
    TlsClient client(port(), identity);
    std::string head = "GET " + path + " HTTP/1.1\r\nHost: a\r\n";
    if (!token.empty()) head += "Authorization: Bearer " + token + "\r\n";
    client.Send(head + "\r\n");
    return client.Read();
  }

  const TestAuthority clients_{"clients"};
  const TestAuthority strangers_{"strangers"};
  testing::TempDir folder_;
  std::unique_ptr<apiserver::ApiServer> api_;
  metrics::Registry registry_;
  client::RestMetrics rest_metrics_{registry_};
  std::unique_ptr<Serving> serving_;
};

TEST_F(ServingTest, CallersAreJudgedByTheApiServer) {
  Serve(FreePort());
  struct Case {
    std::string name;
    std::string path;
    std::string token;
    TestIdentity identity;
    int want_status;
    std::string want_body;
  };
  const Case cases[] = {
      {"open path", "/livez", "", {}, 200, "ok"},
      {"anonymous", "/who", "", {}, 403, "User \\\"system:anonymous\\\" cannot get path"},
      {"token", "/who", "prom-token", {}, 200, "prom"},
      {"token without rights", "/who", "bob-token", {}, 403, "User \\\"bob\\\" cannot get path"},
      {"bad token", "/livez", "nonsense", {}, 401, "Unauthorized"},
      {"certificate", "/who", "", clients_.Issue("ann", ""), 200, "ann"},
      {"certificate without rights", "/who", "", clients_.Issue("eve", ""), 403, "eve"},
      {"stranger", "/livez", "", strangers_.Issue("ann", ""), 401, "Unauthorized"},
      {"allowed, no such path", "/nothing", "", {}, 403, "/nothing"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    const Answer answer = Ask(test.path, test.token, test.identity);
    EXPECT_EQ(answer.status, test.want_status);
    EXPECT_THAT(answer.body, HasSubstr(test.want_body));
  }
  EXPECT_THAT(registry_.Text(),
              HasSubstr("apiserver_delegated_authn_request_total{code=\"201\"} 3"));
  EXPECT_EQ(Ask("/who", "prom-token").status, 200);
  EXPECT_THAT(registry_.Text(),
              HasSubstr("apiserver_delegated_authn_request_total{code=\"201\"} 3"))
      << "from the cache";
  // The questions are requests of the client like all others (docs/spec/metrics.md section 4); the
  // published roots were read with the first connection.
  const std::string host = api_->url().substr(std::string("https://").size());
  EXPECT_THAT(registry_.Text(), HasSubstr("rest_client_requests_total{code=\"201\",host=\"" + host +
                                          "\",method=\"POST\"}"));
  EXPECT_THAT(registry_.Text(), HasSubstr("\nrest_client_transport_cache_entries 2\n"));
}

TEST_F(ServingTest, PublishedAuthoritiesChangeLive) {
  Serve(FreePort());
  EXPECT_EQ(Ask("/who", "", strangers_.Issue("ann", "")).status, 401);
  const auto access = client::LoadKubeconfig(api_->admin_kubeconfig());
  const auto connection = client::Connection::Make(access.value());
  const auto admin = (*connection)->NewRestClient({});
  const json patch = {{"data", {{"client-ca-file", strangers_.ca_pem()}}}};
  ASSERT_TRUE(admin->Patch(kConfigMap, patch.dump(), "application/merge-patch+json").ok());
  while (Ask("/who", "", strangers_.Issue("ann", "")).status != 200) {
  }
  EXPECT_EQ(Ask("/who", "", clients_.Issue("ann", "")).status, 401);
  while (TlsClient(port()).asked_authorities() != std::vector<std::string>{"strangers"}) {
  }
}

TEST_F(ServingTest, WithoutAnApiServerNobodyIsLetIn) {
  Serve(FreePort());
  api_->Stop();
  EXPECT_EQ(Ask("/livez", "").body, "ok");
  EXPECT_EQ(Ask("/livez", "prom-token").status, 401);
  const Answer unknown = Ask("/who", "", clients_.Issue("ann", ""));
  EXPECT_EQ(unknown.status, 500);
  EXPECT_THAT(unknown.body, HasSubstr("Internal Server Error: \"/who\": "));
}

TEST_F(ServingTest, ServingCertificatesAreReadAgain) {
  const TestAuthority authority("serving");
  const auto write = [this](const TestIdentity& identity, const std::string& name) {
    folder_.Write(name + ".key.new", identity.key_pem);
    folder_.Write(name + ".crt.new", identity.cert_pem);
    for (const char* end : {".key", ".crt"}) {
      const std::string path = folder_.path() + "/" + name + end;
      std::rename((path + ".new").c_str(), path.c_str());
    }
  };
  write(authority.Issue("first", "DNS:a"), "pair");
  write(authority.Issue("named", "DNS:named.example"), "named");
  Options options = FreePort();
  options.serving.tls_cert_file = folder_.path() + "/pair.crt";
  options.serving.tls_private_key_file = folder_.path() + "/pair.key";
  options.serving.sni_cert_keys = {folder_.path() + "/named.crt," + folder_.path() + "/named.key"};
  Serve(options);
  EXPECT_EQ(TlsClient(port()).peer_name(), "first");
  EXPECT_EQ(TlsClient(port(), TestIdentity{}, "named.example").peer_name(), "named");
  write(authority.Issue("second", "DNS:a"), "pair");
  while (TlsClient(port()).peer_name() != "second") {
  }
  write(authority.Issue("renamed", "DNS:named.example"), "named");
  while (TlsClient(port(), TestIdentity{}, "named.example").peer_name() != "renamed") {
  }
}

TEST_F(ServingTest, WhatCannotWorkIsRefusedAtStart) {
  const auto refusal = [this](const Options& options) {
    const auto made = Serving::Prepare(options, std::nullopt, registry_, rest_metrics_);
    return made.ok() ? std::string() : made.error().message;
  };
  Options options = FreePort();
  options.serving.tls_cert_file = "/nope";
  EXPECT_EQ(refusal(options), "missing filename for serving cert");
  options = FreePort();
  const TestIdentity pair = TestAuthority("a").Issue("b", "DNS:b");
  options.serving.tls_cert_file = folder_.Write("c.crt", pair.cert_pem);
  options.serving.tls_private_key_file = folder_.Write("c.key", pair.key_pem);
  Options named = options;
  named.serving.sni_cert_keys = {"/a,/b"};
  EXPECT_EQ(refusal(named), "failed to load SNI cert and key: open /a: no such file or directory");
  Options strict = options;
  strict.authentication.kubeconfig = api_->scheduler_kubeconfig();
  strict.authentication.tolerate_lookup_failure = false;
  api_->Stop();
  EXPECT_THAT(refusal(strict),
              HasSubstr("unable to load configmap based request-header-client-ca-file: "));
}

// Suites or curves that the operator chose may leave out a key of P-256.
TEST(TlsKeeper, ThePairInMemorySuitsWhatIsChosen) {
  const auto kind = [](const ServingOptions& options) {
    const auto pair = MakePairInMemory(options, 1795219413);
    EXPECT_TRUE(pair.ok());
    return EVP_PKEY_get_base_id(server::ReadKey(pair.value().key_pem).get());
  };
  EXPECT_EQ(kind({}), EVP_PKEY_EC);
  EXPECT_EQ(kind({.cipher_suites = {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}}), EVP_PKEY_RSA);
  EXPECT_EQ(kind({.curve_preferences = {29}}), EVP_PKEY_RSA);
}

TEST(TlsKeeper, RenewsTheSelfSignedPairBeforeItExpires) {
  testing::FakeTimers timers;
  const auto now = std::chrono::floor<std::chrono::seconds>(timers.clock().WallNow());
  const auto first =
      server::MakeSelfSignedCertificate("127.0.0.1", now.time_since_epoch().count()).value();
  Mutex mutex;
  std::vector<std::string> applied;
  const auto made = TlsKeeper::Make({}, first, timers, [&](const server::TlsSetup& setup) {
    const MutexLock lock(mutex);
    applied.push_back(setup.certificate.chain_pem);
    return Result<void>();
  });
  ASSERT_TRUE(made.ok());
  made.value()->Start();
  const auto count = [&] {
    const MutexLock lock(mutex);
    return applied.size();
  };
  timers.Advance(std::chrono::hours(24 * 330));
  EXPECT_EQ(count(), 1u);
  timers.Advance(std::chrono::hours(24 * 7));
  EXPECT_EQ(count(), 2u);
  timers.Advance(std::chrono::hours(24 * 300));
  EXPECT_EQ(count(), 2u) << "the new one lasts";
}

}  // namespace
}  // namespace ks::daemon
