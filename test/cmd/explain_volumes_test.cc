// SPDX-License-Identifier: Apache-2.0
// What explain says of pods that wait for their volumes, beyond the reason that kube-scheduler
// gives. The table is what a user sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kubeschedctl/explain/explain.h"
#include "testing/temp_dir.h"

namespace ks::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Node(const std::string& name, const std::string& zone) {
  return "- {apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {host: " + name +
         ", zone: " + zone + "}}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}\n";
}
std::string CsiNode(const std::string& name, const std::string& drivers) {
  return "- {apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: " + name +
         "}, spec: {drivers: [" + drivers + "]}}\n";
}
std::string Class(const std::string& name, const std::string& rest,
                  const std::string& provisioner = "disk.example.com",
                  const std::string& mode = "WaitForFirstConsumer") {
  return "- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " + name +
         "}, provisioner: " + provisioner + ", volumeBindingMode: " + mode + rest + "}\n";
}
std::string Driver(const std::string& spec) {
  return "- {apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: disk.example.com}, "
         "spec: {" +
         spec + "}}\n";
}
std::string Capacity(const std::string& name, const std::string& zone, const std::string& sizes) {
  return "- {apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: " + name +
         ", namespace: kube-system}, storageClassName: fast, nodeTopology: {matchLabels: {zone: " +
         zone + "}}, " + sizes + "}\n";
}
std::string Claim(const std::string& name, const std::string& storage_class,
                  const std::string& size, const std::string& spec = "",
                  const std::string& annotation = "") {
  return "- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " + name +
         ", namespace: default, uid: u-" + name + ", annotations: {" + annotation +
         "}}, spec: {storageClassName: " + storage_class +
         ", accessModes: [ReadWriteOnce], resources: {requests: {storage: " + size + "}}" + spec +
         "}}\n";
}
std::string Bound(const std::string& name, const std::string& volume) {
  return Claim(name, "fast", "1Gi", ", volumeName: " + volume,
               "pv.kubernetes.io/bind-completed: \"yes\"");
}
std::string Volume(const std::string& name, const std::string& storage_class,
                   const std::string& size, const std::string& rest,
                   const std::string& phase = "Available") {
  return "- {apiVersion: v1, kind: PersistentVolume, metadata: {name: " + name +
         "}, spec: {capacity: {storage: " + size + "}, accessModes: [ReadWriteOnce], " +
         "storageClassName: " + storage_class + ", " + rest + "}, status: {phase: " + phase +
         "}}\n";
}
std::string OnHost(const std::string& host) {
  return "local: {path: /x}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: "
         "[{key: host, operator: In, values: [" +
         host + "]}]}]}}";
}
std::string ForClaim(const std::string& claim) {
  return ", claimRef: {kind: PersistentVolumeClaim, namespace: default, name: " + claim +
         ", uid: u-" + claim + "}";
}
// Handled by the driver, mountable everywhere.
std::string Csi(const std::string& handle) {
  return "csi: {driver: disk.example.com, volumeHandle: " + handle + "}";
}
std::string Pod(const std::string& name, const std::vector<std::string>& claims,
                const std::string& rest = "") {
  std::string volumes;
  for (const std::string& claim : claims) {
    volumes += "{name: v-" + claim + ", persistentVolumeClaim: {claimName: " + claim + "}}, ";
  }
  return "- {apiVersion: v1, kind: Pod, metadata: {name: " + name +
         "}, spec: {containers: [{name: c}], volumes: [" + volumes + "]" + rest + "}}\n";
}

std::string Explained(const std::string& objects, const std::string& node = {},
                      const std::string& pod = "p", bool json = false) {
  const testing::TempDir dir;
  Result<inspect::ClusterDump> read =
      ReadDump({dir.Write("dump.yaml", "apiVersion: v1\nkind: List\nitems:\n" + Node("n1", "a") +
                                           Node("n2", "b") + objects)});
  if (!read.ok()) return read.error().message;
  std::string output;
  const ExplainSinks sinks{.out = [&](std::string_view text) { output += text; },
                           .warn = [](const std::string&) {}};
  const Result<void> explained =
      ExplainDump(std::move(read).value(), {.pod = pod, .node = node, .json = json}, sinks);
  return explained.ok() ? output : explained.error().message;
}

const std::string kDrivers = CsiNode("n1", "{name: disk.example.com, nodeID: n1}") +
                             CsiNode("n2", "{name: disk.example.com, nodeID: n2}");

TEST(ExplainVolumes, DetailsStandBelowTheirReason) {
  EXPECT_EQ(Explained(kDrivers + Driver("storageCapacity: true") + Class("fast", "") +
                      Capacity("c1", "a", "capacity: 4Gi") + Capacity("c2", "b", "capacity: 6Gi") +
                      Claim("data", "fast", "10Gi") + Pod("p", {"data"})),
            R"(default/p: Unschedulable
  0/2 nodes are available: 2 node(s) did not have enough free storage.

  NODES  PLUGIN         REASON                                    FOR EXAMPLE
      2  VolumeBinding  node(s) did not have enough free storage  n2
                        claim default/data needs 10Gi of class fast: at most 6Gi left
)");
}

TEST(ExplainVolumes, DetailsAreInTheJsonForm) {
  EXPECT_THAT(
      Explained(kDrivers + Driver("storageCapacity: true") + Class("fast", "") +
                    Capacity("c2", "b", "capacity: 6Gi") + Claim("data", "fast", "10Gi") +
                    Pod("p", {"data"}),
                "", "p", true),
      HasSubstr(R"("details":[{"plugin":"VolumeBinding",)"
                R"("reason":"node(s) did not have enough free storage","node":"n2",)"
                R"("text":"claim default/data needs 10Gi of class fast: at most 6Gi left"}])"));
}

struct DetailCase {
  std::string name;
  std::string objects;
  std::string want;
  std::string node{};
};

std::vector<DetailCase> SpaceCases() {
  const std::string fast = kDrivers + Driver("storageCapacity: true") + Class("fast", "") +
                           Claim("data", "fast", "10Gi") + Pod("p", {"data"});
  return {
      {"one node", fast + Capacity("c1", "a", "capacity: 4Gi"),
       "claim default/data needs 10Gi of class fast: 4Gi left\n", "n1"},
      {"the largest volume counts, not what is free",
       fast + Capacity("c1", "a", "capacity: 100Gi, maximumVolumeSize: 6Gi"),
       "claim default/data needs 10Gi of class fast: a volume may have at most 6Gi\n"},
      {"capacity for other nodes only", fast + Capacity("c1", "c", "capacity: 100Gi"),
       "no CSIStorageCapacity of it tells of space on these nodes\n"},
      {"the second claim",
       fast + Capacity("c1", "a", "capacity: 4Gi") + Claim("big", "fast", "20Gi") +
           Pod("q", {"big", "data"}),
       "claim default/data needs 10Gi of class fast: at most 4Gi left\n"},
  };
}

std::vector<DetailCase> PinnedCases() {
  const auto pinned = [](const std::string& node) {
    return kDrivers + Class("fast", "") +
           Claim("data", "fast", "1Gi", "", "volume.kubernetes.io/selected-node: " + node) +
           Pod("p", {"data"});
  };
  return {
      {"to a node that is gone", pinned("n9"),
       "claim default/data is pinned to node n9, which does not exist (any more), by its "
       "annotation volume.kubernetes.io/selected-node: remove that, and other nodes will do\n"},
      {"to a node that is there", pinned("n2"),
       "claim default/data waits for its volume on node n2 (annotation "
       "volume.kubernetes.io/selected-node): no other node will do until then\n"},
  };
}

std::vector<DetailCase> StaticCases() {
  const std::string local = Class("local", "", "kubernetes.io/no-provisioner") +
                            Claim("data", "local", "10Gi") + Pod("p", {"data"});
  return {
      {"no volume", local,
       "claim default/data needs 10Gi of class local, which makes no volumes, and there is none\n"},
      {"none suits",
       local + Volume("v1", "local", "5Gi", OnHost("n1")) +
           Volume("v2", "local", "7Gi", OnHost("n1")) +
           Volume("v3", "local", "20Gi", OnHost("n9")) +
           Volume("v4", "local", "20Gi", OnHost("n1") + ForClaim("other")) +
           Volume("v5", "local", "20Gi", OnHost("n1") + ForClaim("gone"), "Released") +
           Volume("v6", "local", "20Gi", OnHost("n1"), "Pending"),
       "which makes no volumes; of the 6 that exist, seen from n1: 1 taken by other claims, 1 "
       "released by a claim that is gone, 1 not in phase Available, 2 too small (at most 7Gi), 1 "
       "for other nodes\n"},
      {"another mode", local + Volume("v1", "local", "20Gi", "volumeMode: Block, " + OnHost("n1")),
       "seen from n1: 1 of other modes, labels or attributes, or being deleted\n", "n1"},
      {"only one volume for two claims",
       Class("local", "", "kubernetes.io/no-provisioner") + Claim("one", "local", "1Gi") +
           Claim("two", "local", "1Gi") + Pod("p", {"one", "two"}) +
           Volume("v1", "local", "5Gi", "local: {path: /x}"),
       "each claim alone would find a volume, but not all of them together\n"},
      {"allowed topologies",
       kDrivers +
           Class("fast",
                 ", allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [c, "
                 "d]}]}]") +
           Claim("data", "fast", "1Gi") + Pod("p", {"data"}),
       "claim default/data: class fast makes volumes only where zone in (c, d) (its "
       "allowedTopologies)\n"},
  };
}

std::vector<DetailCase> BoundCases() {
  return {
      {"the volume's node is gone",
       Bound("data", "v1") + Volume("v1", "fast", "1Gi", OnHost("n9") + ForClaim("data")) +
           Pod("p", {"data"}),
       "volume v1 of claim default/data is for nodes with host in (n9), and there is none\n"},
      {"the volume's node has no room",
       Bound("data", "v1") + Volume("v1", "fast", "1Gi", OnHost("n2") + ForClaim("data")) +
           Pod("p", {"data"}, ", nodeName: \"\""),
       "volume v1 of claim default/data is for nodes with host in (n2): n2\n"},
  };
}

std::vector<DetailCase> ImmediateCases() {
  const std::string pod = Pod("p", {"data"});
  return {
      {"the provisioner has to act",
       Class("now", "", "disk.example.com", "Immediate") + Claim("data", "now", "1Gi") + pod,
       "claim default/data waits for its volume: disk.example.com has to make it (class now does "
       "not wait for the pod)\n"},
      {"nobody makes it",
       Class("now", "", "kubernetes.io/no-provisioner", "Immediate") + Claim("data", "now", "1Gi") +
           pod,
       "waits for its volume: class now makes none, and none that exists is bound to it\n"},
      {"no such class", Claim("data", "fats", "1Gi") + pod,
       "claim default/data names class fats, which does not exist\n"},
      {"no class", Claim("data", "\"\"", "1Gi") + pod,
       "claim default/data names no class and no volume is bound to it\n"},
      {"half bound", Claim("data", "now", "1Gi", ", volumeName: v1") + pod,
       "claim default/data is being bound to volume v1: that is not over\n"},
  };
}

std::vector<DetailCase> DriverCases() {
  const auto limit = [](const std::string& node, int count) {
    return CsiNode(node, "{name: disk.example.com, nodeID: " + node +
                             ", allocatable: {count: " + std::to_string(count) + "}}");
  };
  const std::string used = Bound("u1", "v1") + Volume("v1", "fast", "1Gi", Csi("h1")) +
                           Pod("user", {"u1"}, ", nodeName: n2");
  const std::string wanted = Bound("w1", "v2") + Bound("w2", "v3") +
                             Volume("v2", "fast", "1Gi", Csi("h2")) +
                             Volume("v3", "fast", "1Gi", Csi("h3")) + Pod("p", {"w1", "w2"});
  const std::string attached =
      "- {apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: a1}, spec: "
      "{attacher: disk.example.com, nodeName: n2, source: {persistentVolumeName: v4}}}\n" +
      Volume("v4", "fast", "1Gi", Csi("h4"));
  return {
      {"the node that lacks least is told of", limit("n1", 0) + limit("n2", 2) + used + wanted,
       "n2\n                           the pod adds 2 of driver disk.example.com; n2 takes 2 and "
       "has 1\n"},
      {"attached without use", limit("n1", 0) + limit("n2", 3) + used + wanted + attached,
       "the pod adds 2 of driver disk.example.com; n2 takes 3 and has 1 in use and 1 attached "
       "without use\n"},
      {"a missing driver that prevents",
       CsiNode("n1", "") + CsiNode("n2", "") + Driver("preventPodSchedulingIfMissing: true") +
           wanted,
       "disk.example.com CSI driver is not installed on the node  n1\n"
       "                           not in the CSINode of n1, n2\n"},
      {"a missing driver that prevents nothing",
       CsiNode("n1", "") + CsiNode("n2", "{name: disk.example.com, nodeID: n2}") + wanted,
       "  note: CSI driver disk.example.com is not in the CSINode of n1: volumes of the pod cannot "
       "be attached there\n"},
  };
}

class ExplainVolumesTest : public ::testing::TestWithParam<std::vector<DetailCase>> {};

TEST_P(ExplainVolumesTest, SaysWhatIsBehindTheReason) {
  for (const DetailCase& c : GetParam()) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(Explained(c.objects, c.node), HasSubstr(c.want));
  }
}

INSTANTIATE_TEST_SUITE_P(Space, ExplainVolumesTest, ::testing::Values(SpaceCases()));
INSTANTIATE_TEST_SUITE_P(Pinned, ExplainVolumesTest, ::testing::Values(PinnedCases()));
INSTANTIATE_TEST_SUITE_P(Static, ExplainVolumesTest, ::testing::Values(StaticCases()));
INSTANTIATE_TEST_SUITE_P(Bound, ExplainVolumesTest, ::testing::Values(BoundCases()));
INSTANTIATE_TEST_SUITE_P(Immediate, ExplainVolumesTest, ::testing::Values(ImmediateCases()));
INSTANTIATE_TEST_SUITE_P(Drivers, ExplainVolumesTest, ::testing::Values(DriverCases()));

// Nodes without kubelets and dumps without CSINodes; provisioners that are no CSI drivers.
TEST(ExplainVolumes, NoNoteWhereNobodyTellsOfDrivers) {
  const std::string wanted =
      Bound("w1", "v2") + Volume("v2", "fast", "1Gi", Csi("h2")) + Pod("p", {"w1"});
  EXPECT_THAT(Explained(Driver("attachRequired: true") + wanted), Not(HasSubstr("note:")));
  EXPECT_THAT(
      Explained(CsiNode("n1", "") + CsiNode("n2", "") + Class("nfs", "", "example.com/nfs") +
                Claim("data", "nfs", "1Gi") + Pod("p", {"data"})),
      Not(HasSubstr("note:")));
}

}  // namespace
}  // namespace ks::ctl
