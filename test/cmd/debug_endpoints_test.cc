// SPDX-License-Identifier: Apache-2.0
// The endpoints below /debug/kubesched/ over a real socket, of a scheduler on its own thread.
#include "kubesched/endpoints/debug_endpoints.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cache/optional_deltas.h"
#include "integration/cluster.h"
#include "plugins/registry.h"
#include "server/tls/certificate.h"
#include "testing/builders.h"
#include "testing/deltas.h"
#include "testing/fake_api_writer.h"
#include "testing/no_objects.h"
#include "testing/tls_client.h"

namespace ks::daemon {
namespace {

using nlohmann::json;
using scheduler::Scheduler;
using testing::MakeNode;
using testing::MakePod;

const testing::Resources kNode = {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}};

server::HttpsOptions ServerOptions() {
  static const server::ServingCertificate certificate =
      server::MakeSelfSignedCertificate("127.0.0.1", 1795219413).value();
  return {.bind_address = "127.0.0.1", .port = 0, .certificate = certificate};
}

// A scheduler that knows what it is told; its writes go nowhere, so that decided pods stay assumed.
class Daemon {
 public:
  explicit Daemon(bool standby = false, std::vector<std::string> gates = {})
      : gates_(config::FeatureGates::Make({.feature_gates = gates}, nullptr).value()) {
    auto made = Scheduler::Create({.configuration = config::DefaultConfiguration(gates_),
                                   .registry = &registry_,
                                   .api = &api_,
                                   .clock = &RealClock(),
                                   .gates = &gates_,
                                   .decisions_kept = 100,
                                   .standby = standby});
    KS_CHECK(made.ok(), made.ok() ? "" : made.error().message);
    scheduler_ = std::move(made).value();
    current_.Set(*scheduler_);
    loop_ = std::thread([this] { scheduler_->Run(Duration()); });
    https_ = server::HttpsServer::Listen(ServerOptions()).value();
    InstallDebugEndpoints(*https_, {.scheduler = current_, .access = access, .identity = [] {
                                      return std::string("me");
                                    }});
    https_->Serve();
  }
  ~Daemon() {
    StopScheduler();
    https_->Stop();
  }

  void StopScheduler() {
    if (!loop_.joinable()) return;
    current_.Clear();
    scheduler_->Stop();
    loop_.join();
  }

  template <class T>
  void Show(std::vector<std::shared_ptr<const T>> objects) {
    std::vector<api::Delta<T>> deltas{testing::Replace(std::move(objects))};
    if constexpr (std::is_same_v<T, api::Pod> || std::is_same_v<T, api::Node>) {
      scheduler_->Post(std::move(deltas));
    } else {
      scheduler_->Post(cache::OptionalDeltasOf<T>(std::move(deltas)));
    }
  }
  void ShowCluster(std::vector<api::NodePtr> nodes, std::vector<api::PodPtr> pods) {
    testing::PostNoOwners(*scheduler_);
    testing::PostNoStorageOrDevices(*scheduler_);
    const size_t pending =
        static_cast<size_t>(std::count_if(pods.begin(), pods.end(), [](const auto& pod) {
          return pod->node_name.empty() && pod->spec->scheduling_gates.empty() &&
                 pod->spec->scheduler_name.view() == "default-scheduler";
        }));
    Show<api::Node>(std::move(nodes));
    Show<api::Pod>(std::move(pods));
    // All were attempted; a standby has read them.
    const auto ready = [pending](Scheduler& scheduler) {
      return scheduler.Synced() &&
             (!scheduler.leading() || scheduler.context().stats.attempts >= pending);
    };
    while (!*current_.Ask(ready)) {
      std::this_thread::yield();
    }
  }

  testing::Answer Get(const std::string& target) { return Ask("GET", target, ""); }
  testing::Answer Ask(const std::string& method, const std::string& target,
                      const std::string& body) {
    testing::TlsClient client(https_->port());
    EXPECT_TRUE(client.Send(method + " /debug/kubesched/" + target +
                            " HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                            std::to_string(body.size()) + "\r\n\r\n" + body));
    return client.Read(method == "HEAD");
  }
  json GetJson(const std::string& target, int want_status = 200) {
    const testing::Answer answer = Get(target);
    EXPECT_EQ(answer.status, want_status) << answer.body;
    EXPECT_NE(answer.head.find("application/json"), std::string::npos) << answer.head;
    return json::parse(answer.body, nullptr, false);
  }

  client::ClusterAccess access;

 private:
  const config::FeatureGates gates_;
  framework::Registry registry_ = plugins::InTreeRegistry();
  testing::FakeApiWriter api_;
  CurrentScheduler current_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<server::HttpsServer> https_;
  std::thread loop_;
};

api::NodePtr Node(const std::string& name) {
  return MakeNode().Name(name).Allocatable(kNode).Obj();
}
api::PodPtr Pod(const std::string& name, const std::string& cpu) {
  return MakePod().Name(name).Namespace("default").Req({{"cpu", cpu}}).Obj();
}

TEST(DebugEndpoints, Queue) {
  Daemon daemon;
  daemon.ShowCluster({Node("n1")}, {Pod("web", "1"), Pod("big", "9"),
                                    MakePod().Name("held").Gates({"wait"}).Req({}).Obj()});
  const json all = daemon.GetJson("queue");
  EXPECT_EQ(all["synced"], true);
  EXPECT_EQ(all["identity"], "me");
  EXPECT_EQ(all["counts"]["unschedulable"], 1);
  EXPECT_EQ(all["counts"]["binding"], 1);
  EXPECT_EQ(all["counts"]["gated"], 1);
  EXPECT_EQ(all["matching"], 3);
  EXPECT_EQ(daemon.GetJson("queue?pod=big")["pods"][0]["rejectedBy"][0], "NodeResourcesFit");
  EXPECT_EQ(daemon.GetJson("queue?namespace=ns")["pods"][0]["pod"], "ns/held");
  EXPECT_EQ(daemon.GetJson("queue?queue=gated&limit=0")["matching"], 1);
}

TEST(DebugEndpoints, Explain) {
  Daemon daemon;
  daemon.ShowCluster({Node("n1"), Node("n2")}, {Pod("big", "9")});
  const json answer = daemon.GetJson("explain?pod=default%2Fbig&preemption");
  EXPECT_EQ(answer["result"], "Unschedulable");
  EXPECT_EQ(answer["nodes"].size(), 2U);
  EXPECT_EQ(answer["preemption"]["code"], "Unschedulable");
  EXPECT_EQ(answer["preemption"]["nomination"], "clear");
  EXPECT_EQ(answer["live"]["queue"]["queue"], "unschedulable");
  EXPECT_EQ(answer["live"]["lastDecision"]["result"], "Unschedulable");
  EXPECT_EQ(daemon.GetJson("explain?pod=big&node=n2")["nodes"].size(), 1U);
  EXPECT_EQ(daemon.GetJson("explain?pod=nobody", 404)["message"],
            "no pod default/nobody is known to the scheduler; name it as NAMESPACE/POD (pods that "
            "are Succeeded or Failed are not watched)");
}

TEST(DebugEndpoints, AStandbyAnswersAndSaysSo) {
  Daemon daemon(/*standby=*/true);
  daemon.ShowCluster({Node("n1")}, {Pod("web", "1")});
  const json queue = daemon.GetJson("queue");
  EXPECT_EQ(queue["standby"], true);
  EXPECT_EQ(queue["counts"]["active"], 1);
  const json answer = daemon.GetJson("explain?pod=web");
  EXPECT_EQ(answer["result"], "Schedulable");
  EXPECT_EQ(answer["live"]["standby"], true);
  EXPECT_EQ(daemon.GetJson("cache")["standby"], true);
  EXPECT_EQ(daemon.GetJson("decisions")["made"], 0);
  const testing::Answer simulated =
      daemon.Ask("POST", "simulate", R"({"kind":"Pod","metadata":{"name":"p"},"spec":{}})");
  EXPECT_EQ(json::parse(simulated.body)["standby"], true);
}

TEST(DebugEndpoints, Decisions) {
  Daemon daemon;
  daemon.ShowCluster({Node("n1")}, {Pod("web", "1"), Pod("big", "9")});
  const json all = daemon.GetJson("decisions");
  EXPECT_EQ(all["kept"], 100);
  EXPECT_EQ(all["made"], 2);
  EXPECT_EQ(all["decisions"].size(), 2U);
  const json one = daemon.GetJson("decisions?result=Unschedulable");
  ASSERT_EQ(one["decisions"].size(), 1U);
  EXPECT_EQ(one["decisions"][0]["pod"], "default/big");
  EXPECT_EQ(one["decisions"][0]["reasons"][0]["reason"], "Insufficient cpu");
  EXPECT_EQ(daemon.GetJson("decisions?node=n1&limit=1")["decisions"][0]["pod"], "default/web");
  EXPECT_TRUE(daemon.GetJson("decisions?pod=nobody")["decisions"].empty());
}

TEST(DebugEndpoints, Cache) {
  Daemon daemon;
  daemon.ShowCluster({Node("n1"), Node("n2")}, {Pod("web", "1")});
  const json all = daemon.GetJson("cache");
  EXPECT_EQ(all["counts"]["nodes"], 2);
  EXPECT_EQ(all["counts"]["assumedPods"], 1);
  EXPECT_FALSE(all["nodes"][0].contains("pods"));
  const json n1 = daemon.GetJson("cache?node=n1")["nodes"][0];
  EXPECT_EQ(
      n1["requested"]["cpuMilli"].get<int>() + all["nodes"][1]["requested"]["cpuMilli"].get<int>(),
      1000);
  EXPECT_TRUE(n1["pods"].is_array());
  EXPECT_EQ(daemon.GetJson("cache?node=n9", 404)["message"],
            "no node n9 is known to the scheduler");
}

TEST(DebugEndpoints, CacheIsComparedWithTheApiServer) {
  integration::Server api_server;
  client::InitializeClientProcess();
  api_server.CreateNode("n1");
  api_server.CreateNode("n3");
  Daemon daemon;
  daemon.access = api_server.Access();
  daemon.ShowCluster({MakeNode().Name("n1").Obj(), MakeNode().Name("n2").Obj()},
                     {MakePod().Name("ghost").Node("n1").Req({{"cpu", "1"}}).Obj()});
  const json comparison = daemon.GetJson("cache?compare=true")["comparison"];
  EXPECT_EQ(comparison["rounds"], 2);
  EXPECT_EQ(comparison["same"], false);
  EXPECT_EQ(comparison["differences"], json::parse(R"([{"kind":"missedNode","object":"n3"},
                            {"kind":"redundantNode","object":"n2"},
                            {"kind":"redundantPod","object":"ns/ghost","uid":"uid-ghost",
                             "cache":"node n1"}])"));
  api_server.Delete("nodes", "", "n3");
  daemon.ShowCluster({MakeNode().Name("n1").Obj()}, {});
  const json same = daemon.GetJson("cache?compare=true")["comparison"];
  EXPECT_EQ(same["same"], true);
  EXPECT_EQ(same["rounds"], 1);
  api_server.Stop();
  EXPECT_NE(
      daemon.GetJson("cache?compare", 502)["message"].get<std::string>().find("/api/v1/nodes"),
      std::string::npos);
}

constexpr const char* kDeployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, resources: {requests: {cpu: "3"}}}]
)";

TEST(DebugEndpoints, Simulate) {
  Daemon daemon;
  daemon.ShowCluster({Node("n1"), Node("n2")}, {});
  const testing::Answer answer = daemon.Ask("POST", "simulate", kDeployment);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json simulated = json::parse(answer.body);
  EXPECT_EQ(simulated["sources"][0]["placed"], 2);
  EXPECT_EQ(simulated["pods"][2]["result"], "Unschedulable");
  EXPECT_EQ(simulated["pods"][2]["message"], "0/2 nodes are available: 2 Insufficient cpu.");
  EXPECT_EQ(daemon.GetJson("queue")["matching"], 0);
  EXPECT_EQ(daemon.GetJson("cache")["counts"]["pods"], 0);
  const testing::Answer one = daemon.Ask("POST", "simulate?replicas=1", kDeployment);
  EXPECT_EQ(json::parse(one.body)["pods"].size(), 1U);
  const testing::Answer wrong =
      daemon.Ask("POST", "simulate", "kind: DaemonSet\nmetadata: {name: d}");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_NE(wrong.body.find("cannot be simulated"), std::string::npos);
}

TEST(DebugEndpoints, GroupsOfPods) {
  Daemon daemon(false, {"GenericWorkload=true"});
  auto group = std::make_shared<api::PodGroup>();
  group->meta.ns = Symbol("default");
  group->meta.name = "g";
  group->meta.uid = "g";
  group->min_count = 2;
  daemon.Show<api::PodGroup>({group});
  const auto member = [](const std::string& name) {
    auto pod = MakePod().Name(name).Namespace("default").Req({{"cpu", "3"}});
    pod.spec().scheduling_group = "g";
    return pod.Obj();
  };
  daemon.ShowCluster({Node("n1")}, {member("a"), member("b")});
  const json explained = daemon.GetJson("explain?podGroup=podgroup%2Fdefault%2Fg");
  EXPECT_EQ(explained["podGroup"], "podgroup/default/g");
  EXPECT_EQ(explained["result"], "Unschedulable");
  EXPECT_EQ(explained["live"]["identity"], "me");
  const json of_member = daemon.GetJson("explain?pod=a");
  EXPECT_EQ(of_member["result"], "Schedulable");
  EXPECT_EQ(of_member["podGroup"]["summary"], explained["summary"]);
  EXPECT_NE(daemon.GetJson("explain?podGroup=podgroup%2Fnone", 404)["message"], "");
  EXPECT_EQ(daemon.GetJson("queue")["pods"][0]["members"].size(), 2U);
  EXPECT_EQ(daemon.GetJson("decisions?limit=1")["decisions"][0]["members"].size(), 2U);
  const testing::Answer simulated =
      daemon.Ask("POST", "simulate",
                 "kind: Pod\nmetadata: {name: p}\nspec: {schedulingGroup: {podGroupName: g}}\n");
  EXPECT_EQ(json::parse(simulated.body)["podGroups"][0]["members"].size(), 3U);
}

struct FaultCase {
  std::string name;
  std::string method = "GET";
  std::string target;
  int want_status;
  std::string want_error;
};

TEST(DebugEndpoints, Faults) {
  Daemon daemon;
  const FaultCase cases[] = {
      {"unknown path", "GET", "nothing", 404,
       "there are: cache, decisions, explain, queue, simulate"},
      {"unknown parameter", "GET", "queue?ns=x", 400,
       "unknown parameter \"ns\"; known are: namespace pod plugin queue limit"},
      {"no number", "GET", "queue?limit=many", 400,
       "parameter limit: \"many\" is not a number; 0 is all"},
      {"no part", "GET", "queue?queue=activeQ", 400,
       "parameter queue: \"activeQ\" is not active, backoff, inFlight, waiting, binding, "
       "unschedulable, gated, incomplete or pending"},
      {"no pod", "GET", "explain", 400,
       "parameter pod: \"\" is not the pod to explain, namespace/name"},
      {"no group", "GET", "explain?podGroup=g", 400,
       "parameter podGroup: \"g\" is not podgroup/NAMESPACE/NAME or compositepodgroup/…"},
      {"no flag", "GET", "explain?pod=p&preemption=maybe", 400,
       "parameter preemption: \"maybe\" is not true or false"},
      {"wrong method", "POST", "queue", 405, "/debug/kubesched/queue is asked with GET"},
      {"not synced", "GET", "explain?pod=p", 503,
       "the scheduler has not read the cluster yet; ask again in a moment"},
      {"empty manifest", "POST", "simulate", 400, "the text is empty; a manifest is wanted"},
  };
  for (const FaultCase& c : cases) {
    SCOPED_TRACE(c.name);
    const testing::Answer answer = daemon.Ask(c.method, c.target, "");
    EXPECT_EQ(answer.status, c.want_status);
    EXPECT_EQ(json::parse(answer.body, nullptr, false)["message"], c.want_error);
  }
}

TEST(DebugEndpoints, WithoutASchedulerTheySaySo) {
  Daemon daemon;
  daemon.StopScheduler();
  for (const char* target : {"queue", "explain?pod=p", "decisions", "cache"}) {
    EXPECT_EQ(daemon.GetJson(target, 503)["message"],
              "kubesched is starting or stopping: no scheduler runs at this moment")
        << target;
  }
}

}  // namespace
}  // namespace ks::daemon
