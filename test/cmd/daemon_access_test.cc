// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cluster/daemon_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "client/http/transport.h"
#include "kubeschedctl/live/live_verbs.h"
#include "server/http/https_server.h"
#include "server/tls/certificate.h"
#include "testing/temp_dir.h"

namespace ks::ctl {
namespace {

// Plays the API server, or the daemon itself; the answers say what was asked.
class FakeServer {
 public:
  explicit FakeServer(const std::string& holder) {
    client::InitializeClientProcess();
    static const server::ServingCertificate certificate =
        server::MakeSelfSignedCertificate("127.0.0.1", 1795219413).value();
    https_ = server::HttpsServer::Listen(
                 {.bind_address = "127.0.0.1", .port = 0, .certificate = certificate})
                 .value();
    https_->Handle("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler",
                   [holder](const server::Request&) {
                     return server::Response{
                         .content_type = "application/json",
                         .body = R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1",)"
                                 R"("metadata":{"name":"kube-scheduler"},"spec":{)" +
                                 (holder.empty() ? "" : "\"holderIdentity\":\"" + holder + "\"") +
                                 "}}"};
                   });
    const auto echo = [](const server::Request& request, const server::Reply& reply) {
      reply({.body = request.method + " " + request.path + "?" + request.query + " " +
                     request.body + " " + std::string(request.headers.Get("authorization"))});
    };
    https_->HandlePrefix("/api/v1/namespaces/kube-system/pods/", echo);
    https_->HandlePrefix("/debug/kubesched/", echo);
    https_->Serve();
  }

  std::string url() const { return "https://127.0.0.1:" + std::to_string(https_->port()); }
  std::string Kubeconfig(const testing::TempDir& dir) const {
    return dir.Write("kubeconfig",
                     "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                     "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                     "users: [{name: u, user: {token: secret}}]\n"
                     "clusters: [{name: k, cluster: {server: \"" +
                         url() + "\", insecure-skip-tls-verify: true}}]\n");
  }

 private:
  std::unique_ptr<server::HttpsServer> https_;
};

TEST(DaemonAccess, ThroughTheApiServerToTheLeader) {
  const FakeServer server("kubesched-7d9f_0a1b");
  const testing::TempDir dir;
  const auto daemon = DaemonAccess::Open({.kubeconfig = server.Kubeconfig(dir)});
  ASSERT_TRUE(daemon.ok()) << daemon.error().message;
  EXPECT_EQ((*daemon)->name(), "pod kube-system/kubesched-7d9f");
  EXPECT_EQ((*daemon)->Get("/debug/kubesched/queue?limit=1").value(),
            "GET /api/v1/namespaces/kube-system/pods/https:kubesched-7d9f:10259/proxy"
            "/debug/kubesched/queue?limit=1  Bearer secret");
  EXPECT_EQ((*daemon)->Post("/debug/kubesched/simulate", "text").value(),
            "POST /api/v1/namespaces/kube-system/pods/https:kubesched-7d9f:10259/proxy"
            "/debug/kubesched/simulate? text Bearer secret");
}

TEST(DaemonAccess, ToANamedPod) {
  const FakeServer server("");
  const testing::TempDir dir;
  const auto daemon =
      DaemonAccess::Open({.kubeconfig = server.Kubeconfig(dir), .pod = "standby", .port = 10300});
  ASSERT_TRUE(daemon.ok()) << daemon.error().message;
  EXPECT_EQ((*daemon)->Get("/metrics").value(),
            "GET /api/v1/namespaces/kube-system/pods/https:standby:10300/proxy/metrics?  Bearer "
            "secret");
}

TEST(DaemonAccess, NobodyHoldsTheLease) {
  const FakeServer server("");
  const testing::TempDir dir;
  const auto daemon = DaemonAccess::Open({.kubeconfig = server.Kubeconfig(dir)});
  ASSERT_FALSE(daemon.ok());
  EXPECT_EQ(daemon.error().message,
            "lease kube-system/kube-scheduler: nobody holds it; name a pod with --scheduler-pod to "
            "ask a standby");
  const auto other = DaemonAccess::Open({.kubeconfig = server.Kubeconfig(dir), .lease = "mine"});
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("lease kube-system/mine: "), std::string::npos);
}

TEST(DaemonAccess, StraightToTheDaemon) {
  const FakeServer server("");
  const testing::TempDir dir;
  const auto daemon = DaemonAccess::Open({.kubeconfig = server.Kubeconfig(dir),
                                          .server = server.url(),
                                          .insecure_skip_tls_verify = true});
  ASSERT_TRUE(daemon.ok()) << daemon.error().message;
  EXPECT_EQ((*daemon)->Get("/debug/kubesched/cache").value(),
            "GET /debug/kubesched/cache?  Bearer secret");
  // The kubeconfig's word on the API server's certificate says nothing of the daemon's.
  const auto checked =
      DaemonAccess::Open({.kubeconfig = server.Kubeconfig(dir), .server = server.url()});
  ASSERT_TRUE(checked.ok());
  EXPECT_FALSE((*checked)->Get("/debug/kubesched/cache").ok());
}

TEST(DaemonAccess, StraightWithATokenAndNoKubeconfig) {
  const FakeServer server("");
  const testing::TempDir dir;
  DaemonOptions options{.server = server.url(), .insecure_skip_tls_verify = true};
  options.kubeconfig = dir.Write("empty", "apiVersion: v1\nkind: Config\n");
  options.api.instead.token = "given";
  const auto daemon = DaemonAccess::Open(options);
  ASSERT_TRUE(daemon.ok()) << daemon.error().message;
  EXPECT_EQ((*daemon)->Get("/metrics").ok(), false);
  EXPECT_EQ((*daemon)->Get("/debug/kubesched/cache").value(),
            "GET /debug/kubesched/cache?  Bearer given");
  EXPECT_EQ((*daemon)->default_namespace(), "default");
}

TEST(DaemonAccess, FlagsInThePlaceOfTheKubeconfigs) {
  const FakeServer server("kubesched-7d9f_0a1b");
  const testing::TempDir dir;
  const std::string config = dir.Write(
      "config",
      "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: ours}}]\n"
      "users: [{name: u, user: {token: one}}, {name: w, user: {token: two}}]\n"
      "clusters: [{name: k, cluster: {server: 'https://unused.invalid'}}]\n");
  DaemonOptions options{.kubeconfig = config};
  options.api.user = "w";
  options.api.master = server.url();
  options.api.instead.insecure_skip_tls_verify = true;
  const auto daemon = DaemonAccess::Open(options);
  ASSERT_TRUE(daemon.ok()) << daemon.error().message;
  EXPECT_THAT((*daemon)->Get("/metrics").value(), ::testing::EndsWith("Bearer two"));
  EXPECT_EQ((*daemon)->default_namespace(), "ours");
}

TEST(LiveTargets, PodsWithoutANamespace) {
  EXPECT_EQ(InNamespace("", "ns"), "");
  EXPECT_EQ(InNamespace("web", "ns"), "ns/web");
  EXPECT_EQ(InNamespace("other/web", "ns"), "other/web");
  EXPECT_EQ(InNamespace("podgroup/g", "ns"), "podgroup/ns/g");
  EXPECT_EQ(InNamespace("podgroup/other/g", "ns"), "podgroup/other/g");
  EXPECT_EQ(InNamespace("compositepodgroup/g", "ns"), "compositepodgroup/ns/g");
}

TEST(DaemonAccess, AKubeconfigThatIsNotThere) {
  EXPECT_FALSE(DaemonAccess::Open({.kubeconfig = "/nonexistent"}).ok());
}

TEST(DaemonAccess, IdentitiesNamePods) {
  EXPECT_EQ(PodOfIdentity("kubesched-7d9f_0a1b-2c3d"), "kubesched-7d9f");
  EXPECT_EQ(PodOfIdentity("with_underscore_1"), "with_underscore");
  EXPECT_EQ(PodOfIdentity("plain"), "plain");
}

}  // namespace
}  // namespace ks::ctl
