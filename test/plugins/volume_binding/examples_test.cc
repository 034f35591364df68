// SPDX-License-Identifier: Apache-2.0
// PreFilter, Filter and Score of VolumeBinding: the worked examples and traps of
// docs/spec/plugins-volume.md sections 6 and 7, under their numbers.
#include <gtest/gtest.h>

#include "plugins/volume_binding/volume_world.h"

namespace ks::plugins {
namespace {

const std::string kUu = "UnschedulableAndUnresolvable: ";
const std::string kReason1 = kUu + "node(s) didn't match PersistentVolume's node affinity";
const std::string kReason2 = kUu + "node(s) didn't find available persistent volumes to bind";
const std::string kReason3 = kUu + "node(s) did not have enough free storage";
const std::string kReason4 =
    kUu + "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

api::Volume Ephemeral(std::string name) {
  api::Volume volume;
  volume.name = std::move(name);
  volume.source = api::Volume::Source::kEphemeral;
  return volume;
}

std::shared_ptr<api::PersistentVolume> Reserved(std::shared_ptr<api::PersistentVolume> volume,
                                                const std::string& claim) {
  volume->claim_ref = api::ClaimReference{
      .kind = {}, .api_version = {}, .ns = "ns", .name = claim, .uid = {}, .resource_version = {}};
  volume->phase = Symbol("Pending");
  return volume;
}

std::shared_ptr<api::PersistentVolume> Gce(const std::string& name) {
  auto volume = Volume(name, "10Gi");
  volume->source = api::Volume::Source::kGcePersistentDisk;
  volume->source_id = "disk";
  return volume;
}

// A row: what there is beside nodes n1, n2 and class "wait", the pod, and what comes out: the
// rejection by PreFilter, or rejection or score per node.
struct Example {
  const char* name;
  std::function<void(VolumeWorld&)> given;
  std::vector<std::string> claims;
  std::string want;
  std::string args = "null";
};

void Provisions(VolumeWorld& world, bool capacity) {
  world.put(Class("wait", "drv"));
  if (capacity) world.put(Driver("drv", true));
}

class VolumeBindingExample : public ::testing::TestWithParam<Example> {};

TEST_P(VolumeBindingExample, Holds) {
  VolumeWorld world(GetParam().args);
  GetParam().given(world);
  EXPECT_EQ(world.Judge(*PodWith(GetParam().claims).Obj()), GetParam().want);
}

const Example kExamples[] = {
    {"E01", [](VolumeWorld&) {}, {}, "Skip"},
    {"E02", [](VolumeWorld&) {}, {"x"}, kUu + "persistentvolumeclaim \"x\" not found"},
    {"E05",
     [](VolumeWorld& w) {
       auto claim = BoundClaim("x", "gone");
       claim->phase = Symbol("Lost");
       w.put(claim);
     },
     {"x"},
     kUu + "persistentvolumeclaim \"x\" bound to non-existent persistentvolume \"gone\""},
    {"ClaimBeingDeleted",
     [](VolumeWorld& w) {
       auto claim = Claim("x");
       claim->meta.deletion_timestamp = TimePoint();
       w.put(claim);
     },
     {"x"},
     kUu + "persistentvolumeclaim \"x\" is being deleted"},
    {"E06",
     [](VolumeWorld& w) {
       auto claim = Claim("x");
       claim->volume_name = "pv1";
       w.put(claim);
     },
     {"x"},
     kUu + "pod has unbound immediate PersistentVolumeClaims"},
    {"E07",
     [](VolumeWorld& w) { w.put(Class("wait", "drv", std::nullopt))(Claim("x")); },
     {"x"},
     "Error: VolumeBindingMode not set for StorageClass \"wait\""},
    {"T05_ImmediateClaimsAreNeverMatched",
     [](VolumeWorld& w) {
       w.put(Class("wait", "drv", "Immediate"))(Claim("x"))(Volume("pv", "10Gi"));
     },
     {"x"},
     kUu + "pod has unbound immediate PersistentVolumeClaims"},
    {"T06_UnknownClassIsImmediate",
     [](VolumeWorld& w) {
       auto claim = Claim("x");
       claim->storage_class_name = Symbol("nothing");
       w.put(claim);
     },
     {"x"},
     kUu + "pod has unbound immediate PersistentVolumeClaims"},
    {"NoClassIsImmediate",
     [](VolumeWorld& w) {
       auto claim = Claim("x");
       claim->class_annotation = Symbol();  // the annotation wins, although empty
       w.put(claim);
     },
     {"x"},
     kUu + "pod has unbound immediate PersistentVolumeClaims"},
    {"E08",
     [](VolumeWorld& w) { w.put(BoundClaim("x", "pv1"))(VolumeOn("pv1", "10Gi", "n1")); },
     {"x"},
     "n1: 0; n2: " + kReason1},
    {"E09",
     [](VolumeWorld& w) { w.put(BoundClaim("x", "pv1")); },
     {"x"},
     "n1: " + kReason4 + "; n2: " + kReason4},
    {"E10",
     [](VolumeWorld& w) {
       w.put(Claim("x"))(VolumeOn("big", "100Gi", "n1"))(VolumeOn("small", "20Gi", "n1"));
       w.put(VolumeOn("tiny", "5Gi", "n1"))(VolumeOn("other", "50Gi", "n2"));
     },
     {"x"},
     "n1: 50; n2: 80"},
    {"E11",
     [](VolumeWorld& w) {
       w.put(Claim("x", "20Gi"))(Claim("y"))(Volume("p20", "20Gi"))(Volume("p10", "10Gi"));
     },
     {"x", "y"},
     "n1: 0; n2: 0"},
    {"E12",
     [](VolumeWorld& w) {
       w.put(Claim("x", "20Gi"))(Claim("y"))(Volume("p20", "20Gi"))(Volume("p5", "5Gi"));
     },
     {"x", "y"},
     "n1: " + kReason2 + "; n2: " + kReason2},
    {"E13",
     [](VolumeWorld& w) {
       w.put(Claim("x"))(Reserved(Volume("pre", "100Gi"), "x"))(Volume("small", "10Gi"));
     },
     {"x"},
     "n1: 90; n2: 90"},
    {"E14",
     [](VolumeWorld& w) {
       w.put(Claim("x"))(Reserved(VolumeOn("pre", "100Gi", "n1"), "x"));
       w.put(VolumeOn("small", "10Gi", "n2"));
     },
     {"x"},
     "n1: 90; n2: " + kReason2},
    {"ReservedForAnotherUid",
     [](VolumeWorld& w) {
       auto volume = Reserved(Volume("pre", "10Gi"), "x");
       volume->claim_ref->uid = "older";
       w.put(Claim("x"))(volume);
     },
     {"x"},
     "n1: " + kReason2 + "; n2: " + kReason2},
    {"ReservedButTooSmall",
     [](VolumeWorld& w) {
       w.put(Claim("x"))(Reserved(Volume("pre", "5Gi"), "x"))(Volume("free", "20Gi"));
     },
     {"x"},
     "n1: 50; n2: 50"},
    {"E15",
     [](VolumeWorld& w) {
       auto restricted = Class("wait", "drv");
       restricted->allowed_topologies = {{{{Symbol("h"), {Symbol("n2")}}}}};
       w.put(restricted)(Claim("x"));
     },
     {"x"},
     "n1: " + kReason2 + "; n2: 0"},
    {"TopologyTermsWithoutExpressionsOrValuesMatchNothing",
     [](VolumeWorld& w) {
       auto restricted = Class("wait", "drv");
       restricted->allowed_topologies = {{}, {{{Symbol("h"), {}}}}};
       w.put(restricted)(Claim("x"));
     },
     {"x"},
     "n1: " + kReason2 + "; n2: " + kReason2},
    {"E16",
     [](VolumeWorld& w) {
       Provisions(w, true);
       w.put(Claim("x"))(Capacity("a", "100Gi", "n1"))(Capacity("b", "5Gi", "n2"));
     },
     {"x"},
     "n1: 90; n2: " + kReason3},
    {"E17",
     [](VolumeWorld& w) {
       Provisions(w, true);
       auto limited = Capacity("a", "100Gi", "n1");
       limited->maximum_volume_size = Size("5Gi");
       w.put(Claim("x"))(limited)(Capacity("b", "50Gi", "n2"));
     },
     {"x"},
     "n1: " + kReason3 + "; n2: 80"},
    {"E18",
     [](VolumeWorld& w) {
       Provisions(w, true);
       auto nowhere = Capacity("a", "100Gi", "");
       nowhere->node_topology = api::LabelSelector();
       w.put(Claim("x"))(nowhere);
     },
     {"x"},
     "n1: " + kReason3 + "; n2: " + kReason3},
    {"E19",
     [](VolumeWorld& w) {
       Provisions(w, true);
       w.put(Claim("x", "60Gi"))(Claim("y", "60Gi"))(Capacity("a", "100Gi", ""));
     },
     {"x", "y"},
     "n1: 0; n2: 0"},
    {"E20",
     [](VolumeWorld& w) {
       Provisions(w, true);
       w.put(Claim("x"))(Claim("y", "40Gi"))(VolumeOn("p20", "20Gi", "n1"));
       w.put(Capacity("a", "100Gi", ""));
     },
     {"x", "y"},
     "n1: 50; n2: 50"},
    {"E21",
     [](VolumeWorld& w) {
       Provisions(w, false);
       w.put(Pinned("x", "n2"));
     },
     {"x"},
     "n1: " + kReason2 + "; n2: 0"},
    {"T03_PinnedClaimsAreCheckedAgain",
     [](VolumeWorld& w) {
       Provisions(w, true);
       w.put(Pinned("x", "n2"))(Capacity("b", "5Gi", "n2"));
     },
     {"x"},
     "n1: " + kReason2 + "; n2: " + kReason3},
    {"PinnedClaimsAreNotMatched",
     [](VolumeWorld& w) { w.put(Pinned("x", "n2"))(Volume("pv", "10Gi")); },
     {"x"},
     "n1: " + kReason2 + "; n2: " + kReason2},
    {"E22",
     [](VolumeWorld& w) {
       auto volume = VolumeOn("pv1", "10Gi", "n1");
       volume->phase = Symbol("Bound");
       w.put(BoundClaim("b", "pv1"))(volume)(Claim("x"));
     },
     {"b", "x"},
     "n1: " + kReason2 + "; n2: " + kReason1 +
         ", node(s) didn't find available persistent volumes to bind"},
    {"E23",
     [](VolumeWorld& w) {
       w.put(Claim("x", "50Gi"))(VolumeOn("a", "200Gi", "n1"))(VolumeOn("b", "100Gi", "n2"));
     },
     {"x"},
     "n1: 15; n2: 30",
     R"({"shape": [{"utilization": 0, "score": 0}, {"utilization": 50, "score": 3},)"
     R"( {"utilization": 100, "score": 5}]})"},
    {"E24",
     [](VolumeWorld& w) {
       w.put(Class("wait2"));
       auto claim = Claim("y", "100Gi");
       claim->storage_class_name = Symbol("wait2");
       auto volume = Volume("b", "200Gi");
       volume->storage_class_name = Symbol("wait2");
       w.put(Claim("x", "50Gi"))(claim)(Volume("a", "200Gi"))(volume);
     },
     {"x", "y"},
     "n1: 63; n2: 63"},
    {"E25",
     [](VolumeWorld& w) { w.put(Claim("x", "3"))(Volume("a", "7")); },
     {"x"},
     "n1: 58; n2: 58"},
    {"T28_GroupsByTheField",
     [](VolumeWorld& w) {
       auto by_annotation = Volume("a", "20Gi");
       by_annotation->storage_class_name = Symbol();
       by_annotation->class_annotation = Symbol("wait");
       w.put(Claim("x"))(Claim("y", "50Gi"))(by_annotation)(Volume("b", "100Gi"));
     },
     {"x", "y"},
     "n1: 50; n2: 50"},
    {"T09_LimitWithoutCapacity",
     [](VolumeWorld& w) {
       Provisions(w, true);
       auto limit_only = Capacity("a", "1Gi", "");
       limit_only->capacity.reset();
       limit_only->maximum_volume_size = Size("50Gi");
       auto claim = Claim("x");
       claim->storage_class_name.reset();
       claim->class_annotation = Symbol("wait");
       w.put(claim)(limit_only);
     },
     {"x"},
     "n1: 0; n2: 0"},
    {"T07_OneClaimTwice_TwoVolumes",
     [](VolumeWorld& w) { w.put(Claim("x"))(Volume("a", "10Gi"))(Volume("b", "20Gi")); },
     {"x", "x"},
     "n1: 34; n2: 34"},
    {"T07_OneClaimTwice_OneVolume",
     [](VolumeWorld& w) { w.put(Claim("x"))(Volume("a", "10Gi")); },
     {"x", "x"},
     "n1: " + kReason2 + "; n2: " + kReason2},
    {"E28",
     [](VolumeWorld& w) {
       auto disk = Gce("pv1");
       disk->node_affinity_spec = In("topology.kubernetes.io/zone", {"us-a-1"});
       disk->node_affinity = api::NodeSelector::Compile(*disk->node_affinity_spec);
       w.put(BoundClaim("x", "pv1"))(disk)(MigratedNode("n3", ""));
       w.rig.AddNode(NodeNamed("n3").Zone("us-a-1"));
     },
     {"x"},
     "n1: " + kReason1 + "; n2: " + kReason1 + "; n3: 0"},
    {"E29_T13",
     [](VolumeWorld& w) {
       auto disk = Gce("pv1");
       disk->node_affinity_spec = In("topology.kubernetes.io/zone", {"us-a-1"});
       disk->node_affinity = api::NodeSelector::Compile(*disk->node_affinity_spec);
       w.put(BoundClaim("x", "pv1"))(disk)(MigratedNode("n1", "kubernetes.io/gce-pd"));
       w.put(MigratedNode("n3", "a,kubernetes.io/gce-pd"));
       w.put(MigratedNode("n4", "a,kubernetes.io/gce-pd"));
       w.put(MigratedNode("n5", "a, kubernetes.io/gce-pd"));
       w.rig.AddNode(NodeNamed("n3").Zone("us-a-1"));
       w.rig.AddNode(NodeNamed("n4").Label("topology.gke.io/zone", "us-a-1"));
       w.rig.AddNode(NodeNamed("n5").Zone("us-a-1"));
     },
     {"x"},
     "n1: " + kReason1 + "; n2: " + kReason1 + "; n3: " + kReason1 + "; n4: 0; n5: 0"},
    {"E30",
     [](VolumeWorld& w) {
       auto disk = Gce("pv1");
       disk->meta.labels =
           testing::MakeLabels({{"failure-domain.beta.kubernetes.io/zone", "us-a-1__us-a-2"}});
       w.put(BoundClaim("x", "pv1"))(disk);
       for (const char* node : {"n1", "n2", "n3", "n4"}) {
         w.put(MigratedNode(node, "kubernetes.io/gce-pd"));
       }
       w.rig.AddNode(NodeNamed("n3").Label("topology.gke.io/zone", "us-a-2"));
       w.rig.AddNode(NodeNamed("n4").Zone("us-a-2"));
     },
     {"x"},
     "n1: " + kReason1 + "; n2: " + kReason1 + "; n3: 0; n4: " + kReason1},
    {"E31",
     [](VolumeWorld& w) {
       const api::NodeSelectorSpec fields{
           .terms = {{.match_expressions = {}, .match_fields = {{"metadata.name", "In", {"n1"}}}}}};
       w.put(BoundClaim("x", "pv1"))(VolumeIn("pv1", "10Gi", fields));
     },
     {"x"},
     "n1: 0; n2: 0"},
    {"E32",
     [](VolumeWorld& w) {
       auto claim = Claim("x");
       claim->selector_error = "\"Foo\" is not a valid label selector operator";
       w.put(claim);
     },
     {"x"},
     "n1: Error: error creating internal label selector for claim: ns/x: \"Foo\" is not a valid "
     "label selector operator; n2: Error: error creating internal label selector for claim: ns/x: "
     "\"Foo\" is not a valid label selector operator"},
};

INSTANTIATE_TEST_SUITE_P(Spec, VolumeBindingExample, ::testing::ValuesIn(kExamples),
                         [](const auto& row) { return std::string(row.param.name); });

// What makes a free volume unfit, one property at a time.
TEST(VolumeBindingMatch, EveryCondition) {
  const std::pair<const char*, std::function<void(api::PersistentVolume&)>> unfit[] = {
      {"phase", [](api::PersistentVolume& v) { v.phase = Symbol("Released"); }},
      {"mode", [](api::PersistentVolume& v) { v.volume_mode = Symbol("Block"); }},
      {"attributes", [](api::PersistentVolume& v) { v.attributes_class = Symbol("gold"); }},
      {"deleted", [](api::PersistentVolume& v) { v.meta.deletion_timestamp = TimePoint(); }},
      {"access", [](api::PersistentVolume& v) { v.access_modes = {Symbol("ReadOnlyMany")}; }},
      {"capacity", [](api::PersistentVolume& v) { v.capacity = Size("9Gi"); }},
      {"class", [](api::PersistentVolume& v) { v.storage_class_name = Symbol("other"); }},
      {"taken",
       [](api::PersistentVolume& v) {
         v.claim_ref = api::ClaimReference{.kind = {},
                                           .api_version = {},
                                           .ns = "ns",
                                           .name = "y",
                                           .uid = {},
                                           .resource_version = {}};
       }},
  };
  for (const auto& [name, change] : unfit) {
    SCOPED_TRACE(name);
    VolumeWorld world;
    auto volume = Volume("pv", "10Gi");
    world.put(Claim("x"))(volume);
    EXPECT_EQ(world.Judge(*PodWith({"x"}).Obj()), "n1: 0; n2: 0");
    auto changed = std::make_shared<api::PersistentVolume>(*volume);
    change(*changed);
    changed->meta.resource_version = "8";
    world.put(changed);
    EXPECT_EQ(world.Judge(*PodWith({"x"}).Obj()), "n1: " + kReason2 + "; n2: " + kReason2);
  }
}

TEST(VolumeBindingMatch, FilesystemIsTheDefaultMode) {
  VolumeWorld world;
  auto volume = Volume("pv", "10Gi");
  volume->volume_mode = Symbol("Filesystem");
  world.put(Claim("x"))(volume);
  EXPECT_EQ(world.Judge(*PodWith({"x"}).Obj()), "n1: 0; n2: 0");
}

TEST(VolumeBindingMatch, Selector) {
  VolumeWorld world;
  auto claim = Claim("x");
  api::LabelSelectorSpec spec;
  spec.match_labels = {{"tier", "gold"}};
  claim->selector = api::LabelSelector::Compile(spec).value();
  auto gold = VolumeOn("gold", "20Gi", "n1");
  gold->meta.labels = testing::MakeLabels({{"tier", "gold"}});
  world.put(claim)(gold)(Volume("plain", "10Gi"));
  EXPECT_EQ(world.Judge(*PodWith({"x"}).Obj()), "n1: 50; n2: " + kReason2);
}

TEST(VolumeBindingPreFilter, EphemeralClaims) {
  VolumeWorld world;
  auto pod = testing::MakePod();
  pod.Name("p");
  pod.spec().volumes.push_back(Ephemeral("data"));
  // E03.
  EXPECT_EQ(world.PreFilter(*pod.Obj()),
            kUu +
                "waiting for ephemeral volume controller to create the persistentvolumeclaim "
                "\"p-data\"");
  // E04.
  auto claim = Claim("p-data");
  world.put(claim);
  EXPECT_EQ(world.PreFilter(*pod.Obj()),
            kUu + "PVC ns/p-data was not created for pod ns/p (pod is not owner)");
  auto owned = std::make_shared<api::PersistentVolumeClaim>(*claim);
  owned->meta.owner_references.Mutable() = {{.api_version = "v1",
                                             .kind = "Pod",
                                             .name = "p",
                                             .uid = pod.Obj()->meta.uid,
                                             .controller = true}};
  owned->meta.resource_version = "6";
  world.put(owned)(Volume("pv", "10Gi"));
  EXPECT_EQ(world.Judge(*pod.Obj()), "n1: 0; n2: 0");
}

TEST(VolumeBindingScore, PodsWithoutClaimsAreNotScored) {
  VolumeWorld world;
  const api::PodPtr pod = PodWith({}).Obj();
  EXPECT_EQ(world.PreFilter(*pod), "Skip");
  EXPECT_EQ(Describe(world.rig.PreScore(*pod)), "Skip");
  int64_t score = -1;
  ASSERT_TRUE(world.rig.As<framework::ScorePlugin>()
                  ->Score(world.rig.state, *pod, *world.rig.nodes()[0], &score)
                  .ok());
  EXPECT_EQ(score, 0);
}

TEST(VolumeBindingScore, AbsentStateIsAnError) {
  VolumeWorld world;
  EXPECT_EQ(Describe(world.rig.PreScore(*PodWith({"x"}).Obj())), "Error: not found");
}

TEST(VolumeBindingScore, NotWithoutTheGate) {
  PluginRig rig(NewVolumeBinding);
  testing::FakeHandle handle;
  handle.fake_gates().Set(config::Gate::kStorageCapacityScoring, false);
  const auto plugin = NewVolumeBinding({}, handle).value();
  framework::CycleState state;
  EXPECT_EQ(Describe(dynamic_cast<framework::PreScorePlugin&>(*plugin).PreScore(
                state, *PodWith({"x"}).Obj(), {})),
            "Skip");
}

}  // namespace
}  // namespace ks::plugins
