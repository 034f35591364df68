// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/volume_controller.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "controlled_service.h"

namespace ks::apiserver {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const KindInfo& Volumes() { return Core("persistentvolumes"); }
const KindInfo& Claims() { return Core("persistentvolumeclaims"); }
constexpr const char* kDriver = "fake.csi.kubesched.io";

struct VolumeSpec {
  std::string name;
  std::string storage_class = "manual";
  std::string capacity = "10Gi";
  std::string modes = R"(["ReadWriteOnce"])";
  std::string claim{};  // reserved for default/<claim>
  std::string mode = "Filesystem";
  std::string labels = "{}";
  std::string policy = "Retain";
  std::string driver = "other.example.com";
};
std::string Volume(const VolumeSpec& spec) {
  const std::string reference =
      spec.claim.empty() ? ""
                         : R"("claimRef":{"namespace":"default","name":")" + spec.claim + "\"},";
  return R"({"metadata":{"name":")" + spec.name + R"(","labels":)" + spec.labels +
         R"(},"spec":{"capacity":{"storage":")" + spec.capacity + R"("},"accessModes":)" +
         spec.modes + R"(,)" + reference + R"("storageClassName":")" + spec.storage_class +
         R"(","volumeMode":")" + spec.mode + R"(","persistentVolumeReclaimPolicy":")" +
         spec.policy + R"(","csi":{"driver":")" + spec.driver + R"(","volumeHandle":"h"}}})";
}

struct ClaimSpec {
  std::string name = "c";
  std::string storage_class = R"("manual")";  // JSON; "null": none said
  std::string request = "5Gi";
  std::string modes = R"(["ReadWriteOnce"])";
  std::string more{};  // `,"volumeName":"v"`
};
std::string ClaimJson(const ClaimSpec& spec) {
  const std::string said =
      spec.storage_class == "null" ? "" : R"("storageClassName":)" + spec.storage_class + ",";
  return R"({"metadata":{"name":")" + spec.name + R"("},"spec":{"accessModes":)" + spec.modes +
         "," + said + R"("volumeMode":"Filesystem","resources":{"requests":{"storage":")" +
         spec.request + R"("}})" + spec.more + "}}";
}

std::string Class(const std::string& name, const std::string& provisioner,
                  const std::string& mode = "Immediate", const std::string& more = "") {
  return R"({"metadata":{"name":")" + name + R"("},"provisioner":")" + provisioner +
         R"(","reclaimPolicy":"Delete","volumeBindingMode":")" + mode + "\"" + more + "}";
}

class VolumeControllerTest : public ::testing::Test {
 protected:
  VolumeControllerTest() {
    cluster.service.AddController(NewVolumeController(cluster.service, {}));
  }
  Json PhaseOf(const std::string& claim) { return cluster.At(Claims(), claim, "/status/phase"); }
  Json VolumeOf(const std::string& claim) {
    return cluster.At(Claims(), claim, "/spec/volumeName");
  }
  Json VolumePhase(const std::string& volume) {
    return cluster.At(Volumes(), volume, "/status/phase");
  }
  bool Gone(const KindInfo& kind, const std::string& name) {
    return cluster.Get(kind, name).is_null();
  }
  void Settle() { cluster.Run(seconds(1)); }

  ControlledService cluster;
};

struct MatchCase {
  std::string name;
  std::vector<VolumeSpec> volumes;
  ClaimSpec claim;
  std::string want;  // "": Pending
};
class MatchTest : public VolumeControllerTest, public ::testing::WithParamInterface<MatchCase> {};

TEST_P(MatchTest, ChoosesTheVolume) {
  cluster.Create(StorageClasses(), Class("manual", "kubernetes.io/no-provisioner"));
  cluster.Create(StorageClasses(),
                 Class("wait", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"));
  for (const VolumeSpec& volume : GetParam().volumes) cluster.Create(Volumes(), Volume(volume));
  Settle();
  cluster.Create(Claims(), ClaimJson(GetParam().claim));
  Settle();
  const std::string& want = GetParam().want;
  EXPECT_EQ(PhaseOf("c"), want.empty() ? "Pending" : "Bound");
  if (want.empty()) return;
  EXPECT_EQ(VolumeOf("c"), want);
  EXPECT_EQ(VolumePhase(want), "Bound");
}

// Asked of kube-controller-manager v1.37.1 where the name says so.
INSTANTIATE_TEST_SUITE_P(
    Volumes, MatchTest,
    ::testing::Values(
        MatchCase{"Smallest",
                  {{.name = "big", .capacity = "100Gi"},
                   {.name = "fits", .capacity = "6Gi"},
                   {.name = "small", .capacity = "4Gi"}},
                  {},
                  "fits"},
        MatchCase{"EqualSizesByName", {{.name = "b"}, {.name = "a"}}, {}, "a"},
        MatchCase{"FewestModesFirstAsked",
                  {{.name = "a", .modes = R"(["ReadWriteOnce","ReadOnlyMany"])"},
                   {.name = "b", .capacity = "20Gi"}},
                  {},
                  "b"},
        MatchCase{"MoreModesWillDo",
                  {{.name = "a", .modes = R"(["ReadWriteOnce","ReadOnlyMany"])"}},
                  {.modes = R"(["ReadOnlyMany"])"},
                  "a"},
        MatchCase{"ModeMissing", {{.name = "a"}}, {.modes = R"(["ReadWriteMany"])"}, ""},
        MatchCase{"OtherClass", {{.name = "a", .storage_class = "x"}}, {}, ""},
        MatchCase{
            "NoClassAtAll", {{.name = "a", .storage_class = ""}}, {.storage_class = R"("")"}, "a"},
        MatchCase{"Block", {{.name = "a", .mode = "Block"}}, {}, ""},
        MatchCase{"Selector",
                  {{.name = "a"}, {.name = "b", .capacity = "50Gi", .labels = R"({"k":"v"})"}},
                  {.more = R"(,"selector":{"matchLabels":{"k":"v"}})"},
                  "b"},
        MatchCase{"SelectorExpression",
                  {{.name = "a", .labels = R"({"k":"v"})"}, {.name = "b"}},
                  {.more = R"(,"selector":{"matchExpressions":[{"key":"k","operator":
                  "DoesNotExist"}]})"},
                  "b"},
        MatchCase{"ReservedWins",
                  {{.name = "a"}, {.name = "r", .capacity = "1Ti", .claim = "c"}},
                  {},
                  "r"},
        MatchCase{"ReservedForAnother", {{.name = "a", .claim = "x"}}, {}, ""},
        MatchCase{
            "ReservedTooSmallAsked", {{.name = "r", .capacity = "1Gi", .claim = "c"}}, {}, ""},
        MatchCase{"ReservedOfOtherClassAsked",
                  {{.name = "r", .storage_class = "x", .claim = "c"}},
                  {},
                  "r"},
        MatchCase{"ReservedAgainstSelectorAsked",
                  {{.name = "r", .claim = "c"}},
                  {.more = R"(,"selector":{"matchLabels":{"k":"v"}})"},
                  "r"},
        MatchCase{"ReservedWithoutModeAsked",
                  {{.name = "r", .claim = "c"}},
                  {.modes = R"(["ReadWriteMany"])"},
                  ""},
        MatchCase{"DelayedTakesNoFreeOne",
                  {{.name = "a", .storage_class = "wait"}},
                  {.storage_class = R"("wait")"},
                  ""},
        MatchCase{"DelayedTakesItsOwnAsked",
                  {{.name = "a", .storage_class = "wait", .claim = "c"}},
                  {.storage_class = R"("wait")"},
                  "a"},
        MatchCase{"Named",
                  {{.name = "a"}, {.name = "b", .capacity = "1Ti"}},
                  {.more = R"(,"volumeName":"b")"},
                  "b"},
        MatchCase{"NamedButMissing", {{.name = "a"}}, {.more = R"(,"volumeName":"b")"}, ""}),
    [](const auto& row) { return row.param.name; });

TEST_F(VolumeControllerTest, WhatABindingWrites) {
  cluster.Create(StorageClasses(), Class("manual", "kubernetes.io/no-provisioner"));
  cluster.Create(Volumes(), Volume({.name = "a"}));
  Settle();
  EXPECT_EQ(VolumePhase("a"), "Available");
  cluster.Create(Claims(), ClaimJson({}));
  Settle();
  const Json claim = cluster.Get(Claims(), "c");
  const Json volume = cluster.Get(Volumes(), "a");
  const Json& reference = volume["spec"]["claimRef"];
  EXPECT_EQ(reference["kind"], "PersistentVolumeClaim");
  EXPECT_EQ(reference["apiVersion"], "v1");
  EXPECT_EQ(reference["namespace"], "default");
  EXPECT_EQ(reference["name"], "c");
  EXPECT_EQ(reference["uid"], claim["metadata"]["uid"]);
  EXPECT_TRUE(reference.contains("resourceVersion"));
  EXPECT_EQ(volume["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"], "yes");
  EXPECT_EQ(claim["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"], "yes");
  EXPECT_EQ(claim["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"], "yes");
  EXPECT_EQ(claim["status"]["capacity"]["storage"], "10Gi");
  EXPECT_EQ(claim["status"]["accessModes"], Json::array({"ReadWriteOnce"}));
  const uint64_t version = cluster.service.store().version();
  cluster.Run(minutes(10));
  EXPECT_EQ(cluster.service.store().version(), version) << "at rest";
}

// A volume that a scheduler has chosen, and one that an administrator reserved.
TEST_F(VolumeControllerTest, AnnotationsSayWhoBound) {
  cluster.Create(StorageClasses(),
                 Class("wait", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"));
  cluster.Create(Volumes(), Volume({.name = "a", .storage_class = "wait"}));
  cluster.Create(Claims(), ClaimJson({.storage_class = R"("wait")"}));
  Settle();
  ASSERT_EQ(PhaseOf("c"), "Pending");
  const std::string uid = cluster.At(Claims(), "c", "/metadata/uid");
  cluster.Edit(Volumes(), "a",
               R"({"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":"yes"}},
               "spec":{"claimRef":{"kind":"PersistentVolumeClaim","apiVersion":"v1",
               "namespace":"default","name":"c","uid":")" +
                   uid + "\"}}}");
  Settle();
  EXPECT_EQ(PhaseOf("c"), "Bound");
  EXPECT_EQ(VolumePhase("a"), "Bound");
  cluster.Create(Volumes(), Volume({.name = "r", .storage_class = "wait", .claim = "d"}));
  cluster.Create(Claims(), ClaimJson({.name = "d", .storage_class = R"("wait")"}));
  Settle();
  EXPECT_EQ(PhaseOf("d"), "Bound");
  EXPECT_TRUE(cluster.At(Volumes(), "r", "/metadata/annotations").is_null());
}

TEST_F(VolumeControllerTest, VolumesThatComeLater) {
  cluster.Create(StorageClasses(), Class("manual", "kubernetes.io/no-provisioner"));
  for (const char* name : {"c1", "c2", "c3"}) cluster.Create(Claims(), ClaimJson({.name = name}));
  cluster.Create(Claims(), ClaimJson({.name = "named", .more = R"(,"volumeName":"v9")"}));
  Settle();
  EXPECT_EQ(PhaseOf("c1"), "Pending");
  cluster.Create(Volumes(), Volume({.name = "tiny", .capacity = "1Gi"}));
  for (const char* name : {"v1", "v2", "v3", "v9"}) {
    cluster.Create(Volumes(), Volume({.name = name, .capacity = name[1] == '9' ? "9Ti" : "10Gi"}));
  }
  Settle();
  for (const char* name : {"c1", "c2", "c3", "named"}) EXPECT_EQ(PhaseOf(name), "Bound") << name;
  EXPECT_EQ(VolumeOf("named"), "v9");
  EXPECT_EQ(VolumePhase("tiny"), "Available");
}

TEST_F(VolumeControllerTest, ReclaimsAndLoses) {
  cluster.Create(StorageClasses(), Class("manual", "kubernetes.io/no-provisioner"));
  cluster.Create(Volumes(), Volume({.name = "keep", .claim = "a"}));
  cluster.Create(Volumes(), Volume({.name = "foreign", .claim = "b", .policy = "Delete"}));
  cluster.Create(Volumes(),
                 Volume({.name = "ours", .claim = "c", .policy = "Delete", .driver = kDriver}));
  cluster.Create(Volumes(), Volume({.name = "lost", .claim = "d"}));
  for (const char* name : {"a", "b", "c", "d"}) cluster.Create(Claims(), ClaimJson({.name = name}));
  Settle();
  for (const char* name : {"a", "b", "c", "d"}) ASSERT_EQ(PhaseOf(name), "Bound") << name;
  for (const char* name : {"a", "b", "c"}) cluster.Delete(Claims(), name);
  cluster.Edit(Volumes(), "lost", R"({"metadata":{"finalizers":null}})");
  cluster.Delete(Volumes(), "lost");
  Settle();
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(Gone(Claims(), name)) << name;
  EXPECT_EQ(VolumePhase("keep"), "Released");
  EXPECT_EQ(VolumePhase("foreign"), "Released") << "its own driver deletes it";
  EXPECT_TRUE(Gone(Volumes(), "ours"));
  EXPECT_EQ(PhaseOf("d"), "Lost");
  EXPECT_EQ(
      cluster.EventsOf("d"),
      std::vector<std::string>{"ClaimLost: Bound claim has lost its PersistentVolume. Data on "
                               "the volume is lost!"});
  // A new claim of the same name is another claim.
  cluster.Create(Claims(), ClaimJson({.name = "a"}));
  Settle();
  EXPECT_EQ(PhaseOf("a"), "Pending");
  EXPECT_EQ(VolumePhase("keep"), "Released");
}

TEST_F(VolumeControllerTest, WhatIsUsedIsProtected) {
  cluster.Create(StorageClasses(), Class("manual", "kubernetes.io/no-provisioner"));
  cluster.Create(Volumes(), Volume({.name = "v"}));
  cluster.Create(Claims(), ClaimJson({}));
  cluster.Edit(Claims(), "c", R"({"metadata":{"finalizers":["kubernetes.io/pvc-protection"]}})");
  cluster.Edit(Volumes(), "v", R"({"metadata":{"finalizers":["kubernetes.io/pv-protection"]}})");
  cluster.Create(Core("pods"), R"({"metadata":{"name":"p"},"spec":{"nodeName":"n1",
      "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}],
      "containers":[{"name":"c","image":"i"}]}})");
  Settle();
  cluster.Delete(Claims(), "c");
  cluster.Delete(Volumes(), "v");
  Settle();
  EXPECT_FALSE(Gone(Claims(), "c"));
  EXPECT_FALSE(Gone(Volumes(), "v"));
  cluster.Edit(Core("pods"), "p", R"({"status":{"phase":"Succeeded"}})");
  Settle();
  EXPECT_TRUE(Gone(Claims(), "c"));
  EXPECT_TRUE(Gone(Volumes(), "v"));
}

class ProvisionTest : public VolumeControllerTest {
 protected:
  void MakeNodes() {
    cluster.Create(Core("nodes"), R"({"metadata":{"name":"n1",
        "labels":{"topology.kubernetes.io/zone":"a","rack":"r1"}}})");
    cluster.Create(Core("nodes"), R"({"metadata":{"name":"n2",
        "labels":{"topology.kubernetes.io/zone":"b","rack":"r2"}}})");
    cluster.Create(Core("nodes"), R"({"metadata":{"name":"bare"}})");
  }
  void Select(const std::string& node) {
    cluster.Edit(
        Claims(), "c",
        R"({"metadata":{"annotations":{"volume.kubernetes.io/selected-node":")" + node + "\"}}}");
  }
  Json Made() {
    const std::string uid = cluster.At(Claims(), "c", "/metadata/uid");
    return cluster.Get(Volumes(), "pvc-" + uid);
  }
  static Json Expressions(const Json& volume) {
    const Json::json_pointer path(
        "/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions");
    return volume.contains(path) ? volume.at(path) : Json();
  }
};

TEST_F(ProvisionTest, Immediately) {
  cluster.Create(StorageClasses(), Class("fast", kDriver));
  cluster.Create(Claims(), ClaimJson({.storage_class = R"("fast")"}));
  cluster.Run(milliseconds(199));
  EXPECT_EQ(PhaseOf("c"), "Pending");
  EXPECT_EQ(
      cluster.At(Claims(), "c", "/metadata/annotations/volume.kubernetes.io~1storage-provisioner"),
      kDriver);
  cluster.Run(milliseconds(2));
  EXPECT_EQ(PhaseOf("c"), "Bound");
  const Json volume = Made();
  ASSERT_FALSE(volume.is_null());
  EXPECT_EQ(volume["status"]["phase"], "Bound");
  const Json& spec = volume["spec"];
  EXPECT_EQ(spec["capacity"]["storage"], "5Gi");
  EXPECT_EQ(spec["storageClassName"], "fast");
  EXPECT_EQ(spec["persistentVolumeReclaimPolicy"], "Delete");
  EXPECT_EQ(spec["csi"]["driver"], kDriver);
  EXPECT_EQ(spec["csi"]["volumeHandle"], volume["metadata"]["name"]);
  EXPECT_EQ(volume["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"], kDriver);
  EXPECT_FALSE(spec.contains("nodeAffinity")) << "no node has the label";
  const std::string name = volume["metadata"]["name"];
  cluster.Delete(Claims(), "c");
  Settle();
  EXPECT_TRUE(Gone(Claims(), "c"));
  EXPECT_TRUE(Gone(Volumes(), name));
}

TEST_F(ProvisionTest, ImmediatelyInSomeZone) {
  MakeNodes();
  cluster.Create(StorageClasses(), Class("fast", kDriver));
  cluster.Create(Claims(), ClaimJson({.storage_class = R"("fast")"}));
  Settle();
  const Json expressions = Expressions(Made());
  ASSERT_EQ(expressions.size(), 1U);
  EXPECT_EQ(expressions[0]["key"], "topology.kubernetes.io/zone");
  const std::string zone = expressions[0]["values"][0];
  EXPECT_TRUE(zone == "a" || zone == "b") << zone;
}

TEST_F(ProvisionTest, ImmediatelyWhereAllowed) {
  MakeNodes();
  cluster.Create(StorageClasses(), Class("fast", kDriver, "Immediate", R"(,"allowedTopologies":[
                 {"matchLabelExpressions":[{"key":"rack","values":["r2"]}]}])"));
  cluster.Create(Claims(), ClaimJson({.storage_class = R"("fast")"}));
  Settle();
  EXPECT_EQ(Expressions(Made()),
            Json::parse(R"([{"key":"rack","operator":"In","values":["r2"]}])"));
}

TEST_F(ProvisionTest, AfterTheNodeIsChosen) {
  MakeNodes();
  cluster.Create(StorageClasses(), Class("wait", kDriver, "WaitForFirstConsumer"));
  cluster.Create(Claims(), ClaimJson({.storage_class = R"("wait")"}));
  cluster.Run(minutes(5));
  EXPECT_EQ(PhaseOf("c"), "Pending");
  EXPECT_EQ(cluster.EventsOf("c"),
            std::vector<std::string>{
                "WaitForFirstConsumer: waiting for first consumer to be created before binding"});
  Select("n2");
  Settle();
  EXPECT_EQ(PhaseOf("c"), "Bound");
  EXPECT_EQ(Expressions(Made()), Json::parse(R"([{"key":"topology.kubernetes.io/zone",
                                             "operator":"In","values":["b"]}])"));
}

TEST_F(ProvisionTest, ANodeWithoutZone) {
  MakeNodes();
  cluster.Create(StorageClasses(), Class("wait", kDriver, "WaitForFirstConsumer"));
  cluster.Create(Claims(), ClaimJson({.storage_class = R"("wait")"}));
  Select("bare");
  Settle();
  EXPECT_EQ(PhaseOf("c"), "Bound");
  EXPECT_TRUE(Expressions(Made()).is_null());
}

TEST_F(ProvisionTest, ANodeThatWillNotDo) {
  MakeNodes();
  cluster.Create(StorageClasses(),
                 Class("wait", kDriver, "WaitForFirstConsumer", R"(,"allowedTopologies":[
                 {"matchLabelExpressions":[{"key":"rack","values":["r2"]}]}])"));
  cluster.Create(Claims(), ClaimJson({.storage_class = R"("wait")"}));
  for (const char* node : {"n1", "no-such-node"}) {
    Select(node);
    Settle();
    EXPECT_EQ(PhaseOf("c"), "Pending") << node;
    EXPECT_TRUE(
        cluster.At(Claims(), "c", "/metadata/annotations/volume.kubernetes.io~1selected-node")
            .is_null())
        << "the scheduler chooses again";
  }
  Select("n2");
  Settle();
  EXPECT_EQ(PhaseOf("c"), "Bound");
  EXPECT_EQ(Expressions(Made()).size(), 2U);
}

struct PendingCase {
  std::string name;
  std::string storage_class;
  std::string want_event;
};
class PendingTest : public VolumeControllerTest,
                    public ::testing::WithParamInterface<PendingCase> {};

TEST_P(PendingTest, SaysWhy) {
  cluster.Create(StorageClasses(), Class("manual", "kubernetes.io/no-provisioner"));
  cluster.Create(StorageClasses(), Class("foreign", "foreign.example.com"));
  cluster.Create(Claims(), ClaimJson({.storage_class = GetParam().storage_class}));
  cluster.Run(minutes(5));
  EXPECT_EQ(PhaseOf("c"), "Pending");
  EXPECT_EQ(cluster.EventsOf("c"), std::vector<std::string>{GetParam().want_event});
}

// Texts of kube-controller-manager v1.37.1.
INSTANTIATE_TEST_SUITE_P(
    Claims, PendingTest,
    ::testing::Values(
        PendingCase{"NoClass", "null",
                    "FailedBinding: no persistent volumes available for this claim and no storage "
                    "class is set"},
        PendingCase{"EmptyClass", R"("")",
                    "FailedBinding: no persistent volumes available for this claim and no storage "
                    "class is set"},
        PendingCase{"UnknownClass", R"("nosuch")",
                    R"(ProvisioningFailed: storageclass.storage.k8s.io "nosuch" not found)"},
        PendingCase{"NoProvisioner", R"("manual")",
                    "ProvisioningFailed: no volume plugin matched name: "
                    "kubernetes.io/no-provisioner"},
        PendingCase{"ForeignProvisioner", R"("foreign")",
                    "ExternalProvisioning: Waiting for a volume to be created either by the "
                    "external provisioner 'foreign.example.com' or manually by the system "
                    "administrator. If volume creation is delayed, please verify that the "
                    "provisioner is running and correctly registered."}),
    [](const auto& row) { return row.param.name; });

TEST_F(VolumeControllerTest, AClassThatComesLater) {
  cluster.Create(Claims(), ClaimJson({.storage_class = R"("fast")"}));
  cluster.Create(Claims(), ClaimJson({.name = "d", .storage_class = "null"}));
  Settle();
  EXPECT_EQ(PhaseOf("c"), "Pending");
  cluster.Create(StorageClasses(), Class("fast", kDriver));
  Settle();
  EXPECT_EQ(PhaseOf("c"), "Bound");
  EXPECT_EQ(PhaseOf("d"), "Pending");
  cluster.Edit(
      StorageClasses(), "fast",
      R"({"metadata":{"annotations":{"storageclass.kubernetes.io/is-default-class":"true"}}})");
  Settle();
  EXPECT_EQ(cluster.At(Claims(), "d", "/spec/storageClassName"), "fast");
  EXPECT_EQ(PhaseOf("d"), "Bound");
}

TEST_F(VolumeControllerTest, VolumesThatDoNotSatisfyTheirClaim) {
  cluster.Create(StorageClasses(), Class("manual", "kubernetes.io/no-provisioner"));
  cluster.Create(Volumes(), Volume({.name = "small", .capacity = "1Gi"}));
  cluster.Create(Volumes(), Volume({.name = "taken", .claim = "x"}));
  cluster.Create(Claims(), ClaimJson({.name = "c", .more = R"(,"volumeName":"small")"}));
  cluster.Create(Claims(), ClaimJson({.name = "d", .more = R"(,"volumeName":"taken")"}));
  cluster.Run(minutes(1));
  EXPECT_EQ(
      cluster.EventsOf("c"),
      std::vector<std::string>{
          R"(VolumeMismatch: Cannot bind to requested volume "small": requested PV is too small)"});
  EXPECT_EQ(cluster.EventsOf("d"),
            std::vector<std::string>{
                R"(FailedBinding: volume "taken" already bound to a different claim.)"});
  EXPECT_EQ(PhaseOf("c"), "Pending");
  EXPECT_EQ(PhaseOf("d"), "Pending");
}

TEST_F(VolumeControllerTest, ManyClaimsAndVolumes) {
  cluster.Create(StorageClasses(), Class("manual", "kubernetes.io/no-provisioner"));
  for (int i = 0; i < 300; ++i) {
    cluster.Create(Claims(), ClaimJson({.name = "c" + std::to_string(i)}));
  }
  cluster.service.Step();
  for (int i = 0; i < 300; ++i) {
    cluster.Create(Volumes(), Volume({.name = "v" + std::to_string(i)}));
  }
  Settle();
  for (int i = 0; i < 300; ++i) ASSERT_EQ(PhaseOf("c" + std::to_string(i)), "Bound") << i;
}

}  // namespace
}  // namespace ks::apiserver
