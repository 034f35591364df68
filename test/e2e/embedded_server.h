// SPDX-License-Identifier: Apache-2.0
#pragma once
// The in-memory API server of this process, and an administrator who talks to it over HTTPS.

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apiserver/http/api_server.h"
#include "base/check.h"
#include "client/auth/kubeconfig.h"
#include "client/rest/connection.h"
#include "client/rest/rest_client.h"

namespace ks::e2e {

class EmbeddedServer {
 public:
  // Keeps its files below `dir`, which exists.
  explicit EmbeddedServer(const std::string& dir) {
    client::InitializeClientProcess();
    apiserver::ApiServerOptions options;
    options.dir = dir + "/server";
    auto server = apiserver::ApiServer::Start(options);
    KS_CHECK(server.ok(), server.ok() ? "" : server.error().message);
    server_ = std::move(*server);
    const auto access = client::LoadKubeconfig(server_->admin_kubeconfig());
    KS_CHECK(access.ok(), access.ok() ? "" : access.error().message);
    auto connection = client::Connection::Make(*access);
    KS_CHECK(connection.ok(), connection.ok() ? "" : connection.error().message);
    connection_ = std::move(*connection);
    admin_ = connection_->NewRestClient({.qps = -1});
  }

  apiserver::ApiServer& server() { return *server_; }
  client::RestClient& admin() { return *admin_; }
  std::string scheduler_kubeconfig() const { return server_->scheduler_kubeconfig(); }
  std::string url() const { return server_->url(); }

  void Create(const std::string& path, const nlohmann::json& object) {
    const client::RestReply reply = admin_->Post(path, object.dump());
    EXPECT_TRUE(reply.ok()) << path << ": " << reply.error->message;
  }

 private:
  std::unique_ptr<apiserver::ApiServer> server_;
  std::unique_ptr<client::Connection> connection_;
  std::unique_ptr<client::RestClient> admin_;
};

}  // namespace ks::e2e
