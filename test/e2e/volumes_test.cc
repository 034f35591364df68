// SPDX-License-Identifier: Apache-2.0
// Pods with claims from the queue to the node: a real kube-apiserver, the real PV binder of
// kube-controller-manager, a provisioner of the test's, and kubesched or kube-scheduler. Whatever
// is expected here is expected of both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "api/object.h"
#include "e2e/cluster_fixture.h"
#include "e2e/fake_provisioner.h"
#include "e2e/volume_objects.h"

namespace ks::e2e {
namespace {

using std::chrono::seconds;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using Decision = FakeProvisioner::Decision;

constexpr char kDriver[] = "fake.csi.kubesched.test";
constexpr char kNoProvisioner[] = "kubernetes.io/no-provisioner";
constexpr char kSelectedNode[] = "volume.kubernetes.io/selected-node";
const seconds kPatience(60);

struct SchedulerRow {
  const char* name;     // of the test
  const char* program;  // as the API server knows the writer
  bool real;
};

// Nodes a1 and a2 in zone a, b1 in zone b; the classes "dynamic" (provisioned by the test, after
// the node is chosen), "local" (never provisioned, after the node is chosen) and "manual" (never
// provisioned, at once).
class Volumes : public ClusterFixture, public ::testing::WithParamInterface<SchedulerRow> {
 protected:
  explicit Volumes(bool with_controller_manager = true)
      : ClusterFixture({.with_controller_manager = with_controller_manager}) {}

  void SetUp() override {
    ClusterFixture::SetUp();
    if (cluster_ == nullptr) return;
    for (const char* name : {"a1", "a2", "b1"}) {
      cluster_->CreateNode(NodeManifest(name, {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}},
                                        {{kHostLabel, name}, {kZoneLabel, std::string(name, 1)}}));
    }
    const std::string classes = std::string(kStoragePath) + "storageclasses";
    cluster_->Create(classes, ClassManifest("dynamic", kDriver, "WaitForFirstConsumer"));
    cluster_->Create(classes, ClassManifest("local", kNoProvisioner, "WaitForFirstConsumer"));
    cluster_->Create(classes, ClassManifest("manual", kNoProvisioner, "Immediate"));
  }
  void TearDown() override {
    if (cluster_ != nullptr && HasFailure()) {
      std::ifstream log(cluster_->LogPath(GetParam().program));
      const std::string text((std::istreambuf_iterator<char>(log)), {});
      std::cerr << GetParam().program << "'s log ends:\n"
                << text.substr(text.size() > 4000 ? text.size() - 4000 : 0) << "\n";
    }
    provisioner_.reset();
  }

  void StartScheduler(const std::string& more = "") {
    const std::string configuration =
        SchedulerConfiguration(cluster_->plane().SchedulerKubeconfig(), 1) + more;
    GetParam().real ? cluster_->StartKubeScheduler(configuration)
                    : cluster_->StartKubesched(configuration);
  }
  void Provide(FakeProvisioner::Decide decide) {
    provisioner_ = std::make_unique<FakeProvisioner>(cluster_->admin(), kDriver, std::move(decide));
  }
  void ProvideAlways() {
    Provide([](const std::string&, const std::string&) { return Decision::kMake; });
  }

  void CreateClaim(const json& claim) { cluster_->Create(kClaimsPath, claim); }
  void CreateDriver(const json& driver, std::optional<int> count) {
    cluster_->Create(std::string(kStoragePath) + "csidrivers", driver);
    for (const char* name : {"a1", "a2", "b1"}) {
      cluster_->Create(std::string(kStoragePath) + "csinodes",
                       CsiNodeManifest(name, kDriver, count));
    }
  }
  // The scheduler sees free volumes only: the binder makes them Available.
  void CreateFreeVolume(const json& volume) {
    cluster_->Create(kVolumesPath, volume);
    const std::string name = volume["metadata"]["name"];
    ASSERT_TRUE(
        cluster_->WaitUntil([&] { return PhaseOf(Volume(name)) == "Available"; }, kPatience))
        << name;
  }
  json Claim(const std::string& name) { return cluster_->Get(kClaimsPath + ("/" + name)); }
  json Volume(const std::string& name) { return cluster_->Get(kVolumesPath + ("/" + name)); }
  static std::string PhaseOf(const json& object) {
    return object.value(json::json_pointer("/status/phase"), "");
  }
  static std::string Annotation(const json& object, const std::string& key) {
    return object.value(json::json_pointer("/metadata/annotations"), json::object()).value(key, "");
  }

  // The node of the pod, once it has one; "" if it gets none.
  std::string WaitNode(const std::string& pod) {
    std::string node;
    EXPECT_TRUE(cluster_->view().WaitFor(
        [&](const PodView::Pods& pods) {
          const auto it = pods.find("default/" + pod);
          if (it != pods.end()) node = it->second->node_name.str();
          return !node.empty();
        },
        kPatience))
        << pod << " is not bound: " << ConditionOf(pod).message;
    return node;
  }
  api::Condition ConditionOf(const std::string& pod) {
    const PodView::Pods pods = cluster_->view().pods();
    const auto it = pods.find("default/" + pod);
    const api::Condition* found =
        it == pods.end() ? nullptr : it->second->FindCondition("PodScheduled");
    return found == nullptr ? api::Condition() : *found;
  }
  // Waits until the pod is pending with exactly this text.
  void ExpectPending(const std::string& pod, const std::string& text,
                     const std::string& reason = "Unschedulable") {
    const bool said = cluster_->view().WaitFor(
        [&](const PodView::Pods& pods) {
          const auto it = pods.find("default/" + pod);
          if (it == pods.end()) return false;
          const api::Condition* condition = it->second->FindCondition("PodScheduled");
          return condition != nullptr && condition->message == text;
        },
        kPatience);
    const api::Condition condition = ConditionOf(pod);
    EXPECT_TRUE(said) << pod << " says: " << condition.message << "\nwanted: " << text;
    EXPECT_EQ(condition.status, "False") << pod;
    EXPECT_EQ(condition.reason, reason) << pod;
  }
  // The texts of all FailedScheduling events of a pod.
  std::set<std::string> Failures(const std::string& pod) {
    std::set<std::string> notes;
    const json events = cluster_->Get(
        "/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=reason%3DFailedScheduling");
    for (const json& event : events["items"]) {
      if (event["regarding"]["name"] == pod) notes.insert(event["note"].get<std::string>());
    }
    return notes;
  }
  void ExpectFailure(const std::string& pod, const std::string& text) {
    if (!cluster_->WaitUntil([&] { return Failures(pod).contains(text); }, kPatience)) {
      EXPECT_THAT(Failures(pod), Contains(text));
    }
  }
  // The claim was bound first, to a volume for the pod's node.
  void ExpectBoundAfterItsClaim(const std::string& pod, const std::string& claim_name) {
    SCOPED_TRACE(pod);
    const std::string node = WaitNode(pod);
    const json claim = Claim(claim_name);
    EXPECT_EQ(Annotation(claim, kSelectedNode), node);
    const json volume = Volume(claim["spec"].value("volumeName", ""));
    EXPECT_EQ(volume["spec"]["nodeAffinity"], VolumeAffinity(kZoneLabel, {node.substr(0, 1)}));
    const auto order = api::CompareResourceVersions(provisioner_->BoundAt(claim_name),
                                                    cluster_->view().BoundAt("default/" + pod));
    ASSERT_TRUE(order.ok()) << order.error().message;
    EXPECT_EQ(*order, std::strong_ordering::less) << "the pod was bound before its claim";
  }

  // What kubeschedctl says about a pod, from a dump by the command of docs/explain.md.
  std::string Explained(const std::string& pod) {
    std::ifstream manual(KS_DOCS_DIR "/explain.md");
    std::string line;
    while (std::getline(manual, line) && !line.starts_with("kubectl get ")) {
    }
    std::istringstream words(line);
    std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
    const auto redirection = std::find(arguments.begin(), arguments.end(), ">");
    arguments.erase(redirection, arguments.end());
    arguments.erase(arguments.begin());
    const std::string folder = cluster_->plane().Dir();
    std::ofstream(folder + "/dump.json") << Kubectl(arguments);
    const auto explained = testing::RunProgram(
        {KS_KUBESCHEDCTL_PATH, "explain", pod, "--cluster", folder + "/dump.json"}, folder,
        "explain", kPatience);
    return explained.ok() ? explained->output : explained.error().message;
  }

  std::unique_ptr<FakeProvisioner> provisioner_;
};

TEST_P(Volumes, APodIsBoundAfterItsClaimIsProvisioned) {
  CreateDriver(CsiDriverManifest(kDriver), std::nullopt);
  ProvideAlways();
  StartScheduler();
  for (int i = 0; i < 6; ++i) {
    const std::string claim = "c" + std::to_string(i);
    CreateClaim(ClaimManifest(claim, "dynamic"));
    cluster_->CreatePod(PodWithClaims("p" + std::to_string(i), {claim}));
  }
  // Whoever comes second goes where the first one's node was selected.
  CreateClaim(ClaimManifest("shared", "dynamic"));
  cluster_->CreatePod(PodWithClaims("twin-1", {"shared"}));
  cluster_->CreatePod(PodWithClaims("twin-2", {"shared"}));
  json ephemeral = PodManifest("short", {{"cpu", "10m"}});
  const json claim_template = {{"spec", ClaimManifest("", "dynamic")["spec"]}};
  ephemeral["spec"]["volumes"] =
      json::array({{{"name", "data"}, {"ephemeral", {{"volumeClaimTemplate", claim_template}}}}});
  cluster_->CreatePod(ephemeral);

  for (int i = 0; i < 6; ++i) {
    ExpectBoundAfterItsClaim("p" + std::to_string(i), "c" + std::to_string(i));
  }
  ExpectBoundAfterItsClaim("twin-1", "shared");
  ExpectBoundAfterItsClaim("twin-2", "shared");
  ExpectBoundAfterItsClaim("short", "short-data");
  EXPECT_TRUE(cluster_->view().moved().empty());
}

TEST_P(Volumes, AStaticVolumeIsChosenWithTheNode) {
  CreateFreeVolume(LocalVolume("small", "local", "5Gi", "b1"));
  CreateFreeVolume(LocalVolume("big", "local", "10Gi", "b1"));
  CreateFreeVolume(LocalVolume("lonely", "local", "20Gi", "a1"));
  StartScheduler();
  CreateClaim(ClaimManifest("x", "local", "8Gi"));
  CreateClaim(ClaimManifest("y", "local", "1Gi"));
  cluster_->CreatePod(PodWithClaims("both", {"x", "y"}));
  EXPECT_EQ(WaitNode("both"), "b1") << "the only node with two volumes";
  for (const auto& [claim_name, volume_name] :
       std::map<std::string, std::string>{{"x", "big"}, {"y", "small"}}) {
    EXPECT_TRUE(
        cluster_->WaitUntil([&] { return PhaseOf(Claim(claim_name)) == "Bound"; }, kPatience));
    const json claim = Claim(claim_name);
    const json volume = Volume(volume_name);
    EXPECT_EQ(claim["spec"]["volumeName"], volume_name);
    EXPECT_EQ(Annotation(claim, kSelectedNode), "") << "nothing is provisioned";
    EXPECT_EQ(PhaseOf(volume), "Bound");
    EXPECT_EQ(Annotation(volume, "pv.kubernetes.io/bound-by-controller"), "yes");
    json reference = volume["spec"]["claimRef"];
    reference.erase("resourceVersion");
    EXPECT_EQ(reference, (json{{"apiVersion", "v1"},
                               {"kind", "PersistentVolumeClaim"},
                               {"namespace", "default"},
                               {"name", claim_name},
                               {"uid", claim["metadata"]["uid"]}}));
    std::set<std::string> writers;
    for (const json& entry : volume["metadata"]["managedFields"]) {
      if (entry["fieldsV1"].contains(json::json_pointer("/f:spec/f:claimRef"))) {
        writers.insert(entry["manager"].get<std::string>());
      }
    }
    EXPECT_EQ(writers, std::set<std::string>{GetParam().program});
  }
  EXPECT_EQ(PhaseOf(Volume("lonely")), "Available");

  // None is large enough, until one comes.
  CreateClaim(ClaimManifest("z", "local", "50Gi"));
  cluster_->CreatePod(PodWithClaims("late", {"z"}));
  ExpectPending("late",
                "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to "
                "bind. preemption: 0/3 nodes are available: 3 Preemption is not helpful for "
                "scheduling.");
  EXPECT_THAT(Explained("default/late"),
              HasSubstr("0/3 nodes are available: 3 node(s) didn't find available persistent "
                        "volumes to bind.\n"));
  cluster_->Create(kVolumesPath, LocalVolume("huge", "local", "100Gi", "a2"));  // free for a moment
  EXPECT_EQ(WaitNode("late"), "a2");
}

TEST_P(Volumes, AnImmediateClaimIsWaitedFor) {
  StartScheduler();
  CreateClaim(ClaimManifest("now", "manual"));
  cluster_->CreatePod(PodWithClaims("p", {"now"}));
  ExpectPending("p",
                "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not "
                "found");
  json volume = CsiVolume("v", "manual", "1Gi", kDriver);
  volume["spec"]["nodeAffinity"] = VolumeAffinity(kZoneLabel, {"b"});
  cluster_->Create(kVolumesPath, volume);
  EXPECT_EQ(WaitNode("p"), "b1");
  EXPECT_EQ(Claim("now")["spec"]["volumeName"], "v");
}

TEST_P(Volumes, AMissingClaimIsWaitedFor) {
  ProvideAlways();
  StartScheduler();
  cluster_->CreatePod(PodWithClaims("p", {"x"}));
  ExpectPending("p", "0/3 nodes are available: persistentvolumeclaim \"x\" not found. not found");
  CreateClaim(ClaimManifest("x", "dynamic"));
  ExpectBoundAfterItsClaim("p", "x");
}

TEST_P(Volumes, OnePodAtATimeForReadWriteOncePod) {
  json volume = CsiVolume("v", "manual", "1Gi", kDriver);
  volume["spec"]["accessModes"] = json::array({"ReadWriteOncePod"});
  CreateFreeVolume(volume);
  StartScheduler();
  CreateClaim(ClaimManifest("single", "manual", "1Gi", "ReadWriteOncePod"));
  cluster_->CreatePod(PodWithClaims("first", {"single"}));
  WaitNode("first");
  cluster_->CreatePod(PodWithClaims("second", {"single"}));
  ExpectPending("second",
                "0/3 nodes are available: 3 node(s) unavailable due to PersistentVolumeClaim with "
                "ReadWriteOncePod access mode already in-use by another pod. preemption: 0/3 nodes "
                "are available: 3 No preemption victims found for incoming pod.");
  cluster_->Delete(std::string(kPodsPath) + "/first?gracePeriodSeconds=0");
  WaitNode("second");
}

TEST_P(Volumes, ANodeTakesAsManyVolumesAsItsDriverCanAttach) {
  CreateDriver(CsiDriverManifest(kDriver), 2);
  ProvideAlways();
  StartScheduler();
  const auto create = [&](const std::string& name, bool on_b1) {
    CreateClaim(ClaimManifest("c-" + name, "dynamic"));
    json pod = PodWithClaims(name, {"c-" + name});
    if (on_b1) pod["spec"]["nodeSelector"] = {{kHostLabel, "b1"}};
    cluster_->CreatePod(pod);
  };
  create("p1", true);
  create("p2", true);
  EXPECT_EQ(WaitNode("p1"), "b1");
  EXPECT_EQ(WaitNode("p2"), "b1");
  create("p3", true);
  ExpectPending("p3",
                "0/3 nodes are available: 1 node(s) exceed max volume count, 2 node(s) didn't "
                "match Pod's node affinity/selector. preemption: 0/3 nodes are available: 1 No "
                "preemption victims found for incoming pod, 2 Preemption is not helpful for "
                "scheduling.");
  create("elsewhere", false);
  EXPECT_THAT(WaitNode("elsewhere"), AnyOf("a1", "a2"));
  cluster_->Delete(std::string(kPodsPath) + "/p1?gracePeriodSeconds=0");
  EXPECT_EQ(WaitNode("p3"), "b1");
}

// The driver cannot make the volume in zone a after all, says so and gives the claim back.
TEST_P(Volumes, AFailedProvisioningSendsThePodElsewhere) {
  CreateDriver(CsiDriverManifest(kDriver, /*storage_capacity=*/true), std::nullopt);
  const std::string capacities =
      std::string(kStoragePath) + "namespaces/default/csistoragecapacities";
  for (const char* zone : {"a", "b"}) {
    cluster_->Create(capacities, CapacityManifest("dynamic", zone, "10Gi"));
  }
  Provide([this, capacities](const std::string&, const std::string& node) {
    if (node == "b1") return Decision::kMake;
    const client::RestReply told = cluster_->admin().Patch(
        capacities + "/a", R"({"capacity":"1Mi"})", "application/merge-patch+json");
    EXPECT_TRUE(told.ok());
    return Decision::kGiveBack;
  });
  StartScheduler();
  CreateClaim(ClaimManifest("c", "dynamic"));
  json pod = PodWithClaims("p", {"c"});
  const json zone_a = {{"key", kZoneLabel}, {"operator", "In"}, {"values", {"a"}}};
  pod["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = {
      {{"weight", 100}, {"preference", {{"matchExpressions", json::array({zone_a})}}}}};
  cluster_->CreatePod(pod);
  ExpectBoundAfterItsClaim("p", "c");
  EXPECT_EQ(cluster_->view().pods().at("default/p")->node_name, "b1");
  ExpectFailure("p",
                "running PreBind plugin \"VolumeBinding\": binding volumes: provisioning failed "
                "for PVC \"c\"");

  // What is too large for every zone.
  CreateClaim(ClaimManifest("large", "dynamic", "20Gi"));
  cluster_->CreatePod(PodWithClaims("q", {"large"}));
  ExpectPending("q",
                "0/3 nodes are available: 3 node(s) did not have enough free storage. preemption: "
                "0/3 nodes are available: 3 Preemption is not helpful for scheduling.");
  cluster_->MergePatch(capacities + "/b", {{"capacity", "30Gi"}});
  ExpectBoundAfterItsClaim("q", "large");
}

TEST_P(Volumes, AProvisionerThatDoesNotAnswerInTime) {
  const auto answers = std::make_shared<std::atomic<bool>>(false);
  Provide([answers](const std::string&, const std::string&) {
    return *answers ? Decision::kMake : Decision::kIgnore;
  });
  StartScheduler(
      "profiles:\n- pluginConfig:\n  - name: VolumeBinding\n"
      "    args: {bindTimeoutSeconds: 2}\n");
  CreateClaim(ClaimManifest("c", "dynamic"));
  cluster_->CreatePod(PodWithClaims("p", {"c"}));
  const std::string text =
      "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded";
  ExpectPending("p", text, "SchedulerError");
  ExpectFailure("p", text);
  const std::string node = Annotation(Claim("c"), kSelectedNode);
  EXPECT_NE(node, "") << "what is written stays";
  *answers = true;
  provisioner_->DecideAgain();
  ExpectBoundAfterItsClaim("p", "c");
  EXPECT_EQ(cluster_->view().pods().at("default/p")->node_name, node);
}

// Nobody binds what the scheduler has written, so that its wait can be looked at.
class VolumesUnbound : public Volumes {
 protected:
  VolumesUnbound() : Volumes(/*with_controller_manager=*/false) {}
};

// A volume of a type that the node's driver has taken over since the node was chosen.
TEST_P(VolumesUnbound, AVolumeThatCannotBeTranslatedEndsTheWait) {
  json volume =
      VolumeManifest("v", "local", "1Gi", {{"awsElasticBlockStore", {{"volumeID", "aws://z/xx"}}}});
  volume["spec"]["nodeAffinity"] = VolumeAffinity(kHostLabel, {"b1"});
  cluster_->Create(kVolumesPath, volume);
  cluster_->MergePatch(kVolumesPath + std::string("/v/status"),
                       {{"status", {{"phase", "Available"}}}});
  StartScheduler();
  CreateClaim(ClaimManifest("c", "local"));
  cluster_->CreatePod(PodWithClaims("p", {"c"}));
  ASSERT_TRUE(
      cluster_->WaitUntil([&] { return Volume("v")["spec"].contains("claimRef"); }, kPatience));
  json csi_node = CsiNodeManifest("b1", kDriver);
  csi_node["metadata"]["annotations"] = {
      {"storage.alpha.kubernetes.io/migrated-plugins", "kubernetes.io/aws-ebs"}};
  cluster_->Create(std::string(kStoragePath) + "csinodes", csi_node);
  ExpectFailure("p",
                "running PreBind plugin \"VolumeBinding\": binding volumes: failed to translate pv "
                "to csi: could not translate pv: failed to translate Kubernetes ID to EBS Volume "
                "ID Invalid format for AWS volume (aws://z/xx)");
}

constexpr SchedulerRow kSchedulers[] = {{"KubeScheduler", "kube-scheduler", true},
                                        {"Kubesched", "kubesched", false}};
const auto kRowName = [](const auto& row) { return row.param.name; };
INSTANTIATE_TEST_SUITE_P(Both, Volumes, ::testing::ValuesIn(kSchedulers), kRowName);
INSTANTIATE_TEST_SUITE_P(Both, VolumesUnbound, ::testing::ValuesIn(kSchedulers), kRowName);

}  // namespace
}  // namespace ks::e2e
