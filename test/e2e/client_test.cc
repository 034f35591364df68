// SPDX-License-Identifier: Apache-2.0
// The client against a real kube-apiserver: errors as the server words them, credentials, paged
// lists, watches that outlive the server.
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <set>
#include <sstream>
#include <string>

#include "client/write/writer.h"
#include "e2e/cluster_fixture.h"

namespace ks::e2e {
namespace {

using std::chrono::seconds;

class Client : public ClusterFixture {
 protected:
  std::string KubeconfigText() const {
    std::ifstream file(cluster_->plane().AdminKubeconfig());
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
};

TEST_F(Client, ErrorsCarryTheServersWords) {
  client::RestClient& admin = cluster_->admin();
  const client::RestReply missing = admin.Get("/api/v1/namespaces/default/pods/nope");
  ASSERT_FALSE(missing.ok());
  EXPECT_TRUE(missing.error->IsNotFound());
  EXPECT_EQ(missing.error->message, "pods \"nope\" not found");

  cluster_->CreatePod(PodManifest("twice", json::object()));
  const client::RestReply twice =
      admin.Post("/api/v1/namespaces/default/pods", PodManifest("twice", json::object()).dump());
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error->reason, "AlreadyExists");
  EXPECT_EQ(twice.error->code, 409);

  json invalid = PodManifest("Not_A_Name", json::object());
  const client::RestReply unprocessable =
      admin.Post("/api/v1/namespaces/default/pods", invalid.dump());
  ASSERT_FALSE(unprocessable.ok());
  EXPECT_EQ(unprocessable.error->code, 422);
  EXPECT_EQ(unprocessable.error->reason, "Invalid");
}

// docs/spec/api.md 9.1: binding twice, to a missing pod, and another uid.
TEST_F(Client, BindingsFailAsSpecified) {
  client::Writer writer(cluster_->admin(), cluster_->admin(), {.host_name = "e2e"});
  cluster_->CreatePod(PodManifest("p", json::object()));
  ASSERT_TRUE(cluster_->view().WaitFor(
      [](const PodView::Pods& pods) { return pods.contains("default/p"); }, seconds(10)));
  const api::PodPtr pod = cluster_->view().pods().at("default/p");
  const auto bind = [&writer](const api::PodPtr& target, const std::string& node) {
    std::promise<std::optional<api::ApiError>> answer;
    writer.Bind(target, node,
                [&answer](std::optional<api::ApiError> error) { answer.set_value(error); });
    return answer.get_future().get();
  };
  EXPECT_FALSE(bind(pod, "node-1").has_value());
  const auto again = bind(pod, "node-2");
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->IsConflict());
  EXPECT_EQ(again->message,
            "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to "
            "node \"node-1\"");
  auto ghost = std::make_shared<api::Pod>(*pod);
  ghost->meta.name = "ghost";
  const auto missing = bind(ghost, "node-1");
  ASSERT_TRUE(missing.has_value());
  EXPECT_TRUE(missing->IsNotFound());
  EXPECT_TRUE(writer.Drain(seconds(5)));
}

TEST_F(Client, WrongCredentialsAreNamed) {
  const auto try_with = [this](const std::function<void(client::ClusterAccess&)>& change) {
    auto access = client::LoadKubeconfig(cluster_->plane().AdminKubeconfig());
    EXPECT_TRUE(access.ok());
    change(*access);
    auto connection = client::Connection::Make(*access);
    EXPECT_TRUE(connection.ok()) << (connection.ok() ? "" : connection.error().message);
    if (!connection.ok()) return client::RestReply();
    const auto rest = (*connection)->NewRestClient({});
    return rest->Get("/api/v1/nodes", seconds(20));
  };
  const client::RestReply fine = try_with([](client::ClusterAccess&) {});
  EXPECT_TRUE(fine.ok()) << fine.error->message;

  cluster_->AllowRefusal({"somebody unknown", "list", "nodes"});
  const client::RestReply token = try_with([](client::ClusterAccess& access) {
    access.client_cert_file.clear();
    access.client_cert_data.clear();
    access.client_key_file.clear();
    access.client_key_data.clear();
    access.token = "wrong";
  });
  ASSERT_FALSE(token.ok());
  EXPECT_EQ(token.error->code, 401);

  const client::RestReply name =
      try_with([](client::ClusterAccess& access) { access.tls_server_name = "another.example"; });
  ASSERT_FALSE(name.ok());
  EXPECT_TRUE(name.error->IsTransport());
}

TEST_F(Client, ListsInPagesAndWatchesOnAfterARestart) {
  // More than one page of 500.
  constexpr size_t kPods = 620;
  for (size_t i = 0; i < kPods; ++i) {
    cluster_->CreatePod(PodManifest("pod-" + std::to_string(i), json::object()));
  }
  PodView late(cluster_->admin());
  ASSERT_TRUE(
      late.WaitFor([](const PodView::Pods& pods) { return pods.size() == kPods; }, seconds(30)));
  ASSERT_TRUE(cluster_->plane().KillApiServer().ok());
  ASSERT_TRUE(cluster_->StartApiServer().ok());
  cluster_->Delete("/api/v1/namespaces/default/pods/pod-7?gracePeriodSeconds=0");
  cluster_->CreatePod(PodManifest("new", json::object()));
  EXPECT_TRUE(late.WaitFor(
      [](const PodView::Pods& pods) {
        return pods.size() == kPods && pods.contains("default/new") &&
               !pods.contains("default/pod-7");
      },
      seconds(90)));
}

}  // namespace
}  // namespace ks::e2e
