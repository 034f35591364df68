// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_restrictions/volume_restrictions.h"

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

const std::string kDisk = "Unschedulable: node(s) had no available disk";
const std::string kInUse =
    "Unschedulable: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access "
    "mode already in-use by another pod";

constexpr Source kGce = Source::kGcePersistentDisk;
constexpr Source kEbs = Source::kAwsElasticBlockStore;
constexpr Source kIscsi = Source::kIscsi;

api::Volume Rbd(std::vector<std::string> monitors, const std::string& pool,
                const std::string& image, bool read_only = false) {
  api::Volume volume = InlineVolume(Source::kRbd, image, read_only);
  volume.pool = pool;
  volume.monitors = std::move(monitors);
  return volume;
}

api::PersistentVolumeClaim Exclusive(const std::string& name, const std::string& ns = "ns") {
  api::PersistentVolumeClaim claim = MakeClaim(name);
  claim.meta.ns = Symbol(ns);
  claim.access_modes = {Symbol("ReadWriteOnce"), Symbol("ReadWriteOncePod")};
  return claim;
}

struct DiskCase {
  std::string name;
  api::Volume wanted;
  api::Volume present;
  bool conflict = false;
};

class DiskConflictTest : public ::testing::TestWithParam<DiskCase> {};

TEST_P(DiskConflictTest, Filter) {
  VolumeRig rig(NewVolumeRestrictions);
  // Pods of every namespace count; of a node without such a pod nothing is said.
  rig.AddNode(MakeNode().Name("n1"), {PodWith("other", {GetParam().present}, "elsewhere").Obj()});
  rig.AddNode(MakeNode().Name("n2"));
  EXPECT_EQ(rig.Verdicts(PodWith("p", {GetParam().wanted})),
            (Verdicts{GetParam().conflict ? kDisk : "Success", "Success"}));
}

// Among hundreds of others nothing else comes out, whoever has them.
TEST_P(DiskConflictTest, AmongMany) {
  const auto among_many = [](const api::Volume& volume, const std::string& prefix) {
    std::vector<api::Volume> volumes;
    for (int i = 0; i < 300; ++i) {
      volumes.push_back(InlineVolume(i % 2 == 0 ? kGce : kEbs, prefix + std::to_string(i)));
      volumes.push_back(Rbd({"a", prefix}, prefix + "-pool", GetParam().wanted.id));
    }
    volumes.push_back(volume);
    return volumes;
  };
  for (const bool present_many : {true, false}) {
    VolumeRig rig(NewVolumeRestrictions);
    const api::Volume& present = GetParam().present;
    rig.AddNode(
        MakeNode().Name("n1"),
        {PodWith("other", present_many ? among_many(present, "o") : std::vector{present}).Obj()});
    const PodBuilder pod = PodWith("p", among_many(GetParam().wanted, "p"));
    EXPECT_EQ(rig.Verdicts(pod), Verdicts{GetParam().conflict ? kDisk : "Success"});
    EXPECT_EQ(rig.Hint(EventResource::kAssignedPod, framework::kActionDelete, pod,
                       PodWith("other", among_many(present, "o"), "ns").Obj(), {}),
              GetParam().conflict ? "Queue" : "Skip");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, DiskConflictTest,
    ::testing::ValuesIn(std::vector<DiskCase>{
        {"Example33Conflict", InlineVolume(kGce, "d"), InlineVolume(kGce, "d", true), true},
        {"Example33BothReadOnly", InlineVolume(kGce, "d", true), InlineVolume(kGce, "d", true)},
        {"GceOtherDisk", InlineVolume(kGce, "d"), InlineVolume(kGce, "e")},
        {"Example34EbsReadOnly", InlineVolume(kEbs, "v", true), InlineVolume(kEbs, "v", true),
         true},
        {"EbsOtherVolume", InlineVolume(kEbs, "v"), InlineVolume(kEbs, "w")},
        {"Example35Iscsi", InlineVolume(kIscsi, "iqn"), InlineVolume(kIscsi, "iqn"), true},
        {"IscsiBothReadOnly", InlineVolume(kIscsi, "iqn", true), InlineVolume(kIscsi, "iqn", true)},
        {"IscsiOtherIqn", InlineVolume(kIscsi, "iqn"), InlineVolume(kIscsi, "iqn2")},
        {"Example36CommonMonitor", Rbd({"a", "b"}, "p", "i"), Rbd({"b", "c"}, "p", "i"), true},
        {"Example36NoCommonMonitor", Rbd({"a", "b"}, "p", "i"), Rbd({"c"}, "p", "i")},
        {"RbdOtherPool", Rbd({"a"}, "p", "i"), Rbd({"a"}, "q", "i")},
        {"RbdOtherImage", Rbd({"a"}, "p", "i"), Rbd({"a"}, "p", "j")},
        {"RbdBothReadOnly", Rbd({"a"}, "p", "i", true), Rbd({"a"}, "p", "i", true)},
        {"RbdOneReadOnly", Rbd({"a"}, "p", "i"), Rbd({"a"}, "p", "i", true), true},
        {"OtherType", InlineVolume(kGce, "d"), InlineVolume(kEbs, "d")},
        {"AzureDiskTakesNoPart", InlineVolume(Source::kAzureDisk, "d"),
         InlineVolume(Source::kAzureDisk, "d")},
    }),
    [](const auto& test) { return test.param.name; });

TEST(VolumeRestrictionsTest, VolumesOfOnePodDoNotConflict) {
  VolumeRig rig(NewVolumeRestrictions);
  rig.AddNode(MakeNode().Name("n1"));
  EXPECT_EQ(rig.Verdicts(PodWith("p", {InlineVolume(kGce, "d"), InlineVolume(kGce, "d")})),
            Verdicts{"Success"});
}

TEST(VolumeRestrictionsTest, PreFilter) {
  VolumeRig rig(NewVolumeRestrictions);
  rig.storage.Put(MakeClaim("plain"));
  rig.storage.Put(Exclusive("x"));
  rig.storage.Put(Exclusive("used"));
  rig.AddNode(MakeNode().Name("n1"),
              {PodWith("user", {ClaimVolume("used"), ClaimVolume("plain")}).Obj()});
  EXPECT_EQ(rig.PreFilterText(PodWith("p", {})), "Skip");
  api::Volume empty_dir;
  EXPECT_EQ(rig.PreFilterText(PodWith("p", {empty_dir})), "Skip");  // example 1
  EXPECT_EQ(rig.PreFilterText(PodWith("p", {ClaimVolume("gone")})),
            "UnschedulableAndUnresolvable: persistentvolumeclaim \"gone\" not found");
  EXPECT_EQ(rig.PreFilterText(PodWith("p", {EphemeralVolume("data")})), "Skip");
  EXPECT_EQ(rig.PreFilterText(PodWith("p", {ClaimVolume("plain")})), "Skip");
  EXPECT_EQ(rig.PreFilterText(PodWith("p", {ClaimVolume("x")})), "Skip");
  EXPECT_EQ(rig.PreFilterText(PodWith("p", {ClaimVolume("used")})), "Success");
  EXPECT_EQ(rig.PreFilterText(PodWith("p", {InlineVolume(kGce, "d")})), "Success");
}

TEST(VolumeRestrictionsTest, Example37ClaimInUse) {
  VolumeRig rig(NewVolumeRestrictions);
  rig.storage.Put(Exclusive("x"));
  rig.storage.Put(Exclusive("x", "elsewhere"));
  rig.AddNode(MakeNode().Name("n1"), {PodWith("user", {ClaimVolume("x")}).Obj()});
  rig.AddNode(MakeNode().Name("n2"));
  EXPECT_EQ(rig.Verdicts(PodWith("p", {ClaimVolume("x")})), (Verdicts{kInUse, kInUse}));
  EXPECT_EQ(rig.PreFilterText(PodWith("p", {ClaimVolume("x")}, "elsewhere")), "Skip");
}

TEST(VolumeRestrictionsTest, DiskConflictComesFirst) {
  VolumeRig rig(NewVolumeRestrictions);
  rig.storage.Put(Exclusive("x"));
  rig.AddNode(MakeNode().Name("n1"),
              {PodWith("user", {ClaimVolume("x"), InlineVolume(kGce, "d")}).Obj()});
  rig.AddNode(MakeNode().Name("n2"));
  EXPECT_EQ(rig.Verdicts(PodWith("p", {ClaimVolume("x"), InlineVolume(kGce, "d")})),
            (Verdicts{kDisk, kInUse}));
}

// Example 38 and traps 19 and 20: names alone, and volumes instead of claims.
TEST(VolumeRestrictionsTest, WhatIfHooks) {
  VolumeRig rig(NewVolumeRestrictions);
  rig.storage.Put(Exclusive("x"));
  rig.storage.Put(Exclusive("y"));
  framework::NodeInfo& node =
      rig.AddNode(MakeNode().Name("n1"), {PodWith("user", {ClaimVolume("x")}).Obj()});
  const api::PodPtr pod = PodWith("p", {ClaimVolume("x"), ClaimVolume("y")}).Obj();
  ASSERT_TRUE(rig.PreFilter(*pod).status.ok());
  auto* hooks = rig.As<framework::PreFilterExtensions>();
  auto* filter = rig.As<framework::FilterPlugin>();
  const auto verdict = [&](const framework::CycleState& state) {
    return Describe(filter->Filter(state, *pod, node));
  };
  const framework::PodInfo stranger(PodWith("s", {ClaimVolume("x")}, "elsewhere").Obj());
  const framework::PodInfo doubled(
      PodWith("t", {ClaimVolume("x", "a"), ClaimVolume("x", "b"), ClaimVolume("z")}).Obj());
  framework::CycleState clone = rig.state.Clone();
  EXPECT_EQ(verdict(clone), kInUse);
  EXPECT_TRUE(hooks->RemovePod(clone, *pod, stranger, node).ok());
  EXPECT_EQ(verdict(clone), "Success");
  EXPECT_EQ(verdict(rig.state), kInUse) << "the clone has a counter of its own";
  EXPECT_TRUE(hooks->RemovePod(clone, *pod, doubled, node).ok());  // 0 - 2
  EXPECT_TRUE(hooks->AddPod(clone, *pod, doubled, node).ok());
  EXPECT_EQ(verdict(clone), "Success");
  EXPECT_TRUE(hooks->AddPod(clone, *pod, stranger, node).ok());
  EXPECT_EQ(verdict(clone), kInUse);

  const std::string missing = "Error: cannot read \"PreFilterVolumeRestrictions\" from cycleState";
  framework::CycleState empty;
  EXPECT_EQ(verdict(empty), missing);
  EXPECT_EQ(Describe(hooks->AddPod(empty, *pod, stranger, node)), missing);
  EXPECT_EQ(Describe(hooks->RemovePod(empty, *pod, stranger, node)), missing);
}

TEST(VolumeRestrictionsTest, DeferredPodsPass) {
  VolumeRig rig(NewVolumeRestrictions, "null",
                {config::Gate::kInPlacePodVerticalScalingSchedulerPreemption});
  PodBuilder pod = PodWith("p", {ClaimVolume("gone")});
  api::Condition pending;
  pending.type = "PodResizePending";
  pending.status = "True";
  pending.reason = "Deferred";
  pod.Condition(pending);
  EXPECT_EQ(rig.PreFilterText(pod), "Skip");
}

TEST(VolumeRestrictionsTest, Hints) {
  VolumeRig rig(NewVolumeRestrictions);
  const PodBuilder pod = PodWith("p", {InlineVolume(kGce, "d"), ClaimVolume("x")});
  const auto deleted = [&](const PodBuilder& other) {
    return rig.Hint(EventResource::kAssignedPod, framework::kActionDelete, pod, other.Obj(), {});
  };
  EXPECT_EQ(deleted(PodWith("a", {InlineVolume(kGce, "d")})), "Queue");
  EXPECT_EQ(deleted(PodWith("a", {InlineVolume(kGce, "e")})), "Skip");
  EXPECT_EQ(deleted(PodWith("a", {ClaimVolume("x")})), "Queue");
  EXPECT_EQ(deleted(PodWith("a", {ClaimVolume("y")})), "Skip");
  EXPECT_EQ(deleted(PodWith("a", {})), "Skip");
  std::vector<api::Volume> many;
  for (int i = 0; i < 300; ++i) many.push_back(ClaimVolume("c" + std::to_string(i)));
  EXPECT_EQ(deleted(PodWith("a", many)), "Skip");
  many.push_back(ClaimVolume("x"));
  EXPECT_EQ(deleted(PodWith("a", many)), "Queue");
  // Trap 18: the conflict is across namespaces, the wake-up is not.
  EXPECT_EQ(deleted(PodWith("a", {InlineVolume(kGce, "d")}, "elsewhere")), "Skip");

  const auto claim = [&](const api::PersistentVolumeClaim& added) {
    return rig.Hint(EventResource::kPersistentVolumeClaim, framework::kActionAdd, pod, {},
                    rig.storage.Put(added));
  };
  EXPECT_EQ(claim(MakeClaim("x")), "Queue");
  EXPECT_EQ(claim(MakeClaim("y")), "Skip");
  EXPECT_EQ(claim(Exclusive("x", "elsewhere")), "Skip");
  EXPECT_EQ(rig.Hint(EventResource::kPersistentVolumeClaim, framework::kActionAdd,
                     PodWith("p", {EphemeralVolume("x")}), {}, rig.storage.Put(MakeClaim("p-x"))),
            "Skip");
  EXPECT_EQ(rig.Hint(EventResource::kPersistentVolumeClaim, framework::kActionUpdate, pod, {}, {}),
            "none");
  EXPECT_EQ(rig.Hint(EventResource::kNode, framework::kActionAdd, pod, {}, {}), "Queue");
}

}  // namespace
}  // namespace ks::plugins
