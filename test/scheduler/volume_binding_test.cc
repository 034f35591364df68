// SPDX-License-Identifier: Apache-2.0
// A pod with a delayed claim through the whole scheduler (docs/spec/plugins-volume.md section 2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/rig.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ::testing::HasSubstr;

api::StorageClassPtr WaitClass() {
  auto storage_class = std::make_shared<api::StorageClass>();
  storage_class->meta.name = "wait";
  storage_class->provisioner = "kubernetes.io/no-provisioner";
  storage_class->volume_binding_mode = Symbol("WaitForFirstConsumer");
  return storage_class;
}

std::shared_ptr<api::PersistentVolume> VolumeOnN1() {
  auto volume = std::make_shared<api::PersistentVolume>();
  volume->meta.name = "pv1";
  volume->meta.uid = "u-pv1";
  volume->meta.resource_version = "7";
  volume->storage_class_name = Symbol("wait");
  volume->capacity = api::Quantity::Parse("10Gi").value();
  volume->phase = Symbol("Available");
  volume->node_affinity_spec = api::NodeSelectorSpec{
      .terms = {{.match_expressions = {{"h", "In", {"n1"}}}, .match_fields = {}}}};
  volume->node_affinity = api::NodeSelector::Compile(*volume->node_affinity_spec);
  return volume;
}

std::shared_ptr<api::PersistentVolumeClaim> DelayedClaim() {
  auto claim = std::make_shared<api::PersistentVolumeClaim>();
  claim->meta.name = "x";
  claim->meta.ns = Symbol("ns");
  claim->meta.uid = "u-x";
  claim->meta.resource_version = "5";
  claim->storage_class_name = Symbol("wait");
  claim->requested = api::Quantity::Parse("10Gi").value();
  return claim;
}

class VolumeRig : public Rig {
 public:
  VolumeRig() {
    Show<api::StorageClass>(WaitClass());
    Show<api::PersistentVolume>(VolumeOnN1());
    Show<api::PersistentVolumeClaim>(DelayedClaim());
    const auto node = [](const char* name) {
      return MakeNode().Name(name).Label("h", name).Allocatable({{"pods", "10"}}).Obj();
    };
    Sync({node("n1"), node("n2")});
    Settle();
    auto pod = MakePod();
    pod.Name("p");
    api::Volume volume;
    volume.name = "v";
    volume.source = api::Volume::Source::kPersistentVolumeClaim;
    volume.id = "x";
    pod.spec().volumes.push_back(volume);
    UpsertPod(pod.Obj());
    Settle();
  }

  template <class T>
  void Show(std::shared_ptr<const T> object) {
    scheduler->Post(StorageDeltas(std::vector<api::Delta<T>>{Upsert<T>(std::move(object))}));
  }
};

TEST(VolumeBindingCycle, FromTheQueueToTheBinding) {
  VolumeRig rig;
  ASSERT_EQ(rig.api.writes.size(), 1u);
  EXPECT_TRUE(rig.api.binds.empty()) << "not before the claim is bound";
  rig.api.AnswerWrite(std::nullopt, "8");
  rig.Settle();
  auto written = std::make_shared<api::PersistentVolume>(*rig.api.writes[0].volume);
  written->meta.resource_version = "8";
  rig.Show<api::PersistentVolume>(written);
  rig.Settle();
  EXPECT_TRUE(rig.api.binds.empty());
  auto bound = DelayedClaim();
  bound->meta.resource_version = "6";
  bound->volume_name = "pv1";
  bound->bind_completed = true;
  bound->has_annotations = true;
  rig.Show<api::PersistentVolumeClaim>(bound);
  rig.Settle();
  ASSERT_EQ(rig.api.binds.size(), 1u) << "at once, without a second's wait";
  EXPECT_EQ(rig.api.binds[0].node_name, "n1");
  rig.Bind();
}

TEST(VolumeBindingCycle, AConflictBringsThePodBack) {
  VolumeRig rig;
  ASSERT_EQ(rig.api.writes.size(), 1u);
  api::ApiError conflict;
  conflict.code = 409;
  conflict.reason = "Conflict";
  conflict.message = "the object has been modified";
  rig.api.AnswerWrite(conflict);
  rig.Settle();
  EXPECT_THAT(rig.LastMessage("p"),
              HasSubstr("running PreBind plugin \"VolumeBinding\": the object has been modified"));
  EXPECT_TRUE(rig.api.binds.empty());
  rig.Advance(std::chrono::seconds(2));
  ASSERT_EQ(rig.api.writes.size(), 2u) << "the next attempt, after the backoff";
}

}  // namespace
}  // namespace ks::scheduler
