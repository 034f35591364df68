// SPDX-License-Identifier: Apache-2.0
// kube-scheduler and kubesched with the same odd URLs of extenders, the same odd kubeconfigs and
// the same proxies, against the in-memory API server: the same requests, placement and messages.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "e2e/child.h"
#include "e2e/cluster.h"
#include "e2e/embedded_server.h"
#include "testing/control_plane.h"
#include "testing/scripted_server.h"
#include "testing/temp_dir.h"
#include "testing/test_proxy.h"

namespace ks::e2e {
namespace {

using testing::TestProxy;
using testing::TestProxyOptions;

std::string Exchanged(std::string text, const std::string& word, const std::string& by) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + by.size())) {
    text.replace(at, word.size(), by);
  }
  return text;
}

std::string TextOf(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// Answers that every node will do, and writes down what it was asked.
class Extender {
 public:
  std::string address() const { return "127.0.0.1:" + std::to_string(server_.port()); }
  std::set<std::string> requests() {
    MutexLock lock(mutex_);
    return requests_;
  }

 private:
  void Serve(testing::ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      {
        MutexLock lock(mutex_);
        requests_.insert(request->target + " " + request->Header("authorization"));
      }
      const json body = json::parse(request->body, nullptr, false);
      connection.Respond(200, json{{"nodenames", body.value("NodeNames", json())}}.dump());
    }
  }

  Mutex mutex_;
  std::set<std::string> requests_ KS_GUARDED_BY(mutex_);
  testing::ScriptedServer server_{
      {}, [this](testing::ScriptedConnection& connection) { Serve(connection); }};
};

// The in-memory API server with a node, and schedulers that work on it one after the other.
class UrlParity : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!testing::ControlPlane::Available(&why)) GTEST_SKIP() << why;
    server_ = std::make_unique<EmbeddedServer>(dir_.path());
    server_->Create("/api/v1/nodes",
                    NodeManifest("n0", {{"cpu", "64"}, {"memory", "32Gi"}, {"pods", "500"}}, {}));
  }

  static std::vector<std::string> Binaries() {
    return {testing::ControlPlane::BinaryPath("kube-scheduler"), KS_KUBESCHED_PATH};
  }

  // Runs a scheduler until each of `pods` is bound or has a message; "BOUND" or the message by pod.
  // Each pod asks for a resource of its own name.
  std::map<std::string, std::string> Run(const std::string& binary, const std::string& kubeconfig,
                                         const std::string& extenders,
                                         const std::vector<std::string>& pods) {
    const std::string prefix = fmt::format("r{}-", ++runs_);
    for (const std::string& pod : pods) {
      json object = PodManifest(prefix + pod, {{"cpu", "10m"}, {"example.com/" + pod, "1"}});
      for (json& container : object["spec"]["containers"]) {
        container["resources"]["limits"]["example.com/" + pod] = "1";
      }
      server_->Create("/api/v1/namespaces/default/pods", object);
    }
    const std::string config =
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "leaderElection: {leaderElect: false}\nclientConnection: {kubeconfig: " +
        dir_.Write(prefix + "kubeconfig", kubeconfig) + "}\nextenders:\n" + extenders;
    const std::string log = dir_.path() + "/" + prefix + "log";
    Child child({binary, "--config=" + dir_.Write(prefix + "config", config), "--secure-port=0"},
                log);
    std::map<std::string, std::string> outcome;
    PodView view(server_->admin());
    const bool all = view.WaitFor(
        [&](const PodView::Pods& seen) {
          for (const std::string& pod : pods) {
            const auto found = seen.find("default/" + prefix + pod);
            if (found == seen.end()) return false;
            const api::Condition* condition = found->second->FindCondition("PodScheduled");
            outcome[pod] = !found->second->node_name.empty() ? "BOUND"
                           : condition != nullptr            ? condition->message
                                                             : "";
            if (outcome[pod].empty()) return false;
          }
          return true;
        },
        std::chrono::seconds(60));
    EXPECT_TRUE(all) << TextOf(log);
    EXPECT_TRUE(child.Runs()) << TextOf(log);
    return outcome;
  }

  std::string Kubeconfig() const { return TextOf(server_->scheduler_kubeconfig()); }
  // "127.0.0.1:34567".
  std::string Address() const { return server_->url().substr(std::string("https://").size()); }
  int Port() const { return std::stoi(Address().substr(Address().rfind(':') + 1)); }

  const testing::TempDir dir_;
  std::unique_ptr<EmbeddedServer> server_;
  int runs_ = 0;
};

// One extender for each URL, which manages the resource e<position>.
std::string Extenders(const std::vector<std::string>& urls) {
  std::string text;
  for (size_t i = 0; i < urls.size(); ++i) {
    text += fmt::format(
        "- {{urlPrefix: {}, filterVerb: filter, nodeCacheCapable: true, managedResources: [{{name: "
        "example.com/e{}, ignoredByScheduler: true}}]}}\n",
        json(urls[i]).dump(), i);
  }
  return text;
}

std::vector<std::string> PodNames(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(fmt::format("e{}", i));
  return names;
}

TEST_F(UrlParity, Extenders) {
  std::vector<std::map<std::string, std::string>> outcomes;
  std::vector<std::set<std::string>> requests;
  std::vector<std::string> urls;
  for (const std::string& binary : Binaries()) {
    Extender extender;
    const std::string at = extender.address();
    urls = {"HTTP://" + at + "/capitals",
            "http://us:pw@" + at + "/user",
            "http://" + at + "/a b/é",
            "http://" + at + "/query?x=1",
            "http://" + at + "/fragment#f",
            "http://" + at + "/a%2Fb",
            "http://" + at + "/..//a/./b",
            "http://< ip >/",
            "http://10.0.0.1:99999/s",
            "http://u:pw@10.0.0.1:99999/s",
            "ftp://h",
            "h/x",
            "",
            "http://",
            "10.0.0.1:80/x",
            "http://h/%zz",
            "http://h/a\tb"};
    outcomes.push_back(
        Run(binary, Kubeconfig(),
            Extenders(urls) +
                "- {urlPrefix: 'ftp://h', filterVerb: filter, ignorable: true, nodeCacheCapable: "
                "true, managedResources: [{name: example.com/ign, ignoredByScheduler: true}]}\n",
            [&] {
              std::vector<std::string> pods = PodNames(urls.size());
              pods.emplace_back("ign");
              return pods;
            }()));
    requests.push_back(extender.requests());
  }
  EXPECT_EQ(outcomes[0], outcomes[1]);
  EXPECT_EQ(requests[0], requests[1]);
  // That the comparison is about something.
  for (size_t i = 0; i < urls.size(); ++i) {
    const std::string& outcome = outcomes[1][fmt::format("e{}", i)];
    EXPECT_EQ(outcome == "BOUND", i < 7) << urls[i] << ": " << outcome;
  }
  EXPECT_EQ(outcomes[1]["ign"], "BOUND");
  EXPECT_EQ(requests[1].size(), 7U);
}

TEST_F(UrlParity, ExtendersThroughAProxyOfTheEnvironment) {
  std::vector<std::map<std::string, std::string>> outcomes;
  std::vector<std::vector<std::string>> asked;
  for (const std::string& binary : Binaries()) {
    const TestProxy proxy({.user = "us", .password = "pw"});
    setenv("HTTP_PROXY", proxy.url().c_str(), 1);
    outcomes.push_back(Run(binary, Kubeconfig(),
                           Extenders({"http://ext.example/s", "http://my_ext:1"}), PodNames(2)));
    unsetenv("HTTP_PROXY");
    asked.push_back(proxy.asked());
    for (const char* wanted : {"POST http://ext.example/s/filter", "POST http://my_ext:1/filter"}) {
      EXPECT_THAT(asked.back(), ::testing::Contains(wanted)) << binary;
    }
  }
  EXPECT_EQ(outcomes[0], outcomes[1]) << "the proxy's answer is no JSON";
}

TEST_F(UrlParity, Kubeconfigs) {
  const std::string plain = Kubeconfig();
  const std::string server = "server: " + server_->url();
  ASSERT_NE(plain.find(server), plain.npos);
  const std::vector<std::pair<std::string, std::string>> files = {
      {"capitals", Exchanged(plain, server, "server: HTTPS://" + Address())},
      {"user", Exchanged(plain, server, "server: https://us:pw@" + Address())},
      {"query", Exchanged(plain, server, "server: " + server_->url() + "?x=1")},
      {"prefix", Exchanged(plain, server, "server: " + server_->url() + "/x/..//?x=1#f")},
      {"documents", plain + "---\nkind: Pod\n---\n: : [\n"},
  };
  for (const std::string& binary : Binaries()) {
    for (const auto& [name, text] : files) {
      EXPECT_EQ(Run(binary, text, "", {"cpu-of-" + name})["cpu-of-" + name].substr(0, 15),
                "0/1 nodes are a")
          << binary << ": the resource is nowhere";
    }
  }
}

TEST_F(UrlParity, Proxies) {
  const std::string anchor = "    server: ";
  for (const auto kind : {TestProxyOptions::Kind::kHttp, TestProxyOptions::Kind::kSocks5}) {
    for (const std::string& binary : Binaries()) {
      const TestProxy proxy({.kind = kind, .target_port = Port(), .user = "us", .password = "pw"});
      const std::string kubeconfig =
          Exchanged(Kubeconfig(), anchor, "    proxy-url: " + proxy.url() + "\n" + anchor);
      EXPECT_EQ(Run(binary, kubeconfig, "", {"cpu"})["cpu"].substr(0, 15), "0/1 nodes are a");
      const std::string wanted =
          (kind == TestProxyOptions::Kind::kHttp ? "CONNECT " : "") + Address();
      EXPECT_THAT(proxy.asked(), ::testing::Contains(wanted)) << binary;
    }
  }
}

}  // namespace
}  // namespace ks::e2e
