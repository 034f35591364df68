// SPDX-License-Identifier: Apache-2.0
// Pods with claims from the queue to the node, with nothing but kubesched and the in-memory API
// server, whose controller binds and provisions volumes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "process/embedded_cluster.h"
#include "testing/run_program.h"

namespace ks::daemon {
namespace {

using ::testing::HasSubstr;

constexpr char kDriver[] = "fake.csi.kubesched.io";
constexpr char kNoProvisioner[] = "kubernetes.io/no-provisioner";

class Volumes : public ::testing::Test {
 protected:
  Volumes() {
    CreateClass("dynamic", kDriver, "WaitForFirstConsumer");
    CreateClass("local", kNoProvisioner, "WaitForFirstConsumer");
    CreateClass("manual", kNoProvisioner, "Immediate");
    CreateClass("at-once", kDriver, "Immediate");
  }
  void StartScheduler(const std::vector<std::string>& flags = {}) {
    daemon_ = cluster_.Start("one", cluster_.Configure("one", kFirstUser, ""), flags);
  }

  void CreateClass(const std::string& name, const std::string& provisioner,
                   const std::string& mode) {
    cluster_.Create("storage.k8s.io", "v1", "storageclasses", "",
                    {{"metadata", {{"name", name}}},
                     {"provisioner", provisioner},
                     {"reclaimPolicy", "Delete"},
                     {"volumeBindingMode", mode}});
  }
  void CreateClaim(const std::string& name, const std::string& storage_class,
                   const std::string& size = "1Gi") {
    cluster_.Create("", "v1", "persistentvolumeclaims", "default",
                    {{"metadata", {{"name", name}}},
                     {"spec",
                      {{"accessModes", {"ReadWriteOnce"}},
                       {"storageClassName", storage_class},
                       {"volumeMode", "Filesystem"},
                       {"resources", {{"requests", {{"storage", size}}}}}}}});
  }
  // On one node; a node name of "" is every node.
  void CreateVolume(const std::string& name, const std::string& storage_class,
                    const std::string& size, const std::string& node) {
    json volume{{"metadata", {{"name", name}}},
                {"spec",
                 {{"capacity", {{"storage", size}}},
                  {"accessModes", {"ReadWriteOnce"}},
                  {"storageClassName", storage_class},
                  {"volumeMode", "Filesystem"},
                  {"persistentVolumeReclaimPolicy", "Retain"},
                  {"local", {{"path", "/mnt"}}}}}};
    if (!node.empty()) {
      const json in{{"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", {node}}};
      volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] = {
          {{"matchExpressions", json::array({in})}}};
    }
    cluster_.Create("", "v1", "persistentvolumes", "", std::move(volume));
  }
  void CreatePod(const std::string& name, const std::vector<std::string>& claims) {
    json pod{{"metadata", {{"name", name}}},
             {"spec", {{"containers", json::array({{{"name", "c"}, {"image", "i"}}})}}}};
    for (const std::string& claim : claims) {
      pod["spec"]["volumes"].push_back(
          {{"name", claim}, {"persistentVolumeClaim", {{"claimName", claim}}}});
    }
    cluster_.Create("", "v1", "pods", "default", std::move(pod));
  }

  json Claim(const std::string& name) {
    return cluster_.Get("persistentvolumeclaims", "default", name);
  }
  json Volume(const std::string& name) { return cluster_.Get("persistentvolumes", "", name); }
  // The text of the pod's condition.
  std::string Message(const std::string& pod) {
    const json found = cluster_.Get("pods", "default", pod);
    return found.value(json::json_pointer("/status/conditions/0/message"), "");
  }
  // "" after a while: it has none.
  std::string WaitNode(const std::string& pod) {
    EXPECT_TRUE(Eventually([&] { return cluster_.Bound().contains(pod); }))
        << pod << ": " << Message(pod) << "\n"
        << daemon_->Log();
    return cluster_.Bound()[pod];
  }
  // The pod's binding came after that of the claim, whose volume can be used on the node.
  void ExpectBoundAfterItsClaim(const std::string& pod, const std::string& claim) {
    SCOPED_TRACE(pod);
    const std::string node = WaitNode(pod);
    const uint64_t pod_bound = cluster_.FirstVersion(
        "pods", pod, [](const apiserver::Json& json) { return json["spec"].contains("nodeName"); });
    const uint64_t claim_bound =
        cluster_.FirstVersion("persistentvolumeclaims", claim, [](const apiserver::Json& json) {
          return json.contains(apiserver::Json::json_pointer(
                     "/metadata/annotations/pv.kubernetes.io~1bind-completed")) &&
                 json["spec"].contains("volumeName");
        });
    EXPECT_GT(claim_bound, 0U);
    EXPECT_GT(pod_bound, claim_bound);
    const json volume = Volume(Claim(claim)["spec"]["volumeName"]);
    EXPECT_EQ(volume["spec"]["claimRef"]["uid"], Claim(claim)["metadata"]["uid"]);
    const json labels = cluster_.Get("nodes", "", node)["metadata"]["labels"];
    const json& in =
        volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0];
    EXPECT_EQ(in["values"], json::array({labels[in["key"].get<std::string>()]}));
  }

  EmbeddedCluster cluster_{/*volumes=*/true};
  std::unique_ptr<DaemonProcess> daemon_;
};

TEST_F(Volumes, DelayedClaimsAreProvisionedForTheChosenNode) {
  StartScheduler();
  for (const char* name : {"1", "2", "3", "4", "5"}) {
    CreateClaim(std::string("c") + name, "dynamic");
    CreatePod(std::string("p") + name, {std::string("c") + name});
  }
  for (const char* name : {"1", "2", "3", "4", "5"}) {
    ExpectBoundAfterItsClaim(std::string("p") + name, std::string("c") + name);
    const json claim = Claim(std::string("c") + name);
    EXPECT_EQ(claim["metadata"]["annotations"]["volume.kubernetes.io/selected-node"],
              cluster_.Bound()[std::string("p") + name]);
  }
  cluster_.ExpectEachBoundOnce(5);
}

TEST_F(Volumes, DelayedClaimsGetVolumesThatExist) {
  CreateVolume("small", "local", "5Gi", "node-2");
  CreateVolume("big", "local", "10Gi", "node-2");
  CreateVolume("lonely", "local", "20Gi", "node-1");
  StartScheduler();
  CreateClaim("x", "local", "8Gi");
  CreateClaim("y", "local");
  CreatePod("both", {"x", "y"});
  EXPECT_EQ(WaitNode("both"), "node-2");
  ExpectBoundAfterItsClaim("both", "x");
  ExpectBoundAfterItsClaim("both", "y");
  EXPECT_EQ(Claim("x")["spec"]["volumeName"], "big");
  EXPECT_EQ(Claim("y")["spec"]["volumeName"], "small");
  EXPECT_EQ(Volume("lonely")["status"]["phase"], "Available");

  CreateClaim("z", "local", "50Gi");
  CreatePod("late", {"z"});
  ASSERT_TRUE(Eventually([&] {
    return Message("late").starts_with(
        "0/4 nodes are available: 4 node(s) didn't find available persistent volumes to bind.");
  })) << Message("late");
  CreateVolume("huge", "local", "100Gi", "node-3");
  EXPECT_EQ(WaitNode("late"), "node-3");
}

TEST_F(Volumes, ImmediateClaimsAreWaitedFor) {
  StartScheduler();
  CreateClaim("now", "manual");
  CreatePod("p", {"now"});
  ASSERT_TRUE(Eventually([&] {
    return Message("p").starts_with(
        "0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims.");
  })) << Message("p");
  CreateVolume("v", "manual", "1Gi", "node-3");
  EXPECT_EQ(WaitNode("p"), "node-3");
  ExpectBoundAfterItsClaim("p", "now");

  CreatePod("q", {"made"});
  ASSERT_TRUE(Eventually([&] {
    return Message("q").starts_with(
        "0/4 nodes are available: persistentvolumeclaim \"made\" not found.");
  })) << Message("q");
  CreateClaim("made", "at-once");
  ExpectBoundAfterItsClaim("q", "made");
}

// As under a role with `update` and without `patch`, beside a controller that writes, too.
TEST_F(Volumes, ForbiddenToPatchItPutsWholeObjects) {
  json rules = json::array();
  for (const char* resource : {"persistentvolumes", "persistentvolumeclaims"}) {
    rules.push_back({{"match", {{"verb", "patch"}, {"resource", resource}, {"user", kFirstUser}}},
                     {"fault", {{"status", 403}}}});
    rules.push_back({{"match", {{"verb", "update"}, {"resource", resource}, {"user", kFirstUser}}},
                     {"probability", 0.3},
                     {"fault", {{"status", 500}, {"applied", true}}}});
  }
  cluster_.Rules(rules);
  StartScheduler();
  for (int i = 0; i < 6; ++i) {
    const std::string number = std::to_string(i);
    CreateVolume("v" + number, "local", std::to_string(10 + i) + "Gi",
                 "node-" + std::to_string(i % 4));
    CreateClaim("static" + number, "local");
    CreateClaim("dynamic" + number, "dynamic");
    CreatePod("p" + number, {"static" + number, "dynamic" + number});
  }
  for (int i = 0; i < 6; ++i) {
    const std::string number = std::to_string(i);
    ExpectBoundAfterItsClaim("p" + number, "static" + number);
    ExpectBoundAfterItsClaim("p" + number, "dynamic" + number);
  }
  EXPECT_EQ(Volume(Claim("static0")["spec"]["volumeName"])["spec"]["local"]["path"], "/mnt");
  cluster_.ExpectEachBoundOnce(6);
  const std::string log = daemon_->Log();
  for (const char* resource : {"persistentvolumes", "persistentvolumeclaims"}) {
    const std::string line =
        "\"Patches are forbidden: whole objects are read and written back instead\" resource=\"" +
        std::string(resource) + "\"";
    EXPECT_NE(log.find(line), std::string::npos) << log;
    EXPECT_EQ(log.find(line), log.rfind(line)) << "told once";
  }
}

// Writes of volumes and claims that fail, conflict, or succeed without anybody hearing of it.
TEST_F(Volumes, WritesThatGoWrongCostTimeOnly) {
  constexpr int kPods = 20;
  json rules = json::array();
  for (const char* resource : {"persistentvolumes", "persistentvolumeclaims"}) {
    const json match{{"verb", "patch"}, {"resource", resource}, {"user", kFirstUser}};
    const auto fail = [&](double chance, const json& fault) {
      rules.push_back({{"match", match}, {"probability", chance}, {"fault", fault}});
    };
    fail(0.15, {{"status", 500}, {"applied", true}});
    fail(0.15, {{"reset", true}, {"applied", true}});
    fail(0.15, {{"status", 409}});
    fail(0.15, {{"status", 503}});
  }
  cluster_.Rules(rules);
  StartScheduler();
  for (int i = 0; i < kPods; ++i) {
    const std::string number = std::to_string(i);
    CreateVolume("v" + number, "local", std::to_string(10 + i) + "Gi",
                 "node-" + std::to_string(i % 4));
    CreateClaim("static" + number, "local");
    CreateClaim("dynamic" + number, "dynamic");
    CreatePod("p" + number, {"static" + number, "dynamic" + number});
  }
  for (int i = 0; i < kPods; ++i) {
    const std::string number = std::to_string(i);
    ExpectBoundAfterItsClaim("p" + number, "static" + number);
    ExpectBoundAfterItsClaim("p" + number, "dynamic" + number);
  }
  cluster_.ExpectEachBoundOnce(kPods);
  for (const int matched : cluster_.Matched()) EXPECT_GT(matched, 0);
}

TEST_F(Volumes, ARecordedRunReplays) {
  const std::string recordings = cluster_.folder() + "/recordings";
  std::filesystem::create_directory(recordings);
  StartScheduler({"--record=" + recordings});
  for (int i = 0; i < 12; ++i) {
    const std::string number = std::to_string(i);
    CreateVolume("v" + number, i % 3 == 0 ? "manual" : "local", std::to_string(10 + i) + "Gi",
                 "node-" + std::to_string(i % 4));
    CreateClaim("c" + number, i % 3 == 0 ? "manual" : i % 3 == 1 ? "local" : "dynamic");
    CreatePod("p" + number, {"c" + number});
  }
  ASSERT_TRUE(cluster_.AllBound(12)) << daemon_->Log();
  EXPECT_EQ(daemon_->Stop(), 0) << daemon_->Log();
  const std::string file = std::filesystem::directory_iterator(recordings)->path();
  const auto replay = testing::RunProgram({KS_KUBESCHEDCTL_PATH, "replay", file}, cluster_.folder(),
                                          "replay", std::chrono::minutes(2));
  ASSERT_TRUE(replay.ok());
  EXPECT_EQ(replay->exit_status, 0) << replay->output;
  EXPECT_THAT(replay->output, HasSubstr("recorded and replayed are the same"));
}

}  // namespace
}  // namespace ks::daemon
