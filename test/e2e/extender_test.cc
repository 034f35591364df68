// SPDX-License-Identifier: Apache-2.0
// kube-scheduler and kubesched with the same extenders against the in-memory API server: the same
// requests as JSON, the same placement, the same messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/api_server.h"
#include "client/connection.h"
#include "e2e/child.h"
#include "e2e/cluster.h"
#include "testing/control_plane.h"
#include "testing/scripted_server.h"
#include "testing/temp_dir.h"

namespace ks::e2e {
namespace {

// Victims of both forms: whole pods, or uids.
void MakeVictimsComparable(json* request) {
  for (const char* form : {"NodeNameToVictims", "NodeNameToMetaVictims"}) {
    json& nodes = (*request)[form];
    if (!nodes.is_object()) continue;
    for (json& node : nodes) {
      for (json& pod : node["Pods"]) {
        if (pod.contains("UID")) pod["UID"] = "some";
        if (!pod.contains("metadata")) continue;
        for (const char* key : {"uid", "resourceVersion", "creationTimestamp"}) {
          pod["metadata"].erase(key);
        }
      }
    }
  }
}

// What differs between two runs of the same.
json Comparable(json request) {
  if (request.contains("NodeNameToVictims")) MakeVictimsComparable(&request);
  for (const char* key : {"uid", "resourceVersion", "creationTimestamp"}) {
    if (request.contains("Pod")) request["Pod"]["metadata"].erase(key);
    if (request.contains("Nodes") && request["Nodes"].is_object()) {
      for (json& node : request["Nodes"]["items"]) node["metadata"].erase(key);
    }
  }
  // The search starts at another node after each attempt, and how many there were depends on
  // chance.
  if (request.contains("NodeNames") && request["NodeNames"].is_array()) {
    std::sort(request["NodeNames"].begin(), request["NodeNames"].end());
  }
  if (request.contains("Nodes") && request["Nodes"].is_object()) {
    json& items = request["Nodes"]["items"];
    std::sort(items.begin(), items.end(), [](const json& a, const json& b) {
      return a["metadata"]["name"] < b["metadata"]["name"];
    });
  }
  // Conditions carry times.
  if (request.contains("Pod")) request["Pod"]["status"].erase("conditions");
  request.erase("PodUID");
  return request;
}

// Extenders under one address; writes down the first request of each kind about each pod.
class Recorder {
 public:
  using Requests = std::map<std::string, json>;

  std::string url() const { return server_.url(); }
  Requests requests() {
    MutexLock lock(mutex_);
    return requests_;
  }

 private:
  void Serve(testing::ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      const json body = json::parse(request->body, nullptr, false);
      if (!body.is_object()) return;
      const std::string pod = body.contains("Pod") ? body["Pod"]["metadata"].value("name", "")
                                                   : body.value("PodName", "");
      {
        MutexLock lock(mutex_);
        requests_.emplace(request->target + " " + pod, Comparable(body));
      }
      const std::string verb = request->target.substr(request->target.rfind('/') + 1);
      if (pod == "refused") {
        connection.Respond(500, "");
      } else {
        connection.Respond(200, Answer(verb, pod, body).dump());
      }
    }
  }
  // Of the candidates only n1 is to do.
  static json PreemptAnswer(const json& body) {
    const json& meta = body["NodeNameToMetaVictims"];
    if (meta.is_object()) return {{"NodeNameToMetaVictims", {{"n1", meta["n1"]}}}};
    json pods = json::array();
    for (const json& pod : body["NodeNameToVictims"]["n1"]["Pods"]) {
      pods.push_back({{"UID", pod["metadata"]["uid"]}});
    }
    return {{"NodeNameToMetaVictims", {{"n1", {{"Pods", pods}}}}}};
  }
  static json Answer(const std::string& verb, const std::string& pod, const json& body) {
    if (verb == "bind") return {{"Error", "not today"}};
    if (verb == "preempt") return PreemptAnswer(body);
    if (verb == "filter" && pod == "unwanted") {
      return {{"NodeNames", json::array()},
              {"FailedNodes", {{"n0", "no dev"}}},
              {"FailedAndUnresolvableNodes", {{"n1", "never"}}}};
    }
    if (verb == "filter") return {{"nodenames", body["NodeNames"]}, {"nodes", body["Nodes"]}};
    json scores = json::array();
    for (const json& name : body["NodeNames"]) {
      const std::string text = name;
      scores.push_back({{"Host", text}, {"Score", 10 * (text[1] - '0')}});
    }
    return scores;
  }

  Mutex mutex_;
  Requests requests_ KS_GUARDED_BY(mutex_);
  testing::ScriptedServer server_{
      {}, [this](testing::ScriptedConnection& connection) { Serve(connection); }};
};

constexpr char kConfiguration[] = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
parallelism: 1
clientConnection: {kubeconfig: KUBECONFIG}
extenders:
- urlPrefix: URL/names/
  filterVerb: filter
  prioritizeVerb: prioritize
  weight: 5
  nodeCacheCapable: true
- urlPrefix: URL/whole
  filterVerb: filter
  managedResources: [{name: example.com/whole, ignoredByScheduler: true}]
- urlPrefix: URL/victims
  preemptVerb: preempt
  nodeCacheCapable: true
  managedResources: [{name: example.com/vip, ignoredByScheduler: true}]
- urlPrefix: URL/wholevictims
  preemptVerb: preempt
  managedResources: [{name: example.com/wholevip, ignoredByScheduler: true}]
- urlPrefix: URL/bind
  bindVerb: bind
  managedResources: [{name: example.com/bind, ignoredByScheduler: true}]
)";

struct Outcome {
  Recorder::Requests requests;
  std::map<std::string, std::string> nodes;     // by pod
  std::map<std::string, std::string> messages;  // by pod
};

std::string Replaced(std::string text, const std::string& word, const std::string& by) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + by.size())) {
    text.replace(at, word.size(), by);
  }
  return text;
}

std::string Message(const api::Pod& pod) {
  const api::Condition* condition = pod.FindCondition("PodScheduled");
  return condition == nullptr ? std::string() : condition->message;
}

bool Decided(const PodView::Pods& pods) {
  size_t decided = 0;
  for (const auto& [key, pod] : pods) {
    decided += (!pod->node_name.empty() || !Message(*pod).empty()) ? 1 : 0;
  }
  return decided == 8;
}

void RunScheduler(const std::string& binary, Outcome* outcome) {
  const testing::TempDir dir;
  apiserver::ApiServerOptions options;
  options.dir = dir.path() + "/server";
  auto server = apiserver::ApiServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.error().message;
  auto access = client::LoadKubeconfig((*server)->admin_kubeconfig());
  ASSERT_TRUE(access.ok()) << access.error().message;
  auto connection = client::Connection::Make(*access);
  ASSERT_TRUE(connection.ok()) << connection.error().message;
  const auto admin = (*connection)->NewRestClient({.qps = -1});
  const auto create = [&admin](const std::string& path, const json& object) {
    const client::RestReply reply = admin->Post(path, object.dump());
    EXPECT_TRUE(reply.ok()) << path << ": " << reply.error->message;
  };
  for (int i = 0; i < 3; ++i) {
    create("/api/v1/nodes", NodeManifest("n" + std::to_string(i),
                                         {{"cpu", "8"}, {"memory", "32Gi"}, {"pods", "20"}}, {}));
  }
  const auto pod = [&create](const std::string& name, std::map<std::string, std::string> requests,
                             const std::string& priority = "") {
    json object = PodManifest(name, requests);
    if (!priority.empty()) object["spec"]["priorityClassName"] = priority;
    for (json& container : object["spec"]["containers"]) {
      for (const auto& [resource, quantity] : requests) {
        if (resource != "cpu") container["resources"]["limits"][resource] = quantity;
      }
    }
    create("/api/v1/namespaces/default/pods", object);
  };
  create("/apis/scheduling.k8s.io/v1/priorityclasses",
         {{"metadata", {{"name", "important"}}}, {"value", 1000}});
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i);
    json victim = PodManifest("v" + number, {{"cpu", "7"}});
    victim["spec"]["nodeName"] = "n" + number;
    victim["spec"]["terminationGracePeriodSeconds"] = 0;
    create("/api/v1/namespaces/default/pods", victim);
  }
  pod("plain", {{"cpu", "100m"}});
  pod("whole", {{"cpu", "100m"}, {"example.com/whole", "1"}});
  pod("bind", {{"cpu", "100m"}, {"example.com/bind", "1"}});
  pod("unwanted", {{"cpu", "100m"}});
  pod("refused", {{"cpu", "100m"}});

  Recorder recorder;
  const std::string file =
      dir.Write("config.yaml",
                Replaced(Replaced(kConfiguration, "KUBECONFIG", (*server)->scheduler_kubeconfig()),
                         "URL", recorder.url()));
  Child child({binary, "--config=" + file, "--secure-port=0"}, dir.path() + "/log");
  {
    PodView view(*admin);
    EXPECT_TRUE(view.WaitFor(Decided, std::chrono::seconds(60)));
    // It is nominated to a node, which the others would see.
    pod("vip", {{"cpu", "5"}, {"example.com/vip", "1"}, {"example.com/wholevip", "1"}},
        "important");
    EXPECT_TRUE(view.WaitFor(
        [](const PodView::Pods& pods) {
          const auto vip = pods.find("default/vip");
          return vip != pods.end() && !vip->second->node_name.empty();
        },
        std::chrono::seconds(60)));
    for (const auto& [key, seen] : view.pods()) {
      outcome->nodes[seen->meta.name] = seen->node_name;
      outcome->messages[seen->meta.name] = Replaced(Message(*seen), recorder.url(), "URL");
    }
  }
  child.Stop();
  outcome->requests = recorder.requests();
  if (::testing::Test::HasFailure()) {
    std::ifstream log(dir.path() + "/log");
    std::cerr << std::string((std::istreambuf_iterator<char>(log)), {}) << "\n";
  }
}

TEST(ExtenderParity, SameRequestsPlacementAndMessages) {
  std::string why;
  if (!testing::ControlPlane::Available(&why)) GTEST_SKIP() << why;
  client::InitializeClientProcess();
  Outcome real;
  Outcome own;
  ASSERT_NO_FATAL_FAILURE(RunScheduler(testing::ControlPlane::BinaryPath("kube-scheduler"), &real));
  ASSERT_NO_FATAL_FAILURE(RunScheduler(KS_KUBESCHED_PATH, &own));
  EXPECT_EQ(real.nodes, own.nodes);
  EXPECT_EQ(real.messages, own.messages);
  EXPECT_EQ(real.requests, own.requests);
  // That the comparison is about something.
  EXPECT_EQ(own.nodes["plain"], "n2") << "the extender's scores decide";
  EXPECT_EQ(own.messages["bind"], "not today");
  EXPECT_EQ(own.messages["refused"],
            "failed filter with extender at URL URL/names/filter, code 500");
  EXPECT_THAT(own.messages["unwanted"],
              ::testing::StartsWith("0/3 nodes are available: 1 never, 1 no dev."));
  EXPECT_EQ(own.nodes["vip"], "n1") << "the candidate that the extender left";
  EXPECT_FALSE(own.nodes.contains("v1"));
  for (const char* key : {"/names/filter plain", "/names/prioritize plain", "/whole/filter whole",
                          "/victims/preempt vip", "/wholevictims/preempt vip", "/bind/bind bind"}) {
    EXPECT_TRUE(own.requests.contains(key)) << key;
  }
}

}  // namespace
}  // namespace ks::e2e
