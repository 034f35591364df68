// SPDX-License-Identifier: Apache-2.0
// Leader election of whole daemons on a real control plane: leaders that are killed, stopped and
// cut off while pods arrive, and replicas of two kinds over one lease. Who wrote what, and who held
// the lease then, is read from the API server's audit log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include "e2e/cluster.h"
#include "e2e/tcp_proxy.h"
#include "testing/temp_dir.h"

namespace ks::e2e {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;

constexpr const char* kLease =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler";
// A crash is noticed at the lease's end, seen one wait late, and used one wait later; the rest is
// for a machine with other things to do.
constexpr Duration kLeaseTime = seconds(3);
constexpr Duration kTakeOver = kLeaseTime + 2 * milliseconds(1'100) + seconds(3);

// Two users, so that the audit log tells the replicas apart.
struct Replica {
  std::string name;
  std::string kubeconfig;
  std::unique_ptr<TcpProxy> proxy;
  pid_t pid = 0;
  int starts = 0;
  std::string log;
};

std::string ReadText(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

class LeaderElection : public ::testing::Test {
 protected:
  void SetUp() override { StartCluster({}); }
  void StartCluster(std::vector<std::string> apiserver_args) {
    std::string why;
    if (!testing::ControlPlane::Available(&why)) GTEST_SKIP() << why;
    cluster_ = Cluster::Start(
        {.apiserver_args = std::move(apiserver_args), .with_controller_manager = true},
        "- {level: Request, verbs: [create, update], resources: [{group: coordination.k8s.io, "
        "resources: [leases], resourceNames: [kube-scheduler]}]}\n"
        "- {level: Request, verbs: [create], namespaces: [kube-system], resources: [{group: "
        "coordination.k8s.io, resources: [leases]}]}\n"
        "- {level: Metadata, verbs: [create, update, patch, delete], resources: [{group: '', "
        "resources: [pods/binding, pods/status, events]}, {group: events.k8s.io}]}\n");
    ASSERT_NE(cluster_, nullptr);
    for (int i = 0; i < 20; ++i) {
      cluster_->CreateNode(NodeManifest("node-" + std::to_string(i),
                                        {{"cpu", "64"}, {"memory", "64Gi"}, {"pods", "300"}}));
    }
  }

  // A kubeconfig that goes through a proxy.
  Replica MakeReplica(const std::string& name, const std::string& user) {
    const std::string& url = cluster_->plane().ServerUrl();
    Replica replica{.name = name};
    replica.proxy = std::make_unique<TcpProxy>(
        static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
    std::string text = ReadText(user == "admin" ? cluster_->plane().AdminKubeconfig()
                                                : cluster_->plane().SchedulerKubeconfig());
    text.replace(text.find(url), url.size(),
                 "https://127.0.0.1:" + std::to_string(replica.proxy->port()));
    replica.kubeconfig = folder_.Write(name + ".kubeconfig", text);
    return replica;
  }
  static std::string Configuration(const Replica& replica) {
    std::string text = SchedulerConfiguration(replica.kubeconfig, 4);
    const std::string off = "  leaderElect: false\n";
    return text.replace(text.find(off), off.size(),
                        "  leaderElect: true\n  leaseDuration: 3s\n  renewDeadline: 2s\n"
                        "  retryPeriod: 500ms\n");
  }
  void Start(Replica& replica, std::vector<std::string> argv, std::vector<std::string> more) {
    argv.push_back("--secure-port=0");
    argv.insert(argv.end(), more.begin(), more.end());
    const std::string log = replica.name + "-" + std::to_string(++replica.starts);
    replica.pid = cluster_->StartReplica(argv, log, Configuration(replica));
    replica.log = cluster_->LogPath(log);
  }
  void StartKubesched(Replica& replica, std::vector<std::string> more = {}) {
    Start(replica, {KS_KUBESCHED_PATH, "-v=1"}, std::move(more));
  }
  void StartKubeScheduler(Replica& replica, std::vector<std::string> more = {}) {
    Start(replica,
          {testing::ControlPlane::BinaryPath("kube-scheduler"),
           "--feature-gates=" + Cluster::ReferenceGates()},
          std::move(more));
  }
  void Kill(Replica& replica) {
    ASSERT_EQ(kill(replica.pid, SIGKILL), 0);
    (void)cluster_->plane().StopProcess(replica.pid, SIGKILL);
    replica.pid = 0;
  }

  std::string Holder() {
    const client::RestReply reply = cluster_->admin().Get(kLease);
    if (!reply.ok()) return "";
    return json::parse(reply.body)["spec"].value("holderIdentity", "");
  }
  // Blocks until somebody else holds the lease than `former`.
  std::string WaitForLeader(const std::string& former, seconds limit = seconds(20)) {
    std::string holder;
    const auto changed = [&](const PodView::Pods&) {
      holder = Holder();
      return !holder.empty() && holder != former;
    };
    // The view's pods are not asked: its bell only paces the question.
    const TimePoint end = RealClock().Now() + limit;
    while (RealClock().Now() < end && !changed({})) {
      cluster_->view().WaitFor([](const PodView::Pods&) { return false; }, seconds(0));
    }
    return changed({}) ? holder : "";
  }
  Replica& Leader(std::vector<Replica>& replicas, const std::string& holder) {
    for (Replica& replica : replicas) {
      // Others name it as the holder.
      if (ReadText(replica.log).find("identity=\"" + holder) != std::string::npos) return replica;
    }
    ADD_FAILURE() << "nobody says to be " << holder;
    return replicas[0];
  }
  void CreatePods(const std::string& prefix, int count) {
    for (int i = 0; i < count; ++i) {
      cluster_->CreatePod(PodManifest(prefix + std::to_string(i), {{"cpu", "10m"}}));
    }
  }
  bool AllBound(size_t count, seconds limit) {
    return cluster_->view().WaitFor(
        [count](const PodView::Pods& pods) {
          return pods.size() == count && CountBound(pods) == count;
        },
        limit);
  }

  // Every write of a scheduler, and whether its user held the lease at the server when it came.
  struct Audit {
    std::vector<std::string> foreign;  // writes of who did not
    std::map<std::string, int> binds;  // by pod, those that were accepted
    int writes = 0;
  };
  // Of the lease, of a pod or of an event: reading, and asking what one may do, is for everybody.
  static bool IsWriteOfALeader(const json& event) {
    const std::string verb = event.value("verb", "");
    if (verb == "get" || verb == "list" || verb == "watch") return false;
    const std::string resource = event["objectRef"].value("resource", "");
    return resource == "leases" || resource == "pods" || resource == "events";
  }
  Audit ReadAudit() const {
    struct Line {
      std::string at;  // RFC 3339 with microseconds: sorts as text
      bool lease = false;
      std::string user, text;
      json event;
    };
    std::vector<Line> lines;
    std::ifstream stream(cluster_->AuditLog());
    for (std::string text; std::getline(stream, text);) {
      json event = json::parse(text, nullptr, false);
      if (event.is_discarded()) continue;
      const std::string agent = event.value("userAgent", "");
      if (agent.find("kubesched/") != 0 && agent.find("kube-scheduler/") != 0) continue;
      if (!IsWriteOfALeader(event)) continue;
      const json& object = event["objectRef"];
      Line line{.user = event["user"]["username"]};
      line.lease = object["resource"] == "leases";
      const bool accepted = event["responseStatus"].value("code", 500) < 300;
      if (line.lease && !accepted) continue;
      line.at = line.lease ? event["stageTimestamp"] : event["requestReceivedTimestamp"];
      line.text = event["verb"].get<std::string>() + " " + event.value("requestURI", "");
      line.event = std::move(event);
      lines.push_back(std::move(line));
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Line& a, const Line& b) { return a.at < b.at; });
    Audit audit;
    std::string holder;
    for (const Line& line : lines) {
      if (line.lease) {
        const json& spec = line.event["requestObject"]["spec"];
        holder = spec.value("holderIdentity", "").empty() ? "" : line.user;
        continue;
      }
      ++audit.writes;
      if (holder != line.user) {
        audit.foreign.push_back(line.at + " " + line.user + " (leader: " + holder + ") " +
                                line.text);
      }
      const json& object = line.event["objectRef"];
      if (object.value("subresource", "") == "binding" &&
          line.event["responseStatus"].value("code", 500) < 300) {
        ++audit.binds[object.value("name", "")];
      }
    }
    return audit;
  }
  void ExpectEveryPodOnce(size_t pods) {
    EXPECT_THAT(cluster_->view().moved(), IsEmpty());
    const Audit audit = ReadAudit();
    EXPECT_THAT(audit.foreign, IsEmpty());
    // The log has no result for what was carried out when its sender was killed.
    EXPECT_LE(audit.binds.size(), pods);
    EXPECT_GE(audit.binds.size(), pods * 9 / 10);
    EXPECT_GT(audit.writes, static_cast<int>(pods));
    for (const auto& [pod, times] : audit.binds) EXPECT_EQ(times, 1) << pod;
  }

  testing::TempDir folder_;
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(LeaderElection, LeadersThatDieStopOrAreCutOffWhilePodsArrive) {
  constexpr int kPods = 3000;
  constexpr int kLate = 50;
  std::vector<Replica> replicas;
  replicas.push_back(MakeReplica("a", "scheduler"));
  replicas.push_back(MakeReplica("b", "admin"));
  for (Replica& replica : replicas) StartKubesched(replica);
  std::string holder = WaitForLeader("");
  ASSERT_FALSE(holder.empty());

  std::thread creator([this] { CreatePods("pod-", kPods); });
  for (int i = 0; i < 5; ++i) {
    cluster_->view().WaitFor(
        [&](const PodView::Pods& pods) { return CountBound(pods) >= static_cast<size_t>(500 * i); },
        seconds(30));
    Replica& leader = Leader(replicas, holder);
    Kill(leader);
    const TimePoint killed = RealClock().Now();
    holder = WaitForLeader(holder);
    ASSERT_FALSE(holder.empty()) << i;
    EXPECT_LE(RealClock().Now() - killed, kTakeOver) << i;
    StartKubesched(leader);
  }
  creator.join();
  EXPECT_TRUE(AllBound(kPods, seconds(60)));

  // Stopped for longer than the lease, with work to do when it goes on.
  Replica& stopped = Leader(replicas, holder);
  std::thread more([this] { CreatePods("stopped-", kLate); });
  ASSERT_EQ(kill(stopped.pid, SIGSTOP), 0);
  holder = WaitForLeader(holder);
  ASSERT_FALSE(holder.empty());
  more.join();
  ASSERT_EQ(kill(stopped.pid, SIGCONT), 0);
  EXPECT_TRUE(AllBound(kPods + kLate, seconds(60)));

  // Cut off: it notices by itself.
  Replica& cut = Leader(replicas, holder);
  cut.proxy->CutOff(true);
  const TimePoint cut_at = RealClock().Now();
  CreatePods("cut-", kLate);
  holder = WaitForLeader(holder);
  ASSERT_FALSE(holder.empty());
  EXPECT_LE(RealClock().Now() - cut_at, kTakeOver);
  cut.proxy->CutOff(false);
  EXPECT_TRUE(AllBound(kPods + 2 * kLate, seconds(60)));

  // Asked to end: the other one need not wait for the lease's end.
  Replica& leader = Leader(replicas, holder);
  EXPECT_EQ(cluster_->StopScheduler(leader.pid).exit_status, 0);
  const TimePoint released = RealClock().Now();
  holder = WaitForLeader(holder);
  ASSERT_FALSE(holder.empty());
  EXPECT_LE(RealClock().Now() - released, milliseconds(1'100) + seconds(2));
  CreatePods("last-", kLate);
  EXPECT_TRUE(AllBound(kPods + 3 * kLate, seconds(60)));
  EXPECT_EQ(cluster_->StopScheduler(Leader(replicas, holder).pid).exit_status, 0);
  ExpectEveryPodOnce(kPods + 3 * kLate);
}

// docs/spec/operations.md 12.1: migration and rollback are a change of leaders.
TEST_F(LeaderElection, KubeSchedulerAndKubeschedAreReplicasOfOneSet) {
  constexpr int kEach = 30;
  std::vector<Replica> replicas;
  replicas.push_back(MakeReplica("upstream", "scheduler"));
  replicas.push_back(MakeReplica("ours", "admin"));
  Replica& upstream = replicas[0];
  Replica& ours = replicas[1];
  StartKubeScheduler(upstream);
  std::string holder = WaitForLeader("");
  ASSERT_FALSE(holder.empty());
  StartKubesched(ours);
  CreatePods("one-", kEach);
  EXPECT_TRUE(AllBound(kEach, seconds(60)));

  EXPECT_EQ(cluster_->StopScheduler(upstream.pid).exit_status, 0);
  holder = WaitForLeader(holder);
  EXPECT_NE(ReadText(ours.log).find(holder), std::string::npos);
  CreatePods("two-", kEach);
  EXPECT_TRUE(AllBound(2 * kEach, seconds(60)));

  StartKubeScheduler(upstream);
  CreatePods("three-", kEach);
  EXPECT_TRUE(AllBound(3 * kEach, seconds(60)));
  EXPECT_EQ(cluster_->StopScheduler(ours.pid).exit_status, 0);
  holder = WaitForLeader(holder);
  EXPECT_EQ(ReadText(ours.log).find(holder), std::string::npos);
  CreatePods("four-", kEach);
  EXPECT_TRUE(AllBound(4 * kEach, seconds(60)));
  EXPECT_EQ(cluster_->StopScheduler(upstream.pid).exit_status, 0);
  ExpectEveryPodOnce(4 * kEach);
}

// docs/spec/operations.md 6.5: the API server names the leader.
class CoordinatedLeaderElection : public LeaderElection {
 protected:
  static constexpr const char* kGate = "--feature-gates=CoordinatedLeaderElection=true";
  // The server waits for candidates that have gone, and may name one of them before.
  static constexpr seconds kChoice = seconds(60);
  static constexpr const char* kCandidates =
      "/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates";

  void SetUp() override {
    StartCluster({kGate, "--runtime-config=coordination.k8s.io/v1beta1=true"});
  }

  std::map<std::string, json> Candidates() {
    std::map<std::string, json> candidates;
    const json list = cluster_->Get(kCandidates);
    for (const json& item : list["items"]) {
      candidates[item["metadata"]["name"]] = item["spec"];
    }
    return candidates;
  }
  bool WaitForCandidates(size_t count) {
    return cluster_->WaitUntil([&] { return Candidates().size() == count; }, seconds(30));
  }
  // How often it has become leader.
  static size_t Leads(const Replica& replica) {
    const std::string log = ReadText(replica.log);
    size_t times = 0;
    constexpr std::string_view kLeads = "Leading: the bindings of the former leader are known";
    for (size_t at = log.find(kLeads); at != std::string::npos; at = log.find(kLeads, at + 1)) {
      ++times;
    }
    return times;
  }
};

TEST_F(CoordinatedLeaderElection, OneOfTwoLeadsAndTheOtherFollows) {
  constexpr int kEach = 30;
  std::vector<Replica> replicas;
  replicas.push_back(MakeReplica("a", "scheduler"));
  replicas.push_back(MakeReplica("b", "admin"));
  for (Replica& replica : replicas) StartKubesched(replica, {kGate});
  std::string holder = WaitForLeader("", kChoice);
  ASSERT_FALSE(holder.empty());
  ASSERT_TRUE(WaitForCandidates(2));
  CreatePods("one-", kEach);
  EXPECT_TRUE(AllBound(kEach, seconds(60)));
  // The server may change its mind about two that are alike; never two at a time, says the audit
  // log.
  EXPECT_GE(Leads(replicas[0]) + Leads(replicas[1]), 1U);
  EXPECT_EQ(cluster_->Get(kLease)["spec"]["strategy"], "OldestEmulationVersion");

  holder = WaitForLeader("", kChoice);
  Kill(Leader(replicas, holder));
  CreatePods("two-", kEach);
  holder = WaitForLeader(holder, kChoice);
  ASSERT_FALSE(holder.empty());
  EXPECT_TRUE(AllBound(2 * kEach, seconds(60)));

  EXPECT_EQ(cluster_->StopScheduler(Leader(replicas, holder).pid).exit_status, 0);
  EXPECT_EQ(Candidates().count(holder), 0U);
  ExpectEveryPodOnce(2 * kEach);
}

// The server prefers the older emulated version, and says so to a leader that has the newer one.
TEST_F(CoordinatedLeaderElection, ALeaderThatIsCalledBackGivesTheLeaseAway) {
  constexpr int kEach = 30;
  Replica newer = MakeReplica("newer", "scheduler");
  Replica older = MakeReplica("older", "admin");
  StartKubesched(newer, {kGate});
  const std::string first = WaitForLeader("", kChoice);
  ASSERT_FALSE(first.empty());
  CreatePods("one-", kEach);
  EXPECT_TRUE(AllBound(kEach, seconds(60)));

  StartKubesched(older, {kGate, "--emulated-version=1.36"});
  CreatePods("two-", kEach);
  ASSERT_TRUE(cluster_->WaitUntil([&] { return Leads(older) == 1; }, seconds(60)))
      << ReadText(newer.log) << ReadText(older.log);
  CreatePods("three-", kEach);
  EXPECT_TRUE(AllBound(3 * kEach, seconds(60)));
  EXPECT_NE(ReadText(newer.log).find("Giving the lease back"), std::string::npos);
  EXPECT_EQ(Candidates()[Holder()]["emulationVersion"], "1.36.0");

  // And is its successor again.
  EXPECT_EQ(cluster_->StopScheduler(older.pid).exit_status, 0);
  ASSERT_TRUE(cluster_->WaitUntil([&] { return Leads(newer) == 2; }, seconds(60)))
      << ReadText(newer.log);
  EXPECT_EQ(Holder(), first);
  CreatePods("four-", kEach);
  EXPECT_TRUE(AllBound(4 * kEach, seconds(60)));
  EXPECT_EQ(cluster_->StopScheduler(newer.pid).exit_status, 0);
  ExpectEveryPodOnce(4 * kEach);
}

TEST_F(CoordinatedLeaderElection, ExitOnLostLeaseYieldsBeforeItEnds) {
  constexpr int kPods = 10;
  Replica newer = MakeReplica("newer", "scheduler");
  Replica older = MakeReplica("older", "admin");
  StartKubesched(newer, {kGate, "--exit-on-lost-lease"});
  // Named is not enough: a candidate that has not led has nothing to give back.
  ASSERT_TRUE(cluster_->WaitUntil([&] { return Leads(newer) == 1; }, kChoice));
  StartKubesched(older, {kGate, "--emulated-version=1.36"});
  ASSERT_TRUE(cluster_->WaitUntil([&] { return Leads(older) == 1; }, kChoice));
  const auto end = cluster_->plane().StopProcess(newer.pid, SIGTERM);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->exit_status, 1) << ReadText(newer.log);
  CreatePods("pod-", kPods);
  EXPECT_TRUE(AllBound(kPods, seconds(60)));
  EXPECT_EQ(cluster_->StopScheduler(older.pid).exit_status, 0);
  ExpectEveryPodOnce(kPods);
}

TEST_F(CoordinatedLeaderElection, KubeSchedulerAndKubeschedAreCandidatesOfOneKind) {
  constexpr int kEach = 30;
  Replica upstream = MakeReplica("upstream", "scheduler");
  Replica ours = MakeReplica("ours", "admin");
  StartKubeScheduler(upstream, {kGate});
  // About two that are alike and of one second the server may change its mind, and a kube-scheduler
  // that is called back ends. Of two that are alike the older one stays.
  const std::string theirs = WaitForLeader("", kChoice);
  ASSERT_FALSE(theirs.empty());
  StartKubesched(ours, {kGate});
  ASSERT_TRUE(WaitForCandidates(2));
  CreatePods("one-", kEach);
  EXPECT_TRUE(AllBound(kEach, seconds(60))) << ReadText(upstream.log) << ReadText(ours.log);
  EXPECT_EQ(Holder(), theirs);

  auto candidates = Candidates();
  json reference = candidates[theirs];
  candidates.erase(theirs);
  json other = candidates.begin()->second;
  for (json* spec : {&reference, &other}) {
    EXPECT_TRUE(spec->contains("renewTime")) << *spec;
    spec->erase("renewTime");
    spec->erase("pingTime");
  }
  EXPECT_EQ(other, reference);
  EXPECT_EQ(other["leaseName"], "kube-scheduler");

  EXPECT_EQ(cluster_->StopScheduler(upstream.pid).exit_status, 0);
  const std::string holder = WaitForLeader(theirs, kChoice);
  EXPECT_EQ(candidates.count(holder), 1U) << holder;
  CreatePods("two-", kEach);
  EXPECT_TRUE(AllBound(2 * kEach, seconds(60))) << ReadText(ours.log);
  EXPECT_EQ(cluster_->StopScheduler(ours.pid).exit_status, 0);
  ExpectEveryPodOnce(2 * kEach);
}

}  // namespace
}  // namespace ks::e2e
