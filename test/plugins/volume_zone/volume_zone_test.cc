// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_zone/volume_zone.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/kit/volume/zone_label.h"
#include "plugins/volume/volume_rig.h"

namespace ks::plugins {
namespace {

using framework::EventResource;
using testing::MakeNode;
using testing::PodBuilder;
using testing::Texts;

const std::string kZone(kZoneLabel);
const std::string kRegion(kRegionLabel);
const std::string kBetaZone(kBetaZoneLabel);
const std::string kBetaRegion(kBetaRegionLabel);
const std::string kConflict = "UnschedulableAndUnresolvable: node(s) had no available volume zone";

struct ZoneCase {
  std::string name;
  Texts volume;
  Texts node;
  std::string want = "Success";
};

class VolumeZoneFilterTest : public ::testing::TestWithParam<ZoneCase> {};

TEST_P(VolumeZoneFilterTest, Filter) {
  VolumeRig rig(NewVolumeZone);
  rig.storage.Put(MakeClaim("x", "pv"));
  rig.storage.Put(MakeVolume("pv", "drv", GetParam().volume));
  testing::NodeBuilder node = MakeNode().Name("n1");
  for (const auto& [key, value] : GetParam().node) node.Label(key, value);
  const framework::NodeInfo& info = rig.AddNode(node);
  const PodBuilder pod = PodWith("p", {ClaimVolume("x")});
  EXPECT_EQ(rig.Verdicts(pod), std::vector{GetParam().want});
  // Alone it finds out for itself.
  EXPECT_EQ(Describe(rig.As<framework::FilterPlugin>()->Filter({}, *pod.Obj(), info)),
            GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, VolumeZoneFilterTest,
    ::testing::ValuesIn(std::vector<ZoneCase>{
        {"Example39OneOfTwo", {{kZone, "a__b"}}, {{kZone, "b"}}},
        {"Example39OtherZone", {{kZone, "a__b"}}, {{kZone, "c"}}, kConflict},
        {"Example39NodeWithoutLabels", {{kZone, "a__b"}}, {{"other", "c"}}},
        {"Example40BetaVolume", {{kBetaZone, "a"}}, {{kZone, "a"}}},
        {"Example40BetaNode", {{kZone, "a"}}, {{kBetaZone, "a"}}, kConflict},
        {"Example41RegionAlone", {{kZone, "a"}}, {{kRegion, "r"}}, kConflict},
        {"OwnKeyBeforeTheOther", {{kBetaZone, "a"}}, {{kBetaZone, "b"}, {kZone, "a"}}, kConflict},
        {"BetaRegion", {{kBetaRegion, "r"}}, {{kRegion, "r"}}},
        {"EveryPairMustHold",
         {{kZone, "a"}, {kRegion, "r"}},
         {{kZone, "a"}, {kRegion, "s"}},
         kConflict},
        {"PartsAreTrimmed", {{kZone, " a __ b "}}, {{kZone, "b"}}},
        {"Example42EmptyPart", {{kZone, "a____b"}}, {{kZone, "c"}}},
        {"Example42EmptyValue", {{kZone, ""}}, {{kZone, "c"}}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(VolumeZoneTest, PreFilter) {
  VolumeRig rig(NewVolumeZone);
  rig.storage.Put(MakeClass("wait", "drv"));
  rig.storage.Put(MakeClass("now", "drv", "Immediate"));
  rig.storage.Put(MakeClass("odd", "drv", std::nullopt));
  rig.storage.Put(MakeVolume("zoned", "drv", {{kZone, "a"}}));
  rig.storage.Put(MakeVolume("plain"));
  rig.storage.Put(MakeVolume("broken", "drv", {{kZone, "a____b"}, {kRegion, ""}}));
  rig.storage.Put(MakeClaim("bound", "zoned"));
  rig.storage.Put(MakeClaim("plain", "plain"));
  rig.storage.Put(MakeClaim("broken", "broken"));
  rig.storage.Put(MakeClaim("lost", "gone"));
  rig.storage.Put(MakeClaim("waiting"));
  rig.storage.Put(MakeClaim("classless", "", ""));
  rig.storage.Put(MakeClaim("unknown", "", "sc"));
  rig.storage.Put(MakeClaim("odd", "", "odd"));
  rig.storage.Put(MakeClaim("now", "", "now"));
  struct Case {
    std::vector<api::Volume> volumes;
    std::string want;
  };
  const std::string rejected = "UnschedulableAndUnresolvable: ";
  const Case cases[] = {
      {{}, "Skip"},
      {{EphemeralVolume("e")}, "Skip"},
      {{ClaimVolume("bound")}, "Success"},
      {{ClaimVolume("plain")}, "Skip"},
      {{ClaimVolume("broken")}, "Skip"},  // example 42
      {{ClaimVolume("waiting")}, "Skip"},
      {{ClaimVolume("")}, rejected + "PersistentVolumeClaim had no name"},
      {{ClaimVolume("x")}, rejected + "persistentvolumeclaim \"x\" not found"},
      {{ClaimVolume("lost")}, rejected + "persistentvolume \"gone\" not found"},
      {{ClaimVolume("classless")},
       rejected + "PersistentVolumeClaim had no pv name and storageClass name"},
      {{ClaimVolume("unknown")}, rejected + "storageclass.storage.k8s.io \"sc\" not found"},
      {{ClaimVolume("odd")}, rejected + "VolumeBindingMode not set for StorageClass \"odd\""},
      {{ClaimVolume("now")}, rejected + "PersistentVolume had no name"},  // example 43
      {{ClaimVolume("bound"), ClaimVolume("now")}, rejected + "PersistentVolume had no name"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.want);
    EXPECT_EQ(rig.PreFilterText(PodWith("p", c.volumes)), c.want);
  }
}

TEST(VolumeZoneTest, Hints) {
  VolumeRig rig(NewVolumeZone);
  const PodBuilder pod = PodWith("p", {ClaimVolume("x")});
  using framework::kActionAdd;
  using framework::kActionUpdate;
  const auto hint = [&](EventResource resource, uint32_t action,
                        const framework::EventObject& before, const framework::EventObject& after) {
    return rig.Hint(resource, action, pod, before, after);
  };
  const auto add = [&](EventResource resource, const framework::EventObject& object) {
    return hint(resource, kActionAdd, {}, object);
  };
  EXPECT_EQ(add(EventResource::kStorageClass, rig.storage.Put(MakeClass("a", "d"))), "Queue");
  EXPECT_EQ(add(EventResource::kStorageClass, rig.storage.Put(MakeClass("b", "d", "Immediate"))),
            "Skip");
  EXPECT_EQ(add(EventResource::kStorageClass, rig.storage.Put(MakeClass("c", "d", std::nullopt))),
            "Skip");
  EXPECT_EQ(hint(EventResource::kStorageClass, kActionUpdate, {}, {}), "none");
  EXPECT_EQ(add(EventResource::kNode, {}), "Queue");
  EXPECT_EQ(hint(EventResource::kNode, framework::kActionUpdateNodeLabel, {}, {}), "Queue");
  EXPECT_EQ(hint(EventResource::kNode, framework::kActionUpdateNodeTaint, {}, {}), "none");

  const auto named = rig.storage.Put(MakeClaim("x"));
  const auto other = rig.storage.Put(MakeClaim("y"));
  api::PersistentVolumeClaim stranger = MakeClaim("x");
  stranger.meta.ns = Symbol("elsewhere");
  EXPECT_EQ(add(EventResource::kPersistentVolumeClaim, named), "Queue");
  EXPECT_EQ(hint(EventResource::kPersistentVolumeClaim, kActionUpdate, named, named), "Queue");
  EXPECT_EQ(add(EventResource::kPersistentVolumeClaim, other), "Skip");
  EXPECT_EQ(add(EventResource::kPersistentVolumeClaim, rig.storage.Put(stranger)), "Skip");

  const auto volume = [&](const Texts& labels) {
    return rig.storage.Put(MakeVolume("pv", "drv", labels));
  };
  const auto update = [&](const Texts& before, const Texts& after) {
    return hint(EventResource::kPersistentVolume, kActionUpdate, volume(before), volume(after));
  };
  EXPECT_EQ(add(EventResource::kPersistentVolume, volume({})), "Queue");
  EXPECT_EQ(update({}, {}), "Skip");
  EXPECT_EQ(update({}, {{"other", "a"}}), "Skip");
  EXPECT_EQ(update({}, {{kZone, "a"}}), "Queue");
  EXPECT_EQ(update({{kZone, "a"}}, {{kBetaZone, "a"}}), "Queue");
  EXPECT_EQ(update({{kZone, "a__b"}}, {{kZone, "b__a"}}), "Skip");
  EXPECT_EQ(update({{kZone, "a"}}, {{kZone, "b"}}), "Queue");
  EXPECT_EQ(update({{kZone, ""}}, {}), "Skip");
}

// As VolumeBinding, VolumeRestrictions and NodeVolumeLimits sign.
TEST(VolumeZoneTest, SignatureHasTheSourcesInAnyOrder) {
  VolumeRig rig(NewVolumeZone);
  PodBuilder pod;
  for (const uint64_t fingerprint : {7U, 5U, 6U}) {
    api::Volume volume;
    volume.source = fingerprint == 6 ? api::Volume::Source::kConfigMapOrSecret
                                     : api::Volume::Source::kPersistentVolumeClaim;
    volume.fingerprint = fingerprint;
    pod.spec().volumes.push_back(std::move(volume));
  }
  EXPECT_EQ(rig.Signature(*pod.Obj()),
            std::vector<std::string>{"v1.Pod.Spec.Volumes.NonSyntheticSources()=[5,7]"});
}

}  // namespace
}  // namespace ks::plugins
