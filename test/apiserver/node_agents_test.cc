// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/node_agents.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "apiserver/registry/snapshot.h"
#include "controlled_service.h"

namespace ks::apiserver {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const KindInfo& Pods() { return Core("pods"); }
const KindInfo& Nodes() { return Core("nodes"); }

NodeAgentOptions Quiet() { return {.start_delay = seconds(1), .lease_interval = Duration::zero()}; }

std::string Node(const std::string& name) { return R"({"metadata":{"name":")" + name + R"("}})"; }

// `more` goes into the spec: `,"restartPolicy":"Never"`.
std::string Pod(const std::string& name, const std::string& node, const std::string& more = "",
                const std::string& metadata = "") {
  return R"({"metadata":{"name":")" + name + "\"" + metadata + R"(},"spec":{"nodeName":")" + node +
         R"(","containers":[{"name":"c","image":"i"}])" + more + "}}";
}

std::map<std::string, std::string> Conditions(const Json& object) {
  std::map<std::string, std::string> conditions;
  if (!object.contains("/status/conditions"_json_pointer)) return conditions;
  for (const Json& each : object["status"]["conditions"]) {
    conditions[each["type"]] = each["status"];
  }
  return conditions;
}

class NodeAgentsTest : public ::testing::Test {
 protected:
  void Begin(NodeAgentOptions options, ServiceOptions service_options = {}) {
    cluster = std::make_unique<ControlledService>(service_options);
    cluster->service.AddController(NewNodeAgents(cluster->service, options));
  }
  Json PhaseOf(const std::string& pod) { return cluster->At(Pods(), pod, "/status/phase"); }
  bool Gone(const std::string& pod) { return cluster->Get(Pods(), pod).is_null(); }
  std::string ReadyOf(const std::string& node) {
    return Conditions(cluster->Get(Nodes(), node))["Ready"];
  }
  std::vector<std::string> TaintsOf(const std::string& node) {
    std::vector<std::string> taints;
    const Json list = cluster->At(Nodes(), node, "/spec/taints");
    for (const Json& taint : list) {
      taints.push_back(taint["key"].get<std::string>() + ":" + taint["effect"].get<std::string>());
    }
    return taints;
  }

  std::unique_ptr<ControlledService> cluster;
};

TEST_F(NodeAgentsTest, BoundPodsStartPendingOnesDoNot) {
  Begin(Quiet());
  cluster->Create(Nodes(), Node("n1"));
  cluster->Create(Pods(), Pod("bound", "n1"));
  cluster->Create(Pods(), Pod("free", ""));
  cluster->Create(Pods(), Pod("lost", "no-such-node"));
  cluster->Run(milliseconds(499));
  EXPECT_EQ(PhaseOf("bound"), "Pending");
  cluster->Run(milliseconds(1001));
  EXPECT_EQ(PhaseOf("bound"), "Running");
  cluster->Run(minutes(1));
  EXPECT_EQ(PhaseOf("free"), "Pending");
  EXPECT_EQ(PhaseOf("lost"), "Pending");
  // As after pods/binding.
  cluster->Edit(Pods(), "free", R"({"spec":{"nodeName":"n1"}})");
  cluster->Create(Nodes(), Node("no-such-node"));
  cluster->Run(seconds(2));
  EXPECT_EQ(PhaseOf("free"), "Running");
  EXPECT_EQ(PhaseOf("lost"), "Running");
}

TEST_F(NodeAgentsTest, StatusOfARunningPod) {
  Begin(Quiet());
  cluster->Create(Nodes(), Node("n1"));
  cluster->Create(Pods(), Pod("p", "n1",
                              R"(,"initContainers":[{"name":"once","image":"i"},
                              {"name":"side","image":"i","restartPolicy":"Always"}])"));
  cluster->Edit(Pods(), "p", R"({"status":{"conditions":[{"type":"PodScheduled","status":"True",
                              "lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
  cluster->Run(seconds(2));
  const Json pod = cluster->Get(Pods(), "p");
  const Json& status = pod["status"];
  EXPECT_EQ(Conditions(pod),
            (std::map<std::string, std::string>{{"PodReadyToStartContainers", "True"},
                                                {"Initialized", "True"},
                                                {"Ready", "True"},
                                                {"ContainersReady", "True"},
                                                {"PodScheduled", "True"}}));
  EXPECT_EQ(status["conditions"][0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(status["hostIP"], cluster->At(Nodes(), "n1", "/status/addresses/0/address"));
  EXPECT_EQ(status["podIP"], status["podIPs"][0]["ip"]);
  EXPECT_TRUE(status["podIP"].get<std::string>().starts_with("10."));
  const Json& container = status["containerStatuses"][0];
  EXPECT_EQ(container["name"], "c");
  EXPECT_EQ(container["image"], "i");
  EXPECT_EQ(container["ready"], true);
  EXPECT_EQ(container["started"], true);
  EXPECT_EQ(container["restartCount"], 0);
  EXPECT_EQ(container["state"]["running"]["startedAt"], status["startTime"]);
  const Json& inits = status["initContainerStatuses"];
  EXPECT_EQ(inits[0]["state"]["terminated"]["reason"], "Completed");
  EXPECT_TRUE(inits[1]["state"].contains("running"));
}

TEST_F(NodeAgentsTest, AddressesAreUnique) {
  Begin(Quiet());
  for (const char* name : {"n1", "n2"}) cluster->Create(Nodes(), Node(name));
  for (int i = 0; i < 600; ++i) {
    cluster->Create(Pods(), Pod("p" + std::to_string(i), i % 2 == 0 ? "n1" : "n2"));
  }
  cluster->Create(Pods(), Pod("host", "n1", R"(,"hostNetwork":true)"));
  cluster->Run(seconds(2));
  std::set<std::string> ips;
  for (int i = 0; i < 600; ++i) {
    ips.insert(cluster->At(Pods(), "p" + std::to_string(i), "/status/podIP"));
  }
  EXPECT_EQ(ips.size(), 600U);
  EXPECT_EQ(cluster->At(Pods(), "host", "/status/podIP"),
            cluster->At(Nodes(), "n1", "/status/addresses/0/address"));
  EXPECT_NE(cluster->At(Nodes(), "n1", "/status/addresses/0/address"),
            cluster->At(Nodes(), "n2", "/status/addresses/0/address"));
}

struct LifetimeCase {
  std::string name;
  std::string restart_policy;
  std::string annotation;  // "": none
  Duration option;
  std::string want_phase;  // after 100 s
  int want_restarts = 0;
};
class LifetimeTest : public NodeAgentsTest, public ::testing::WithParamInterface<LifetimeCase> {};

TEST_P(LifetimeTest, EndsOrRestarts) {
  const LifetimeCase& row = GetParam();
  NodeAgentOptions options = Quiet();
  options.start_delay = Duration::zero();
  options.lifetime = row.option;
  Begin(options);
  cluster->Create(Nodes(), Node("n1"));
  const std::string annotation =
      row.annotation.empty()
          ? ""
          : R"(,"annotations":{"kubesched.io/lifetime":")" + row.annotation + "\"}";
  cluster->Create(Pods(),
                  Pod("p", "n1", R"(,"restartPolicy":")" + row.restart_policy + "\"", annotation));
  cluster->Run(seconds(100));
  EXPECT_EQ(PhaseOf("p"), row.want_phase);
  const Json status = cluster->At(Pods(), "p", "/status/containerStatuses/0");
  EXPECT_EQ(status["restartCount"], row.want_restarts);
  const bool ended = row.want_phase == "Succeeded";
  EXPECT_EQ(status["state"].contains("terminated"), ended);
  EXPECT_EQ(status["ready"], !ended);
  EXPECT_EQ(Conditions(cluster->Get(Pods(), "p"))["Ready"], ended ? "False" : "True");
}

INSTANTIATE_TEST_SUITE_P(
    Pods, LifetimeTest,
    ::testing::Values(
        LifetimeCase{"ForEver", "Never", "", Duration::zero(), "Running"},
        LifetimeCase{"Option", "Never", "", seconds(30), "Succeeded"},
        LifetimeCase{"OnFailure", "OnFailure", "", seconds(30), "Succeeded"},
        LifetimeCase{"NotYet", "Never", "", seconds(101), "Running"},
        LifetimeCase{"Annotation", "Never", "1m30s", Duration::zero(), "Succeeded"},
        LifetimeCase{"AnnotationWins", "Never", "2m", seconds(30), "Running"},
        LifetimeCase{"AnnotationForEver", "Never", "0", seconds(30), "Running"},
        LifetimeCase{"AlwaysRestarts", "Always", "30s", Duration::zero(), "Running", 3},
        LifetimeCase{"AlwaysRestartsOften", "Always", "", milliseconds(2500), "Running", 40}),
    [](const auto& row) { return row.param.name; });

TEST_F(NodeAgentsTest, LifetimeThatIsNoDuration) {
  Begin(Quiet());
  cluster->Create(Nodes(), Node("n1"));
  cluster->Create(Pods(), Pod("p", "n1", "", R"(,"annotations":{"kubesched.io/lifetime":"soon"})"));
  cluster->Run(seconds(100));
  EXPECT_EQ(PhaseOf("p"), "Running");
  EXPECT_EQ(
      cluster->EventsOf("p"),
      (std::vector<std::string>{
          R"(InvalidLifetime: Annotation kubesched.io/lifetime: "soon" is not a duration such as "1m30s"; the pod runs on)"}));
}

TEST_F(NodeAgentsTest, TerminatingPodsGo) {
  NodeAgentOptions options = Quiet();
  options.termination = seconds(5);
  Begin(options);
  cluster->Create(Nodes(), Node("n1"));
  for (const char* name : {"running", "short", "kept"}) cluster->Create(Pods(), Pod(name, "n1"));
  cluster->Edit(Pods(), "kept", R"({"metadata":{"finalizers":["example.com/f"]}})");
  cluster->Run(seconds(2));
  cluster->Create(Pods(), Pod("pending", "n1"));
  for (const char* name : {"running", "kept", "pending"}) cluster->Delete(Pods(), name);
  cluster->Delete(Pods(), "short", {.grace_period_seconds = 2});
  cluster->Run(milliseconds(1900));
  EXPECT_FALSE(Gone("short"));
  EXPECT_EQ(PhaseOf("pending"), "Pending") << "a terminating pod does not start";
  cluster->Run(milliseconds(200));
  EXPECT_TRUE(Gone("short"));
  cluster->Run(milliseconds(2800));
  EXPECT_FALSE(Gone("running"));
  cluster->Run(milliseconds(200));
  EXPECT_TRUE(Gone("running"));
  EXPECT_TRUE(Gone("pending"));
  EXPECT_EQ(PhaseOf("kept"), "Succeeded");
  EXPECT_EQ(cluster->At(Pods(), "kept", "/metadata/deletionGracePeriodSeconds"), 0);
  cluster->Run(minutes(10));
  EXPECT_FALSE(Gone("kept"));
}

TEST_F(NodeAgentsTest, TerminatingPodsOfMissingNodesGo) {
  Begin(Quiet());
  cluster->Create(Nodes(), Node("n1"));
  cluster->Create(Pods(), Pod("p", "n1"));
  cluster->Run(seconds(2));
  cluster->Delete(Nodes(), "n1");
  cluster->Run(seconds(2));
  EXPECT_EQ(PhaseOf("p"), "Running");
  cluster->Delete(Pods(), "p");
  cluster->Run(seconds(2));
  EXPECT_TRUE(Gone("p"));
}

TEST_F(NodeAgentsTest, NodesBecomeReady) {
  Begin(Quiet());
  cluster->Create(Nodes(), R"({"metadata":{"name":"n1"},"spec":{"taints":[
      {"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"},
      {"key":"mine","effect":"NoSchedule"}]}})");
  cluster->Run(Duration::zero());
  EXPECT_EQ(Conditions(cluster->Get(Nodes(), "n1")),
            (std::map<std::string, std::string>{{"DiskPressure", "False"},
                                                {"MemoryPressure", "False"},
                                                {"PIDPressure", "False"},
                                                {"Ready", "True"}}));
  EXPECT_EQ(TaintsOf("n1"), std::vector<std::string>{"mine:NoSchedule"});
  EXPECT_EQ(cluster->At(Nodes(), "n1", "/status/nodeInfo/kubeletVersion"), "v1.37.1");
}

// Whoever writes the condition breaks and repairs the node.
TEST_F(NodeAgentsTest, ANodeThatIsNotReadyDoesNothing) {
  Begin(Quiet());
  cluster->Create(Nodes(), Node("n1"));
  cluster->Create(Pods(), Pod("old", "n1"));
  cluster->Run(seconds(2));
  cluster->Edit(Nodes(), "n1", R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})");
  cluster->Create(Pods(), Pod("new", "n1"));
  cluster->Run(minutes(1));
  EXPECT_EQ(ReadyOf("n1"), "False");
  EXPECT_EQ(PhaseOf("new"), "Pending");
  EXPECT_EQ(Conditions(cluster->Get(Pods(), "old"))["Ready"], "False");
  cluster->Delete(Pods(), "old");
  cluster->Run(minutes(10));
  EXPECT_FALSE(Gone("old")) << "nobody there to say that it ended";
  cluster->Edit(Nodes(), "n1", R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  cluster->Run(seconds(2));
  EXPECT_EQ(PhaseOf("new"), "Running");
  EXPECT_TRUE(Gone("old"));
}

TEST_F(NodeAgentsTest, LeasesAreSpreadAndRenewed) {
  NodeAgentOptions options = Quiet();
  options.lease_interval = seconds(10);
  Begin(options);
  constexpr int kCount = 500;
  for (int i = 0; i < kCount; ++i) cluster->Create(Nodes(), Node("n" + std::to_string(i)));
  cluster->Run(Duration::zero());
  const auto leases = [&] { return cluster->service.store().objects(Leases()).size(); };
  size_t most = 0;
  for (size_t before = leases(); before < kCount; before = leases()) {
    cluster->Run(seconds(1));
    most = std::max(most, leases() - before);
    ASSERT_LT(cluster->clock.Now() - testing::FakeClock().Now(), seconds(20));
  }
  EXPECT_LT(most, 100U) << "a tenth of the interval brings about a tenth of the leases";
  const Json lease = cluster->Get(Leases(), "n7", "kube-node-lease");
  EXPECT_EQ(lease["spec"]["holderIdentity"], "n7");
  EXPECT_EQ(lease["metadata"]["ownerReferences"][0]["name"], "n7");
  const uint64_t sequence = cluster->service.store().NextSequence(Leases());
  cluster->Run(seconds(100));
  EXPECT_EQ(cluster->service.store().NextSequence(Leases()), sequence + 10ULL * kCount);
  EXPECT_NE(cluster->Get(Leases(), "n7", "kube-node-lease")["spec"]["renewTime"],
            lease["spec"]["renewTime"]);
  cluster->Delete(Nodes(), "n7");
  cluster->Run(seconds(1));
  EXPECT_TRUE(cluster->Get(Leases(), "n7", "kube-node-lease").is_null());
}

TEST_F(NodeAgentsTest, NodesFailAndRecover) {
  NodeAgentOptions options = Quiet();
  options.lease_interval = seconds(10);
  options.mean_time_between_failures = minutes(10);
  options.failure_duration = minutes(1);
  Begin(options);
  constexpr int kCount = 20;
  for (int i = 0; i < kCount; ++i) cluster->Create(Nodes(), Node("n" + std::to_string(i)));
  int failures = 0;
  std::map<std::string, int> silent;  // seconds without Ready
  for (int second = 0; second < 1200; second += 10) {
    cluster->Run(seconds(10));
    for (int i = 0; i < kCount; ++i) {
      const std::string name = "n" + std::to_string(i);
      const bool ready = ReadyOf(name) == "True";
      ASSERT_EQ(TaintsOf(name),
                ready ? std::vector<std::string>()
                      : (std::vector<std::string>{"node.kubernetes.io/unreachable:NoSchedule",
                                                  "node.kubernetes.io/unreachable:NoExecute"}));
      if (ready && silent[name] > 0) {
        EXPECT_NEAR(silent[name], 60, 10) << name;
        silent[name] = 0;
      }
      if (ready) continue;
      if (silent[name] == 0) ++failures;
      silent[name] += 10;
    }
  }
  // 20 nodes for 20 minutes at one failure per 11 minutes: about 36.
  EXPECT_GT(failures, 20);
  EXPECT_LT(failures, 55);
}

TEST_F(NodeAgentsTest, ALeaseOfASilentNodeIsNotRenewed) {
  NodeAgentOptions options = Quiet();
  options.lease_interval = seconds(10);
  Begin(options);
  cluster->Create(Nodes(), Node("n1"));
  cluster->Run(seconds(20));
  cluster->Edit(Nodes(), "n1",
                R"({"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})");
  cluster->Run(seconds(1));
  const Json before = cluster->Get(Leases(), "n1", "kube-node-lease");
  ASSERT_FALSE(before.is_null());
  cluster->Run(minutes(2));
  EXPECT_EQ(cluster->Get(Leases(), "n1", "kube-node-lease"), before);
}

struct TaintCase {
  std::string name;
  std::string tolerations;
  int want_seconds;  // until it is being deleted; -1: never
};
class TaintTest : public NodeAgentsTest, public ::testing::WithParamInterface<TaintCase> {};

TEST_P(TaintTest, DrivesPodsAway) {
  const TaintCase& row = GetParam();
  NodeAgentOptions options = Quiet();
  options.termination = minutes(1);
  Begin(options);
  cluster->Create(Nodes(), Node("n1"));
  cluster->Create(Pods(), Pod("p", "n1", R"(,"tolerations":)" + row.tolerations));
  cluster->Run(seconds(2));
  cluster->Edit(Nodes(), "n1", R"({"spec":{"taints":[{"key":"k","value":"v","effect":"NoExecute"},
                                {"key":"other","effect":"NoSchedule"}]}})");
  const auto deleted = [&] {
    return !cluster->At(Pods(), "p", "/metadata/deletionTimestamp").is_null();
  };
  if (row.want_seconds > 0) {
    cluster->Run(seconds(row.want_seconds) - milliseconds(1));
    EXPECT_FALSE(deleted());
    cluster->Run(milliseconds(2));
  } else {
    cluster->Run(row.want_seconds == 0 ? Duration::zero() : Duration(minutes(60)));
  }
  EXPECT_EQ(deleted(), row.want_seconds >= 0);
  if (row.want_seconds < 0) return;
  EXPECT_EQ(Conditions(cluster->Get(Pods(), "p"))["DisruptionTarget"], "True");
  EXPECT_EQ(cluster->EventsOf("p"),
            std::vector<std::string>{"TaintManagerEviction: Marking for deletion Pod default/p"});
}

INSTANTIATE_TEST_SUITE_P(
    Tolerations, TaintTest,
    ::testing::Values(
        TaintCase{"None", "[]", 0},
        TaintCase{"OtherKey", R"([{"key":"x","operator":"Exists","effect":"NoExecute"}])", 0},
        TaintCase{"OtherValue", R"([{"key":"k","value":"x","effect":"NoExecute"}])", 0},
        TaintCase{"OtherEffect", R"([{"key":"k","operator":"Exists","effect":"NoSchedule"}])", 0},
        TaintCase{"ForEver", R"([{"key":"k","operator":"Exists","effect":"NoExecute"}])", -1},
        TaintCase{"Everything", R"([{"operator":"Exists"}])", -1},
        TaintCase{"Equal", R"([{"key":"k","value":"v"}])", -1},
        TaintCase{
            "Seconds",
            R"([{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":30}])", 30},
        TaintCase{"ZeroSeconds",
                  R"([{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":0}])",
                  0}),
    [](const auto& row) { return row.param.name; });

TEST_F(NodeAgentsTest, ATaintThatGoesInTimeEvictsNobody) {
  Begin(Quiet());
  cluster->Create(Nodes(), Node("n1"));
  cluster->Create(Pods(), Pod("p", "n1",
                              R"(,"tolerations":[{"operator":"Exists","effect":"NoExecute",
                              "tolerationSeconds":30}])"));
  cluster->Run(seconds(2));
  cluster->Edit(Nodes(), "n1", R"({"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}})");
  cluster->Run(seconds(29));
  cluster->Edit(Nodes(), "n1", R"({"spec":{"taints":null}})");
  cluster->Run(minutes(5));
  EXPECT_TRUE(cluster->At(Pods(), "p", "/metadata/deletionTimestamp").is_null());
}

TEST_F(NodeAgentsTest, OneStepIsBounded) {
  NodeAgentOptions options = Quiet();
  options.start_delay = Duration::zero();
  Begin(options);
  cluster->Create(Nodes(), Node("n1"));
  cluster->Run(Duration::zero());
  for (int i = 0; i < 1000; ++i) cluster->Create(Pods(), Pod("p" + std::to_string(i), "n1"));
  const Store& store = cluster->service.store();
  const uint64_t before = store.NextSequence(Pods());
  cluster->service.Step();
  EXPECT_LE(store.NextSequence(Pods()) - before, 256U);
  EXPECT_EQ(cluster->service.NextDue(), cluster->clock.Now());
  cluster->Run(Duration::zero());
  EXPECT_EQ(store.NextSequence(Pods()) - before, 1000U);
}

TEST_F(NodeAgentsTest, AForgottenLogIsMadeUpFor) {
  Begin(Quiet(), {.store = {.history = 10}});
  cluster->Create(Nodes(), Node("n1"));
  cluster->Run(seconds(1));
  for (int i = 0; i < 100; ++i) cluster->Create(Pods(), Pod("p" + std::to_string(i), "n1"));
  cluster->Run(seconds(1));
  cluster->service.store().ForgetHistory();
  cluster->Run(seconds(5));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(PhaseOf("p" + std::to_string(i)), "Running") << i;
}

TEST_F(NodeAgentsTest, TheSeedDecides) {
  const auto run = [this](uint64_t seed) {
    NodeAgentOptions options = Quiet();
    options.seed = seed;
    options.lease_interval = seconds(10);
    options.mean_time_between_failures = minutes(5);
    Begin(options);
    for (int i = 0; i < 10; ++i) cluster->Create(Nodes(), Node("n" + std::to_string(i)));
    for (int i = 0; i < 50; ++i) {
      cluster->Create(Pods(), Pod("p" + std::to_string(i), "n" + std::to_string(i % 10)));
    }
    cluster->Run(minutes(5));
    return SnapshotText(cluster->service.store());
  };
  const std::string first = run(1);
  EXPECT_EQ(run(1), first);
  EXPECT_NE(run(2), first);
}

}  // namespace
}  // namespace ks::apiserver
