// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_volume_limits/node_volume_limits.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/volume/volume_rig.h"

namespace ks::plugins {
namespace {

using framework::EventResource;
using testing::MakeNode;
using testing::PodBuilder;
using Verdicts = std::vector<std::string>;

const std::string kExceeded = "Unschedulable: node(s) exceed max volume count";

// Claims x, y, z are bound to volumes of driver "drv"; n1 has a CSINode that allows one of them.
class NodeVolumeLimitsTest : public ::testing::Test {
 protected:
  NodeVolumeLimitsTest() {
    for (const std::string name : {"x", "y", "z"}) {
      rig.storage.Put(MakeClaim(name, "pv-" + name));
      rig.storage.Put(MakeVolume("pv-" + name));
    }
    Limit("drv", 1);
  }

  void Limit(const std::string& driver, std::optional<int32_t> count) {
    rig.storage.Put(MakeCsiNode("n1", {{driver, count}}));
  }
  void Node(const std::vector<PodBuilder>& pods = {}) {
    std::vector<api::PodPtr> objects;
    for (const PodBuilder& pod : pods) objects.push_back(pod.Obj());
    rig.AddNode(MakeNode().Name("n1"), objects);
  }
  // The verdict on n1 as the snapshot has it, which must agree with a copy that is counted from its
  // pods.
  std::string Verdict(std::vector<api::Volume> volumes) {
    const PodBuilder pod = PodWith("p", std::move(volumes));
    const std::string verdict = rig.Verdicts(pod).front();
    framework::NodeInfo copy = *rig.nodes()[0];
    copy.SetNode(copy.node_ptr());
    if (!rig.PreFilter(*pod.Obj()).status.IsSkip()) {
      EXPECT_EQ(Describe(rig.As<framework::FilterPlugin>()->Filter(rig.state, *pod.Obj(), copy)),
                verdict);
    }
    return verdict;
  }

  VolumeRig rig{NewNodeVolumeLimits};
};

TEST_F(NodeVolumeLimitsTest, PreFilter) {
  struct Case {
    std::vector<api::Volume> volumes;
    std::string want;
  };
  const Case cases[] = {
      {{}, "Skip"},
      {{api::Volume()}, "Skip"},  // example 1
      {{InlineVolume(Source::kCsi, "drv")}, "Skip"},
      {{InlineVolume(Source::kRbd, "i")}, "Skip"},
      {{ClaimVolume("gone")}, "Success"},
      {{EphemeralVolume("e")}, "Success"},
      {{InlineVolume(Source::kGcePersistentDisk, "d")}, "Success"},
      {{InlineVolume(Source::kAzureFile, "d")}, "Success"},
      {{InlineVolume(Source::kVsphere, "d")}, "Success"},
  };
  for (const Case& c : cases) EXPECT_EQ(rig.PreFilterText(PodWith("p", c.volumes)), c.want);
}

TEST_F(NodeVolumeLimitsTest, Example44) {
  Node({PodWith("a", {ClaimVolume("y")})});
  EXPECT_EQ(Verdict({ClaimVolume("x")}), kExceeded);
}

TEST_F(NodeVolumeLimitsTest, Example45SharedVolumesAreFree) {
  Node({PodWith("a", {ClaimVolume("x")})});
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Success");
  rig.storage.Put(MakeAttachment("n1", "drv", "pv-x"));
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Success");
}

// Trap 15.
TEST_F(NodeVolumeLimitsTest, Example46UnusedAttachmentsCount) {
  Node();
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Success");
  rig.storage.Put(MakeAttachment("n1", "drv", "pv-x"));
  EXPECT_EQ(Verdict({ClaimVolume("x")}), kExceeded);
}

TEST_F(NodeVolumeLimitsTest, AttachmentsThatDoNotCount) {
  Node();
  rig.storage.Put(MakeInTreeVolume("ebs", Source::kAwsElasticBlockStore, "v"));
  rig.storage.Put(MakeAttachment("n1", "drv", std::nullopt));  // inline
  rig.storage.Put(MakeAttachment("n1", "drv", "gone"));
  rig.storage.Put(MakeAttachment("n1", "drv", "ebs"));  // not csi
  rig.storage.Put(MakeAttachment("n1", "", "pv-y"));
  rig.storage.Put(MakeAttachment("n1", "other", "pv-y"));
  rig.storage.Put(MakeAttachment("n2", "drv", "pv-y"));
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Success");
}

TEST_F(NodeVolumeLimitsTest, Limits) {
  Node({PodWith("a", {ClaimVolume("y")})});
  Limit("drv", 2);
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Success");
  EXPECT_EQ(Verdict({ClaimVolume("x"), ClaimVolume("x", "again")}), "Success");
  EXPECT_EQ(Verdict({ClaimVolume("x"), ClaimVolume("z")}), kExceeded);
  EXPECT_EQ(Verdict({ClaimVolume("x"), ClaimVolume("y")}), "Success");
  Limit("drv", std::nullopt);
  EXPECT_EQ(Verdict({ClaimVolume("x"), ClaimVolume("z")}), "Success");
  Limit("other", 0);
  EXPECT_EQ(Verdict({ClaimVolume("x"), ClaimVolume("z")}), "Success");
  Limit("drv", 0);  // trap 17
  EXPECT_EQ(Verdict({ClaimVolume("x")}), kExceeded);
  EXPECT_EQ(Verdict({ClaimVolume("y")}), "Success");
  rig.storage.Delete(MakeCsiNode("n1"));
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Success");
}

TEST_F(NodeVolumeLimitsTest, Example47DriverMustBeInstalled) {
  Node();
  const std::string missing = "Unschedulable: drv CSI driver is not installed on the node";
  api::CsiDriver driver;
  driver.meta.name = "drv";
  rig.storage.Delete(MakeCsiNode("n1"));
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Success");
  rig.storage.Put(driver);
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Success");
  driver.prevent_pod_scheduling_if_missing = false;
  rig.storage.Put(driver);
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Success");
  driver.prevent_pod_scheduling_if_missing = true;
  rig.storage.Put(driver);
  EXPECT_EQ(Verdict({ClaimVolume("x")}), missing);
  Limit("other", 5);
  EXPECT_EQ(Verdict({ClaimVolume("x")}), missing);
  Limit("drv", std::nullopt);
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Success");

  testing::FakeHandle off;
  off.fake_gates().Set(config::Gate::kVolumeLimitScaling, false);
  StorageChanger storage(off.fake_storage());
  storage.Put(driver);
  storage.Put(MakeClaim("x", "pv-x"));
  storage.Put(MakeVolume("pv-x"));
  const framework::NodeInfo& node = off.fake_snapshot().Add(MakeNode().Name("n1").Obj());
  const auto plugin = NewNodeVolumeLimits({}, off).value();
  const auto* reader = dynamic_cast<framework::OptionalKindReader*>(plugin.get());
  EXPECT_FALSE(reader->NeededKinds().Contains(framework::OptionalKind::kCsiDriver));
  EXPECT_TRUE(dynamic_cast<framework::FilterPlugin*>(plugin.get())
                  ->Filter({}, *PodWith("p", {ClaimVolume("x")}).Obj(), node)
                  .ok());
}

TEST_F(NodeVolumeLimitsTest, Example48UnboundClaims) {
  Node();
  Limit("drv", 0);
  rig.storage.Put(MakeClaim("u", "", "wait"));
  EXPECT_EQ(Verdict({ClaimVolume("u")}), "Success");  // no such class
  rig.storage.Put(MakeClass("wait", "drv"));
  EXPECT_EQ(Verdict({ClaimVolume("u")}), kExceeded);
  rig.storage.Put(MakeClaim("u", "gone", "wait"));
  EXPECT_EQ(Verdict({ClaimVolume("u")}), kExceeded);
  rig.storage.Put(MakeClaim("u", "", ""));
  EXPECT_EQ(Verdict({ClaimVolume("u")}), "Success");
}

TEST_F(NodeVolumeLimitsTest, InTreeProvisioners) {
  Node();
  rig.storage.Put(MakeClaim("u", "", "wait"));
  rig.storage.Put(MakeClass("wait", "kubernetes.io/gce-pd"));
  Limit("pd.csi.storage.gke.io", 0);
  EXPECT_EQ(Verdict({ClaimVolume("u")}), kExceeded);
  rig.storage.Put(MakeClass("wait", "kubernetes.io/azure-file"));
  Limit("file.csi.azure.com", 0);
  EXPECT_EQ(Verdict({ClaimVolume("u")}), "Success");
  rig.storage.Put(MakeClass("wait", "any/string"));
  Limit("any/string", 0);
  EXPECT_EQ(Verdict({ClaimVolume("u")}), kExceeded);
}

TEST_F(NodeVolumeLimitsTest, Example49InlineEbs) {
  Node();
  Limit("ebs.csi.aws.com", 0);
  EXPECT_EQ(Verdict({InlineVolume(Source::kAwsElasticBlockStore, "aws://z/vol-1")}), kExceeded);
  const std::string error =
      "Error: converting volume(b) from inline to csi: failed to translate Kubernetes ID to EBS "
      "Volume ID Invalid format for AWS volume (aws://z/xx)";
  EXPECT_EQ(Verdict({InlineVolume(Source::kAwsElasticBlockStore, "aws://z/xx")}), error);
  rig.storage.Delete(MakeCsiNode("n1"));
  EXPECT_EQ(Verdict({InlineVolume(Source::kAwsElasticBlockStore, "aws://z/xx")}), "Success");
}

TEST_F(NodeVolumeLimitsTest, Example50AzureFileIsNotOn) {
  Node();
  Limit("file.csi.azure.com", 0);
  EXPECT_EQ(Verdict({InlineVolume(Source::kAzureFile, "share")}), "Success");
}

// Trap 14: no annotation is needed.
TEST_F(NodeVolumeLimitsTest, Example51InTreeVolumeBehindAClaim) {
  Node();
  Limit("pd.csi.storage.gke.io", 0);
  rig.storage.Put(MakeClaim("g", "gce"));
  rig.storage.Put(MakeInTreeVolume("gce", Source::kGcePersistentDisk, "d"));
  EXPECT_EQ(Verdict({ClaimVolume("g")}), kExceeded);
  api::PersistentVolume untranslatable = MakeInTreeVolume("gce", Source::kGcePersistentDisk, "d");
  untranslatable.meta.labels =
      testing::MakeLabels({{"topology.kubernetes.io/zone", "us-a-1__us-b-1"}});
  rig.storage.Put(untranslatable);
  EXPECT_EQ(Verdict({ClaimVolume("g")}), "Success");
}

TEST_F(NodeVolumeLimitsTest, OneHandleOfTwoSourcesIsOneVolume) {
  Node({PodWith("a", {InlineVolume(Source::kAwsElasticBlockStore, "vol-1")})});
  Limit("ebs.csi.aws.com", 1);
  api::PersistentVolume volume = MakeVolume("pv", "ebs.csi.aws.com");
  volume.volume_handle = "vol-1";
  rig.storage.Put(volume);
  rig.storage.Put(MakeClaim("e", "pv"));
  EXPECT_EQ(Verdict({ClaimVolume("e")}), "Success");
  EXPECT_EQ(Verdict({InlineVolume(Source::kAwsElasticBlockStore, "vol-2")}), kExceeded);
}

// Trap 16.
TEST_F(NodeVolumeLimitsTest, Example52ForeignEphemeralClaim) {
  Node({PodWith("e", {EphemeralVolume("data")})});
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Success");  // the claim is missing: ignored
  rig.storage.Put(MakeClaim("e-data"));
  const std::string error = "Error: PVC ns/e-data was not created for pod ns/e (pod is not owner)";
  EXPECT_EQ(Verdict({ClaimVolume("x")}), error);
  Limit("drv", std::nullopt);  // nobody looks at the pods then
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Success");
  Limit("other", 1);
  EXPECT_EQ(Verdict({ClaimVolume("x")}), error);
  Limit("drv", 1);
  rig.storage.Put(MakeOwnedClaim("e-data", "e", "pv-y"));
  EXPECT_EQ(Verdict({ClaimVolume("x")}), kExceeded);
}

TEST_F(NodeVolumeLimitsTest, ForeignErrors) {
  Node({PodWith("a", {ClaimVolume("")})});
  EXPECT_EQ(Verdict({ClaimVolume("x")}), "Error: PersistentVolumeClaim had no name");
}

TEST_F(NodeVolumeLimitsTest, ForeignInlineError) {
  Node({PodWith("a", {InlineVolume(Source::kAwsElasticBlockStore, "aws://z/xx")})});
  EXPECT_EQ(Verdict({ClaimVolume("x")}),
            "Error: converting volume(b) from inline to csi: failed to translate Kubernetes ID to "
            "EBS Volume ID Invalid format for AWS volume (aws://z/xx)");
}

TEST_F(NodeVolumeLimitsTest, OwnErrors) {
  Node();
  EXPECT_EQ(Verdict({ClaimVolume("")}), "Error: PersistentVolumeClaim had no name");
  EXPECT_EQ(Verdict({ClaimVolume("gone")}),
            "UnschedulableAndUnresolvable: looking up PVC ns/gone: persistentvolumeclaim \"gone\" "
            "not found");
  EXPECT_EQ(Verdict({EphemeralVolume("data")}),
            "UnschedulableAndUnresolvable: looking up PVC ns/p-data: persistentvolumeclaim "
            "\"p-data\" not found");
  rig.storage.Put(MakeClaim("p-data"));
  EXPECT_EQ(Verdict({EphemeralVolume("data")}),
            "Error: PVC ns/p-data was not created for pod ns/p (pod is not owner)");
  rig.storage.Put(MakeOwnedClaim("p-data", "p", "pv-x"));
  EXPECT_EQ(Verdict({EphemeralVolume("data")}), "Success");
}

TEST_F(NodeVolumeLimitsTest, FilterAloneCountsForItself) {
  Node({PodWith("a", {ClaimVolume("y")})});
  EXPECT_EQ(Describe(rig.As<framework::FilterPlugin>()->Filter(
                {}, *PodWith("p", {ClaimVolume("x")}).Obj(), *rig.nodes()[0])),
            kExceeded);
}

TEST_F(NodeVolumeLimitsTest, CsiNodeHints) {
  const PodBuilder pod = PodWith("p", {ClaimVolume("x")});
  using Drivers = std::vector<api::CsiNode::Driver>;
  const auto update = [&](const Drivers& before, const Drivers& after) {
    return rig.Hint(EventResource::kCsiNode, framework::kActionUpdate, pod,
                    std::make_shared<const api::CsiNode>(MakeCsiNode("n1", before)),
                    std::make_shared<const api::CsiNode>(MakeCsiNode("n1", after)));
  };
  EXPECT_EQ(rig.Hint(EventResource::kCsiNode, framework::kActionAdd, pod, {},
                     rig.storage.Put(MakeCsiNode("n2"))),
            "Queue");
  EXPECT_EQ(update({{"d", 1}}, {{"d", 2}}), "Queue");
  EXPECT_EQ(update({{"d", 2}}, {{"d", 2}}), "Skip");
  EXPECT_EQ(update({{"d", 2}}, {{"d", 1}}), "Skip");
  EXPECT_EQ(update({}, {{"d", 1}}), "Queue");
  EXPECT_EQ(update({{"d", 2}, {"e", 1}}, {{"d", 1}, {"e", 2}}), "Queue");
  // Trap 18: a driver without a limit, and a limit that goes.
  EXPECT_EQ(update({}, {{"d", std::nullopt}}), "Skip");
  EXPECT_EQ(update({{"d", 5}}, {{"d", std::nullopt}}), "Skip");
}

TEST_F(NodeVolumeLimitsTest, PodAndClaimHints) {
  const PodBuilder pod = PodWith("p", {ClaimVolume("x"), EphemeralVolume("data")});
  const auto deleted = [&](PodBuilder other) {
    return rig.Hint(EventResource::kAssignedPod, framework::kActionDelete, pod, other.Obj(), {});
  };
  EXPECT_EQ(deleted(PodWith("a", {}).Node("n1")), "Skip");
  EXPECT_EQ(deleted(PodWith("a", {ClaimVolume("y")})), "Skip");
  EXPECT_EQ(deleted(PodWith("a", {ClaimVolume("y")}).Node("n1")), "Queue");
  EXPECT_EQ(deleted(PodWith("a", {ClaimVolume("y")}).NominatedNode("n1")), "Queue");
  EXPECT_EQ(deleted(PodWith("a", {EphemeralVolume("y")}, "other").Node("n1")), "Queue");
  EXPECT_EQ(deleted(PodWith("a", {InlineVolume(Source::kVsphere, "y")}).Node("n1")), "Queue");
  EXPECT_EQ(deleted(PodWith("a", {InlineVolume(Source::kCsi, "y")}).Node("n1")), "Skip");

  const auto claim = [&](api::PersistentVolumeClaim added, const std::string& ns = "ns") {
    added.meta.ns = Symbol(ns);
    return rig.Hint(EventResource::kPersistentVolumeClaim, framework::kActionAdd, pod, {},
                    rig.storage.Put(added));
  };
  EXPECT_EQ(claim(MakeClaim("x")), "Queue");
  EXPECT_EQ(claim(MakeClaim("p-data")), "Queue");
  EXPECT_EQ(claim(MakeClaim("data")), "Skip");
  EXPECT_EQ(claim(MakeClaim("x"), "other"), "Skip");
  EXPECT_EQ(rig.Hint(EventResource::kPersistentVolumeClaim, framework::kActionUpdate, pod, {}, {}),
            "none");
}

TEST_F(NodeVolumeLimitsTest, AttachmentHints) {
  const auto detached = [&](std::vector<api::Volume> volumes, const std::string& attacher) {
    return rig.Hint(EventResource::kVolumeAttachment, framework::kActionDelete,
                    PodWith("p", std::move(volumes)),
                    rig.storage.Put(MakeAttachment("n1", attacher, "pv")), {});
  };
  const api::Volume ebs = InlineVolume(Source::kAwsElasticBlockStore, "vol-1");
  const api::Volume broken = InlineVolume(Source::kAwsElasticBlockStore, "aws://z/xx");
  EXPECT_EQ(detached({ClaimVolume("x")}, "any"), "Queue");
  EXPECT_EQ(detached({ebs}, "ebs.csi.aws.com"), "Queue");
  EXPECT_EQ(detached({ebs}, "other"), "Skip");
  EXPECT_EQ(detached({InlineVolume(Source::kCsi, "drv")}, "drv"), "Skip");
  EXPECT_EQ(detached({EphemeralVolume("e")}, "drv"), "Skip");  // trap 18
  EXPECT_EQ(detached({}, "drv"), "Skip");
  EXPECT_EQ(detached({broken, ClaimVolume("x")}, "other"),
            "converting volume(b) from inline to csi: failed to translate Kubernetes ID to EBS "
            "Volume ID Invalid format for AWS volume (aws://z/xx)");
  EXPECT_EQ(detached({ClaimVolume("x"), broken}, "other"), "Queue");
}

}  // namespace
}  // namespace ks::plugins
