// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/decoding.h"

namespace ks::api {
namespace {

std::vector<std::string> Texts(const std::vector<Symbol>& symbols) {
  std::vector<std::string> texts;
  texts.reserve(symbols.size());
  for (const Symbol& symbol : symbols) texts.push_back(symbol.str());
  return texts;
}

LabelMap Hostname(const char* value) { return {{Symbol("kubernetes.io/hostname"), Symbol(value)}}; }

TEST(DecodeStorageTest, PersistentVolume) {
  const auto volume = Decode<PersistentVolume>(R"({"metadata":{"name":"pv1","uid":"u",
      "resourceVersion":"8","labels":{"disk":"ssd"},"deletionTimestamp":"2026-01-02T03:04:05Z",
      "annotations":{"pv.kubernetes.io/bound-by-controller":"yes","other":"x"}},
    "spec":{"capacity":{"storage":"1500m","other":"1"},"storageClassName":"fast",
      "accessModes":["ReadWriteOnce","ReadOnlyMany"],"volumeMode":"Block",
      "volumeAttributesClassName":"gold",
      "claimRef":{"kind":"PersistentVolumeClaim","apiVersion":"v1","namespace":"ns","name":"c",
        "uid":"cu","resourceVersion":"3","fieldPath":"x"},
      "csi":{"driver":"drv","volumeHandle":"h-1","readOnly":true},
      "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[
        {"key":"kubernetes.io/hostname","operator":"In","values":["n1"]}]}]}}},
    "status":{"phase":"Available"}})");
  EXPECT_EQ(volume->meta.Key(), "pv1");
  EXPECT_EQ(volume->meta.resource_version, "8");
  EXPECT_TRUE(volume->meta.deletion_timestamp.has_value());
  EXPECT_EQ(volume->meta.labels, (LabelMap{{Symbol("disk"), Symbol("ssd")}}));
  EXPECT_TRUE(volume->meta.annotations.empty());
  EXPECT_TRUE(volume->bound_by_controller);
  EXPECT_EQ(volume->StorageClass(), Symbol("fast"));
  EXPECT_EQ(volume->capacity.Value(), 2) << "whole bytes, rounded up";
  EXPECT_EQ(Texts(volume->access_modes),
            (std::vector<std::string>{"ReadWriteOnce", "ReadOnlyMany"}));
  EXPECT_EQ(volume->volume_mode, Symbol("Block"));
  EXPECT_EQ(volume->attributes_class, Symbol("gold"));
  EXPECT_EQ(volume->claim_ref, (ClaimReference{.kind = "PersistentVolumeClaim",
                                               .api_version = "v1",
                                               .ns = "ns",
                                               .name = "c",
                                               .uid = "cu",
                                               .resource_version = "3"}));
  EXPECT_EQ(volume->source, Volume::Source::kCsi);
  EXPECT_EQ(volume->source_id, "drv");
  EXPECT_EQ(volume->volume_handle, "h-1");
  ASSERT_TRUE(volume->node_affinity.has_value());
  EXPECT_TRUE(volume->node_affinity->Matches(Hostname("n1"), ""));
  EXPECT_FALSE(volume->node_affinity->Matches(Hostname("n2"), ""));
  EXPECT_TRUE(volume->node_affinity_spec.has_value());
  EXPECT_EQ(volume->phase, Symbol("Available"));
}

TEST(DecodeStorageTest, SourcesThatADriverMayServe) {
  struct Case {
    const char* source;
    Volume::Source kind;
    const char* id;
  };
  const Case cases[] = {
      {R"("gcePersistentDisk":{"pdName":"d","partition":1})", Volume::Source::kGcePersistentDisk,
       "d"},
      {R"("awsElasticBlockStore":{"volumeID":"aws://z/vol-1"})",
       Volume::Source::kAwsElasticBlockStore, "aws://z/vol-1"},
      {R"("cinder":{"volumeID":"c"})", Volume::Source::kCinder, "c"},
      {R"("azureDisk":{"diskName":"n","diskURI":"u","kind":"Managed"})", Volume::Source::kAzureDisk,
       "u"},
      {R"("portworxVolume":{"volumeID":"p"})", Volume::Source::kPortworx, "p"},
      {R"("azureFile":{"shareName":"s"})", Volume::Source::kAzureFile, "s"},
      {R"("vsphereVolume":{"volumePath":"v"})", Volume::Source::kVsphere, "v"},
      {R"("local":{"path":"/x"})", Volume::Source::kOther, ""},
      {R"("csi":null)", Volume::Source::kOther, ""},
  };
  for (const Case& c : cases) {
    const auto volume =
        Decode<PersistentVolume>(std::string(R"({"metadata":{"name":"pv"},"spec":{)") + c.source +
                                 R"(,"nodeAffinity":{"required":{"nodeSelectorTerms":[]}}}})");
    EXPECT_EQ(volume->source, c.kind) << c.source;
    EXPECT_EQ(volume->source_id, c.id) << c.source;
    EXPECT_TRUE(volume->node_affinity_spec.has_value()) << c.source;
    ASSERT_TRUE(volume->node_affinity.has_value()) << c.source;
    EXPECT_FALSE(volume->node_affinity->Matches({}, "")) << "an empty list matches nothing";
  }
}

TEST(DecodeStorageTest, AffinityByFieldAloneMatchesEveryNode) {
  const auto volume = Decode<PersistentVolume>(R"({"metadata":{"name":"pv"},"spec":{
    "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchFields":[
      {"key":"metadata.name","operator":"In","values":["n1"]}]}]}}}})");
  EXPECT_TRUE(volume->node_affinity->Matches(Hostname("n2"), ""));
  EXPECT_FALSE(Decode<PersistentVolume>(R"({"metadata":{"name":"pv"},"spec":{"nodeAffinity":{}}})")
                   ->node_affinity.has_value());
}

TEST(DecodeStorageTest, ClassOfAnAnnotation) {
  const auto volume = Decode<PersistentVolume>(R"({"metadata":{"name":"pv","annotations":{
    "volume.beta.kubernetes.io/storage-class":""}},"spec":{"storageClassName":"field"}})");
  EXPECT_EQ(volume->StorageClass(), Symbol()) << "an empty one counts, too";
  EXPECT_EQ(volume->storage_class_name, Symbol("field"));
  const auto claim = Decode<PersistentVolumeClaim>(R"({"metadata":{"name":"c","namespace":"ns",
    "annotations":{"volume.beta.kubernetes.io/storage-class":"old"}},"spec":{}})");
  EXPECT_EQ(claim->StorageClass(), Symbol("old"));
  EXPECT_FALSE(claim->storage_class_name.has_value());
}

TEST(DecodeStorageTest, PersistentVolumeClaim) {
  const auto claim = Decode<PersistentVolumeClaim>(R"({"metadata":{"name":"c","namespace":"ns",
      "uid":"u","resourceVersion":"4","annotations":{"pv.kubernetes.io/bind-completed":"",
        "volume.kubernetes.io/selected-node":"n1"},
      "ownerReferences":[{"uid":"pod-uid","name":"p","kind":"Pod","controller":true}]},
    "spec":{"storageClassName":"fast","volumeName":"pv1","volumeMode":"Filesystem",
      "accessModes":["ReadWriteOncePod"],"volumeAttributesClassName":"gold",
      "resources":{"requests":{"storage":"10Gi"}},
      "selector":{"matchLabels":{"disk":"ssd"}}},
    "status":{"phase":"Bound"}})");
  EXPECT_EQ(claim->meta.Key(), "ns/c");
  EXPECT_TRUE(claim->bind_completed);
  EXPECT_TRUE(claim->FullyBound());
  EXPECT_TRUE(claim->has_annotations);
  EXPECT_EQ(claim->selected_node, "n1");
  EXPECT_EQ(claim->StorageClass(), Symbol("fast"));
  EXPECT_EQ(claim->volume_name, "pv1");
  EXPECT_EQ(claim->volume_mode, Symbol("Filesystem"));
  EXPECT_EQ(claim->attributes_class, Symbol("gold"));
  ASSERT_TRUE(claim->requested.has_value());
  EXPECT_EQ(claim->requested->Value(), int64_t{10} << 30);
  EXPECT_EQ(Texts(claim->access_modes), (std::vector<std::string>{"ReadWriteOncePod"}));
  ASSERT_TRUE(claim->selector.has_value());
  EXPECT_TRUE(claim->selector->Matches({{Symbol("disk"), Symbol("ssd")}}));
  EXPECT_EQ(claim->phase, Symbol("Bound"));
  ASSERT_NE(claim->meta.Controller(), nullptr);
  EXPECT_EQ(claim->meta.Controller()->uid, "pod-uid");
}

TEST(DecodeStorageTest, ClaimWithoutAnything) {
  const auto claim = Decode<PersistentVolumeClaim>(R"({"metadata":{"name":"c","namespace":"ns"}})");
  EXPECT_FALSE(claim->FullyBound());
  EXPECT_FALSE(claim->has_annotations);
  EXPECT_FALSE(claim->selected_node.has_value());
  EXPECT_FALSE(claim->requested.has_value());
  EXPECT_FALSE(claim->selector.has_value());
  EXPECT_EQ(claim->StorageClass(), Symbol());
}

TEST(DecodeStorageTest, ClaimSelectorThatCannotBeCompiled) {
  const auto claim = Decode<PersistentVolumeClaim>(R"({"metadata":{"name":"c","namespace":"ns"},
    "spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Foo"}]}}})");
  EXPECT_EQ(claim->selector_error, "\"Foo\" is not a valid label selector operator");
  ASSERT_TRUE(claim->selector.has_value());
  EXPECT_TRUE(claim->selector->MatchesNothing());
}

TEST(DecodeStorageTest, StorageClass) {
  const auto storage_class = Decode<StorageClass>(R"({"metadata":{"name":"sc"},
    "provisioner":"drv","volumeBindingMode":"WaitForFirstConsumer",
    "allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["a","b"]}]},{}]})");
  EXPECT_EQ(storage_class->provisioner, "drv");
  EXPECT_EQ(storage_class->volume_binding_mode, Symbol("WaitForFirstConsumer"));
  ASSERT_EQ(storage_class->allowed_topologies.size(), 2u);
  ASSERT_EQ(storage_class->allowed_topologies[0].expressions.size(), 1u);
  EXPECT_EQ(storage_class->allowed_topologies[0].expressions[0].key, Symbol("zone"));
  EXPECT_EQ(Texts(storage_class->allowed_topologies[0].expressions[0].values),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(storage_class->allowed_topologies[1].expressions.empty());
  EXPECT_FALSE(Decode<StorageClass>(R"({"metadata":{"name":"sc"},"volumeBindingMode":null})")
                   ->volume_binding_mode.has_value());
}

TEST(DecodeStorageTest, CsiNode) {
  const auto node = Decode<CsiNode>(R"({"metadata":{"name":"n1","annotations":{
      "storage.alpha.kubernetes.io/migrated-plugins":"a, b"}},
    "spec":{"drivers":[{"name":"d1","nodeID":"x","allocatable":{"count":0}},{"name":"d2"},
      {"name":"d3","allocatable":{}}]}})");
  EXPECT_EQ(node->migrated_plugins, "a, b");
  EXPECT_EQ(node->drivers, (std::vector<CsiNode::Driver>{{"d1", 0}, {"d2", {}}, {"d3", {}}}));
}

TEST(DecodeStorageTest, CsiDriver) {
  const auto driver = Decode<CsiDriver>(R"({"metadata":{"name":"d"},"spec":{
    "storageCapacity":true,"preventPodSchedulingIfMissing":false}})");
  EXPECT_EQ(driver->storage_capacity, true);
  EXPECT_EQ(driver->prevent_pod_scheduling_if_missing, false);
  EXPECT_FALSE(
      Decode<CsiDriver>(R"({"metadata":{"name":"d"},"spec":{}})")->storage_capacity.has_value());
}

TEST(DecodeStorageTest, CsiStorageCapacity) {
  const auto capacity = Decode<CsiStorageCapacity>(R"({"metadata":{"name":"c","namespace":"ns"},
    "storageClassName":"sc","capacity":"100Gi","maximumVolumeSize":"5Gi","nodeTopology":{}})");
  EXPECT_EQ(capacity->storage_class_name, Symbol("sc"));
  ASSERT_TRUE(capacity->Limit().has_value());
  EXPECT_EQ(capacity->Limit()->Value(), int64_t{5} << 30);
  EXPECT_TRUE(capacity->node_topology.Matches({})) << "an empty selector matches every node";
  const auto nowhere = Decode<CsiStorageCapacity>(
      R"({"metadata":{"name":"c","namespace":"ns"},"storageClassName":"sc","capacity":"1"})");
  EXPECT_TRUE(nowhere->node_topology.MatchesNothing());
  EXPECT_EQ(nowhere->Limit()->Value(), 1);
}

TEST(DecodeStorageTest, VolumeAttachment) {
  const auto attachment = Decode<VolumeAttachment>(R"({"metadata":{"name":"a"},"spec":{
    "attacher":"drv","nodeName":"n1","source":{"persistentVolumeName":"pv1"}}})");
  EXPECT_EQ(attachment->attacher, "drv");
  EXPECT_EQ(attachment->node_name, "n1");
  EXPECT_EQ(attachment->persistent_volume_name, "pv1");
  EXPECT_FALSE(Decode<VolumeAttachment>(R"({"metadata":{"name":"a"},"spec":{
    "attacher":"drv","source":{"inlineVolumeSpec":{}}}})")
                   ->persistent_volume_name.has_value());
}

TEST(DecodeStorageTest, ErrorsNameThePlace) {
  EXPECT_EQ(ErrorOf<PersistentVolume>(R"({"spec":{"capacity":{"storage":"1x"}}})")
                .rfind("spec.capacity.storage: ", 0),
            0u);
  EXPECT_EQ(ErrorOf<CsiNode>(R"({"spec":{"drivers":[{},{"allocatable":{"count":"x"}}]}})")
                .rfind("spec.drivers[1].allocatable.count: ", 0),
            0u);
  EXPECT_EQ(ErrorOf<PersistentVolumeClaim>(
                R"({"metadata":{"annotations":{"volume.kubernetes.io/selected-node":7}}})")
                .rfind("metadata.annotations.volume.kubernetes.io/selected-node: ", 0),
            0u);
}

TEST(VolumesOfPodsTest, ClaimsThatTheyMean) {
  Pod pod;
  pod.meta.name = "web";
  pod.meta.ns = Symbol("ns");
  pod.meta.uid = "pod-uid";
  Volume volume{.name = "data", .source = Volume::Source::kPersistentVolumeClaim, .id = "c"};
  EXPECT_EQ(ClaimKey(pod, volume), "ns/c");
  volume.source = Volume::Source::kEphemeral;
  EXPECT_EQ(ClaimKey(pod, volume), "ns/web-data");
  EXPECT_EQ(ClaimName(pod, volume), "web-data");
  volume.source = Volume::Source::kCsi;
  EXPECT_EQ(ClaimKey(pod, volume), "");

  PersistentVolumeClaim claim;
  claim.meta.ns = Symbol("ns");
  claim.meta.name = "web-data";
  EXPECT_FALSE(IsMadeFor(claim, pod));
  EXPECT_EQ(NotOwnerText(claim, pod),
            "PVC ns/web-data was not created for pod ns/web (pod is not owner)");
  claim.meta.owner_references.Mutable() = {{.name = "web", .uid = "pod-uid", .controller = false}};
  EXPECT_FALSE(IsMadeFor(claim, pod)) << "an owner that does not control it";
  claim.meta.owner_references.Mutable()[0].controller = true;
  EXPECT_TRUE(IsMadeFor(claim, pod));
  claim.meta.ns = Symbol("other");
  EXPECT_FALSE(IsMadeFor(claim, pod));
}

}  // namespace
}  // namespace ks::api
