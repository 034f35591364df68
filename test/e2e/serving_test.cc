// SPDX-License-Identifier: Apache-2.0
// Who gets what from which path: kubesched's HTTPS server and the real kube-scheduler's, asked the
// same by the same callers, on the real kube-apiserver.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "e2e/cluster_fixture.h"
#include "e2e/free_port.h"
#include "testing/test_certificates.h"
#include "testing/tls_client.h"

namespace ks::e2e {
namespace {

using testing::Answer;
using testing::TestIdentity;
using testing::TlsClient;

std::string ReadText(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct Caller {
  std::string name;
  std::string token;
  TestIdentity identity;
};

struct Asked {
  std::string method = "GET";
  std::string target;
  std::string agent = "Prometheus/3.0";
  std::string accept;
  std::string body;
};

std::string HeaderOf(const Answer& answer, const std::string& name) {
  const std::string start = "\r\n" + name + ": ";
  const size_t at = answer.head.find(start);
  if (at == std::string::npos) return "";
  const size_t begin = at + start.size();
  return answer.head.substr(begin, answer.head.find("\r\n", begin) - begin);
}

// What both must say alike: bodies of refusals and of health, since others have values in them.
std::string Shown(const Asked& asked, const Answer& answer) {
  std::string text = std::to_string(answer.status) + " [" + HeaderOf(answer, "Content-Type") +
                     "] [" + HeaderOf(answer, "X-Content-Type-Options") + "] [" +
                     HeaderOf(answer, "Cache-Control") + "] [" + HeaderOf(answer, "Location") + "]";
  const bool health = asked.target.find("z") != std::string::npos &&
                      (asked.target.starts_with("/healthz") || asked.target.starts_with("/livez") ||
                       asked.target.starts_with("/readyz"));
  const bool fixed = answer.status != 200 || health || asked.target.starts_with("/debug/flags");
  return fixed && asked.method != "HEAD" ? text + "\n" + answer.body : text;
}

class Serving : public ClusterFixture {
 protected:
  void SetUp() override {
    ClusterFixture::SetUp();
    if (cluster_ == nullptr) return;
    theirs_ =
        StartServer(testing::ControlPlane::BinaryPath("kube-scheduler"),
                    {"--disable-http2-serving", "--feature-gates=" + Cluster::ReferenceGates()},
                    "kube-scheduler");
    ours_ = StartServer(KS_KUBESCHED_PATH, {}, "kubesched");
    MakeCallers();
  }

  int StartServer(const std::string& program, const std::vector<std::string>& more,
                  const std::string& name) {
    const int port = FreePort();
    const std::string kubeconfig = cluster_->plane().SchedulerKubeconfig();
    std::vector<std::string> argv = {program,
                                     "--kubeconfig=" + kubeconfig,
                                     "--authentication-kubeconfig=" + kubeconfig,
                                     "--authorization-kubeconfig=" + kubeconfig,
                                     "--leader-elect=false",
                                     "--bind-address=127.0.0.1",
                                     "--secure-port=" + std::to_string(port)};
    argv.insert(argv.end(), more.begin(), more.end());
    const auto pid = cluster_->plane().AddProcess(argv, cluster_->LogPath(name));
    EXPECT_TRUE(pid.ok());
    return port;
  }

  bool AwaitReady(int port) {
    return cluster_->WaitUntil(
        [port] {
          TlsClient client(port);
          return client.connected() && client.Exchange("GET", "/readyz").status == 200;
        },
        std::chrono::seconds(60));
  }

  std::string Token(const std::string& account) {
    cluster_->Create("/api/v1/namespaces/default/serviceaccounts",
                     {{"metadata", {{"name", account}}}});
    const client::RestReply reply =
        cluster_->admin().Post("/api/v1/namespaces/default/serviceaccounts/" + account + "/token",
                               json({{"apiVersion", "authentication.k8s.io/v1"},
                                     {"kind", "TokenRequest"},
                                     {"spec", json::object()}})
                                   .dump());
    EXPECT_TRUE(reply.ok());
    return reply.ok() ? json::parse(reply.body)["status"]["token"].get<std::string>() : "";
  }

  TestIdentity Certificate(const std::string& client) {
    return {.cert_pem = ReadText(cluster_->plane().ClientCertPath(client)),
            .key_pem = ReadText(cluster_->plane().ClientKeyPath(client))};
  }

  void MakeCallers() {
    const std::string monitoring = Token("prom");
    cluster_->Create(
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        {{"metadata", {{"name", "prom"}}},
         {"roleRef",
          {{"apiGroup", "rbac.authorization.k8s.io"},
           {"kind", "ClusterRole"},
           {"name", "system:monitoring"}}},
         {"subjects", {{{"kind", "ServiceAccount"}, {"name", "prom"}, {"namespace", "default"}}}}});
    const testing::TestAuthority strangers("strangers");
    callers_ = {
        {.name = "anonymous"},
        {.name = "authenticated", .token = Token("poor")},
        {.name = "monitoring", .token = monitoring},
        {.name = "bad token", .token = "nonsense"},
        {.name = "system:masters", .identity = Certificate("admin")},
        {.name = "certificate without rights", .identity = Certificate("scheduler")},
        {.name = "a stranger's certificate", .identity = strangers.Issue("admin", "")},
        {.name = "a stranger's certificate and a good token",
         .token = monitoring,
         .identity = strangers.Issue("admin", "")},
    };
  }

  static Answer Ask(int port, const Caller& caller, const Asked& asked) {
    TlsClient client(port, caller.identity);
    std::string head = asked.method + " " + asked.target +
                       " HTTP/1.1\r\nHost: a\r\nUser-Agent: " + asked.agent + "\r\n";
    if (!caller.token.empty()) head += "Authorization: Bearer " + caller.token + "\r\n";
    if (!asked.accept.empty()) head += "Accept: " + asked.accept + "\r\n";
    if (!asked.body.empty())
      head += "Content-Length: " + std::to_string(asked.body.size()) + "\r\n";
    client.Send(head + "\r\n" + asked.body);
    return client.Read(asked.method == "HEAD");
  }
  int theirs_ = 0;
  int ours_ = 0;
  std::vector<Caller> callers_;
};

TEST_F(Serving, EveryPathForEveryCaller) {
  std::vector<Asked> table;
  for (const char* target : {"/healthz",
                             "/livez",
                             "/readyz",
                             "/readyz?verbose",
                             "/livez?verbose=1",
                             "/readyz?verbose&exclude=shutdown",
                             "/readyz?exclude=a&exclude=b&verbose",
                             "/healthz/ping",
                             "/livez/ping",
                             "/readyz/shutdown",
                             "/readyz/sched-handler-sync",
                             "/readyz/nosuch",
                             "/healthz/",
                             "/healthz/log",
                             "/configz",
                             "/metrics",
                             "/debug/pprof",
                             "/debug/pprof/",
                             "/debug/pprof/cmdline",
                             "/debug/flags",
                             "/debug/flags/",
                             "/debug/flags/v",
                             "/flagz",
                             "/statusz",
                             "/",
                             "/version",
                             "/nosuch",
                             "/metrics/",
                             "/openapi/v2"}) {
    table.push_back({.target = target});
  }
  for (const char* method : {"POST", "PUT", "DELETE", "HEAD"}) {
    table.push_back({.method = method, .target = "/healthz"});
    table.push_back({.method = method, .target = "/configz"});
  }
  table.push_back({.target = "/configz", .agent = "curl/8.0"});
  table.push_back({.target = "/configz?pretty=true"});
  table.push_back({.target = "/configz?pretty=false", .agent = "curl/8.0"});
  for (const char* accept :
       {"application/json", "application/*", "text/html, */*;q=0.1", "image/png",
        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1",
        "application/json;q=0.9, text/html"}) {
    table.push_back({.target = "/nosuch", .accept = accept});
  }
  table.push_back({.target = "/a<b>&c"});
  table.push_back({.method = "PUT", .target = "/debug/flags/v", .body = "2"});
  table.push_back({.method = "PUT", .target = "/debug/flags/v", .body = "abc"});
  for (const char* accept : {"*/*", "text/plain", "application/json", "text/html",
                             "application/json;v=v1beta1;g=config.k8s.io;as=Flagz",
                             "application/yaml;v=v1alpha1;g=config.k8s.io;as=Flagz",
                             "application/json;v=v2;g=config.k8s.io;as=Flagz"}) {
    table.push_back({.target = "/flagz", .accept = accept});
    table.push_back({.target = "/statusz", .accept = accept});
  }
  ASSERT_TRUE(AwaitReady(theirs_));
  ASSERT_TRUE(AwaitReady(ours_));
  // Known: the page that lists profiles is our own, it lists what there is; refusals are JSON also
  // for callers who take YAML or protobuf only, or prefer them.
  std::map<int, int> seen;
  for (const Caller& caller : callers_) {
    for (const Asked& asked : table) {
      SCOPED_TRACE(caller.name + ": " + asked.method + " " + asked.target + " " + asked.accept);
      const Answer want = Ask(theirs_, caller, asked);
      const Answer got = Ask(ours_, caller, asked);
      ASSERT_TRUE(want.complete);
      EXPECT_EQ(Shown(asked, got), Shown(asked, want));
      ++seen[want.status];
    }
  }
  for (const int status : {200, 302, 400, 401, 403, 404, 406}) {
    EXPECT_GT(seen[status], 0) << status << ": the table does not reach it";
  }
}

}  // namespace
}  // namespace ks::e2e
