// SPDX-License-Identifier: Apache-2.0
// kube-scheduler and kubesched with the same extenders against the in-memory API server: the same
// requests as JSON, the same placement, the same messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "e2e/child.h"
#include "e2e/cluster.h"
#include "e2e/embedded_server.h"
#include "e2e/recording_extender.h"
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
  // Conditions carry times, and a preemptor may be tried again before its nomination is seen.
  for (const char* key : {"conditions", "nominatedNodeName"}) {
    if (request.contains("Pod")) request["Pod"]["status"].erase(key);
  }
  request.erase("PodUID");
  return request;
}

// Only n1 is to do among the candidates.
json PreemptAnswer(const json& body) {
  const json& meta = body["NodeNameToMetaVictims"];
  if (meta.is_object()) return {{"NodeNameToMetaVictims", {{"n1", meta["n1"]}}}};
  json pods = json::array();
  for (const json& pod : body["NodeNameToVictims"]["n1"]["Pods"]) {
    pods.push_back({{"UID", pod["metadata"]["uid"]}});
  }
  return {{"NodeNameToMetaVictims", {{"n1", {{"Pods", pods}}}}}};
}

json AnswerTo(const RecordingExtender::Question& question) {
  const auto& [verb, pod, body] = question;
  if (verb == "bind") return {{"Error", "not today"}};
  if (verb == "preempt") return PreemptAnswer(body);
  if (verb == "filter" && pod == "unwanted") {
    return {{"NodeNames", json::array()},
            {"FailedNodes", {{"n0", "no dev"}}},
            {"FailedAndUnresolvableNodes", {{"n1", "never"}}}};
  }
  if (verb == "filter" && pod == "twice") return {{"NodeNames", {"n0", "n1", "n0"}}};
  if (verb == "filter") return {{"nodenames", body["NodeNames"]}, {"nodes", body["Nodes"]}};
  json scores = json::array();
  for (const json& name : body["NodeNames"]) {
    const std::string text = name;
    scores.push_back({{"Host", text}, {"Score", 10 * (text[1] - '0')}});
  }
  return scores;
}

std::optional<std::string> TextOfAnswer(const RecordingExtender::Question& question) {
  if (question.pod == "refused") return std::nullopt;
  return (question.pod == "marked" ? "\xEF\xBB\xBF" : "") + AnswerTo(question).dump();
}

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
  RecordingExtender::Requests requests;
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
  return decided == 10;
}

// The in-memory API server with three nodes, and an administrator.
class SmallCluster {
 public:
  SmallCluster() {
    for (int i = 0; i < 3; ++i) {
      server_.Create("/api/v1/nodes",
                     NodeManifest("n" + std::to_string(i),
                                  {{"cpu", "8"}, {"memory", "32Gi"}, {"pods", "20"}}, {}));
    }
  }
  void Create(const std::string& path, const json& object) { server_.Create(path, object); }
  // `configuration` with KUBECONFIG and URL replaced.
  std::vector<std::string> CommandLine(const std::string& binary, const std::string& configuration,
                                       const std::string& url) {
    const std::string text =
        Replaced(Replaced(configuration, "KUBECONFIG", server_.scheduler_kubeconfig()), "URL", url);
    return {binary, "--config=" + dir_.Write("config.yaml", text), "--secure-port=0"};
  }
  std::string log() const { return dir_.path() + "/log"; }
  void ShowLogAfterFailure() const {
    if (!::testing::Test::HasFailure()) return;
    std::ifstream stream(log());
    std::cerr << std::string((std::istreambuf_iterator<char>(stream)), {}) << "\n";
  }
  client::RestClient& admin() { return server_.admin(); }

 private:
  const testing::TempDir dir_;
  EmbeddedServer server_{dir_.path()};
};

void RunScheduler(const std::string& binary, Outcome* outcome) {
  SmallCluster cluster;
  const auto create = [&cluster](const std::string& path, const json& object) {
    cluster.Create(path, object);
  };
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
  pod("twice", {{"cpu", "100m"}});
  pod("marked", {{"cpu", "100m"}});

  RecordingExtender recorder(Comparable, TextOfAnswer);
  Child child(cluster.CommandLine(binary, kConfiguration, recorder.url()), cluster.log());
  {
    PodView view(cluster.admin());
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
      outcome->nodes[seen->meta.name] = seen->node_name.str();
      outcome->messages[seen->meta.name] = Replaced(Message(*seen), recorder.url(), "URL");
    }
  }
  child.Stop();
  outcome->requests = recorder.requests();
  cluster.ShowLogAfterFailure();
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
  EXPECT_EQ(own.messages["marked"], "invalid character 'ï' looking for beginning of value");
  EXPECT_EQ(own.requests["/names/prioritize twice"]["NodeNames"], json({"n0", "n0", "n1"}));
  EXPECT_EQ(own.nodes["vip"], "n1") << "the candidate that the extender left";
  EXPECT_FALSE(own.nodes.contains("v1"));
  for (const char* key : {"/names/filter plain", "/names/prioritize plain", "/whole/filter whole",
                          "/victims/preempt vip", "/wholevictims/preempt vip", "/bind/bind bind"}) {
    EXPECT_TRUE(own.requests.contains(key)) << key;
  }
}

// Keeps every node, binds, and closes connections as servers of webhooks do: none of them says so.
class ClosingExtender {
 public:
  enum class Closes : uint8_t { kIdle, kAfterEachAnswer };

  ClosingExtender(Closes closes, client::RestClient& admin) : closes_(closes), admin_(admin) {}

  std::string url() const { return server_.url(); }
  // As after a pause: whatever the scheduler keeps is closed.
  void WaitUntilAllAreClosed() {
    MutexLock lock(mutex_);
    while (open_ > 0) changed_.Wait(mutex_);
  }
  // By verb and pod, how often it was asked.
  std::map<std::string, int> asked() {
    MutexLock lock(mutex_);
    return asked_;
  }

 private:
  void Serve(testing::ScriptedConnection& connection) {
    CountOpen(1);
    bool kept = false;
    while (true) {
      // Clients open connections that they then have no use for.
      const Duration most = kept ? std::chrono::milliseconds(100) : std::chrono::seconds(5);
      if (!connection.WaitForData(most)) break;
      const auto request = connection.Read();
      if (!request.has_value()) break;
      connection.Respond(200, Answer(request->target, json::parse(request->body)).dump());
      if (closes_ == Closes::kAfterEachAnswer) break;
      kept = true;
    }
    connection.Close();
    CountOpen(-1);
  }
  json Answer(const std::string& target, const json& body) {
    const bool binds = target == "/bind";
    const std::string pod = binds ? body["PodName"] : body["Pod"]["metadata"]["name"];
    {
      MutexLock lock(mutex_);
      ++asked_[target + " " + pod];
    }
    if (!binds) return {{"NodeNames", body["NodeNames"]}};
    const json binding = {{"apiVersion", "v1"},
                          {"kind", "Binding"},
                          {"metadata", {{"name", pod}}},
                          {"target", {{"name", body["Node"]}}}};
    const client::RestReply reply =
        admin_.Post("/api/v1/namespaces/default/pods/" + pod + "/binding", binding.dump());
    return {{"Error", reply.ok() ? "" : reply.error->message}};
  }
  void CountOpen(int more) {
    MutexLock lock(mutex_);
    open_ += more;
    changed_.NotifyAll();
  }

  const Closes closes_;
  client::RestClient& admin_;
  Mutex mutex_;
  CondVar changed_;
  int open_ KS_GUARDED_BY(mutex_) = 0;
  std::map<std::string, int> asked_ KS_GUARDED_BY(mutex_);
  testing::ScriptedServer server_{
      {}, [this](testing::ScriptedConnection& connection) { Serve(connection); }};
};

constexpr char kWithoutExtenders[] = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: KUBECONFIG}
extenders:
)";

struct BindCase {
  std::string name;
  ClosingExtender::Closes closes;
  std::string extenders;
};

// Five pods with pauses between them. `asked`: what the extender counted.
void BindFivePods(const std::string& binary, const BindCase& row,
                  std::map<std::string, int>* asked) {
  SmallCluster cluster;
  ClosingExtender extender(row.closes, cluster.admin());
  Child child(cluster.CommandLine(binary, kWithoutExtenders + row.extenders, extender.url()),
              cluster.log());
  {
    PodView view(cluster.admin());
    for (int i = 0; i < 5; ++i) {
      const std::string name = "p" + std::to_string(i);
      cluster.Create("/api/v1/namespaces/default/pods", PodManifest(name, {{"cpu", "100m"}}));
      const auto is_bound = [&name](const PodView::Pods& pods) {
        const auto pod = pods.find("default/" + name);
        return pod != pods.end() && !pod->second->node_name.empty();
      };
      ASSERT_TRUE(view.WaitFor(is_bound, std::chrono::seconds(60))) << name;
      extender.WaitUntilAllAreClosed();
    }
  }
  child.Stop();
  *asked = extender.asked();
  cluster.ShowLogAfterFailure();
}

constexpr char kOneExtender[] =
    "- {urlPrefix: URL, filterVerb: filter, bindVerb: bind, nodeCacheCapable: true}";
// Nothing goes over the binder's connections but bindings.
constexpr char kBinderApart[] =
    "- {urlPrefix: URL, filterVerb: filter, nodeCacheCapable: true}\n"
    "- {urlPrefix: URL, bindVerb: bind}";

class ExtenderBinds : public ::testing::TestWithParam<BindCase> {};
INSTANTIATE_TEST_SUITE_P(
    All, ExtenderBinds,
    ::testing::Values(
        BindCase{"IdleLimit", ClosingExtender::Closes::kIdle, kOneExtender},
        BindCase{"IdleLimitOfTheBinder", ClosingExtender::Closes::kIdle, kBinderApart},
        BindCase{"CloseAfterAnswer", ClosingExtender::Closes::kAfterEachAnswer, kOneExtender}),
    [](const auto& test) { return test.param.name; });

TEST_P(ExtenderBinds, AtTheFirstAttempt) {
  client::InitializeClientProcess();
  std::map<std::string, int> asked;
  ASSERT_NO_FATAL_FAILURE(BindFivePods(KS_KUBESCHED_PATH, GetParam(), &asked));
  for (int i = 0; i < 5; ++i) {
    for (const char* verb : {"/filter p", "/bind p"}) {
      const std::string question = verb + std::to_string(i);
      EXPECT_EQ(asked[question], 1) << question;
    }
  }
}

TEST_P(ExtenderBinds, BesideKubeScheduler) {
  std::string why;
  if (!testing::ControlPlane::Available(&why)) GTEST_SKIP() << why;
  client::InitializeClientProcess();
  std::map<std::string, int> asked;
  ASSERT_NO_FATAL_FAILURE(
      BindFivePods(testing::ControlPlane::BinaryPath("kube-scheduler"), GetParam(), &asked));
  EXPECT_EQ(asked.size(), 10u);
}

}  // namespace
}  // namespace ks::e2e
