// SPDX-License-Identifier: Apache-2.0
// Placement of pods with claims, pod by pod and volume by volume: kubesched must choose as
// kube-scheduler does. As placement_test.cc, with the real PV binder beside both.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "e2e/cluster.h"
#include "e2e/fake_provisioner.h"
#include "e2e/volume_objects.h"

namespace ks::e2e {
namespace {

constexpr int kNodes = 20;
constexpr int kPods = 80;
constexpr int kVolumes = 90;
constexpr char kDriver[] = "fake.csi.kubesched.test";
const std::chrono::seconds kPatience(120);

std::string Numbered(const std::string& prefix, int i) {
  return prefix + (i < 10 ? "0" : "") + std::to_string(i);
}

// Nodes whose driver attaches few volumes, free local volumes, each of another size, and room
// reported by zone.
void CreateCluster(Cluster& cluster, Random& random) {
  const std::string storage(kStoragePath);
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = Numbered("node-", i);
    const std::string zone(1, static_cast<char>('a' + i % 3));
    cluster.CreateNode(NodeManifest(
        name, {{"cpu", std::to_string(4 + random.Below(8))}, {"memory", "16Gi"}, {"pods", "110"}},
        {{kHostLabel, name}, {kZoneLabel, zone}}));
    cluster.Create(storage + "csinodes",
                   CsiNodeManifest(name, kDriver, static_cast<int>(4 + random.Below(3))));
  }
  const std::string classes = storage + "storageclasses";
  constexpr char kDelayed[] = "WaitForFirstConsumer";
  cluster.Create(classes, ClassManifest("dynamic", kDriver, kDelayed));
  cluster.Create(classes, ClassManifest("local", "kubernetes.io/no-provisioner", kDelayed));
  json two_zones = ClassManifest("two-zones", kDriver, kDelayed);
  two_zones["allowedTopologies"] = {
      {{"matchLabelExpressions", {{{"key", kZoneLabel}, {"values", {"a", "c"}}}}}}};
  cluster.Create(classes, two_zones);
  cluster.Create(storage + "csidrivers", CsiDriverManifest(kDriver, /*storage_capacity=*/true));
  for (const char* zone : {"a", "b", "c"}) {
    for (const char* storage_class : {"dynamic", "two-zones"}) {
      json capacity =
          CapacityManifest(storage_class, zone, std::to_string(20 + random.Below(80)) + "Gi");
      capacity["metadata"]["name"] = std::string(storage_class) + "-" + zone;
      cluster.Create(storage + "namespaces/default/csistoragecapacities", capacity);
    }
  }
  for (int i = 0; i < kVolumes; ++i) {
    cluster.Create(kVolumesPath,
                   LocalVolume(Numbered("pv-", i), "local", std::to_string(100 + i) + "Gi",
                               Numbered("node-", static_cast<int>(random.Below(kNodes)))));
  }
}

// All fit at once: retries would come at other times in the two schedulers.
void CreatePods(Cluster& cluster, Random& random) {
  const auto claim = [&](const std::string& name, const std::string& storage_class) {
    cluster.Create(kClaimsPath,
                   ClaimManifest(name, storage_class, std::to_string(1 + random.Below(20)) + "Gi"));
  };
  for (int i = 0; i < kPods; ++i) {
    const std::string name = Numbered("pod-", i);
    std::vector<std::string> claims;
    if (random.Below(3) != 0) {
      claims.push_back("local-" + name);
      claim(claims.back(), "local");
    }
    if (random.Below(2) == 0) {
      claims.push_back("made-" + name);
      // A local volume may be in the zone that the class excludes.
      claim(claims.back(), claims.size() == 1 && random.Below(3) == 0 ? "two-zones" : "dynamic");
    }
    json pod = PodWithClaims(name, claims);
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] =
        std::to_string(50 + random.Below(200)) + "m";
    cluster.CreatePod(pod);
  }
}

using Choices = std::map<std::string, std::string>;  // pod -> node, claim -> volume or node

void Choose(bool kubesched, uint64_t seed, Choices* choices) {
  const auto cluster = Cluster::Start({.with_controller_manager = true});
  ASSERT_NE(cluster, nullptr);
  Random random(seed);
  CreateCluster(*cluster, random);
  CreatePods(*cluster, random);
  // Only what the binder has seen is free.
  ASSERT_TRUE(cluster->WaitUntil(
      [&] {
        const json volumes = cluster->Get(kVolumesPath)["items"];
        return std::all_of(volumes.begin(), volumes.end(), [](const json& volume) {
          return volume["status"].value("phase", "") == "Available";
        });
      },
      kPatience));
  const FakeProvisioner provisioner(
      cluster->admin(), kDriver,
      [](const std::string&, const std::string&) { return FakeProvisioner::Decision::kMake; });
  const std::string configuration =
      SchedulerConfiguration(cluster->plane().SchedulerKubeconfig(), /*parallelism=*/1);
  kubesched ? cluster->StartKubesched(configuration) : cluster->StartKubeScheduler(configuration);
  EXPECT_TRUE(cluster->view().WaitFor(
      [](const PodView::Pods& pods) { return CountBound(pods) == kPods; }, kPatience))
      << CountBound(cluster->view().pods()) << " of " << kPods << " pods bound";
  for (const auto& [key, pod] : cluster->view().pods()) (*choices)[key] = pod->node_name.str();
  const json claims = cluster->Get(kClaimsPath)["items"];
  for (const json& claim : claims) {
    const json annotations = claim["metadata"].value("annotations", json::object());
    const std::string node = annotations.value("volume.kubernetes.io/selected-node", "");
    (*choices)["claim " + claim["metadata"]["name"].get<std::string>()] =
        node.empty() ? claim["spec"].value("volumeName", "") : "made for " + node;
  }
}

TEST(VolumePlacement, EqualsKubeScheduler) {
  std::string why;
  if (!testing::ControlPlane::Available(&why)) GTEST_SKIP() << why;
  constexpr uint64_t kSeed = 707;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Choices theirs;
  Choices ours;
  ASSERT_NO_FATAL_FAILURE(Choose(/*kubesched=*/false, kSeed, &theirs));
  ASSERT_NO_FATAL_FAILURE(Choose(/*kubesched=*/true, kSeed, &ours));
  ASSERT_EQ(theirs.size(), ours.size());
  ASSERT_GT(theirs.size(), static_cast<size_t>(kPods + kPods / 2)) << "few claims";
  int different = 0;
  for (const auto& [what, choice] : theirs) {
    if (ours[what] == choice) continue;
    if (++different <= 5) {
      ADD_FAILURE() << what << ": kube-scheduler " << choice << ", kubesched " << ours[what];
    }
  }
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace ks::e2e
